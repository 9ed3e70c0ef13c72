package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// forms maps each opcode to its lowering. Opcodes that compute a result from their
// operands are rows; opcodes that are in neither table are rejected by name.
var forms = map[string]func(*lowering) error{
	"add": rowForm, "sub": rowForm, "mul": rowForm, "mad": rowForm, "fma": rowForm, "div": rowForm, "rem": rowForm,
	"mul24": rowForm, "mad24": rowForm, "sad": rowForm, "abs": rowForm, "neg": rowForm, "min": rowForm, "max": rowForm,
	"and": rowForm, "or": rowForm, "xor": rowForm, "not": rowForm, "cnot": rowForm, "shl": rowForm, "shr": rowForm,
	"popc": rowForm, "clz": rowForm, "brev": rowForm, "bfind": rowForm, "bfe": rowForm, "shf": rowForm, "prmt": rowForm,
	"dp2a": rowForm, "dp4a": rowForm, "bmsk": rowForm, "szext": rowForm, "fns": rowForm, "rcp": rowForm, "sqrt": rowForm, "rsqrt": rowForm, "ex2": rowForm, "lg2": rowForm,
	"sin": rowForm, "cos": rowForm, "tanh": rowForm, "copysign": rowForm,
	"addc": carryForm, "subc": carryForm, "madc": carryForm,
	"lop3": lop3Form, "bfi": bfiForm, "selp": selpForm, "slct": slctForm,
	"setp": setpForm, "set": setForm, "testp": testpForm, "cvt": cvtForm,
	"mov": movForm, "cvta": cvtaForm, "isspacep": isspacepForm,
	"ld": loadForm, "ldu": loadForm, "st": storeForm, "atom": atomForm, "red": atomForm,
	"bra": branchForm, "brx": indexedForm, "ret": leaveForm, "exit": leaveForm, "trap": trapForm, "call": callForm,
	"bar": barrierForm, "barrier": barrierForm, "membar": fenceForm, "fence": fenceForm,
	"nanosleep": pauseForm, "prefetch": nothingForm, "prefetchu": nothingForm, "pmevent": nothingForm,
	"griddepcontrol": nothingForm, "applypriority": nothingForm,
	"shfl": shuffleForm, "vote": voteForm, "match": matchForm, "redux": reduxForm, "activemask": activemaskForm,
	"elect": electForm, "mma": mmaForm, "wmma": wmmaForm, "ldmatrix": ldmatrixForm, "stmatrix": stmatrixForm, "movmatrix": movmatrixForm,
	"createpolicy": policyForm, "cp": cpForm, "mbarrier": mbarrierForm, "mapa": mapaForm, "wgmma": wgmmaForm, "setmaxnreg": setmaxnregForm,
	"tex": texForm, "tld4": tld4Form, "txq": txqForm, "suq": txqForm, "suld": suldForm, "sust": sustForm, "call vprintf": printfForm, "call __assertfail": assertForm, "call malloc": mallocForm, "call free": freeForm,
}

// lop3Form moves the table from the operands to the row's constant.
func lop3Form(lo *lowering) error {
	if err := lo.operands(5, 5); err != nil {
		return err
	}
	table := lo.operand(4)
	if table.Kind != ptx.ImmediateOperand || table.Bits > 255 {
		return lo.malformed("operand 5 is no constant from 0 to 255")
	}
	if len(lo.op.in.src.Modifiers) != 1 {
		return lo.unsupported("lop3 with a predicate")
	}
	in := &lo.op.in
	in.operation.Table, in.lane, in.kinds, in.exec = uint8(table.Bits), arith.Logic3, "wwww", runLanes
	return lo.bindFirst("wwww", "b32")
}

// bindFirst binds the operands of a row and returns the remaining ones.
func (lo *lowering) bindFirst(kinds string, t ptx.Type) error {
	src := *lo.op.in.src
	whole := lo.op.in.src
	src.Operands = src.Operands[:len(kinds)]
	lo.op.in.src = &src
	defer func() { lo.op.in.src = whole }()
	return lo.bindKinds(kinds, t)
}

