package bytecode

import "unsafe"

// instr is one instruction: three operands, and a constant or two jump targets.
// Operands are registers, of which there is one file of numbers and one of
// pointers; a slice or string in register k has its pointer in pointer k, its
// length in number k and its capacity in number k+1.
type instr struct {
	op      op
	a, b, c uint16
	imm     int64
}

// targets are those of a branch: taken if the condition holds, and else.
func (in *instr) targets() (yes, no int32) { return int32(in.imm), int32(in.imm >> 32) }

// branch is the place of the instruction after a branch.
func (in *instr) branch(base unsafe.Pointer, holds bool) unsafe.Pointer {
	if holds {
		return unsafe.Add(base, uint32(in.imm))
	}
	return unsafe.Add(base, uint32(in.imm>>32))
}

// turn is the place of the instruction after the branch of a loop. A turn that is not
// interrupted continues after the poll at its beginning.
func (in *instr) turn(base unsafe.Pointer, flag *int32, holds bool) unsafe.Pointer {
	if !holds {
		return unsafe.Add(base, uint32(in.imm>>32))
	}
	at := unsafe.Add(base, uint32(in.imm))
	if raised(flag) {
		return at
	}
	return unsafe.Add(at, unsafe.Sizeof(instr{}))
}

func pack(yes, no int32) int64 { return int64(uint32(yes)) | int64(no)<<32 }

type op uint16

