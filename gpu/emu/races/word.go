package races

import "math/bits"

// Relation is how an earlier access and the current one are related.
type Relation uint8

const (
	harmless Relation = iota
	InBlock           // they race, of one block
	OfBlocks          // they race, of two
)

// GlobalJudge decides about accesses of a word of global memory that nothing orders.
type GlobalJudge interface {
	// Strong reports whether an instruction is atomic or volatile.
	Strong(pc uint32) bool

	// Keeps reports whether a store leaves the bytes of the word at an address as they are, or
	// as an earlier lane of the same instruction stores them.
	Keeps(word uint64, before, now Seen) bool

	// SameValue notes that two threads store the same value, which is no race.
	SameValue(word uint64, before, now Seen)

	// Race notes a race; wrote is whether the earlier access was a write.
	Race(word uint64, before, now Seen, wrote bool, r Relation)

	// NoRoom notes that there is no room for marks of a word.
	NoRoom()
}

// Access looks for races of an access of the lanes in m to memory that begins at base. It
// reports whether it found none that ends the launch.
func (g *Global) Access(p *Party, a Access, base uint64, at *[32]uint64, m uint32, judge GlobalJudge) bool {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		address := base + at[l]
		if a.Strong {
			g.strongAccess(p, &a, address)
		}
		now := reference(g.happening(p, a.PC)<<laneBits | uint32(l))
		for word := address &^ 3; word < address+a.Bytes; word += 4 {
			k := (*cell)(nil)
			if g.spread(word / rowBytes) {
				k = g.cells.Item(word/4, true, &g.room)
			}
			if k == nil || now.event() == 0 {
				judge.NoRoom()
				continue
			}
			if !g.word(p, &a, word, k, Seen{now, BytesOf(word, address, a.Bytes), false}, judge) {
				return false
			}
		}
	}
	return true
}

// BytesOf are the bytes of a word that an access has.
func BytesOf(word, address, size uint64) uint8 {
	if word >= address && word+4 <= address+size {
		return AllBytes
	}
	first, last := max(word, address), min(word+4, address+size)
	return uint8(1<<(last-word) - 1<<(first-word))
}

// relate compares an earlier access of a word with the current one; one of them writes.
func (g *Global) relate(p *Party, before, now Seen, strong bool, judge GlobalJudge) Relation {
	if before.reference == 0 || before.Bytes&now.Bytes == 0 {
		return harmless
	}
	e := &g.events[before.event()]
	switch {
	case strong && judge.Strong(e.PC()):
	case !g.Between && (strong || judge.Strong(e.PC())): // often meant so, see the remedies
	case e.Block == p.At:
		if !p.ordered(e, before, now.Lane()) {
			return InBlock
		}
	case g.Between && g.unordered(p.At, e.Block, e.time):
		return OfBlocks
	}
	return harmless
}

// ordered reports whether an earlier access by a thread of the block is ordered before the
// current one of a lane, or is of the same thread.
func (p *Party) ordered(e *Event, before Seen, lane int) bool {
	if e.Warp() != p.Warp {
		return p.Warps.Before(uint32(e.Warp()), e.epoch, uint32(p.Warp))
	}
	lanes := &p.Lanes[p.Warp]
	switch {
	case before.Lane() == lane && !before.many, e.phase < lanes.All:
		return true
	case lanes.Some && before.many:
		return true // which lanes have read it is not known
	}
	return lanes.Before(uint32(before.Lane()), e.phase, uint32(lane))
}

// word looks for a race on one word, and notes the access.
func (g *Global) word(p *Party, a *Access, at uint64, c *cell, now Seen, judge GlobalJudge) bool {
	if !g.apart(p, a, at, c.written(), now, true, judge) {
		return false
	}
	if len(g.atoms.Known) > 0 {
		if s := g.atoms.Item(at/4, false, &g.room); s != nil && !g.apart(p, a, at, Seen{s.write, s.bytes, false}, now, true, judge) {
			return false
		}
	}
	if a.Reads {
		g.noteRead(p, c, now)
		return true
	}
	if last, other := c.reads(); !g.apart(p, a, at, last, now, false, judge) || !g.apart(p, a, at, other, now, false, judge) {
		return false
	}
	if !a.Strong {
		c.wrote(now)
	} else if s := g.atoms.Item(at/4, true, &g.room); s != nil {
		*s = strongCell{now.reference, now.Bytes}
	}
	return true
}

// noteRead adds a read to the last ones of a word. A read that is ordered before it is
// dropped: what races with it races with the later one, too.
func (g *Global) noteRead(p *Party, c *cell, now Seen) {
	last, _ := c.reads()
	if last.reference == 0 {
		c.reading(now)
		return
	}
	e := &g.events[last.event()]
	switch {
	case e.Block != p.At:
		c.shift()
	case e.Warp() == p.Warp:
		now.many = e.phase >= p.Lanes[p.Warp].All && last.Bytes == now.Bytes && (last.many || last.Lane() != now.Lane())
	case e.epoch >= p.Warps.All:
		c.shift()
	}
	c.reading(now)
}

// apart reports whether an earlier access of a word and the current one are no race that
// ends the launch; wrote is whether the earlier one was a write.
func (g *Global) apart(p *Party, a *Access, at uint64, before, now Seen, wrote bool, judge GlobalJudge) bool {
	r := g.relate(p, before, now, a.Strong, judge)
	if r == harmless {
		return true
	}
	if a.Stores && judge.Keeps(at, before, now) {
		if wrote && g.Between && !g.noted {
			g.noted = true
			judge.SameValue(at, before, now)
		}
		return true
	}
	judge.Race(at, before, now, wrote, r)
	if g.Between {
		return false
	}
	g.left = 0
	return true
}
