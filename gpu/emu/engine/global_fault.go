package engine

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/emu/races"
)

// globalRace is the fault of a race on a word of global memory.
func globalRace(w *warp, in *instr, p place, at uint64, before, now races.Seen, wrote bool, r races.Relation) *gpu.Fault {
	b, l := w.block, now.Lane()
	e := b.global.Event(before)
	kind, did := "read-after-write", "wrote"
	switch {
	case !wrote:
		kind, did = "write-after-read", "read"
	case in.mem.kind != load:
		kind = "write-after-write"
	}
	first := &b.prog.code[e.PC()]
	other := b.thread(e.Warp()*32 + before.Lane())
	offset := int(max(at-p.allocation.Address(), w.addr[l]))
	by := fmt.Sprintf("thread %v", other)
	if r == races.OfBlocks {
		by = fmt.Sprintf("block %v thread %v", b.launch.place(int64(e.Block-1)), other)
	}
	f := b.newFault(in, gpu.ErrRace, fmt.Sprintf("%s hazard on %s of %s: %s %s it with %s at %s, and %s",
		kind, in.mem.elementAt(offset), b.launch.named(p.allocation), by, did, first.src.Name(), b.prog.placeOf(first), remedyOf(w, in, first, e, r)))
	thread := b.thread(w.index*32 + l)
	f.Thread = &thread
	f.Other = &gpu.Site{Instruction: first.src.Name(), Line: first.src.Pos.Line, Source: b.prog.sourceOrCall(first), Thread: other}
	return f
}

// remedyOf is what is missing between two accesses that race, and what to do.
func remedyOf(w *warp, in, first *instr, e *races.Event, r races.Relation) string {
	const own = "or let each thread write its own element"
	if pc, ok := w.block.global.Signalled(e, w.block.number()); r == races.OfBlocks && first.mem.kind == store && ok {
		by := &w.block.prog.code[pc]
		return fmt.Sprintf("the %s at %s, by which the blocks count or signal, publishes no stores: put __threadfence() between the store and it", by.src.Name(), w.block.prog.placeOf(by))
	}
	switch {
	case r == races.OfBlocks && (in.mem.strong || first.mem.strong):
		return "nothing orders the blocks: use an atomic for both, grid.sync(), or two launches; a plain read beside atomics may see an old value, which is harmless only if a later atomic decides"
	case r == races.OfBlocks:
		return "nothing orders the blocks: use an atomic, grid.sync(), or two launches"
	case in.mem.strong || first.mem.strong:
		return "nothing orders the threads: use an atomic for both, or put __syncthreads() between; a plain read beside atomics may see an old value, which is harmless only if a later atomic decides"
	case in == first:
		return "both threads run this instruction: one of the values is lost; use an atomic such as atomicAdd, " + own
	case w.block.prog.sourceOrCall(in) != "" && w.block.prog.sourceOrCall(in) == w.block.prog.sourceOrCall(first):
		return "no barrier stands between: use an atomic such as atomicAdd, write to another buffer, " + own
	case e.Warp() == w.index:
		return "no barrier stands between: put __syncwarp() there, __syncthreads() if other warps access it, or write to another buffer"
	}
	return "no barrier stands between: put __syncthreads() there, or write to another buffer"
}

// SameValue notes that threads store the same value in the same place.
func (j *judge) SameValue(at uint64, before, now races.Seen) {
	w, in, p := j.warp, j.in, j.at
	b, l := w.block, now.Lane()
	e := b.global.Event(before)
	first := &b.prog.code[e.PC()]
	w.warn(in, l, gpu.ErrSameValue, "%s of %s: block %v thread %v stored the same value with %s at %s, which is right only as long as the values are equal",
		in.mem.elementAt(int(max(at-p.allocation.Address(), w.addr[l]))), b.launch.named(p.allocation), b.launch.place(int64(e.Block-1)), b.thread(e.Warp()*32+before.Lane()), first.src.Name(), b.prog.placeOf(first))
}
