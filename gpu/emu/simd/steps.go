package simd

import "unsafe"

// Vectors are the vector instructions of the processor that the emulator uses.
type Vectors int

// The emulator is the same with all of them, but for its speed.
const (
	NoVectors Vectors = iota // portable Go
	AVX2
	AVX512
)

func (v Vectors) String() string { return [...]string{"portable", "AVX2", "AVX-512"}[v] }

// Op is an operation on the lanes of a warp that assembly knows. 0 is
// none; vector_ops_amd64.h lists them.
type Op uint32

const (
	Guarded Op = iota // the operation in x, in the lanes of its guard

	// 32-bit results.
	Mov32
	Not32
	Trunc
	Add32
	Sub32
	Mul32
	Mad32
	MinS32
	MaxS32
	MinU32
	MaxU32
	And32
	Or32
	Xor32
	Shl32
	ShrU32
	ShrS32
	DivU32
	RemU32
	AddF32
	SubF32
	MulF32
	FmaF32
	FloatS32
	FloatU32
	Select32

	// 64-bit results.
	Mov64
	Not64
	Add64
	Sub64
	And64
	Or64
	Xor64
	Shl64
	ShrU64
	ShrS64
	Mul64
	Mad64
	MulWideU
	MulWideS
	MadWideU
	MadWideS
	ExtendU
	ExtendS
	Select64

	// Predicates. Lanes that x has set are complemented.
	Equal32
	LessS32
	LessU32
	Equal64
	LessS64
	LessU64
	EqualF32
	LessF32
	LessEqualF32
	UnequalF32
	NumberF32
	MovPred
	AndPred
	OrPred
	XorPred
	NotPred

	// Branches, which run on at their target if all lanes that run take them.
	Branch
	Jump // one that is no instruction of the text

	FmaRow // FmaF32, behind which x more follow with the same first source

	Ops // how many there are
)

// Move is how the data of an access whose pattern is known moves.
type Move uint32

const (
	NoMove Move = iota // not by Access
	MoveLoadUnit
	MoveStoreUnit
	MoveGather
	MoveScatter
	MoveLoadQuads
	MoveWide Move = 8 // beside one of these: addresses have 64 bits
)

// Step is an operation with its operands: byte offsets into the slots,
// or, of predicates, into those. Assembly reads it.
type Step struct {
	Op          Op
	D, A, B, C  uint32
	Guard, Flip uint32
	X           uint32
}

// Of a branch, D is the byte offset of the target among the steps, C how many steps
// run from there, X how many instructions of the text lie before its end and B
// how many before its target.

// Run is what assembly is called with, and what it found.
type Run struct {
	Steps *Step
	Slots unsafe.Pointer
	Preds *uint32
	N     int // steps to run; then those that are left
	Mask  uint32

	// Of runs with branches.
	Base     *Step   // of the program
	At       uintptr // byte offset of the step at which it has ended
	From     uint32  // instructions of the text before the start, then before the last target
	Ran      uint32  // instructions from there to the last branch that was taken
	Most     uint32  // it ends at a branch when so many have run
	Target   uint32  // byte offset of the last target, or NoTarget
	Branches uint32  // that were run
}

// NoTarget says that no branch was taken.
const NoTarget = 1<<32 - 1

// Predicate reports whether the operation sets a predicate; it then looks at
// its guard itself.
func (op Op) Predicate() bool { return op >= Equal32 }
