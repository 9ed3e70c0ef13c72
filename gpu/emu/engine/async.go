package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/ptx"
)

// This file is cp.async. The bytes are read from global memory when the instruction
// runs, and written to shared memory when the thread waits for them. Until then the
// destination counts as never written, and the search for races treats it as written by
// both.

// cpForm lowers cp.async and related instructions.
func cpForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	reduces := w.has("reduce")
	if !w.has("async") || reduces && !w.has("bulk") {
		return lo.unsupported("no such form of cp")
	}
	if reduces {
		return lo.bulkReduceForm(w)
	}
	if w.has("bulk") {
		return lo.bulkCopyForm(w)
	}
	if w.has("mbarrier") {
		return lo.copyArriveForm(w)
	}
	op := w.take("commit_group", "wait_group", "wait_all")
	if op == "" {
		return lo.asyncCopy(w)
	}
	if len(w) > 0 {
		return lo.unsupported("no such form of cp.async")
	}
	lo.op.in.flow = checked
	switch op {
	case "commit_group":
		lo.op.in.exec = func(w *warp, _ *instr, m uint32) { w.copies.Commit(m) }
	case "wait_all":
		lo.op.in.exec = func(w *warp, _ *instr, m uint32) { w.complete(func(*copyengine.Copy) uint32 { return m }) }
	default:
		return lo.waitGroup()
	}
	return lo.operands(0, 0)
}

// waitGroup waits for all groups of a lane except the last few.
func (lo *lowering) waitGroup() error {
	if err := lo.operands(1, 1); err != nil {
		return err
	}
	n := lo.operand(0)
	if n.Kind != ptx.ImmediateOperand {
		return lo.malformed("operand 1 is no constant")
	}
	lo.op.in.exec = func(w *warp, _ *instr, m uint32) {
		w.complete(func(c *copyengine.Copy) uint32 { return w.copies.Before(c, m, n.Bits) })
	}
	return nil
}

// asyncForm holds the operands of a cp.async.
type asyncForm struct {
	to, from func(w *warp, m uint32)
	load     *instr // all bytes
	byte     *instr // one of them
	bytes    uint32
	bypass   bool   // past the L1 cache
	size     uint32 // slot of the number of bytes that are read; the others are zeros
	partial  bool
	ignore   uint32 // predicate of lanes that read none, and whether it is negated
	flip     uint32
	ignores  bool
}

func (lo *lowering) asyncCopy(w words) error {
	cache := w.take("ca", "cg")
	w.drop() // hints to the L2 cache
	shared := w.take("shared", "shared::cta") != ""
	if !w.has("global") || !shared || cache == "" || len(w) > 0 {
		return lo.unsupported("no such form of cp.async")
	}
	hints := lo.hinted()
	if err := lo.operands(3+hints, 4+hints); err != nil {
		return err
	}
	n := lo.operand(2)
	if n.Kind != ptx.ImmediateOperand || n.Bits != 16 && (cache == "cg" || n.Bits != 4 && n.Bits != 8) {
		return lo.malformed("operand 3, the size, expected 4, 8 or 16, of .cg 16")
	}
	f := &asyncForm{bytes: uint32(n.Bits)}
	var err error
	if f.to, _, err = lo.addressPart(0); err != nil {
		return err
	}
	if f.from, _, err = lo.addressPart(1); err != nil {
		return err
	}
	in := &lo.op.in
	put := lo.part(store, ptx.Shared, n.Bits)
	lo.op.parts = nil
	in.mem, in.flow = put.mem, checked
	f.load, f.byte = lo.part(load, ptx.Global, n.Bits), lo.part(load, ptx.Global, 1)
	f.load.mem.uncounted, f.byte.mem.uncounted = true, true // see countCopy
	f.bypass = cache == "cg"
	in.exec = func(w *warp, in *instr, m uint32) { w.startCopy(f, in, m) }
	if len(lo.op.in.src.Operands) == 3+hints {
		return nil
	}
	return lo.asyncPart(f)
}

// asyncPart binds the operand that limits how much of the source is read: a size, or a
// predicate for nothing at all.
func (lo *lowering) asyncPart(f *asyncForm) error {
	o := lo.operand(3)
	if o.Kind == ptx.RegisterOperand && lo.fn.Registers[o.Reg].Type == "pred" {
		f.ignores = true
		return lo.predicateUse(&f.ignore, &f.flip, 3)
	}
	f.partial = true
	return lo.use(&f.size, 3, "b32")
}

