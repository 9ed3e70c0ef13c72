package emu

import (
	"unsafe"

	"warpbook/gpu/ptx"
)

// This file turns straight runs of simple instructions into vector operations,
// which assembly runs one after the other: a run costs one call from Go. What
// they compute is what the rows and forms compute, bit for bit; a test holds
// each against them.

// Vectors are the vector instructions of the processor that the emulator uses.
type Vectors int

// The emulator is the same with all of them, but for its speed.
const (
	NoVectors Vectors = iota // portable Go
	AVX2
	AVX512
)

func (v Vectors) String() string { return [...]string{"portable", "AVX2", "AVX-512"}[v] }

// LimitVectors bounds which vector instructions are used, if the processor
// has them.
func (d *Device) LimitVectors(v Vectors) { d.maxVectors.Store(int64(v)) }

func (d *Device) vectors() Vectors { return min(Vectors(d.maxVectors.Load()), bestVectors) }

// vectorOp is an operation on the lanes of a warp that assembly knows. 0 is
// none; vector_ops_amd64.h lists them.
type vectorOp uint32

const (
	vecGuarded vectorOp = iota // the operation in x, in the lanes of its guard

	// 32-bit results.
	vecMov32
	vecNot32
	vecTrunc
	vecAdd32
	vecSub32
	vecMul32
	vecMad32
	vecMinS32
	vecMaxS32
	vecMinU32
	vecMaxU32
	vecAnd32
	vecOr32
	vecXor32
	vecShl32
	vecShrU32
	vecShrS32
	vecDivU32
	vecRemU32
	vecAddF32
	vecSubF32
	vecMulF32
	vecFmaF32
	vecFloatS32
	vecFloatU32
	vecSelect32

	// 64-bit results.
	vecMov64
	vecNot64
	vecAdd64
	vecSub64
	vecAnd64
	vecOr64
	vecXor64
	vecShl64
	vecShrU64
	vecShrS64
	vecMul64
	vecMad64
	vecMulWideU
	vecMulWideS
	vecMadWideU
	vecMadWideS
	vecExtendU
	vecExtendS
	vecSelect64

	// Predicates. Lanes that x has set are complemented.
	vecEqual32
	vecLessS32
	vecLessU32
	vecEqual64
	vecLessS64
	vecLessU64
	vecEqualF32
	vecLessF32
	vecLessEqualF32
	vecUnequalF32
	vecNumberF32
	vecMovPred
	vecAndPred
	vecOrPred
	vecXorPred
	vecNotPred

	vecOps // how many there are
)

// vectorStep is an operation with its operands: byte offsets into the slots,
// or, of predicates, into those. Assembly reads it.
type vectorStep struct {
	op          vectorOp
	d, a, b, c  uint32
	guard, flip uint32
	x           uint32
}

// vectorRun is what assembly is called with.
type vectorRun struct {
	steps *vectorStep
	slots unsafe.Pointer
	preds *uint32
	n     int
	mask  uint32
}

// vectorRows are the rows that have a vector operation, when they are to round
// to nearest and nothing else.
var vectorRows = map[string]vectorOp{
	"add.u32": vecAdd32, "add.s32": vecAdd32, "sub.u32": vecSub32, "sub.s32": vecSub32,
	"mul.lo.u32": vecMul32, "mul.lo.s32": vecMul32, "mad.lo.u32": vecMad32, "mad.lo.s32": vecMad32,
	"min.s32": vecMinS32, "max.s32": vecMaxS32, "min.u32": vecMinU32, "max.u32": vecMaxU32,
	"div.u32": vecDivU32, "rem.u32": vecRemU32,
	"and.b32": vecAnd32, "or.b32": vecOr32, "xor.b32": vecXor32, "not.b32": vecNot32,
	"shl.b32": vecShl32, "shr.b32": vecShrU32, "shr.u32": vecShrU32, "shr.s32": vecShrS32,
	"add.f32": vecAddF32, "sub.f32": vecSubF32, "mul.f32": vecMulF32, "fma.f32": vecFmaF32, "mad.f32": vecFmaF32,

	"add.u64": vecAdd64, "add.s64": vecAdd64, "sub.u64": vecSub64, "sub.s64": vecSub64,
	"mul.lo.u64": vecMul64, "mul.lo.s64": vecMul64, "mad.lo.u64": vecMad64, "mad.lo.s64": vecMad64,
	"and.b64": vecAnd64, "or.b64": vecOr64, "xor.b64": vecXor64, "not.b64": vecNot64,
	"shl.b64": vecShl64, "shr.b64": vecShrU64, "shr.u64": vecShrU64, "shr.s64": vecShrS64,
	"mul.wide.u32": vecMulWideU, "mul.wide.s32": vecMulWideS, "mad.wide.u32": vecMadWideU, "mad.wide.s32": vecMadWideS,

	"and.pred": vecAndPred, "or.pred": vecOrPred, "xor.pred": vecXorPred, "not.pred": vecNotPred,
}

