package races

import (
	"unsafe"

	"warpbook/gpu"
)

// Global finds races on global memory: two unordered accesses by different threads,
// at least one a write and at least one neither atomic nor volatile. Stores of the same
// value are no race; a search that the launch asks for notes them.
//
// Order within a block: its barriers, those of its warps, and mbarriers. An atomic or
// volatile write after a fence publishes what its warp has done, and an atomic or volatile
// access of the same address learns it. Between lanes of a warp such a write counts as a
// meeting of all lanes.
//
// Order between blocks: a block publishes the accesses before a fence of the GPU by its
// next atomic or volatile access after the fence, and learns the published accesses of
// others at the address of each of its own atomic or volatile accesses. grid.sync(),
// locks and the counters of a last block consist of these steps; a barrier of a cluster
// orders its blocks. The search does not distinguish which thread of a block has fenced,
// and ignores accesses of the copy engine.
//
// A search of several blocks runs on one worker. Words for which there is no room are not
// searched, and the judge hears of it.
type Global struct {
	Between  bool // the launch asks for the search, between blocks, too; else a race is a warning
	compared bool // flags are noted, for comparisons with other launches

	left  int   // accesses of warps that are still searched, if it does not ask
	noted bool  // stores of equal values have their note
	room  int64 // bytes that marks may still take

	now    uint32 // counts fences
	events []Event
	rows   Pages[row] // by row of memory
	cells  Pages[cell]
	atoms  Pages[strongCell] // last atomic or volatile writes

	published map[uint64]*published // by address
	knows     map[int32]knowledge   // by block
	fenced    map[int32]uint32      // by block: the time of its last fence
	signals   map[int32]signal      // by block: its last atomic or volatile write
	flags     map[uint64]uint32     // atomic or volatile writes after a fence, by address: their instruction
}

// Party is a warp in a search on global memory.
type Party struct {
	Warp int   // in its block
	At   int32 // its block in the grid, from 1
	*Team

	released uint32   // the time of its last fence
	events   []uint32 // by instruction: its last event
}

// Begin forgets the fences of the warp: another block begins.
func (p *Party) Begin(block int32) { p.At, p.released = block, 0 }

// Team is the order of the warps of a block in a search on global memory.
type Team struct {
	*Ordering
	published map[uint64]*[32]uint32 // by address: the time up to which its atomics publish each warp's accesses
}

// NewTeam is that of a block of so many warps.
func NewTeam(warps int) *Team {
	return &Team{Ordering: newOrdering(warps), published: map[uint64]*[32]uint32{}}
}

// Begin forgets all accesses: another block begins.
func (t *Team) Begin() {
	t.Ordering.Begin()
	clear(t.published)
}

// knowledge holds, for each other block, the time up to which its accesses are visible here.
type knowledge map[int32]uint32

// signal is an atomic or volatile write, by which a block may tell others that its data is
// there, and where it has looked for those of others.
type signal struct {
	address, read uint64
	pc            uint32
	wrote         bool
}

// published is the knowledge that blocks have published at an address.
type published struct {
	knowledge
	version uint32
	learned map[int32]uint32 // version that a block has learned
}

// NewGlobal is a search without memory yet.
func NewGlobal() *Global {
	return &Global{rows: NewPages[row](), cells: NewPages[cell](), atoms: NewPages[strongCell](), published: map[uint64]*published{},
		knows: map[int32]knowledge{}, fenced: map[int32]uint32{}, signals: map[int32]signal{}, flags: map[uint64]uint32{}}
}

// Accesses of warps that are searched in a launch that does not ask for the search: it then
// costs a few milliseconds at most.
const smallAccesses = 1 << 13

// Start prepares for a launch, which is compared with other launches or not. Marks take at
// most room bytes.
func (g *Global) Start(between, compared bool, room int64) {
	g.Between, g.compared, g.left, g.noted, g.now, g.events = between, compared, smallAccesses, false, 1, append(g.events[:0], Event{})
	if g.room = room; between {
		if free, known := gpu.HostFree(); known {
			g.room = min(g.room, free/2)
		}
	}
}

// Forget drops everything but some memory for the next launch.
func (g *Global) Forget() {
	g.rows.Forget()
	g.cells.Forget()
	g.atoms.Forget()
	if cap(g.events) > keptEvents {
		g.events = nil
	}
	clear(g.published)
	clear(g.knows)
	clear(g.fenced)
	clear(g.signals)
	clear(g.flags)
}

// keptEvents is how many events have memory that waits for the next search.
const keptEvents = 1 << 16

// Over reports whether a launch that does not ask for the search has had enough of it. It
// counts an access of a warp.
func (g *Global) Over() bool {
	if g.Between {
		return false
	}
	g.left--
	return g.left < 0
}

// LookedAt are the MiB of global memory whose words have marks.
func (g *Global) LookedAt() int64 { return int64(len(g.rows.Known)) * PageItems * rowBytes >> 20 }

// Event is what an access belongs to.
func (g *Global) Event(s Seen) *Event { return &g.events[s.event()] }

// happening is the event of what a warp does now at an instruction; 0 if there is no room
// for it.
func (g *Global) happening(p *Party, pc int32) uint32 {
	now := Event{p.At, g.now, p.Warps.Now, p.Lanes[p.Warp].Now, uint32(p.Warp)<<pcBits | uint32(pc)}
	if int(pc) >= len(p.events) {
		p.events = append(p.events, make([]uint32, int(pc)+1-len(p.events))...)
	}
	last := &p.events[pc]
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
