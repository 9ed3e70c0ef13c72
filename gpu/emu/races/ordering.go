package races

// Ordering is what orders the accesses of the threads of a block. Each search for races
// has its own, because locks order accesses of global memory alone.
type Ordering struct {
	Warps Order   // of the block: its barriers
	Lanes []Order // of each warp: its .sync operations
}

// newOrdering is that of a block of so many warps.
func newOrdering(warps int) *Ordering { return &Ordering{Lanes: make([]Order, warps)} }

// MeetLanes orders earlier accesses of lanes of a warp before their later ones; alive are
// the lanes that have not exited.
func (o *Ordering) MeetLanes(warp int, m, alive uint32) {
	if lanes := &o.Lanes[warp]; m&alive == alive {
		lanes.MeetAll()
	} else {
		lanes.Meet(m & alive)
	}
}

// Tick ends a time of the warps, and returns the next one: what they do from now on is not
// before it.
func (o *Ordering) Tick() uint32 {
	o.Warps.Now++
	return o.Warps.Now
}

// Begin forgets all accesses: another block begins.
func (o *Ordering) Begin() {
	const late = 1 << 31 // long before the counter overflows
	if o.Warps.Now > late {
		o.Warps = Order{}
	}
	for i := range o.Lanes {
		if o.Lanes[i].Now > late {
			o.Lanes[i] = Order{}
		}
	}
	o.Warps.MeetAll()
}
