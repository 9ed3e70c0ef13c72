package engine

import (
	"unsafe"

	"warpbook/gpu"
)

// This file is the memory of the search for races on global memory: a cell for each word,
// whose accesses refer to events. 16 bytes a word, or a row of words, and an event for what a
// warp does at an instruction between two meetings.

// event is what the lanes of a warp do at an instruction between two meetings.
type event struct {
	block int32  // from 1
	time  uint32 // of the launch: counts fences
	epoch uint32 // of the block: counts its barriers
	phase uint32 // of the warp: counts the meetings of its lanes
	who   uint32 // warp and instruction, as in a mark
}

func (e *event) warp() uint32 { return e.who >> pcBits }

func (e *event) pc() uint32 { return e.who & (1<<pcBits - 1) }

// reference is an event and a lane; 0 is none.
type reference uint32

const laneBits = 5

func (r reference) event() uint32 { return uint32(r) >> laneBits }

func (r reference) lane() int { return int(r & (1<<laneBits - 1)) }

// cell are the last accesses to a word.
type cell struct {
	write reference // that is no atomic and not volatile
	read  reference
	other reference // the last read by another warp than read's
	bits  cellBits
}

// cellBits are the bytes of the word that each access of a cell has, a bit each, and for
// reads whether several lanes read them.
type cellBits uint32

// seen is one access of a cell.
type seen struct {
	reference
	bytes uint8
	many  bool // several lanes of the warp
}

const (
	otherShift = 5 // of a reader's bits
	writeShift = 10
	readerMask = 1<<5 - 1
	allBytes   = 1<<4 - 1
	manyLanes  = 1 << 4
)

func (b cellBits) reader(r reference, shift int) seen {
	return seen{r, uint8(b>>shift) & allBytes, b>>shift&manyLanes != 0}
}

func (c *cell) reads() (last, other seen) {
	return c.bits.reader(c.read, 0), c.bits.reader(c.other, otherShift)
}

func (c *cell) written() seen { return seen{c.write, uint8(c.bits>>writeShift) & allBytes, false} }

func (c *cell) wrote(s seen) {
	c.write = s.reference
	c.bits = c.bits&^(allBytes<<writeShift) | cellBits(s.bytes)<<writeShift
}

func (c *cell) reading(s seen) {
	bits := cellBits(s.bytes)
	if s.many {
		bits |= manyLanes
	}
	c.read, c.bits = s.reference, c.bits&^readerMask|bits
}

// shift makes the last read the other one.
func (c *cell) shift() {
	c.other = c.read
	c.bits = c.bits&^(readerMask<<otherShift) | c.bits&readerMask<<otherShift
}

// strongCell is the last atomic or volatile write of a word.
type strongCell struct {
	write reference
	bytes uint8
}

// pages hold an item for each word or row of memory, in pages that are made as they are
// needed.
type pages[T any] struct {
	known map[uint64]*[pageCells]T
	last  *[pageCells]T // the page that was looked at last: most accesses are of it
	at    uint64        // its number
	free  []*[pageCells]T
}

// pageCells is how many words or rows have their items in one piece.
const pageCells = 1024

// mostMarks bounds the memory of cells and events.
var mostMarks int64 = 1 << 30

// keptPages is how many pages wait for the next search.
const keptPages = 64

func newPages[T any]() pages[T] { return pages[T]{known: map[uint64]*[pageCells]T{}} }

// forget drops all cells; some pages wait for the next search.
func (p *pages[T]) forget() {
	for _, page := range p.known {
		if len(p.free) < keptPages {
			clear(page[:])
			p.free = append(p.free, page)
		}
	}
	clear(p.known)
	p.last = nil
}

// page is the page with a number; nil if there is none and none is to be added, or there
// is no room for it.
func (p *pages[T]) page(number uint64, add bool, room *int64) *[pageCells]T {
	if p.last != nil && p.at == number {
		return p.last
	}
	page := p.known[number]
	if page == nil {
		bytes := int64(unsafe.Sizeof(*page))
		if !add || *room < bytes {
			return nil
		}
		*room -= bytes
		if n := len(p.free); n > 0 {
			page, p.free = p.free[n-1], p.free[:n-1]
		} else {
			page = new([pageCells]T)
		}
		p.known[number] = page
	}
	p.last, p.at = page, number
	return page
}

// item is that with a number, nil as for page.
func (p *pages[T]) item(number uint64, add bool, room *int64) *T {
	page := p.page(number/pageCells, add, room)
	if page == nil {
		return nil
	}
	return &page[number%pageCells]
}

// happening is the event of what a warp does now at an instruction; 0 if there is no room
// for it.
func (w *warp) happening(pc int32) uint32 {
	b := w.block
	g, o := b.global, b.order[globalOrder]
	now := event{b.number(), g.now, o.warps.now, o.lanes[w.index].now, uint32(w.index)<<pcBits | uint32(pc)}
	if len(w.events) != len(b.prog.code) {
		w.events = make([]uint32, len(b.prog.code))
	}
	last := &w.events[pc]
	if int(*last) < len(g.events) && g.events[*last] == now {
		return *last
	}
	if len(g.events) == cap(g.events) && g.room < int64(len(g.events))*int64(unsafe.Sizeof(now)) || len(g.events) == 1<<(32-laneBits) {
		return 0
	}
	before := cap(g.events)
	g.events = append(g.events, now)
	g.room -= int64(cap(g.events)-before) * int64(unsafe.Sizeof(now))
	*last = uint32(len(g.events) - 1)
	return *last
}

// warnLeftOut warns that there was no memory for all marks.
func (g *globalRaces) warnLeftOut() {
	if g.leftOut != nil {
		g.leftOut.warn(g.leftAt, 0, gpu.ErrMemory, "the search for races on global memory has looked at the first %d MiB of global memory that the launch used, not at the rest: launch it for less data",
			int64(len(g.rows.known))*pageCells*rowBytes>>20)
	}
}
