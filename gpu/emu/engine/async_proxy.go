package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/copyengine"
)

// This file checks the rules of the async proxy that concern copies under way: their
// mbarrier is fenced, and nothing else touches the destination. async_end.go has the end of
// the block, fencedAsync the fence between stores and a copy that reads them.

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

// freeToFill reports whether no copy under way has bytes of a destination.
func (w *warp) freeToFill(in *instr, l int, to *block, offset, size uint64) bool {
	if to.filled == 0 || !w.block.checksAsync() {
		return true
	}
	c := to.fillingBulk(offset, size)
	if c == nil {
		return true
	}
	from := &to.prog.code[c.PC]
	w.fail(in, l, gpu.ErrRace, "%s is already the destination of %s at %s, which has not ended: wait for its mbarrier before the place is filled again",
		to.launch.sharedPlace(max(offset, c.At)), from.src.Name(), to.prog.placeOf(from))
	w.block.raceWith(from, to.issuer(c), c.Lane)
	return false
}

// storedWhileFilled is a fault if a thread has stored to bytes that a copy has just
// filled: until then they count as never written.
func (b *block) storedWhileFilled(c *copyengine.Fill) {
	if !b.checksAsync() || b.issuer(c).block != b || c.Reduce != nil || b.fault != nil {
		return
	}
	in := &b.prog.code[c.PC]
	for at := c.At; at < c.At+uint64(len(c.Data)); at++ {
		if b.shared.Written[at>>5]>>(at&31)&1 == 0 {
			continue
		}
		by := b.races.Written(at)
		if by == nil {
			return
		}
		if first := &b.prog.code[by.PC()]; first.mem != nil && first != in {
			b.warps[by.Warp()].fail(first, by.Lane(), gpu.ErrRace, "%s is the destination of %s at %s, which has not ended: wait for its mbarrier before the store",
				b.launch.sharedPlace(at), in.src.Name(), b.prog.placeOf(in))
			b.raceWith(in, b.issuer(c), c.Lane)
		}
		return
	}
}
