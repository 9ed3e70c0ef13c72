package engine

import (
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/races"
	"warpbook/gpu/ptx"
)

// search implements raceSearch: it tells package races of accesses, and makes faults of what
// that finds.
type search struct{}

// ends is a fault if a block ends while the copy engine or other blocks of its cluster use its
// shared memory.
func (search) ends(b *block) {
	b.outlives()
	leavesVisitors(b)
}

// raced is an access as the search sees it.
func raced(w *warp, in *instr) races.Access {
	return races.Access{PC: in.mem.pc, Warp: w.index, Bytes: in.mem.size, Reads: in.mem.kind == load, Stores: in.mem.kind == store,
		Strong: in.mem.strong, Releases: in.mem.releases, Wide: in.mem.wide}
}

// shared looks for a race of an access of the lanes in m, whose offsets are in w.addr, and
// notes the access. It reports whether it found none.
func (search) shared(w *warp, in *instr, m uint32) bool {
	r := w.block.races
	r.ToMarks(w.block.patterns)
	w.judge = judge{warp: w, in: in}
	return r.Access(raced(w, in), &w.addr, m, &w.judge)
}

// atomic looks for a race of an atomic with plain accesses, and notes the atomic. It
// reports whether it found none.
func (search) atomic(w *warp, in *instr, m uint32) bool {
	r := w.block.races
	r.ToMarks(w.block.patterns)
	w.judge = judge{warp: w, in: in}
	return r.Atomic(raced(w, in), &w.addr, m, &w.judge)
}

// Strong reports whether an instruction is atomic or volatile.
func (j *judge) Strong(pc uint32) bool { return j.block.prog.code[pc].mem.strong }

// Hazard records a race and reports whether it is one: two threads that store the same
// value do not race.
func (j *judge) Hazard(c, k *races.Mark, cell uint64) bool {
	w, in, b := j.warp, j.in, j.block
	before, now := c.Lane(), k.Lane()
	within := c.Warp() == k.Warp()
	if within {
		before, now = b.races.Pair(c, k)
	}
	first := racer{&b.prog.code[c.PC()], int(c.Warp())*32 + before}
	second := racer{in, w.index*32 + now}
	if in.mem.kind == store && first.in.mem.kind == store && sameValue(w, in, c, k, cell*b.races.CellBytes()) {
		return false
	}
	switch {
	case b.launch.goOn && !b.searching:
		if !b.launch.warned.has(in) {
			b.launch.warned.add(in, b.raceOf(first, second, cell))
		}
		return false
	case b.pending != nil && b.pending.Kind == gpu.ErrRace: // the first one is enough
		if !within {
			b.preferWarps(first, second, cell)
		}
		return false
	case b.searching:
		b.writtenLater(in, b.thread(second.thread), b.barrierForReaders(first, second))
		return false
	}
	b.pending, b.fault = nil, b.raceOf(first, second, cell)
	return !b.postpone(within && len(b.warps) > 1)
}

// postpone delays a race until the block has ended. If threads wait at a barrier and others
// skip it, the skipped barrier is the cause. After a race within one of several warps, one
// of two warps may follow: then a barrier of the warp would not be enough.
func (b *block) postpone(within bool) bool {
	skips := slices.ContainsFunc(b.barriers[:], func(bar barrier) bool { return bar.came > 0 && !bar.explicit })
	if !skips && !within {
		return false
	}
	b.pending, b.patience, b.fault = b.fault, b.cnt.WarpInstructions+patience, nil
	return true
}

// sameValue reports whether a store at an offset, by the one lane of k, leaves the cell
// as the store of c made it. Lanes of the current instruction have not stored yet.
func sameValue(w *warp, in *instr, c, k *races.Mark, offset uint64) bool {
	r := w.block.races
	now := k.Lane()
	other := func(at uint64) byte { return w.block.shared.Data[at] }
	if before := c.Lane(); c.Warp() == k.Warp() && c.PC() == k.PC() && r.Stored>>before&1 != 0 && w.reaches(in, before, offset) {
		other = func(at uint64) byte { return w.stored(in, before, at) }
	}
	for at := offset; at < offset+r.CellBytes(); at++ {
		if w.stored(in, now, at) != other(at) {
			return false
		}
	}
	return true
}

// bulk reports whether an instruction is a copy of the copy engine into shared memory.
func bulk(in *instr) bool {
	return in.src.Opcode == "cp" && slices.Contains(in.src.Modifiers, "bulk") && in.mem.kind == store
}

// needsMarks reports whether an instruction looks at accesses from before the last barrier:
// those of the copy engine and of wgmma do.
func needsMarks(in *ptx.Instruction) bool {
	return in.Opcode == "wgmma" || in.Opcode == "cp" && slices.Contains(in.Modifiers, "bulk")
}
