package races

// This file is the memory of the search for races on global memory: a cell for each word,
// whose accesses refer to events. 16 bytes a word, or a row of words, and an event for what a
// warp does at an instruction between two meetings.

// Event is what the lanes of a warp do at an instruction between two meetings.
type Event struct {
	Block int32  // from 1
	time  uint32 // of the launch: counts fences
	epoch uint32 // of the block: counts its barriers
	phase uint32 // of the warp: counts the meetings of its lanes
	who   uint32 // warp and instruction, as in a mark
}

// Warp is the number of the warp in its block.
func (e *Event) Warp() int { return int(e.who >> pcBits) }

// PC is the number of the instruction.
func (e *Event) PC() uint32 { return e.who & (1<<pcBits - 1) }

// reference is an event and a lane; 0 is none.
type reference uint32

const laneBits = 5

func (r reference) event() uint32 { return uint32(r) >> laneBits }

// Lane is the lane.
func (r reference) Lane() int { return int(r & (1<<laneBits - 1)) }

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

// Seen is one access of a word.
type Seen struct {
	reference
	Bytes uint8 // of the word, a bit each
	many  bool  // several lanes of the warp
}

// None reports whether there is no such access.
func (s Seen) None() bool { return s.reference == 0 }

// SameEvent reports whether another access is one by the same instruction of the warp at once.
func (s Seen) SameEvent(other Seen) bool { return s.event() == other.event() }

const (
	otherShift = 5 // of a reader's bits
	writeShift = 10
	readerMask = 1<<5 - 1
	AllBytes   = 1<<4 - 1
	manyLanes  = 1 << 4
)

func (b cellBits) reader(r reference, shift int) Seen {
	return Seen{r, uint8(b>>shift) & AllBytes, b>>shift&manyLanes != 0}
}

func (c *cell) reads() (last, other Seen) {
	return c.bits.reader(c.read, 0), c.bits.reader(c.other, otherShift)
}

func (c *cell) written() Seen { return Seen{c.write, uint8(c.bits>>writeShift) & AllBytes, false} }

func (c *cell) wrote(s Seen) {
	c.write = s.reference
	c.bits = c.bits&^(AllBytes<<writeShift) | cellBits(s.Bytes)<<writeShift
}

func (c *cell) reading(s Seen) {
	bits := cellBits(s.Bytes)
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
