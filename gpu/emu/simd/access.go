package simd

import "unsafe"

// Site is a load or store of 32-bit words, as a worker knows it: assembly runs the
// accesses of known patterns.
type Site struct {
	Known  [Ways]*Pattern // by WayOf, and the one beside it
	Hits   uint32         // accesses of known patterns
	Count  uint32         // words of a lane
	Regs   [4]uint32      // their slots
	Offset uint64         // added to addresses

	// The bytes that it may access: from Start on, Room of them.
	Start, Room uint64

	// Of global memory: what it accessed last, whose first byte has the address Window,
	// and the place that holds Contents while they are alive.
	Own              Memory
	Window           uint64
	Holder, Contents unsafe.Pointer

	// Last are the previous offsets of the warps: an access in the next block, or in the
	// next turn of a loop, is likely to be at the same distance. Its lines are fetched
	// while the warp computes.
	Last [32]uint64
}

// Memory is bytes that a site accesses.
type Memory struct {
	Base    unsafe.Pointer
	Written unsafe.Pointer // a bit for each byte
	Whole   *uint32        // not 0 if every byte was written
}

// Pattern is the addresses of the active lanes relative to the lowest of them.
type Pattern struct {
	Mask    uint32
	Low     uint32 // the lowest bits of that lane's address
	How     Move
	Marks   uint32 // not 0 for stores, which mark bytes as written
	Min     int64  // the lowest byte
	Bytes   uint64 // from there to the end of the highest
	Ahead   uint64 // bytes to fetch for the next access
	Runs    uint64 // accesses since they were last counted
	Delta   [32]int32
	Covered uint32 // words of bits of written bytes that it touches

	// The bits: words from that of the first lane on.
	Words [32]int32
	Bits  [32]uint32

	Number uint32 // among those of the worker
	First  int32  // the lowest active lane if the lanes access consecutive words, or Uneven or Clash
}

// What First is of other patterns.
const (
	Uneven = -1
	Clash  = -2 // of a store: several lanes store the same word
)

// Ways is the number of patterns that a site remembers.
const Ways = 32

const wayFactor = -0x61c88647

// WayOf is where a site may have a pattern; the place beside it, with the lowest bit
// complemented, is the other.
func WayOf(mask, low uint32) uint32 {
	factor := int32(wayFactor)
	return (mask*uint32(factor)>>27 ^ low>>2) % Ways
}
