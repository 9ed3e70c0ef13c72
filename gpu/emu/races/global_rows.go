package races

// This file is the search for races on global memory for warps that access whole rows of
// memory, as most do: lane 0 the first words of a row, lane 1 the next ones. A row has one
// note for all of its words, as long as only such accesses with the same width touch it:
// each lane then meets what the same lane of another warp has done. Any other access
// spreads the note to the cells of the words first, and the row has cells from then on.

const (
	rowWords = 32
	rowBytes = 4 * rowWords
)

// row are the last accesses to a row: events, 0 for none.
type row struct {
	write uint32
	read  uint32
	other uint32 // the last read by another warp than read's
	width uint8  // words a lane of these accesses; 0 before the first
	first uint8  // lane of the first word
	cells bool   // its words have cells
}

// rowsOf is how many rows a pattern accesses; -1 if it does not access whole ones.
func (p *Pattern) rowsOf() int {
	if p.rows != 0 {
		return p.rows
	}
	p.rows = -1
	for l, delta := range p.Delta {
		if p.Mask != 1<<32-1 || int(delta) != l*int(p.LaneBytes) {
			return p.rows
		}
	}
	p.rows = int(p.LaneBytes / 4)
	return p.rows
}

// surelyRows notes an access to whole rows by an event; it returns false if it may be a
// race.
func (g *Global) surelyRows(p *Party, reads bool, count int, number uint64, now uint32) bool {
	for i := range count {
		if len(g.atoms.Known) > 0 && g.atoms.Known[(number+uint64(i))*rowWords/PageItems] != nil {
			return false
		}
		r := g.rows.Item(number+uint64(i), true, &g.room)
		first := uint8(i * rowWords / count)
		switch {
		case r == nil || r.cells || r.width != 0 && (r.width != uint8(count) || r.first != first):
			return false
		case !g.surelyRow(p, reads, r, now):
			return false
		}
		r.width, r.first = uint8(count), first
	}
	return true
}

// surelyRow is surely for all words of a row at once.
func (g *Global) surelyRow(p *Party, reads bool, r *row, now uint32) bool {
	if r.write != 0 && !g.ownRow(p, r.write) {
		return false
	}
	if reads {
		g.readRow(p, r, now)
		return true
	}
	if r.read != 0 && !g.ownRow(p, r.read) || r.other != 0 && !g.ownRow(p, r.other) {
		return false
	}
	r.write = now
	return true
}

// ownRow reports whether an earlier access of the row is by the same lanes, or before the
// last barrier of the block.
func (g *Global) ownRow(p *Party, event uint32) bool {
	e := &g.events[event]
	return e.Block == p.At && (e.Warp() == p.Warp || e.epoch < p.Warps.All)
}

// readRow is noteRead for all words of a row.
func (g *Global) readRow(p *Party, r *row, now uint32) {
	if r.read != 0 && r.read != now {
		e := &g.events[r.read]
		if e.Block != p.At || e.Warp() != p.Warp && e.epoch >= p.Warps.All {
			r.other = r.read
		}
	}
	r.read = now
}

// spread gives the words of a row cells with what is noted of the row. It reports whether
// there was memory for them.
func (g *Global) spread(number uint64) bool {
	r := g.rows.Item(number, true, &g.room)
	if r == nil || r.cells {
		return r != nil
	}
	if r.width != 0 {
		page := g.cells.Page(number*rowWords/PageItems, true, &g.room)
		if page == nil {
			return false
		}
		from := number * rowWords % PageItems
		for i := range page[from : from+rowWords] {
			lane := uint32(r.first) + uint32(i)/uint32(r.width)
			page[from+uint64(i)] = r.cell(lane)
		}
	}
	*r = row{cells: true}
	return true
}

// cell is the note of a row for a word that a lane accesses.
func (r *row) cell(lane uint32) (c cell) {
	of := func(event uint32) reference {
		if event == 0 {
			return 0
		}
		return reference(event<<laneBits | lane)
	}
	c.write, c.read, c.other = of(r.write), of(r.read), of(r.other)
	if c.write != 0 {
		c.bits |= AllBytes << writeShift
	}
	if c.read != 0 {
		c.bits |= AllBytes
	}
	if c.other != 0 {
		c.bits |= AllBytes << otherShift
	}
	return c
}
