package engine

import (
	"maps"
	"slices"

	"warpbook/gpu"
)

// This file checks the rules of the async proxy that concern copies under way: their
// mbarrier is fenced, nothing else touches the destination, and the block outlives them.
// fencedAsync has the fence between stores and a copy that reads them.

// checksAsync reports whether the rules are checked: as races are.
func (b *block) checksAsync() bool { return b.races != nil }

// fenceAsync notes that the warp makes its mbarrier.init visible to the copy engine.
func (w *warp) fenceAsync() {
	w.block.fences++
	w.fenced = w.block.fences
}

// initialised records which lane initialises an mbarrier, and when.
func (w *warp) initialised(m *mbarrier, in *instr, l int) {
	w.block.fences++
	m.init, m.initWarp, m.initLane, m.initTime = in, w, l, w.block.fences
}

// fencedInit reports whether the copy engine sees the mbarrier's initial count: the warp
// that wrote it, or this one, has fenced since.
func (w *warp) fencedInit(in *instr, l int, m *mbarrier, at uint64) bool {
	by := m.initWarp
	if m.init == nil || !w.block.checksAsync() {
		return true
	}
	if by.fenced > m.initTime || by.block == w.block && w.fenced > m.initTime {
		m.init = nil
		return true
	}
	b := w.block
	w.fail(in, l, gpu.ErrRace, "thread %v initialised the mbarrier at %s with %s at %s, and no fence follows: run fence.mbarrier_init or fence.proxy.async after it, before the barrier",
		by.block.thread(by.index*32+m.initLane), b.launch.sharedPlace(at), m.init.src.Name(), b.prog.placeOf(m.init))
	b.raceWith(m.init, by, m.initLane)
	return false
}

// raceWith adds the earlier access to a race.
func (b *block) raceWith(first *instr, by *warp, lane int) {
	b.fault.Other = &gpu.Site{Instruction: first.src.Name(), Line: first.src.Pos.Line, Source: b.prog.sourceOrCall(first), Thread: by.block.thread(by.index*32 + lane)}
}

// freeToFill reports whether no copy under way has bytes of a destination.
func (w *warp) freeToFill(in *instr, l int, to *block, offset, size uint64) bool {
	if to.filled == 0 || !w.block.checksAsync() {
		return true
	}
	c := to.fillingBulk(offset, size)
	if c == nil {
		return true
	}
	w.fail(in, l, gpu.ErrRace, "%s is already the destination of %s at %s, which has not ended: wait for its mbarrier before the place is filled again",
		to.launch.sharedPlace(max(offset, c.at)), c.in.src.Name(), to.prog.placeOf(c.in))
	w.block.raceWith(c.in, c.warp, c.lane)
	return false
}

// storedWhileFilled is a fault if a thread has stored to bytes that a copy has just
// filled: until then they count as never written.
func (b *block) storedWhileFilled(c *bulkCopy) {
	if !b.checksAsync() || c.warp.block != b || c.reduce != nil || b.fault != nil {
		return
	}
	for at := c.at; at < c.at+uint64(len(c.data)); at++ {
		if b.shared.Written[at>>5]>>(at&31)&1 == 0 {
			continue
		}
		by := &b.races.writes[at>>b.races.shift]
		if first := &b.prog.code[by.pc()]; by.epoch >= b.races.began && by.lanes != 0 && first.mem != nil && first != c.in {
			b.warps[by.warp()].fail(first, lowest(by.lanes), gpu.ErrRace, "%s is the destination of %s at %s, which has not ended: wait for its mbarrier before the store",
				b.launch.sharedPlace(at), c.in.src.Name(), b.prog.placeOf(c.in))
			b.raceWith(c.in, c.warp, c.lane)
		}
		return
	}
}

// outlives is a fault if a block ends while the copy engine still uses its shared memory.
func (b *block) outlives() {
	if !b.checksAsync() || b.fault != nil {
		return
	}
	if b.filled > 0 {
		for _, at := range slices.Sorted(maps.Keys(b.mbarriers)) {
			if m := b.mbarriers[at]; len(m.bulk) > 0 {
				c := &m.bulk[0]
				c.warp.fail(c.in, c.lane, gpu.ErrRace, "the block ends before this copy into its shared memory has ended: wait for its mbarrier")
				b.fault = c.warp.block.fault
				return
			}
		}
	}
	for _, w := range b.warps {
		if len(w.bulk.reads) == 0 {
			continue
		}
		r, remedy := w.bulk.reads[0], "run cp.async.bulk.wait_group.read first"
		if r.group == w.bulk.committed[r.lane] {
			remedy = "run cp.async.bulk.commit_group after it, and cp.async.bulk.wait_group.read before the end"
		}
		w.fail(r.in, r.lane, gpu.ErrRace, "the block ends before this copy has read its shared memory: %s", remedy)
		return
	}
}
