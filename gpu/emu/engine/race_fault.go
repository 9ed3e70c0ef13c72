package engine

import (
	"fmt"

	"warpbook/gpu"
)

// racer is an access of a race and its thread.
type racer struct {
	in     *instr
	thread int // linear, of the block
}

func (r racer) warp() int { return r.thread / 32 }

// barrierBetween is the barrier that orders two threads.
func barrierBetween(first, second racer) string {
	if first.warp() == second.warp() {
		return warpBarrier
	}
	return "__syncthreads()"
}

// barrierForReaders is where to put which barrier between a write and a read that came too
// early. Other warps of the block may read, too, before the fault ends them.
func (b *block) barrierForReaders(read, write racer) string {
	text := barrierBetween(read, write) + " there"
	if read.warp() == write.warp() && len(b.warps) > 1 {
		text += ", __syncthreads() if other warps access it"
	}
	return text
}

// raceOf is the fault of a race.
func (b *block) raceOf(first, second racer, cell uint64) *gpu.Fault {
	kind, did := "read-after-write", "wrote"
	switch {
	case first.in.mem.kind == load:
		kind, did = "write-after-read", "read"
	case second.in.mem.kind != load:
		kind = "write-after-write"
	}
	other, thread := b.thread(first.thread), b.thread(second.thread)
	f := b.newFault(second.in, gpu.ErrRace, fmt.Sprintf("%s hazard on %s: thread %v %s it with %s at %s, and %s", kind, b.launch.sharedPlace(cell*b.races.CellBytes()),
		other, did, first.in.src.Name(), b.prog.placeOf(first.in), b.prog.missing(first, second)))
	f.Thread = &thread
	f.Other = &gpu.Site{Instruction: first.in.src.Name(), Line: first.in.src.Pos.Line, Source: b.prog.sourceOrCall(first.in), Thread: other}
	return f
}

// missing is what does not stand between the accesses of a race, and the remedy. A write
// that comes after a read of a later line, or by it, belongs to the next iteration of a loop.
func (p *Program) missing(first, second racer) string {
	read, write := first.in, second.in
	reads := read.mem.kind == load
	switch {
	case bulk(write) && reads:
		return "nothing orders that read before this copy: readers wait for the copy's own phase of its mbarrier, and a place is filled again after a barrier at which they have arrived"
	case bulk(first.in):
		return "no wait stands between: wait for the phase of the mbarrier that counts the copy"
	}
	barrier := barrierBetween(first, second)
	if read == write && !reads {
		return "both threads run this instruction: one of the values is lost; let each thread write its own element, or put " + barrier + " between the iterations of a loop"
	}
	text := "no barrier stands between: put " + barrier + " there"
	switch from, to := p.near(read.src).Source, p.near(write.src).Source; {
	case from.File != to.File || from.Line == 0:
	case from.Line == to.Line:
		text += ": after this line if it is in a loop, or between its read and its write, with the value in a variable"
	case reads && to.Line < from.Line:
		text += ": if both lines are in a loop, as its last statement"
	}
	return text
}

// preferWarps makes a pending race within a warp one of two warps, if an access of the same
// line takes part: then a barrier of the warp would not be enough. The pending race says
// which of its lines comes first.
func (b *block) preferWarps(first, second racer, cell uint64) {
	p := b.pending
	if b.warpOf(*p.Thread) != b.warpOf(p.Other.Thread) {
		return
	}
	earlier := func(r racer) bool {
		return r.in.src.Name() == p.Other.Instruction && b.prog.sourceOrCall(r.in) == p.Other.Source
	}
	later := func(r racer) bool { return r.in.src.Name() == p.Instruction && b.prog.sourceOrCall(r.in) == p.Source }
	switch {
	case earlier(first) || later(second):
		*p = *b.raceOf(first, second, cell)
	case earlier(second) || later(first):
		*p = *b.raceOf(second, first, cell)
	}
}

// warpOf is the warp of a thread.
func (b *block) warpOf(thread gpu.Dim) int {
	d := b.launch.block
	return (thread.X + d.X*(thread.Y+d.Y*thread.Z)) / 32
}
