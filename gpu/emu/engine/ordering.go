package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/races"
)

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

// lookForRaces turns the search on or off; the shadow is kept for the next launch.
func (b *block) lookForRaces(on bool) {
	b.races, b.searching, b.order[sharedOrder] = nil, false, nil
	if !on {
		return
	}
	narrow := b.prog.narrow || !b.checks.Has(gpu.CheckAlignment)
	if b.shadow == nil || narrow != (b.shadow.CellBytes() == 1) {
		b.shadow = races.NewShared(narrow, b.sharedBytes(), len(b.warps))
	}
	b.races, b.order[sharedOrder] = b.shadow, b.shadow.Ordering
	b.races.Only = b.prog.marks || b.launch.cluster.Size() > 1
}

// A launch that does not ask for a search on global memory is searched within its blocks
// if it has few threads and stores to global memory, until each worker has seen some
// accesses of warps. With several streams larger ones are, too, see Streams.Order.
const smallThreads = 1 << 11

// mostMarks bounds the memory of the marks of a search.
var mostMarks int64 = 1 << 30

// searchSmall reports whether a launch that does not ask for it is searched.
func (l *Launch) searchSmall() bool {
	// What a launch only reads may be written in another stream.
	return l.checks.Has(gpu.CheckThreadRaces) && !l.checks.Has(gpu.CheckBlockRaces) && (l.prog.stores || l.compared()) &&
		l.cluster.Size() == 1 && l.total*int64(l.threads) <= max(smallThreads, l.mostThreads)
}

// searchGlobal makes a block of a launch take part in a search.
func (b *block) searchGlobal(g *races.Global) {
	b.global, b.carefulGlobal, b.order[globalOrder] = g, g != nil, nil
	if g == nil {
		return
	}
	if b.team == nil {
		b.team = races.NewTeam(len(b.warps))
		for _, w := range b.warps {
			w.party.Warp, w.party.Team = w.index, b.team
		}
	}
	b.order[globalOrder] = b.team.Ordering
}

// number is the number of a block in its grid, from 1.
func (b *block) number() int32 { return int32(b.linear() + 1) }

// met orders the lanes that bar.warp.sync names. Shuffles and votes order no memory
// accesses, as in racecheck.
func (w *warp) met(in *instr, m uint32) {
	if !w.block.searches() || in.src.Opcode != "bar" {
		return
	}
	named := lanes[uint32](w, in.x.e)
	for m != 0 {
		mask := named[lowest(m)]
		w.meet(mask)
		m &^= naming(named, m, mask)
	}
}
