package copyengine

import (
	"slices"

	"warpbook/gpu/emu/mem"
)

// partBytes lie in one piece wherever a tile is swizzled.
const partBytes = 16

// Fill is a pending copy into the shared memory of a block.
type Fill struct {
	PC      int32 // of the instruction
	Rank    int   // of the block that has started it, in the cluster
	Warp    int   // of that block
	Lane    int
	At      uint64 // offset in the shared memory
	Data    []byte
	Swizzle int
	Reduce  *Reduction // nil for a plain copy
}

// Overlaps reports whether the copy has some of the bytes at an offset.
func (c *Fill) Overlaps(offset, size uint64) bool {
	return c.At < offset+size && offset < c.At+uint64(len(c.Data))
}

// Put writes the bytes of a copy that has ended.
func (c *Fill) Put(to *mem.Contents) {
	if c.Reduce != nil {
		c.Reduce.Apply(to.Data[c.At:], c.Data)
		return
	}
	for n := 0; n < len(c.Data); n += partBytes {
		at := mem.Swizzled(c.At+uint64(n), c.Swizzle)
		copy(to.Data[at:], c.Data[n:min(n+partBytes, len(c.Data))])
	}
	to.Written.SetRange(int(c.At), len(c.Data))
}

// Take copies bytes of shared memory in the order of the tile that has the swizzle.
func Take(from []byte, offset, size uint64, swizzle int) []byte {
	data := make([]byte, size)
	for n := uint64(0); n < size; n += partBytes {
		at := mem.Swizzled(offset+n, swizzle)
		copy(data[n:], from[at:at+min(partBytes, size-n)])
	}
	return data
}

// Read is a copy out of shared memory for which no thread has waited.
type Read struct {
	PC    int32
	Lane  int
	At    uint64
	Data  []byte
	group uint32 // groups that the lane had committed before
}

// Bulk are the copies out of shared memory of a warp.
type Bulk struct {
	committed [32]uint32
	reads     []Read
}

// Reset drops all copies: another block begins.
func (s *Bulk) Reset() { s.committed, s.reads = [32]uint32{}, s.reads[:0] }

// Commit ends a group of copies of a lane.
func (s *Bulk) Commit(lane int) { s.committed[lane]++ }

// Note adds a copy to the last group of its lane.
func (s *Bulk) Note(r Read) {
	r.group = s.committed[r.Lane]
	s.reads = append(s.reads, r)
}

// Wait ends the copies of the lanes in m that are not in their last n groups, and calls end
// for each.
func (s *Bulk) Wait(m uint32, n uint64, end func(r Read)) {
	s.reads = slices.DeleteFunc(s.reads, func(r Read) bool {
		if m>>r.Lane&1 == 0 || uint64(r.group)+n >= uint64(s.committed[r.Lane]) {
			return false
		}
		end(r)
		return true
	})
}

// First is the oldest copy for which no thread has waited, and whether its group has ended;
// nil if there is none.
func (s *Bulk) First() (r *Read, committed bool) {
	if len(s.reads) == 0 {
		return nil, false
	}
	r = &s.reads[0]
	return r, r.group != s.committed[r.Lane]
}