// startCopy reads the source and adds the copy to the pending ones.
func (w *warp) startCopy(f *asyncForm, in *instr, m uint32) {
	w.block.cnt.AsyncCopies++
	c := w.copies.Start(in.mem.pc, m, in.mem.size)
	*w.scratch(in, 0) = [32]uint64{}
	if in.mem.count > 1 {
		*w.scratch(in, 1) = [32]uint64{}
	}
	f.to(w, m)
	c.At = w.addr
	full := m
	if f.ignores {
		full &^= w.preds[f.ignore] ^ f.flip
	}
	if w.block.counting {
		w.countCopy(f, full, &c.At)
	}
	if f.partial {
		full = w.copyParts(f, m)
	}
	if w.block.fault != nil {
		return
	}
	if full != 0 {
		f.from(w, full)
		if w.runPart(f.load, full); w.block.fault != nil {
			return
		}
	}
	for k := range in.mem.count {
		c.Data[k] = *w.scratch(in, k)
	}
	w.addr = c.At
	w.reserve(in, c)
}

// countCopy counts a copy as the profiler does: as a load from global memory by the
// lanes that read at least a byte, and as no store to shared memory.
func (w *warp) countCopy(f *asyncForm, reads uint32, to *[32]uint64) {
	if f.partial {
		for l, size := range lanes[uint32](w, f.size) {
			if size == 0 {
				reads &^= 1 << l
			}
		}
	}
	if reads == 0 {
		return
	}
	f.from(w, reads)
	p := gpu.Pattern{Mask: reads, Bytes: int(f.bytes), Address: w.addr}
	if f.bypass {
		p.To = to
	}
	w.countPattern(f.load, ptx.Global, &p)
}

// copyParts reads the bytes of lanes that copy only a part, and returns the lanes that
// copy all bytes.
func (w *warp) copyParts(f *asyncForm, m uint32) (full uint32) {
	var data [2][32]uint64
	size := *lanes[uint32](w, f.size)
	for l := range 32 {
		switch {
		case m>>l&1 == 0:
		case size[l] == f.bytes:
			full |= 1 << l
		case size[l] > f.bytes:
			w.fail(f.load, l, gpu.ErrArgument, "%d bytes to read, expected at most %d", size[l], f.bytes)
			return 0
		}
	}
	for n := range f.bytes {
		var some uint32
		for l := range 32 {
			if (m&^full)>>l&1 != 0 && n < size[l] {
				some |= 1 << l
			}
		}
		if some == 0 {
			break
		}
		f.from(w, some)
		for l := range w.addr {
			w.addr[l] += uint64(n)
		}
		if w.runPart(f.byte, some); w.block.fault != nil {
			return 0
		}
		eachLane(some, func(l int) { data[n/8][l] |= w.scratch(f.byte, 0)[l] & 0xff << (n % 8 * 8) })
	}
	for k := range f.load.mem.count {
		*w.scratch(f.load, k) = data[k]
	}
	return full
}

// reserve checks the destination of a copy and marks it as not written.
func (w *warp) reserve(in *instr, c *copyengine.Copy) {
	p := place{space: ptx.Shared, contents: w.block.shared}
	if bad := w.misplaced(in, p, c.Mask); bad != 0 {
		c.Mask = w.tolerate(in, p, c.Mask, bad)
	}
	if c.Mask == 0 || !w.checkRace(in, p, c.Mask) {
		return
	}
	for m := c.Mask; m != 0; m &= m - 1 {
		p.contents.Unwrite(int(c.At[lowest(m)&31]), 1<<in.mem.size-1)
	}
	w.copies.Pend(c)
}

// complete writes the pending copies whose wait was reached; due returns their lanes.
func (w *warp) complete(due func(c *copyengine.Copy) uint32) {
	w.copies.Complete(due, func(c *copyengine.Copy, now uint32) {
		if w.block.fault != nil {
			return
		}
		in := &w.block.prog.code[c.PC]
		w.addr = c.At
		for k := range in.mem.count {
			*w.scratch(in, k) = c.Data[k]
		}
		w.transfer(in, place{space: ptx.Shared, contents: w.block.shared}, now)
	})
}
