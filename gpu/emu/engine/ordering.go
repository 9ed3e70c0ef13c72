package engine

import "warpbook/gpu/emu/races"

// The orderings of a block.
const (
	sharedOrder = iota
	globalOrder
	orders
)

// searches reports whether a search needs the order of accesses.
func (b *block) searches() bool { return b.order != [orders]*races.Ordering{} }

// meet orders earlier accesses of lanes before their later ones, in all searches.
func (w *warp) meet(m uint32) {
	for _, o := range w.block.order {
		if o != nil {
			o.MeetLanes(w.index, m, w.alive)
		}
	}
}

// meet orders the warps that wait at a barrier. A warp with only some waiting lanes
// counts as a whole for the other warps.
func (b *block) meet(id uint8, bar barrier) {
	var wait uint32
	threads := 0
	for _, w := range b.warps {
		var m uint32
		for i := range w.frags {
			if f := &w.frags[i]; f.state == atBarrier && f.bar == id {
				m |= f.mask
			}
		}
		if m != 0 {
			wait |= 1 << w.index
			threads += popcount(m)
			w.meet(m)
		}
	}
	whole := threads == b.launch.threads || !bar.explicit && threads == b.live
	for i, o := range b.order {
		switch {
		case o == nil:
		case whole:
			o.Warps.MeetAll()
		default:
			for _, a := range bar.arrivals {
				o.Warps.Join(1<<a.warp, a.times[i], wait)
			}
			o.Warps.Meet(wait)
		}
	}
}

// arrives is the arrival of a warp that does not wait: what it does from now on is not
// before the barrier.
func (w *warp) arrives() arrival {
	a := arrival{warp: w.index}
	for i, o := range w.block.order {
		if o != nil {
			a.times[i] = o.Tick()
		}
	}
	return a
}

// learns orders what a warp did before it arrived before the later accesses of w.
func (w *warp) learns(a arrival) {
	for i, o := range w.block.order {
		if o != nil {
			o.Warps.Join(1<<a.warp, a.times[i], 1<<w.index)
		}
	}
}
