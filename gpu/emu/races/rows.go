package races

import (
	"math/bits"
	"slices"

	"warpbook/gpu/emu/simd"
)

// This file is the search for races in accesses of a known pattern, as long as only barriers
// of the whole block and of whole warps have ordered accesses since the last barrier of the
// block. It reports no races: if there may be one, or the order is more complicated, or
// atomics take part, it leaves the access to Access, for which marks that this access has
// already set are marks of the same threads.
//
// It compares rows before marks (simd.Search): the accesses to 32 bytes of shared memory
// since the last barrier of the block, with a bit for each byte. Rows know less than marks,
// but cost a few instructions for each 32 bytes and not for each word, and assembly
// compares them. An access that surely does not race by rows is logged. Any other, and one
// without a known pattern, sets the marks of the logged accesses first, and the block then
// uses marks until its next barrier.

// Pattern is the addresses of the lanes of an access relative to the lowest active one.
type Pattern struct {
	simd.Pattern // first, because assembly finds it
	PC           int32
	LaneBytes    uint64
	Reads        bool // it does not write

	cells []patternCell // of shared memory, once races are looked for
	rows  int           // of global memory that it accesses whole; -1 if it does not, 0 if that is not known yet
}

// Patterns are the patterns that a worker has learned.
type Patterns interface {
	// Learned is the pattern with a number.
	Learned(number uint32) *Pattern
}

// phase is what the rows of a block belong to.
type phase struct {
	rows   *simd.Search // nil for accesses of single bytes
	time   uint32       // of the barrier of the block at which it began
	Only   bool         // marks are used in all phases
	marked bool         // marks are used until its end

	// Of all phases: accesses that were logged and replayed, and those that were not.
	replayed, dropped int
}

// A block uses marks once it has replayed more than freeReplays accesses and a quarter of
// those that it has dropped: rows gain nothing there. Each phase by marks counts as a few
// dropped ones, so that the block tries rows again after some phases.
const (
	freeReplays = 1024
	replayShare = 4
	markedPhase = 8
)

// enter begins a phase if a barrier of the block has ended the last one: accesses before
// the barrier race with none after it, so that their log is dropped.
func (r *Shared) enter() {
	if r.time == r.Warps.All {
		return
	}
	if r.dropped += len(r.rows.Logged()); r.marked {
		r.dropped += markedPhase
	}
	r.time, r.rows.Used = r.Warps.All, 0
	r.marked = r.replayed > freeReplays+r.dropped/replayShare
}

// ByRows reports whether the accesses of a warp are compared by rows.
func (r *Shared) ByRows(warp int) bool {
	if r.rows == nil || r.Only || r.Warps.Some || r.Lanes[warp].Some {
		return false
	}
	r.enter()
	return !r.marked
}

// Rows are what assembly compares.
func (r *Shared) Rows() *simd.Search { return r.rows }

// RowKey is the accesses of a warp since the last barrier of the block.
func (r *Shared) RowKey(warp int) uint64 { return uint64(r.Warps.All)<<32 | uint64(warp) }

// Stamp is the time of the accesses of a warp.
func (r *Shared) Stamp(warp int) simd.Stamp {
	o := &r.Lanes[warp]
	return simd.Stamp{Epoch: r.Warps.Now, Time: o.Now, All: o.All, Warp: uint32(warp)}
}

// ToMarks uses marks until the next barrier of the block.
func (r *Shared) ToMarks(patterns Patterns) {
	if r.rows == nil {
		return
	}
	if r.enter(); r.marked {
		return
	}
	r.marked = true
	r.Replay(patterns)
}

// Replay notes the logged accesses by marks. Rows have found no race between them. While a
// worker runs another block, and before it forgets a pattern, the log is empty.
func (r *Shared) Replay(patterns Patterns) {
	if r.rows == nil || r.rows.Used == 0 {
		return
	}
	r.enter()
	for _, n := range r.rows.Logged() {
		p := patterns.Learned(n.Pattern)
		k := Mark{Epoch: n.Stamp.Epoch, time: n.Stamp.Time, who: n.Stamp.Warp<<pcBits | uint32(p.PC)}
		r.surely(p, n.Base, k, n.Stamp.All)
	}
	r.replayed += len(r.rows.Logged())
	r.rows.Used = 0
}

// patternCell is a word of shared memory and the lanes that access it.
type patternCell struct {
	at    int32 // words from the word of the first lane on
	lanes uint32
}

