package engine

import (
	"slices"
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

// This file turns straight runs of simple instructions into vector operations, which
// assembly runs one after the other: a run costs one call from Go. The results are those
// of the rows and forms, bit for bit; a test compares each.

// vectorRows are the rows that have a vector operation, for rounding to nearest without
// other options.
var vectorRows = map[string]simd.Op{
	"add.u32": simd.Add32, "add.s32": simd.Add32, "sub.u32": simd.Sub32, "sub.s32": simd.Sub32,
	"mul.lo.u32": simd.Mul32, "mul.lo.s32": simd.Mul32, "mad.lo.u32": simd.Mad32, "mad.lo.s32": simd.Mad32,
	"min.s32": simd.MinS32, "max.s32": simd.MaxS32, "min.u32": simd.MinU32, "max.u32": simd.MaxU32,
	"div.u32": simd.DivU32, "rem.u32": simd.RemU32,
	"and.b32": simd.And32, "or.b32": simd.Or32, "xor.b32": simd.Xor32, "not.b32": simd.Not32,
	"shl.b32": simd.Shl32, "shr.b32": simd.ShrU32, "shr.u32": simd.ShrU32, "shr.s32": simd.ShrS32,
	"add.f32": simd.AddF32, "sub.f32": simd.SubF32, "mul.f32": simd.MulF32, "fma.f32": simd.FmaF32, "mad.f32": simd.FmaF32,

	"add.u64": simd.Add64, "add.s64": simd.Add64, "sub.u64": simd.Sub64, "sub.s64": simd.Sub64,
	"mul.lo.u64": simd.Mul64, "mul.lo.s64": simd.Mul64, "mad.lo.u64": simd.Mad64, "mad.lo.s64": simd.Mad64,
	"and.b64": simd.And64, "or.b64": simd.Or64, "xor.b64": simd.Xor64, "not.b64": simd.Not64,
	"shl.b64": simd.Shl64, "shr.b64": simd.ShrU64, "shr.u64": simd.ShrU64, "shr.s64": simd.ShrS64,
	"mul.wide.u32": simd.MulWideU, "mul.wide.s32": simd.MulWideS, "mad.wide.u32": simd.MadWideU, "mad.wide.s32": simd.MadWideS,

	"and.pred": simd.AndPred, "or.pred": simd.OrPred, "xor.pred": simd.XorPred, "not.pred": simd.NotPred,
}

var vectorConversions = map[arith.Conversion]simd.Op{
	{From: "u32", To: "u64"}: simd.ExtendU, {From: "s32", To: "s64"}: simd.ExtendS,
	{From: "u64", To: "u32"}: simd.Trunc, {From: "s64", To: "s32"}: simd.Trunc,
	{From: "s32", To: "f32", Mode: "rn"}: simd.FloatS32, {From: "u32", To: "f32", Mode: "rn"}: simd.FloatU32,
}

// vectorMoves are the copies of a width.
var vectorMoves = map[width]simd.Op{half: simd.Mov32, word: simd.Mov32, double: simd.Mov64, predicate: simd.MovPred}

// vectorForm describes how assembly runs an instruction.
type vectorForm struct {
	op   simd.Op // 0 if it does not
	swap bool    // the first two sources change places
	not  bool    // the resulting predicate is complemented
}

// comparisonForm is setp of a type, without an operation if assembly has none.
func comparisonForm(t ptx.Type, c comparison, not bool) vectorForm {
	switch {
	case t == "f32":
		return [...]vectorForm{
			equal: {simd.EqualF32, false, not}, unequal: {simd.UnequalF32, false, not},
			less: {simd.LessF32, false, not}, greater: {simd.LessF32, true, not},
			lessEqual: {simd.LessEqualF32, false, not}, greaterEqual: {simd.LessEqualF32, true, not},
			isNumber: {simd.NumberF32, false, not}, isNaN: {simd.NumberF32, false, !not},
		}[c]
	case arith.IsFloat(t) || t.Bytes() < 4 || c > unequal:
		return vectorForm{}
	}
	same, smaller := simd.Equal32, simd.LessU32
	switch {
	case t.Bytes() == 8 && t[0] == 's':
		same, smaller = simd.Equal64, simd.LessS64
	case t.Bytes() == 8:
		same, smaller = simd.Equal64, simd.LessU64
	case t[0] == 's':
		smaller = simd.LessS32
	}
	return [...]vectorForm{
		equal: {same, false, not}, unequal: {same, false, !not},
		less: {smaller, false, not}, greater: {smaller, true, not},
		lessEqual: {smaller, true, !not}, greaterEqual: {smaller, false, !not},
	}[c]
}

// step is an instruction as assembly reads it, once its operands have places.
func (in *instr) step() simd.Step {
	op := in.vector.op
	s := simd.Step{Op: op, D: in.d, A: in.a, B: in.b, C: in.c, Guard: 4 * in.guard, Flip: in.flip}
	if in.vector.swap {
		s.A, s.B = s.B, s.A
	}
	switch {
	case op == simd.Select32 || op == simd.Select64:
		if s.C = 4 * in.x.p; in.x.pflip != 0 {
			s.A, s.B = s.B, s.A
		}
	case op >= simd.MovPred && op <= simd.NotPred:
		s.A, s.B = 4*s.A, 4*s.B
	}
	switch {
	case op.Predicate():
		if s.D *= 4; in.vector.not {
			s.X = all
		}
	case in.guard != always || in.flip != 0:
		s.Op, s.X = simd.Guarded, uint32(op)
	}
	return s
}

// vectorise finds the runs of instructions that assembly can run. A run may be entered
// and left anywhere.
func (p *Program) vectorise() {
	p.steps = make([]simd.Step, len(p.code))
	for i := len(p.code) - 1; i >= 0; i-- {
		in := &p.code[i]
		if mem := in.mem; mem != nil {
			if mem.site = -1; mem.regular() {
				mem.site = p.sites
				p.sites++
			}
		}
		switch mem := in.mem; {
		case in.flow == warpSync:
			if p.steps[i] = in.step(); !p.wholeShuffle(in) {
				p.steps[i] = simd.Step{}
			}
			continue
		case in.vector.op != 0:
			p.steps[i] = in.step()
		case mem != nil && mem.plain && mem.site >= 0 && (mem.space == ptx.Shared || mem.wideAddr):
			p.steps[i] = mem.step(in)
		default:
			continue
		}
		if in.run = 1; i+1 < len(p.code) {
			in.run += p.code[i+1].run
			joinRow(&p.steps[i], &p.steps[i+1])
		}
	}
}

// wholeShuffle reports whether all lanes always shuffle together, in the lanes that the
// instruction names and with no predicate to set.
func (p *Program) wholeShuffle(in *instr) bool {
	named := func(s preset) bool {
		return s.offset == in.x.e && s.value.kind == constantValue && s.value.width == word && uint32(s.value.bits) == all
	}
	return in.vector.op != 0 && in.guard == always && in.flip == 0 && in.x.hasD && !in.x.hasD2 && slices.ContainsFunc(p.presets, named)
}

// joinRow makes a product the start of a row if the next product has the same first
// source; the product must not overwrite it.
func joinRow(s, behind *simd.Step) {
	product := behind.Op == simd.FmaF32 || behind.Op == simd.FmaRow
	if s.Op == simd.FmaF32 && product && s.A == behind.A && s.D != s.A {
		s.Op, s.X = simd.FmaRow, behind.X+1
	}
}

// runVector runs n instructions from pc on in the lanes of the mask, and ends early after
// a fault.
func (w *warp) runVector(pc, n int32, mask uint32) {
	p, r := w.block.prog, &w.vector
	r.Mask = mask
	for n > 0 {
		w.open(r)
		r.Steps, r.N = &p.steps[pc], int(n)
		w.block.vectors.Run(r)
		if r.N == 0 {
			return
		}
		pc, n = pc+n-int32(r.N), int32(r.N) // assembly does not run the first one left
		in := &p.code[pc]
		if m := mask & (w.preds[in.guard] ^ in.flip); m != 0 {
			if in.exec(w, in, m); w.block.fault != nil {
				return
			}
		}
		pc, n = pc+1, n-1
	}
}

const stepBytes = uint32(unsafe.Sizeof(simd.Step{}))

// addBranches sets the steps of branches, once their targets are known, and counts the
// steps that run from each instruction on with them.
func (p *Program) addBranches() {
	for i := len(p.code) - 1; i >= 0; i-- {
		in := &p.code[i]
		shuffles := in.flow == warpSync && p.steps[i].Op != simd.Guarded
		if in.run == 0 && in.flow != branch && in.flow != jump && !shuffles || in.leaves != stays {
			continue
		}
		if in.through = 1; i+1 < len(p.code) {
			in.through += p.code[i+1].through
		}
	}
	for i := range p.code {
		in := &p.code[i]
		op := simd.Branch
		switch in.flow {
		case jump:
			op = simd.Jump
		case branch:
			if in.leaves != stays {
				continue
			}
		default:
			continue
		}
		p.steps[i] = simd.Step{Op: op, Guard: 4 * in.guard, Flip: in.flip, X: uint32(p.before[i+1]),
			D: uint32(in.target) * stepBytes, B: uint32(p.before[in.target]), C: uint32(p.code[in.target].through)}
	}
}

// runThrough runs steps from pc on, through branches that all lanes of the mask take or
// none does, and returns where it ended: at an instruction that is no step, at a branch
// that divides the lanes, at a fault, or at the end of the warp's turn. It counts the
// branches, and w.vector holds the last taken one and the number of instructions from
// start to it.
func (w *warp) runThrough(pc, start int32, mask uint32, ran int64) int32 {
	p, r := w.block.prog, &w.vector
	r.Mask, r.Base, r.Target = mask, &p.steps[0], simd.NoTarget
	r.From, r.Ran, r.Most, r.Branches, r.Shuffles = uint32(p.before[start]), 0, uint32(turnInstructions-ran), 0, 0
	for n := int(p.code[pc].through); n > 0; n = r.N - 1 {
		w.open(r)
		r.Steps, r.N = &p.steps[pc], n
		w.block.vectors.Run(r)
		if pc = int32(uint32(r.At) / stepBytes); r.N == 0 {
			break
		}
		in := &p.code[pc] // assembly does not run it
		if in.flow == warpSync {
			break
		}
		if m := mask & (w.preds[in.guard] ^ in.flip); m != 0 {
			if in.exec(w, in, m); w.block.fault != nil {
				break
			}
		}
		pc++
	}
	w.block.cnt.Branches += uint64(r.Branches)
	w.block.cnt.Shuffles += uint64(r.Shuffles)
	return pc
}
