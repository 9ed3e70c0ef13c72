package engine

import (
	"math/bits"
	"slices"

	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

// This file is the search for races in accesses of a known pattern: between blocks as long
// as no other block has accessed the words and no atomic is near, within a block as long as
// only barriers of the whole block and of whole warps have ordered accesses since the last
// barrier of the block. It reports no races: if there may be one, or the order is more
// complicated, or atomics take part, it leaves the access to race.go, for which marks
// that this access has already set are marks of the same threads.
//
// It compares rows before marks (simd.Search): the accesses to 32 bytes of shared memory
// since the last barrier of the block, with a bit for each byte. Rows know less than marks,
// but cost a few instructions for each 32 bytes and not for each word, and assembly
// compares them. An access that surely does not race by rows is logged. Any other, and one
// without a known pattern, sets the marks of the logged accesses first, and the block then
// uses marks until its next barrier.

// phase is what the rows of a block belong to.
type phase struct {
	rows   *simd.Search // nil for accesses of single bytes
	time   uint32       // of the barrier of the block at which it began
	only   bool         // marks are used in all phases
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
func (r *races) enter() {
	if r.time == r.warps.all {
		return
	}
	if r.dropped += len(r.rows.Logged()); r.marked {
		r.dropped += markedPhase
	}
	r.time, r.rows.Used = r.warps.all, 0
	r.marked = r.replayed > freeReplays+r.dropped/replayShare
}

// byRows reports whether the accesses of a warp are compared by rows.
func (w *warp) byRows() bool {
	r := w.block.races
	if r.rows == nil || r.only || r.warps.some || r.lanes[w.index].some {
		return false
	}
	r.enter()
	return !r.marked
}

func (w *warp) rowKey() uint64 { return uint64(w.block.races.warps.all)<<32 | uint64(w.index) }

func (w *warp) stamp() simd.Stamp {
	r := w.block.races
	o := &r.lanes[w.index]
	return simd.Stamp{Epoch: r.warps.now, Time: o.now, All: o.all, Warp: uint32(w.index)}
}

// toMarks uses marks until the next barrier of the block.
func (b *block) toMarks() {
	r := b.races
	if r.rows == nil {
		return
	}
	if r.enter(); r.marked {
		return
	}
	r.marked = true
	b.replay()
}

// replay notes the logged accesses by marks. Rows have found no race between them. While a
// worker runs another block, and before it forgets a pattern, the log is empty.
func (b *block) replay() {
	r := b.races
	if r.rows == nil || r.rows.Used == 0 {
		return
	}
	r.enter()
	for _, n := range r.rows.Logged() {
		p := b.patterns.learned[n.Pattern]
		k := mark{epoch: n.Stamp.Epoch, time: n.Stamp.Time, who: n.Stamp.Warp<<pcBits | uint32(p.mem.pc)}
		r.surely(p, n.Base, k, n.Stamp.All)
	}
	r.replayed += len(r.rows.Logged())
	r.rows.Used = 0
}

// needsMarks reports whether an instruction looks at accesses from before the last barrier:
// those of the copy engine and of wgmma do.
func needsMarks(in *ptx.Instruction) bool {
	return in.Opcode == "wgmma" || in.Opcode == "cp" && slices.Contains(in.Modifiers, "bulk")
}

// surelyNoGlobalRace notes an access to words of global memory, the first active lane's at
// an address; it returns false if it may be a race. It comes before the bytes of a store
// are marked as written, which the long way looks at.
func (w *warp) surelyNoGlobalRace(mem *access, p *pattern, address uint64) bool {
	g := w.block.global
	now := w.happening(mem.pc)
	if now == 0 || !g.between && g.left <= 0 {
		return false
	}
	g.left--
	if p.rowsOf(mem) > 0 && address%rowBytes == 0 {
		return w.surelyRows(mem, p.rows, address/rowBytes, now)
	}
	var page *[pageCells]cell
	number, row := ^uint64(0), ^uint64(0)
	for x := p.Mask; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		this := seen{reference(now<<laneBits | uint32(l)), allBytes, false}
		first := (address + uint64(int64(p.Delta[l]))) / 4
		for word := first; word < first+mem.size/4; word++ {
			if word/rowWords != row {
				if row = word / rowWords; !g.spread(row) {
					return false
				}
			}
			if word/pageCells != number {
				if number = word / pageCells; g.strong.known[number] != nil {
					return false
				}
				if page = g.cells.page(number, true, &g.room); page == nil {
					return false
				}
			}
			if !w.surely(mem, &page[word%pageCells], this) {
				return false
			}
		}
	}
	return true
}

// surely notes an access to a word; it returns false if it may be a race.
func (w *warp) surely(mem *access, c *cell, now seen) bool {
	switch {
	case c.write|c.read|c.other != 0:
	case mem.kind == load:
		c.read, c.bits = now.reference, allBytes
		return true
	default:
		c.write, c.bits = now.reference, allBytes<<writeShift
		return true
	}
	if !w.surelyOrdered(c.written(), now.lane()) {
		return false
	}
	if mem.kind == load {
		if c.read.event() != now.event() {
			w.noteRead(c, now)
		} else if now.many = c.read.lane() != now.lane() || c.bits&manyLanes != 0; c.bits&allBytes == allBytes {
			c.reading(now)
		}
		return true
	}
	last, other := c.reads()
	if !w.surelyOrdered(last, now.lane()) || !w.surelyOrdered(other, now.lane()) {
		return false
	}
	c.wrote(now)
	return true
}

// surelyOrdered reports whether an earlier access is of the same thread, or before the
// last barrier of the block, or there is none.
func (w *warp) surelyOrdered(before seen, lane int) bool {
	if before.reference == 0 {
		return true
	}
	e := &w.block.global.events[before.event()]
	return e.block == w.block.number() && (e.warp() == uint32(w.index) && before.lane() == lane && !before.many || e.epoch < w.block.order[globalOrder].warps.all)
}

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
	if w.byRows() {
		if r.rows.Full() {
			w.block.replay()
		}
		if r.rows.Pass(&p.Pattern, base, w.rowKey(), w.stamp()) {
			return true
		}
	}
	w.block.toMarks()
	if r.warps.some || o.some || r.atoms.one != nil {
		return false
	}
	return r.surely(p, uint32(base), newMark(w, mem.pc), o.all)
}

// surely notes an access with a mark; all is the time of the warp's last meeting.
func (r *races) surely(p *pattern, base uint32, k mark, all uint32) bool {
	if len(p.cells) == 0 {
		p.findCells(p.mem)
	}
	if p.mem.kind == load {
		return r.surelyRead(p, int32(base/4), k, all)
	}
	return r.surelyWrite(p, int32(base/4), k, all)
}

// clashes reports whether lanes of a store have a word in common.
func (p *pattern) clashes(mem *access) bool {
	p.findCells(mem)
	return slices.ContainsFunc(p.cells, func(c patternCell) bool { return c.lanes&(c.lanes-1) != 0 })
}

// surelyRead notes a load. It keeps marks in local variables: copying a mark from memory
// right after its parts were written would wait for these writes.
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
