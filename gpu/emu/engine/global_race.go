package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/races"
)

// global looks for races of an access of the lanes in m to an allocation. It reports
// whether it found none that ends the launch.
func (search) global(w *warp, in *instr, p place, m uint32) bool {
	g := w.block.global
	if g.Over() {
		w.block.searchGlobal(nil)
		return true
	}
	w.judge = judge{w, in, p}
	ok := g.Access(&w.party, raced(w, in), p.allocation.Address(), &w.addr, m, &w.judge)
	w.judge.at = place{} // a block that waits for a launch keeps no memory alive
	return ok
}

// NoRoom notes that there is no memory for marks of a word.
func (j *judge) NoRoom() {
	if l := j.block.launch; j.block.global == l.global && l.leftOut == nil {
		l.leftOut, l.leftAt = j.warp, j.in
	}
}

// warnLeftOut warns that there was no memory for all marks.
func (search) warnLeftOut(l *Launch) {
	if l.leftOut != nil {
		l.leftOut.warn(l.leftAt, 0, gpu.ErrMemory, "the search for races on global memory has looked at the first %d MiB of global memory that the launch used, not at the rest: launch it for less data",
			l.global.LookedAt())
	}
}

// Keeps reports whether a store leaves the bytes of a word as they are, or as an earlier
// lane of the same instruction stores them.
func (j *judge) Keeps(word uint64, before, now races.Seen) bool {
	w, in, p := j.warp, j.in, j.at
	base, l := p.allocation.Address(), now.Lane()
	from, to := max(word, base+w.addr[l]), min(word+4, base+w.addr[l]+in.mem.size)
	for ; from < to; from++ {
		offset := from - base
		have := p.contents.Data[offset]
		switch first := before.Lane(); {
		case before.SameEvent(now) && w.reaches(in, first, offset):
			have = w.stored(in, first, offset)
		case !p.contents.Whole.Load() && !p.contents.Written.Has(int(offset), 1):
			return false
		}
		if w.stored(in, l, offset) != have {
			return false
		}
	}
	return true
}

// Race makes a race the fault, or a warning if the launch does not ask for the search.
func (j *judge) Race(word uint64, before, now races.Seen, wrote bool, r races.Relation) {
	race := globalRace(j.warp, j.in, j.at, word, before, now, wrote, r)
	if j.block.global.Between {
		j.block.fault = race
		return
	}
	j.block.launch.warned.add(j.in, race)
}
