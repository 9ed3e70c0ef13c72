package races

import "math/bits"

// This file is the search for races on global memory in accesses of a known pattern, as long
// as no other block has accessed the words and no atomic is near. It reports no races: if
// there may be one it leaves the access to Access.

// Surely notes an access to words of global memory, the first active lane's at
// an address; it returns false if it may be a race. It comes before the bytes of a store
// are marked as written, which the long way looks at.
func (g *Global) Surely(p *Party, a *Pattern, address uint64) bool {
	now := g.happening(p, a.PC)
	if now == 0 || !g.Between && g.left <= 0 {
		return false
	}
	g.left--
	if a.rowsOf() > 0 && address%rowBytes == 0 {
		return g.surelyRows(p, a.Reads, a.rows, address/rowBytes, now)
	}
	var page *[PageItems]cell
	number, row := ^uint64(0), ^uint64(0)
	for x := a.Mask; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x) & 31
		this := Seen{reference(now<<laneBits | uint32(l)), AllBytes, false}
		first := (address + uint64(int64(a.Delta[l]))) / 4
		for word := first; word < first+a.LaneBytes/4; word++ {
			if word/rowWords != row {
				if row = word / rowWords; !g.spread(row) {
					return false
				}
			}
			if word/PageItems != number {
				if number = word / PageItems; g.atoms.Known[number] != nil {
					return false
				}
				if page = g.cells.Page(number, true, &g.room); page == nil {
					return false
				}
			}
			if !g.surely(p, a.Reads, &page[word%PageItems], this) {
				return false
			}
		}
	}
	return true
}

// surely notes an access to a word; it returns false if it may be a race.
func (g *Global) surely(p *Party, reads bool, c *cell, now Seen) bool {
	switch {
	case c.write|c.read|c.other != 0:
	case reads:
		c.read, c.bits = now.reference, AllBytes
		return true
	default:
		c.write, c.bits = now.reference, AllBytes<<writeShift
		return true
	}
	if !g.surelyOrdered(p, c.written(), now.Lane()) {
		return false
	}
	if reads {
		if c.read.event() != now.event() {
			g.noteRead(p, c, now)
		} else if now.many = c.read.Lane() != now.Lane() || c.bits&manyLanes != 0; c.bits&AllBytes == AllBytes {
			c.reading(now)
		}
		return true
	}
	last, other := c.reads()
	if !g.surelyOrdered(p, last, now.Lane()) || !g.surelyOrdered(p, other, now.Lane()) {
		return false
	}
	c.wrote(now)
	return true
}

// surelyOrdered reports whether an earlier access is of the same thread, or before the
// last barrier of the block, or there is none.
func (g *Global) surelyOrdered(p *Party, before Seen, lane int) bool {
	if before.reference == 0 {
		return true
	}
	e := &g.events[before.event()]
	return e.Block == p.At && (e.Warp() == p.Warp && before.Lane() == lane && !before.many || e.epoch < p.Warps.All)
}
