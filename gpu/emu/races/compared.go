package races

// Word is what a search has noted of a word: its writes, plain and atomic or volatile ones, and
// its reads.
type Word struct{ Writes, Reads [2]Seen }

func wordOf(c *cell, strong *strongCell) (w Word) {
	w.Writes[0] = c.written()
	if strong != nil {
		w.Writes[1] = Seen{strong.write, strong.bytes, false}
	}
	w.Reads[0], w.Reads[1] = c.reads()
	return w
}

// EachWord visits all words that were accessed, by address / 4.
func (g *Global) EachWord(visit func(word uint64, w *Word)) {
	each := func(word uint64, c *cell, strong *strongCell) {
		w := wordOf(c, strong)
		visit(word, &w)
	}
	g.rows.Each(func(number uint64, r *row) {
		if r.width == 0 {
			return
		}
		for i := range uint64(rowWords) {
			c := r.cell(uint32(r.first) + uint32(i)/uint32(r.width))
			each(number*rowWords+i, &c, nil)
		}
	})
	g.cells.Each(func(word uint64, c *cell) {
		if c.write|c.read|c.other != 0 {
			each(word, c, nil)
		}
	})
	g.atoms.Each(func(word uint64, strong *strongCell) {
		if strong.write != 0 {
			each(word, &cell{}, strong)
		}
	})
}

// EachFlag visits the addresses that were written atomically after a fence, with the
// instruction.
func (g *Global) EachFlag(visit func(address uint64, pc uint32)) {
	for address, pc := range g.flags {
		visit(address, pc)
	}
}

// MeetsAt reports whether a word was accessed by an atomic or a volatile access.
func (g *Global) MeetsAt(address uint64, strong func(pc uint32) bool) bool {
	none := int64(0)
	if c := g.atoms.Item(address/4, false, &none); c != nil && c.write != 0 {
		return true
	}
	c := g.cells.Item(address/4, false, &none)
	if c == nil {
		return false
	}
	last, other := c.reads()
	return !last.None() && strong(g.Event(last).PC()) || !other.None() && strong(g.Event(other).PC())
}
