package engine

// ordering is what orders the accesses of the threads of a block. Each search for races
// has its own, because locks order accesses of global memory alone.
type ordering struct {
	warps order   // of the block: its barriers
	lanes []order // of each warp: its .sync operations
}

// The orderings of a block.
const (
	sharedOrder = iota
	globalOrder
	orders
)

// meetLanes orders earlier accesses of lanes of a warp before their later ones.
func (o *ordering) meetLanes(w *warp, m uint32) {
	if lanes := &o.lanes[w.index]; m&w.alive == w.alive {
		lanes.meetAll()
	} else {
		lanes.meet(m & w.alive)
	}
}

// begin forgets all accesses: another block begins.
func (o *ordering) begin() {
	const late = 1 << 31 // long before the counter overflows
	if o.warps.now > late {
		o.warps = order{}
	}
	for i := range o.lanes {
		if o.lanes[i].now > late {
			o.lanes[i] = order{}
		}
	}
	o.warps.meetAll()
}

// searches reports whether a search needs the order of accesses.
func (b *block) searches() bool { return b.order != [orders]*ordering{} }

// meet orders earlier accesses of lanes before their later ones, in all searches.
func (w *warp) meet(m uint32) {
	for _, o := range w.block.order {
		if o != nil {
			o.meetLanes(w, m)
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
			o.warps.meetAll()
		default:
			for _, a := range bar.arrivals {
				o.warps.join(1<<a.warp, a.times[i], wait)
			}
			o.warps.meet(wait)
		}
	}
}

// arrives is the arrival of a warp that does not wait: what it does from now on is not
// before the barrier.
func (w *warp) arrives() arrival {
	a := arrival{warp: w.index}
	for i, o := range w.block.order {
		if o != nil {
			o.warps.now++
			a.times[i] = o.warps.now
		}
	}
	return a
}

// learns orders what a warp did before it arrived before the later accesses of w.
func (w *warp) learns(a arrival) {
	for i, o := range w.block.order {
		if o != nil {
			o.warps.join(1<<a.warp, a.times[i], 1<<w.index)
		}
	}
}
