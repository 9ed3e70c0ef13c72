package engine

import (
	"math/bits"
	"slices"
)

// This file is the search for races in accesses of a known pattern, as long as only
// barriers of the whole block and of whole warps have ordered accesses since the last
// barrier of the block. It reports no races: if there may be one, or the order is more
// complicated, or atomics take part, it leaves the access to race.go, for which marks
// that this access has already set are marks of the same threads.

// patternCell is a word of shared memory and the lanes that access it.
type patternCell struct {
	at    int32 // words from the word of the first lane on
	lanes uint32
}

// findCells finds the words that the lanes of a pattern access.
func (p *pattern) findCells(mem *access) {
	for x := p.Mask; x != 0; x &= x - 1 {
		first := p.Delta[lowest(x)&31] / 4
		for at := first; at < first+int32(mem.size/4); at++ {
			i := slices.IndexFunc(p.cells, func(c patternCell) bool { return c.at == at })
			if i < 0 {
				i = len(p.cells)
				p.cells = append(p.cells, patternCell{at: at})
			}
			p.cells[i].lanes |= x & -x
		}
	}
}

// surelyNoRace notes an access to shared memory, of words; it returns false if it may be
// a race.
func (w *warp) surelyNoRace(mem *access, p *pattern, base uint64) bool {
	r := w.block.races
	o := &r.lanes[w.index]
	if r.warps.some || o.some || r.atoms.one != nil {
		return false
	}
	if len(p.cells) == 0 {
		p.findCells(mem)
	}
	k := newMark(w, mem.pc)
	first := int32(base / 4)
	if mem.kind == load {
		return r.surelyRead(p, first, k, o.all)
	}
	return r.surelyWrite(p, first, k, o.all)
}

// surelyRead notes a load; all is the time of the warp's last meeting. It keeps marks in
// local variables: copying a mark from memory right after its parts were written would
// wait for these writes.
func (r *races) surelyRead(p *pattern, first int32, k mark, all uint32) bool {
	epoch := r.warps.all
	now, time, who, warp := k.epoch, k.time, k.who, k.warp()
	for _, cell := range p.cells {
		i := first + cell.at
		if c := &r.writes[i]; c.epoch >= epoch && c.mayRace(warp, cell.lanes, all) {
			return false
		}
		c := &r.reads.one[i]
		if c.epoch >= epoch && c.warp() != warp {
			c = &r.reads.other[i]
		}
		switch {
		case c.epoch < epoch || c.warp() == warp && c.time < all:
			c.epoch, c.time, c.lanes, c.who = now, time, cell.lanes, who
		case c.warp() == warp:
			c.lanes |= cell.lanes
		}
	}
	return true
}

// surelyWrite notes a store.
func (r *races) surelyWrite(p *pattern, first int32, k mark, all uint32) bool {
	epoch := r.warps.all
	now, time, who, warp := k.epoch, k.time, k.who, k.warp()
	for _, cell := range p.cells {
		i := first + cell.at
		c, d, e := &r.writes[i], &r.reads.one[i], &r.reads.other[i]
		if cell.lanes&(cell.lanes-1) != 0 || c.epoch >= epoch && c.mayRace(warp, cell.lanes, all) ||
			d.epoch >= epoch && d.mayRace(warp, cell.lanes, all) || e.epoch >= epoch && e.mayRace(warp, cell.lanes, all) {
			return false
		}
		c.epoch, c.time, c.lanes, c.who = now, time, cell.lanes, who
	}
	return true
}

// mayRace reports whether an earlier access since the last barrier of the block and a
// current access by lanes of a warp are of different threads and not ordered.
func (c *mark) mayRace(warp, lanes, all uint32) bool {
	return c.warp() != warp || c.time >= all && bits.OnesCount32(c.lanes|lanes) > 1
}