const (
	opInvalid op = iota

	// Moves: a = b.
	opMov
	opMovP
	opMovH
	opMovI
	opConst  // a = imm
	opNilP   // a = nil
	opNilH   // a = nil slice or empty string
	opMovNum // number a = number b; b is the length of a slice
	opMovCap // number a = capacity of slice b

	// 64-bit integers: a = b op c, or b op imm.
	opAdd
	opSub
	opMul
	opAnd
	opOr
	opXor
	opAndNot
	opShl  // checked: the count is not negative
	opShlU // the count is unsigned
	opShr
	opShrU
	opSar
	opSarU
	opDivS // checked, as the next three: c is not 0
	opDivU
	opRemS
	opRemU
	opAddI
	opMulI
	opAndI
	opShlI
	opShrI
	opSarI
	opMulAdd // a = b * c + number of register imm
	opNeg
	opCom
	opNot // of a boolean

	// Narrow integers: a = b truncated to fewer bits.
	opS8
	opS16
	opS32
	opU8
	opU16
	opU32

	// Floats.
	opFAdd
	opFSub
	opFMul
	opFDiv
	opFNeg
	opFAdd32
	opFSub32
	opFMul32
	opFDiv32
	opFNeg32

	// Comparisons to a boolean: a = b op c.
	opEq
	opNe
	opLtS
	opLeS
	opLtU
	opLeU
	opFEq
	opFNe
	opFLt
	opFLe
	opFEq32
	opFNe32
	opFLt32
	opFLe32
	opPEq
	opPNe
	opHEq // strings
	opHNe
	opHLt
	opHLe

	// Conversions: a = b.
	opItoF
	opFtoI
	opF32to64
	opF64to32
	opItoF32
	opConvert // by conversions[imm]

	// Memory at pointer b + imm. Checked: b is not nil.
	opLoad8
	opLoadS8
	opLoad16
	opLoadS16
	opLoad32
	opLoadS32
	opLoad64
	opLoadP
	opLoadH // slice
	opLoadT // string
	opLoadR // record of type news[imm], at pointer b
	// Memory at pointer a + imm = b. Checked likewise.
	opStore8
	opStore16
	opStore32
	opStore64
	opStoreP
	opStoreH
	opStoreT
	opStoreR // record of type news[imm], at pointer a
	// Interfaces. Checked likewise.
	opLoadI  // a = interface at pointer b, with methods if imm is 1
	opStoreE // interface without methods at pointer a = b
	opStoreI // interface of type news[imm] at pointer a = b
	// Interface a = a value of type news[imm] in b.
	opBoxN
	opBoxP
	opBoxH
	opBoxT
	opHashable // b may be a key of a map
	opAssert   // assertions[imm]

	// Elements: a = slice b [c]. Checked.
	opIndex8
	opIndexS8
	opIndex16
	opIndexS16
	opIndex32
	opIndexS32
	opIndex64
	opIndexP
	opIndexH
	opIndexT
	// slice a [b] = c. Checked.
	opSet8
	opSet16
	opSet32
	opSet64
	opSetP

	// Addresses. Checked.
	opIndexAddr // pointer a = &slice b [c], imm is the size of an element
	opArrayAddr // pointer a = &array at pointer b [c], imm is size and length
	opFieldAddr // pointer a = pointer b + imm
	opSlice     // slices[imm]

	// Maps and ranges.
	opMapGet // accesses[imm]
	opMapSet // checked: the map is not nil
	opMapDelete
	opMapLen   // number a = length of map b
	opRange    // ranges[imm] begins, over a map
	opNext     // a turn of ranges[imm], over a map
	opNextRune // over a string

	// Memory.
	opMake     // makings[imm]; number a: whether it is made
	opConcat   // string a = concats[imm]
	opNew      // pointer a = new of type news[imm]
	opAppend   // appends[imm]
	opAppend64 // likewise, of one number: slice a = append(slice b, c)
	opCopy     // number a = copy(slice b, slice or string c), of type news[imm]

	opSelect  // selections[imm]
	opReceive // selections[imm], a receive; number a: whether it is done, or a stop has come

	// Control. Targets are indexes of instructions.
	opJump
	opBranch // boolean a
	opBrEq   // a op b
	opBrNe
	opBrLtS
	opBrLeS
	opBrLtU
	opBrLeU
	opBrEqI // a op c, a signed constant
	opBrNeI
	opBrLtI
	opBrLeI
	opBrGtI
	opBrGeI
	opBrFEq
	opBrFNe
	opBrFLt
	opBrFLe
	opBrFEq32
	opBrFNe32
	opBrFLt32
	opBrFLe32
	opBrNil // pointer a is nil
	opArmed // flag a of the debugger's probes

	opPoll // to the target if the interrupt flag is set, otherwise continue
	// Branches of loops: if the condition holds, they continue after the poll at the
	// target, or at the poll if the flag is set.
	opLoopEq
	opLoopNe
	opLoopLtS
	opLoopLeS
	opLoopLtU
	opLoopLeU
	opLoopEqI
	opLoopNeI
	opLoopLtI
	opLoopLeI
	opLoopGtI
	opLoopGeI
	opCountLtS // a += c, then opLoopLtS
	opLoop     // without a condition

	// Calls.
	opCall    // calls[imm]
	opReturn  // returns[imm]
	opReturn1 // number a
	opReturn0
	opNative    // calls[imm], of a compiled function
	opPanic     // of interface a, at escapes[imm]
	opDefer     // deferrals[imm]
	opRunDefers // ends[imm]
	opMath1     // number a = func(float64) float64, natives[imm] (b)
	opMath2     // number a = natives[imm] (b, c)

	// Instructions of the engine.
	opEngine        // escapes[imm]
	opCallBack      // likewise, a call that calls functions of cells before it returns
	opRecover       // likewise, a call of recover; if a is 1, the next instruction is not needed for most results
	opDeferByEngine // likewise, a Defer
	opSort          // sortings[imm]; number a: whether it is done
	opStop          // calls the function that stops a goroutine, at escapes[imm]
	opMoveBox       // in the engine's frame: a = b

	opCount // number of operations
)

