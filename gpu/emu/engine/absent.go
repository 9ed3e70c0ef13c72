package engine

import (
	"warpbook/gpu"
)

// This file finds lanes that a .sync operation names and that do not come to it, such as
// those that have left a loop of votes with a full mask. Such a lane has other things to do
// when the rest arrives, and exits without coming. A lane that has exited before, or only
// returns, is excused, as on a GPU.

// awaits notes where the lanes are that a waiting fragment names.
func (explanations) awaits(w *warp, in *instr, f *fragment) {
	mask := lanes[uint32](w, in.x.e)[lowest(f.mask)]
	for i := range w.frags {
		g := &w.frags[i]
		missing := g.mask & mask
		if g == f || missing == 0 || g.state != running || !w.block.prog.acts[g.pc] {
			continue
		}
		at := w.block.prog.instruction(g.pc)
		known := false
		for k := range w.absences {
			if a := &w.absences[k]; a.in == in && a.at == at {
				a.lanes, a.mask, known = a.lanes|missing, mask, true
			}
		}
		if !known {
			w.absences = append(w.absences, absence{in, mask, missing, at})
		}
	}
}

// withoutAbsent warns of the lanes that an operation has waited for in vain.
func (explanations) withoutAbsent(w *warp, in *instr, m uint32) {
	if !w.block.checks.Has(gpu.CheckMasks) {
		return
	}
	for _, a := range w.absences {
		if gone := a.lanes &^ w.alive; a.in == in && gone != 0 {
			named := "lane "
			if popcount(gone) > 1 {
				named = "lanes "
			}
			var set ranges
			set.add(0, gone)
			w.warn(in, lowest(m), gpu.ErrMask, "its mask %#08x names %s%s of warp %d, which did not come: when the others waited, they were at %s: pass the mask of the lanes that come, such as that of a __ballot_sync which all run, or let all lanes come",
				a.mask, named, set.list(32), w.index, w.block.prog.placeOf(a.at))
			return
		}
	}
}
