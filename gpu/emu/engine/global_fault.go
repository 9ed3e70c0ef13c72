package engine

import (
	"fmt"

	"warpbook/gpu"
)

// globalRace is the fault of a race on a word of global memory.
func (w *warp) globalRace(in *instr, p place, at uint64, before, now seen, wrote bool, r relation) *gpu.Fault {
	b, l := w.block, now.lane()
	e := b.global.events[before.event()]
	kind, did := "read-after-write", "wrote"
	switch {
	case !wrote:
		kind, did = "write-after-read", "read"
	case in.mem.kind != load:
		kind = "write-after-write"
	}
	first := &b.prog.code[e.pc()]
	other := b.thread(int(e.warp())*32 + before.lane())
	offset := int(max(at-p.allocation.Address(), w.addr[l]))
	by := fmt.Sprintf("thread %v", other)
	if r == ofBlocks {
		by = fmt.Sprintf("block %v thread %v", b.launch.place(int64(e.block-1)), other)
	}
	f := b.newFault(in, gpu.ErrRace, fmt.Sprintf("%s hazard on %s of %s: %s %s it with %s at %s, and %s",
		kind, in.mem.elementAt(offset), b.launch.named(p.allocation), by, did, first.src.Name(), b.prog.placeOf(first), w.remedyOf(in, first, &e, r)))
	thread := b.thread(w.index*32 + l)
	f.Thread = &thread
	f.Other = &gpu.Site{Instruction: first.src.Name(), Line: first.src.Pos.Line, Source: b.prog.sourceOrCall(first), Thread: other}
	return f
}

// remedyOf is what is missing between two accesses that race, and what to do.
func (w *warp) remedyOf(in, first *instr, e *event, r relation) string {
	g, block := w.block.global, w.block.number()
	const own = "or let each thread write its own element"
	switch {
	case r == ofBlocks && first.mem.kind == store && g.signalled(e, block):
		by := g.signals[e.block].in
		return fmt.Sprintf("the %s at %s, by which the blocks count or signal, publishes no stores: put __threadfence() between the store and it", by.src.Name(), w.block.prog.placeOf(by))
	case r == ofBlocks && (in.mem.strong || first.mem.strong):
		return "nothing orders the blocks: use an atomic for both, grid.sync(), or two launches; a plain read beside atomics may see an old value, which is harmless only if a later atomic decides"
	case r == ofBlocks:
		return "nothing orders the blocks: use an atomic, grid.sync(), or two launches"
	case in.mem.strong || first.mem.strong:
		return "nothing orders the threads: use an atomic for both, or put __syncthreads() between; a plain read beside atomics may see an old value, which is harmless only if a later atomic decides"
	case in == first:
		return "both threads run this instruction: one of the values is lost; use an atomic such as atomicAdd, " + own
	case w.block.prog.sourceOrCall(in) != "" && w.block.prog.sourceOrCall(in) == w.block.prog.sourceOrCall(first):
		return "no barrier stands between: use an atomic such as atomicAdd, write to another buffer, " + own
	case e.warp() == uint32(w.index):
		return "no barrier stands between: put __syncwarp() there, __syncthreads() if other warps access it, or write to another buffer"
	}
	return "no barrier stands between: put __syncthreads() there, or write to another buffer"
}

// noteEqual notes that threads store the same value in the same place.
func (w *warp) noteEqual(in *instr, p place, at uint64, before, now seen) {
	b, l := w.block, now.lane()
	e := b.global.events[before.event()]
	first := &b.prog.code[e.pc()]
	w.warn(in, l, gpu.ErrSameValue, "%s of %s: block %v thread %v stored the same value with %s at %s, which is right only as long as the values are equal",
		in.mem.elementAt(int(max(at-p.allocation.Address(), w.addr[l]))), b.launch.named(p.allocation), b.launch.place(int64(e.block-1)), b.thread(int(e.warp())*32+before.lane()), first.src.Name(), b.prog.placeOf(first))
}