// findCells finds the words that the lanes of a pattern access.
func (p *Pattern) findCells() {
	for x := p.Mask; x != 0; x &= x - 1 {
		first := p.Delta[bits.TrailingZeros32(x)&31] / 4
		for at := first; at < first+int32(p.LaneBytes/4); at++ {
			i := slices.IndexFunc(p.cells, func(c patternCell) bool { return c.at == at })
			if i < 0 {
				i = len(p.cells)
				p.cells = append(p.cells, patternCell{at: at})
			}
			p.cells[i].lanes |= x & -x
		}
	}
}

// Clashes reports whether lanes have a word in common.
func (p *Pattern) Clashes() bool {
	p.findCells()
	return slices.ContainsFunc(p.cells, func(c patternCell) bool { return c.lanes&(c.lanes-1) != 0 })
}

// Reset makes it another pattern, which has no addresses yet.
func (p *Pattern) Reset(pattern simd.Pattern, pc int32, bytes uint64, reads bool) {
	*p = Pattern{Pattern: pattern, PC: pc, LaneBytes: bytes, Reads: reads, cells: p.cells[:0]}
}

// Surely notes an access of a warp, of words; it returns false if it may be a race.
func (r *Shared) Surely(p *Pattern, base uint64, warp int, patterns Patterns) bool {
	o := &r.Lanes[warp]
	if r.ByRows(warp) {
		if r.rows.Full() {
			r.Replay(patterns)
		}
		if r.rows.Pass(&p.Pattern, base, r.RowKey(warp), r.Stamp(warp)) {
			return true
		}
	}
	r.ToMarks(patterns)
	if r.Warps.Some || o.Some || r.atoms.one != nil {
		return false
	}
	return r.surely(p, uint32(base), r.mark(&Access{PC: p.PC, Warp: warp}), o.All)
}

// surely notes an access with a mark; all is the time of the warp's last meeting.
func (r *Shared) surely(p *Pattern, base uint32, k Mark, all uint32) bool {
	if len(p.cells) == 0 {
		p.findCells()
	}
	if p.Reads {
		return r.surelyRead(p, int32(base/4), k, all)
	}
	return r.surelyWrite(p, int32(base/4), k, all)
}

// surelyRead notes a load. It keeps marks in local variables: copying a mark from memory
// right after its parts were written would wait for these writes.
func (r *Shared) surelyRead(p *Pattern, first int32, k Mark, all uint32) bool {
	epoch := r.Warps.All
	now, time, who, warp := k.Epoch, k.time, k.who, k.Warp()
	for _, cell := range p.cells {
		i := first + cell.at
		if c := &r.writes[i]; c.Epoch >= epoch && c.mayRace(warp, cell.lanes, all) {
			return false
		}
		c := &r.reads.one[i]
		if c.Epoch >= epoch && c.Warp() != warp {
			c = &r.reads.other[i]
		}
		switch {
		case c.Epoch < epoch || c.Warp() == warp && c.time < all:
			c.Epoch, c.time, c.Lanes, c.who = now, time, cell.lanes, who
		case c.Warp() == warp:
			c.Lanes |= cell.lanes
		}
	}
	return true
}

// surelyWrite notes a store.
func (r *Shared) surelyWrite(p *Pattern, first int32, k Mark, all uint32) bool {
	epoch := r.Warps.All
	now, time, who, warp := k.Epoch, k.time, k.who, k.Warp()
	for _, cell := range p.cells {
		i := first + cell.at
		c, d, e := &r.writes[i], &r.reads.one[i], &r.reads.other[i]
		if cell.lanes&(cell.lanes-1) != 0 || c.Epoch >= epoch && c.mayRace(warp, cell.lanes, all) ||
			d.Epoch >= epoch && d.mayRace(warp, cell.lanes, all) || e.Epoch >= epoch && e.mayRace(warp, cell.lanes, all) {
			return false
		}
		c.Epoch, c.time, c.Lanes, c.who = now, time, cell.lanes, who
	}
	return true
}

// mayRace reports whether an earlier access since the last barrier of the block and a
// current access by lanes of a warp are of different threads and not ordered.
func (c *Mark) mayRace(warp, lanes, all uint32) bool {
	return c.Warp() != warp || c.time >= all && bits.OnesCount32(c.Lanes|lanes) > 1
}
