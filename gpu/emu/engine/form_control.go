package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/flow"
	"warpbook/gpu/ptx"
)

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

// deepForm lowers a recursion that may need more than the default stack of a GPU. What may be
// more than the limit of the launch is a warning: a GPU's frames have other sizes.
func deepForm(lo *lowering) error {
	in := &lo.op.in
	in.flow = checked
	in.exec = func(w *warp, in *instr, m uint32) {
		top, end := lanes[uint64](w, in.a), lanes[uint64](w, in.b)
		for ; m != 0; m &= m - 1 {
			l := lowest(m)
			switch bytes := top[l] - end[l] + flow.Unasked; {
			case bytes > flow.StackBytes:
				w.fail(in, l, gpu.ErrOutOfBounds, "a recursion deeper than the emulator's %d KiB per thread, whatever cudaLimitStackSize is", flow.StackBytes>>10)
				return
			case flow.OnGPU(bytes) > w.block.launch.stack && !w.block.launch.warned.has(in):
				w.warn(in, l, gpu.ErrOutOfBounds, "a recursion needs up to %d bytes of stack on a GPU, %d here, and cudaLimitStackSize is %d: beyond its stack a GPU faults or overwrites memory: recurse less, or set the limit by cudaDeviceSetLimit before the launch", flow.OnGPU(bytes), bytes, w.block.launch.stack)
			}
		}
	}
	if err := lo.use(&in.a, 0, "b64"); err != nil {
		return err
	}
	return lo.use(&in.b, 1, "b64")
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