// bfiForm inserts the low bits of the first source into the second.
func bfiForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	t := w.last()
	if len(w) > 0 || t != "b32" && t != "b64" {
		return lo.unsupported("no such form of bfi")
	}
	if err := lo.operands(5, 5); err != nil {
		return err
	}
	in, x := &lo.op.in, lo.extra()
	keep := uint32(0xff) // of position and length, see extract
	if t == "b64" {
		keep = all
	}
	in.exec = func(w *warp, in *instr, m uint32) {
		w.gather(&w.tmp[0], width(in.kinds[0]), in.a)
		w.gather(&w.tmp[1], width(in.kinds[0]), in.b)
		from, length := lanes[uint32](w, in.c), lanes[uint32](w, in.x.e)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			mask := (uint64(1)<<(length[l]&keep) - 1) << (from[l] & keep)
			w.setLane(in, l, w.tmp[1][l]&^mask|w.tmp[0][l]<<(from[l]&keep)&mask)
		}
	}
	in.kinds = string(rune(widthOf(t)))
	return first(
		lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t),
		lo.use(&in.c, 3, "b32"), lo.use(&x.e, 4, "b32"))
}

// setLane sets a lane of the destination.
func (w *warp) setLane(in *instr, l int, v uint64) {
	switch width(in.kinds[0]) {
	case double:
		lanes[uint64](w, in.d)[l] = v
	case predicate:
		w.preds[in.d] = w.preds[in.d]&^(1<<l) | uint32(v&1)<<l
	default:
		lanes[uint32](w, in.d)[l] = uint32(v) & width(in.kinds[0]).mask()
	}
}

// first is the first of several errors.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func branchForm(lo *lowering) error {
	lo.op.in.flow = branch
	if err := lo.operands(1, 1); err != nil {
		return err
	}
	o := lo.operand(0)
	if o.Kind != ptx.LabelOperand {
		return lo.malformed("operand 1 is no label")
	}
	lo.op.label = o.Symbol
	return nil
}

func indexedForm(lo *lowering) error {
	lo.op.in.flow = indexed
	if err := lo.operands(2, 2); err != nil {
		return err
	}
	lo.extra()
	lo.op.table = lo.fn.Tables[lo.operand(1).Symbol]
	if lo.op.table == nil {
		return lo.malformed("operand 2 names no list of targets")
	}
	return lo.use(&lo.op.in.a, 0, "b32")
}

// leaveForm lowers exit, and ret: in an inlined function it goes to the instruction
// after the call.
func leaveForm(lo *lowering) error {
	if src := lo.op.in.src; src.Opcode == "ret" && len(src.Operands) == 1 && src.Operands[0].Kind == ptx.LabelOperand {
		lo.op.in.flow, lo.op.label = jump, src.Operands[0].Symbol
		return nil
	}
	lo.op.in.flow = leave
	return lo.operands(0, 0)
}

// callForm lowers a call whose function stands after it: only lanes without the guard
// branch past it.
func callForm(lo *lowering) error {
	if src := lo.op.in.src; len(src.Operands) > 0 {
		lo.op.in.flow, lo.op.label = jump, src.Operands[0].Symbol
		return nil
	}
	return nothingForm(lo)
}

func trapForm(lo *lowering) error {
	lo.op.in.flow = checked
	if len(lo.op.in.src.Operands) == 1 {
		return lo.badCall()
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		w.fail(in, lowest(m), gpu.ErrTrap, "%s", w.block.launch.trapped(in))
	}
	return lo.operands(0, 0)
}

