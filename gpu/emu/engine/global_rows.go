package engine

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
func (p *pattern) rowsOf(mem *access) int {
	if p.rows != 0 {
		return p.rows
	}
	p.rows = -1
	for l, delta := range p.Delta {
		if p.Mask != all || int(delta) != l*int(mem.size) {
			return p.rows
		}
	}
	p.rows = int(mem.size / 4)
	return p.rows
}

// surelyRows notes an access to whole rows by an event; it returns false if it may be a
// race.
func (w *warp) surelyRows(mem *access, count int, number uint64, now uint32) bool {
	g := w.block.global
	for i := range count {
		if len(g.strong.known) > 0 && g.strong.known[(number+uint64(i))*rowWords/pageCells] != nil {
			return false
		}
		r := g.rows.item(number+uint64(i), true, &g.room)
		first := uint8(i * rowWords / count)
		switch {
		case r == nil || r.cells || r.width != 0 && (r.width != uint8(count) || r.first != first):
			return false
		case !w.surelyRow(mem, r, now):
			return false
		}
		r.width, r.first = uint8(count), first
	}
	return true
}

// surelyRow is surely for all words of a row at once.
func (w *warp) surelyRow(mem *access, r *row, now uint32) bool {
	if r.write != 0 && !w.ownRow(r.write) {
		return false
	}
	if mem.kind == load {
		w.readRow(r, now)
		return true
	}
	if r.read != 0 && !w.ownRow(r.read) || r.other != 0 && !w.ownRow(r.other) {
		return false
	}
	r.write = now
	return true
}

// ownRow reports whether an earlier access of the row is by the same lanes, or before the
// last barrier of the block.
func (w *warp) ownRow(event uint32) bool {
	e := &w.block.global.events[event]
	return e.block == w.block.number() && (e.warp() == uint32(w.index) || e.epoch < w.block.order[globalOrder].warps.all)
}

// readRow is noteRead for all words of a row.
func (w *warp) readRow(r *row, now uint32) {
	if r.read != 0 && r.read != now {
		e := &w.block.global.events[r.read]
		if e.block != w.block.number() || e.warp() != uint32(w.index) && e.epoch >= w.block.order[globalOrder].warps.all {
			r.other = r.read
		}
	}
	r.read = now
}

// spread gives the words of a row cells with what is noted of the row. It reports whether
// there was memory for them.
func (g *globalRaces) spread(number uint64) bool {
	r := g.rows.item(number, true, &g.room)
	if r == nil || r.cells {
		return r != nil
	}
	if r.width != 0 {
		page := g.cells.page(number*rowWords/pageCells, true, &g.room)
		if page == nil {
			return false
		}
		from := number * rowWords % pageCells
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
		c.bits |= allBytes << writeShift
	}
	if c.read != 0 {
		c.bits |= allBytes
	}
	if c.other != 0 {
		c.bits |= allBytes << otherShift
	}
	return c
}