// roles are the roles of the operands of an operation: d is written, u is read, - is no
// register.
var roles = [opCount]string{
	opMov: "du-", opMovP: "du-", opMovH: "du-", opMovI: "du-", opConst: "d--", opNilP: "d--", opNilH: "d--", opMovNum: "du-", opMovCap: "du-",
	opAdd: "duu", opSub: "duu", opMul: "duu", opAnd: "duu", opOr: "duu", opXor: "duu", opAndNot: "duu",
	opShl: "duu", opShlU: "duu", opShr: "duu", opShrU: "duu", opSar: "duu", opSarU: "duu",
	opDivS: "duu", opDivU: "duu", opRemS: "duu", opRemU: "duu",
	opAddI: "du-", opMulI: "du-", opAndI: "du-", opShlI: "du-", opShrI: "du-", opSarI: "du-", opMulAdd: "duu",
	opNeg: "du-", opCom: "du-", opNot: "du-", opS8: "du-", opS16: "du-", opS32: "du-", opU8: "du-", opU16: "du-", opU32: "du-",
	opFAdd: "duu", opFSub: "duu", opFMul: "duu", opFDiv: "duu", opFNeg: "du-",
	opFAdd32: "duu", opFSub32: "duu", opFMul32: "duu", opFDiv32: "duu", opFNeg32: "du-",
	opEq: "duu", opNe: "duu", opLtS: "duu", opLeS: "duu", opLtU: "duu", opLeU: "duu",
	opFEq: "duu", opFNe: "duu", opFLt: "duu", opFLe: "duu", opFEq32: "duu", opFNe32: "duu", opFLt32: "duu", opFLe32: "duu",
	opPEq: "duu", opPNe: "duu", opHEq: "duu", opHNe: "duu", opHLt: "duu", opHLe: "duu",
	opItoF: "du-", opFtoI: "du-", opF32to64: "du-", opF64to32: "du-", opItoF32: "du-", opConvert: "du-",
	opLoad8: "du-", opLoadS8: "du-", opLoad16: "du-", opLoadS16: "du-", opLoad32: "du-", opLoadS32: "du-", opLoad64: "du-",
	opLoadP: "du-", opLoadH: "du-", opLoadT: "du-", opLoadR: "du-", opStoreR: "uu-",
	opLoadI: "du-", opStoreE: "uu-", opStoreI: "uu-", opBoxN: "du-", opBoxP: "du-", opBoxH: "du-", opBoxT: "du-", opHashable: "-u-", opAssert: "---",
	opStore8: "uu-", opStore16: "uu-", opStore32: "uu-", opStore64: "uu-", opStoreP: "uu-", opStoreH: "uu-", opStoreT: "uu-",
	opIndex8: "duu", opIndexS8: "duu", opIndex16: "duu", opIndexS16: "duu", opIndex32: "duu", opIndexS32: "duu", opIndex64: "duu",
	opIndexP: "duu", opIndexH: "duu", opIndexT: "duu",
	opSet8: "uuu", opSet16: "uuu", opSet32: "uuu", opSet64: "uuu", opSetP: "uuu",
	opIndexAddr: "duu", opArrayAddr: "duu", opFieldAddr: "du-", opSlice: "du-",
	opMapGet: "---", opMapSet: "---", opMapDelete: "---", opMapLen: "du-", opRange: "---", opNext: "---", opNextRune: "---",
	opMake: "d--", opConcat: "d--", opNew: "d--", opAppend: "---", opAppend64: "duu", opSelect: "---", opReceive: "d--", opCopy: "duu",
	opJump: "---", opBranch: "u--", opBrEq: "uu-", opBrNe: "uu-", opBrLtS: "uu-", opBrLeS: "uu-", opBrLtU: "uu-", opBrLeU: "uu-",
	opBrEqI: "u--", opBrNeI: "u--", opBrLtI: "u--", opBrLeI: "u--", opBrGtI: "u--", opBrGeI: "u--",
	opBrFEq: "uu-", opBrFNe: "uu-", opBrFLt: "uu-", opBrFLe: "uu-", opBrFEq32: "uu-", opBrFNe32: "uu-", opBrFLt32: "uu-", opBrFLe32: "uu-", opBrNil: "u--",
	opArmed: "---", opPoll: "---", opCall: "---", opNative: "---", opPanic: "u--", opDefer: "---", opRunDefers: "---", opReturn: "---", opReturn1: "u--", opReturn0: "---", opMath1: "du-", opMath2: "duu",
	opEngine: "---", opCallBack: "---", opRecover: "---", opDeferByEngine: "---", opSort: "d--", opMoveBox: "---", opStop: "---",
}

// loopOf is the branch that also polls.
var loopOf = map[op]op{
	opBrEq: opLoopEq, opBrNe: opLoopNe, opBrLtS: opLoopLtS, opBrLeS: opLoopLeS, opBrLtU: opLoopLtU, opBrLeU: opLoopLeU,
	opBrEqI: opLoopEqI, opBrNeI: opLoopNeI, opBrLtI: opLoopLtI, opBrLeI: opLoopLeI, opBrGtI: opLoopGtI, opBrGeI: opLoopGeI,
	opJump: opLoop,
}

// isBranch reports whether an operation ends a block with two targets.
func isBranch(o op) bool { return o >= opBranch && o <= opBrNil }
