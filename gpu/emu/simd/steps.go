package simd

import "unsafe"

// Vectors are the vector instructions of the processor that the emulator uses.
type Vectors int

// They change only the speed of the emulator.
const (
	NoVectors Vectors = iota // portable Go
	SIMD128                  // of WebAssembly
	AVX2
	AVX512
)

func (v Vectors) String() string {
	return [...]string{"portable", "SIMD128", "AVX2", "AVX-512"}[v]
}

// Less is the next smaller set of a processor that has these; below NoVectors there is none.
func (v Vectors) Less() Vectors {
	switch v {
	case AVX512:
		return AVX2
	case NoVectors:
		return NoVectors - 1
	}
	return NoVectors
}

// Op is an operation on the lanes of a warp that assembly supports. 0 is none;
// vector_ops_amd64.h lists them.
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

	// Branches. A run continues at their target if all active lanes take them.
	Branch
	Jump // not an instruction of the text

	FmaRow // FmaF32, followed by x more with the same first source

	// Loads and stores. D is the byte offset of the site, A the slot of the addresses.
	AccessGlobal
	AccessShared     // of 32-bit addresses
	AccessSharedWide // of 64-bit addresses

	// Shuffles of whole warps, in the order of their modes.
	StepDown
	StepUp
	StepButterfly
	StepIndex

	Ops // number of operations
)

// Move is the way to move the data of an access with a known pattern.
type Move uint32

const (
	MoveLoadUnit  Move = iota // consecutive words
	MoveStoreUnit             // the same
	MoveGather
	MoveScatter
	MoveBroadcast // loads of all lanes from one address
	MoveLoadQuads // four words of all lanes
	MoveStoreQuads
	MoveLoadHalves // as MoveLoadQuads: 16 lanes load from one address, the others from another
	MoveLoadTwice  // as MoveLoadQuads: lanes 16 to 31 load what 0 to 15 do
	Moves          // number of them
)

// Step is an operation with its operands: byte offsets into the slots, or, for
// predicates, into the predicates. Assembly reads it.
type Step struct {
	Op          Op
	D, A, B, C  uint32
	Guard, Flip uint32
	X           uint32
}

// Of a branch, D is the byte offset of the target among the steps, C the number of steps
// from there on, X the number of instructions of the text before its end and B the
// number before its target.

// Run is the input and the result of a call of assembly.
type Run struct {
	Steps *Step
	Slots unsafe.Pointer
	Preds *uint32
	N     int // steps to run; on return, steps that are left
	Mask  uint32
	Warp  uint32 // the index of the warp in Last of its sites

	Sites  unsafe.Pointer // of the worker
	Global uint64         // 0 if Go runs accesses of global memory
	Shared *Memory        // of the block; nil if Go runs its accesses
	Ask    uint32         // not 0 to end the run before each of them, with its pattern in Found
	Found  *Pattern
	Search *Search // for races in shared memory; nil for none, or if Go searches
	Key    uint64  // of rows that the warp accesses, with a skew of 0
	Stamp  Stamp   // of the warp

	// Of runs with branches.
	Base     *Step   // of the program
	At       uintptr // byte offset of the step at which it ended
	From     uint32  // instructions of the text before the start, then before the last target
	Ran      uint32  // instructions from there to the last taken branch
	Most     uint32  // it ends at a branch after so many instructions
	Target   uint32  // byte offset of the last target, or NoTarget
	Branches uint32  // branches that ran
	Shuffles uint32  // shuffles that ran
}

// NoTarget means that no branch was taken.
const NoTarget = 1<<32 - 1

// Predicate reports whether the operation sets a predicate; it then handles its own
// guard.
func (op Op) Predicate() bool { return op >= Equal32 && op <= NotPred }