var vectorConversions = map[conversion]vectorOp{
	{from: "u32", to: "u64"}: vecExtendU, {from: "s32", to: "s64"}: vecExtendS,
	{from: "u64", to: "u32"}: vecTrunc, {from: "s64", to: "s32"}: vecTrunc,
	{from: "s32", to: "f32", mode: "rn"}: vecFloatS32, {from: "u32", to: "f32", mode: "rn"}: vecFloatU32,
}

// vectorMoves are the copies of a width.
var vectorMoves = map[width]vectorOp{half: vecMov32, word: vecMov32, double: vecMov64, predicate: vecMovPred}

// vectorForm is how assembly runs an instruction.
type vectorForm struct {
	op   vectorOp // 0 if it does not
	swap bool     // the first two sources change places
	not  bool     // the resulting predicate is complemented
}

// comparisonForm is setp of a type; without an operation if assembly has none.
func comparisonForm(t ptx.Type, c comparison, not bool) vectorForm {
	switch {
	case t == "f32":
		return [...]vectorForm{
			equal: {vecEqualF32, false, not}, unequal: {vecUnequalF32, false, not},
			less: {vecLessF32, false, not}, greater: {vecLessF32, true, not},
			lessEqual: {vecLessEqualF32, false, not}, greaterEqual: {vecLessEqualF32, true, not},
			isNumber: {vecNumberF32, false, not}, isNaN: {vecNumberF32, false, !not},
		}[c]
	case isFloat(t) || t.Bytes() < 4 || c > unequal:
		return vectorForm{}
	}
	same, smaller := vecEqual32, vecLessU32
	switch {
	case t.Bytes() == 8 && t[0] == 's':
		same, smaller = vecEqual64, vecLessS64
	case t.Bytes() == 8:
		same, smaller = vecEqual64, vecLessU64
	case t[0] == 's':
		smaller = vecLessS32
	}
	return [...]vectorForm{
		equal: {same, false, not}, unequal: {same, false, !not},
		less: {smaller, false, not}, greater: {smaller, true, not},
		lessEqual: {smaller, true, !not}, greaterEqual: {smaller, false, !not},
	}[c]
}

// predicate reports whether the operation sets a predicate; it then looks at
// its guard itself.
func (op vectorOp) predicate() bool { return op >= vecEqual32 }

// step is an instruction as assembly reads it, once its operands have places.
func (in *instr) step() vectorStep {
	op := in.vector.op
	s := vectorStep{op: op, d: in.d, a: in.a, b: in.b, c: in.c, guard: 4 * in.guard, flip: in.flip}
	if in.vector.swap {
		s.a, s.b = s.b, s.a
	}
	switch {
	case op == vecSelect32 || op == vecSelect64:
		if s.c = 4 * in.x.p; in.x.pflip != 0 {
			s.a, s.b = s.b, s.a
		}
	case op >= vecMovPred:
		s.a, s.b = 4*s.a, 4*s.b
	}
	switch {
	case op.predicate():
		if s.d *= 4; in.vector.not {
			s.x = all
		}
	case in.guard != always || in.flip != 0:
		s.op, s.x = vecGuarded, uint32(op)
	}
	return s
}

// vectorise finds the runs of instructions that assembly can run. A run may be
// entered and left anywhere.
func (p *program) vectorise() {
	p.steps = make([]vectorStep, len(p.code))
	for i := len(p.code) - 1; i >= 0; i-- {
		in := &p.code[i]
		if mem := in.mem; mem != nil {
			if mem.site = -1; mem.regular() {
				mem.site = p.sites
				p.sites++
			}
		}
		if in.vector.op == 0 {
			continue
		}
		p.steps[i] = in.step()
		if in.run = 1; i+1 < len(p.code) {
			in.run += p.code[i+1].run
		}
	}
}

// runVector runs n instructions from pc on in the lanes of the mask.
func (w *warp) runVector(pc, n int32, mask uint32) {
	p, r := w.block.prog, &w.vector
	r.mask = mask
	for n > 0 {
		r.steps, r.n = &p.steps[pc], int(n)
		w.block.vectors.run(r)
		if r.n == 0 {
			return
		}
		pc, n = pc+n-int32(r.n), int32(r.n) // at one that these vectors do not have
		in := &p.code[pc]
		if m := mask & (w.preds[in.guard] ^ in.flip); m != 0 {
			in.exec(w, in, m)
		}
		pc, n = pc+1, n-1
	}
}