// badCall lowers the end of a call through a pointer that is none of its possible
// functions.
func (lo *lowering) badCall() error {
	in := &lo.op.in
	in.exec = func(w *warp, in *instr, m uint32) {
		l := lowest(m)
		w.fail(in, l, gpu.ErrOutOfBounds, "a call of address %#x, which is no function of the wanted type", lanes[uint64](w, in.a)[l])
	}
	return lo.use(&in.a, 0, "b64")
}

// nothingForm is an instruction without effect in the emulator: memory is always
// consistent, and there are no caches.
func nothingForm(lo *lowering) error {
	lo.op.in.exec = func(*warp, *instr, uint32) {}
	return nil
}

// setmaxnregForm changes the number of registers of a warp: in the emulator a warp has
// all registers that it names.
func setmaxnregForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	w.drop("inc", "dec", "sync", "aligned")
	if t := w.last(); t != "u32" || len(w) > 0 {
		return lo.unsupported("no such form of setmaxnreg")
	}
	if err := first(lo.target(90), lo.operands(1, 1)); err != nil {
		return err
	}
	if n := lo.operand(0); n.Kind != ptx.ImmediateOperand || n.Bits < 24 || n.Bits > 256 || n.Bits%8 != 0 {
		return lo.malformed("operand 1, expected a multiple of 8 from 24 to 256")
	}
	return nothingForm(lo)
}

// pauseForm is nanosleep: it ends the warp's turn.
func pauseForm(lo *lowering) error {
	lo.op.in.exec = func(w *warp, _ *instr, _ uint32) { w.waits += spinAfter / 8 }
	return nil
}

// barrierForm lowers bar and barrier: a barrier number, an optional thread count, and
// for a reduction its result and predicate.
func barrierForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	w.drop("cta", "aligned")
	if w.has("cluster") {
		return lo.clusterBarrierForm(w)
	}
	if w.has("warp") {
		return warpBarrierForm(lo, w)
	}
	in := &lo.op.in
	in.flow = blockSync
	lo.extra()
	switch form := w.take("sync", "arrive", "red"); form {
	case "red":
		return reductionForm(lo, w)
	case "":
		return lo.unsupported("no such form of a barrier")
	case "arrive":
		in.sub = barrierArrive
	}
	if len(w) > 0 {
		return lo.unsupported("modifier %s", w.rest())
	}
	if err := lo.operands(1, 2); err != nil {
		return err
	}
	return lo.barrierOperands(0)
}

// barrierOperands binds the number and the count of threads from operand i on.
func (lo *lowering) barrierOperands(i int) error {
	in := &lo.op.in
	if err := lo.use(&in.a, i, "b32"); err != nil {
		return err
	}
	more := len(lo.op.in.src.Operands) - i
	if in.sub >= barrierPopc {
		more-- // the predicate
	}
	if more < 2 {
		return nil
	}
	in.x.hasD2 = true
	return lo.use(&in.b, i+1, "b32")
}

func reductionForm(lo *lowering, w words) error {
	in := &lo.op.in
	in.x.hasD = true
	op, t := w.take("popc", "and", "or"), w.last()
	if len(w) > 0 || op == "" {
		return lo.unsupported("no such form of a barrier")
	}
	in.sub = map[string]uint8{"popc": barrierPopc, "and": barrierAnd, "or": barrierOr}[op]
	if err := lo.operands(3, 4); err != nil {
		return err
	}
	p := len(lo.op.in.src.Operands) - 1
	return first(lo.def(&in.d, 0, widthOf(t)), lo.barrierOperands(1), lo.predicateUse(&in.x.p, &in.x.pflip, p))
}

func warpBarrierForm(lo *lowering, w words) error {
	if w.drop("sync"); len(w) > 0 {
		return lo.unsupported("modifier %s", w.rest())
	}
	lo.op.in.flow = warpSync
	lo.op.in.exec = func(w *warp, _ *instr, _ uint32) { w.block.cnt.WarpSyncs++ }
	if err := lo.operands(1, 1); err != nil {
		return err
	}
	return lo.use(&lo.extra().e, 0, "b32")
}
