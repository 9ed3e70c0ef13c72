package engine

import "slices"

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

// fenceForm lowers membar and fence: memory is always consistent in the emulator, so a
// fence affects only the searches for races.
func fenceForm(lo *lowering) error {
	src := lo.op.in.src
	async := slices.Contains(src.Modifiers, "proxy") && slices.Contains(src.Modifiers, "async")
	engine := async || slices.Contains(src.Modifiers, "mbarrier_init")
	wide := slices.ContainsFunc(src.Modifiers, func(m string) bool { return m == "gl" || m == "gpu" || m == "sys" })
	lo.op.in.exec = func(w *warp, _ *instr, m uint32) {
		if g := w.block.global; g != nil {
			g.Fence(&w.party, wide)
		}
		if engine {
			w.fenceAsync()
		}
		if r := w.block.races; r != nil && async {
			w.proxyFence = r.Tick()
		}
	}
	return nil
}
