package races

import (
	"math/bits"

	"warpbook/gpu/emu/simd"
)

// Shared finds races on the shared memory of a block, as compute-sanitizer's racecheck
// does: the order of two accesses does not matter, only whether a barrier separates two
// accesses of different threads, at least one of them a write. Volatile accesses race
// like any other; two stores of the same value do not. Atomics are writes that race with
// plain loads and stores, not with each other or with volatile accesses: a counter that
// may be used before it is zeroed is a defect, a flag that is polled is none.
//
// For each cell of shared memory it keeps the last write and the last reads by the lanes
// of two warps. That finds every race between barriers of the whole block. With named
// barriers of some warps only, it may drop a read by a third warp.
type Shared struct {
	*Ordering
	Stored uint32 // lanes whose marks are set for the current store

	shift  uint    // cells have 4 bytes, or 1 if some accesses are narrower or unaligned
	writes []Mark  // last write of each cell
	reads  lasting // last reads
	atoms  lasting // last atomics; empty before the first
	began  uint32  // time at which the block began
	phase
}

// Access is an access of a warp.
type Access struct {
	PC     int32 // of the instruction
	Warp   int
	Bytes  uint64 // of each lane
	Reads  bool   // it does not write
	Stores bool   // it writes and is no atomic
	Strong bool   // volatile, or an atomic of global memory

	Releases bool // it fences before it writes
	Wide     bool // its fence is of the GPU
}

// Judge decides about accesses that no barrier orders.
type Judge interface {
	// Hazard reports whether two accesses of a cell are a race after which the search ends.
	Hazard(before, now *Mark, cell uint64) bool

	// Strong reports whether an instruction is volatile.
	Strong(pc uint32) bool
}

// NewShared is the search on some bytes of shared memory of a block of so many warps; narrow
// is whether cells have single bytes.
func NewShared(narrow bool, bytes, warps int) *Shared {
	r := &Shared{shift: 2, Ordering: newOrdering(warps)}
	if narrow {
		r.shift = 0
	}
	cells := bytes>>r.shift + 4 // an access may reach into the padding of the last word
	r.writes, r.reads = make([]Mark, cells), newLasting(cells)
	if !narrow {
		r.rows = simd.NewSearch(bytes)
	}
	return r
}

// CellBytes is the size of a cell: 4 or 1.
func (r *Shared) CellBytes() uint64 { return 1 << r.shift }

// Start discards all accesses: another block begins.
func (r *Shared) Start() {
	before := r.Warps.Now
	r.Begin()
	if r.Warps.Now < before {
		clear(r.writes)
		r.reads.forget()
		r.atoms.forget()
		if r.time = 0; r.rows != nil {
			clear(r.rows.Rows)
		}
	}
	r.began = r.Warps.Now
}

// Written is the last write of the cell at an offset since the block began, or nil.
func (r *Shared) Written(at uint64) *Mark { return r.since(&r.writes[at>>r.shift]) }

// Read are the last reads of the cell at an offset since the block began, by two warps; nil
// if there are none.
func (r *Shared) Read(at uint64) [2]*Mark {
	cell := at >> r.shift
	return [2]*Mark{r.since(&r.reads.one[cell]), r.since(&r.reads.other[cell])}
}

func (r *Shared) since(k *Mark) *Mark {
	if k.Lanes == 0 || k.Epoch < r.began {
		return nil
	}
	return k
}

func (r *Shared) mark(a *Access) Mark {
	return Mark{Epoch: r.Warps.Now, time: r.Lanes[a.Warp].Now, who: uint32(a.Warp)<<pcBits | uint32(a.PC)}
}

// Access looks for a race of an access of the lanes in m at offsets, and notes the access.
// It reports whether it found none. ToMarks comes before it.
func (r *Shared) Access(a Access, at *[32]uint64, m uint32, judge Judge) bool {
	o := &r.Lanes[a.Warp]
	k := r.mark(&a)
	cells := a.Bytes >> r.shift
	r.Stored = 0
	for m != 0 {
		offset := at[bits.TrailingZeros32(m)&31]
		k.Lanes = m & -m
		m &= m - 1
		for a.Reads && m != 0 && at[bits.TrailingZeros32(m)&31] == offset { // a broadcast
			k.Lanes |= m & -m
			m &= m - 1
		}
		first := offset >> r.shift
		for i := first; i < first+cells; i++ {
			c := &r.writes[i]
			if c.Epoch >= r.Warps.All && (c.Lanes != k.Lanes || c.Warp() != k.Warp()) && !r.ordered(c, &k) && judge.Hazard(c, &k, i) {
				return false
			}
			if r.atoms.one != nil && !a.Strong && r.afterAtomic(&k, i, judge) {
				return false
			}
			if a.Reads {
				r.note(r.reads, i, &k, o)
				continue
			}
			if r.unordered(&r.reads.one[i], &k) && judge.Hazard(&r.reads.one[i], &k, i) ||
				r.unordered(&r.reads.other[i], &k) && judge.Hazard(&r.reads.other[i], &k, i) {
				return false
			}
			*c = k
		}
		r.Stored |= k.Lanes
	}
	return true
}

// afterAtomic reports whether a plain access to a cell races with an atomic.
func (r *Shared) afterAtomic(k *Mark, cell uint64, judge Judge) bool {
	for _, c := range [...]*Mark{&r.atoms.one[cell], &r.atoms.other[cell]} {
		if r.unordered(c, k) && judge.Hazard(c, k, cell) {
			return true
		}
	}
	return false
}

// Atomic looks for a race of an atomic with plain accesses, and notes the atomic. It
// reports whether it found none. ToMarks comes before it.
func (r *Shared) Atomic(a Access, at *[32]uint64, m uint32, judge Judge) bool {
	if r.atoms.one == nil {
		r.atoms = newLasting(len(r.writes))
	}
	k := r.mark(&a)
	for ; m != 0; m &= m - 1 {
		k.Lanes = m & -m
		first := at[bits.TrailingZeros32(m)&31] >> r.shift
		for i := first; i < first+a.Bytes>>r.shift; i++ {
			for _, c := range [...]*Mark{&r.writes[i], &r.reads.one[i], &r.reads.other[i]} {
				if r.unordered(c, &k) && !judge.Strong(c.PC()) && judge.Hazard(c, &k, i) {
					return false
				}
			}
			r.note(r.atoms, i, &k, &r.Lanes[a.Warp])
		}
	}
	return true
}

// note adds an access to the last ones. Accesses ordered before it are dropped: accesses
// after it are after them, too.
func (r *Shared) note(last lasting, i uint64, k *Mark, o *Order) {
	c := &last.one[i]
	if c.Epoch < r.Warps.All || c.Warp() == k.Warp() && c.time < o.All {
		*c = *k
		return
	}
	if c.Warp() != k.Warp() {
		if d := &last.other[i]; d.Epoch < r.Warps.All || d.Warp() == k.Warp() && d.time < o.All || r.Warps.Some && r.ordered(d, k) {
			*d = *k
			return
		} else if d.Warp() == k.Warp() {
			c = d
		} else if r.Warps.Some && r.ordered(c, k) {
			*c = *k
			return
		} else {
			return
		}
	}
	if o.Some && r.ordered(c, k) {
		*c = *k
		return
	}
	c.Lanes |= k.Lanes
}

func (r *Shared) unordered(c, k *Mark) bool {
	return c.Epoch >= r.Warps.All && !r.ordered(c, k)
}

// ordered reports whether the accesses of c are before those of k, the current ones, or
// of the same thread.
func (r *Shared) ordered(c, k *Mark) bool {
	if c.Warp() != k.Warp() {
		return r.Warps.Before(c.Warp(), c.Epoch, k.Warp())
	}
	c1, _ := r.Pair(c, k)
	return c1 < 0
}

// Pair is a lane of c and a lane of k, of the same warp, that are not ordered; -1 if
// there are none.
func (r *Shared) Pair(c, k *Mark) (before, now int) {
	o := &r.Lanes[k.Warp()]
	if c.time < o.All {
		return -1, -1
	}
	for x := k.Lanes; x != 0; x &= x - 1 {
		i := uint32(bits.TrailingZeros32(x))
		for y := c.Lanes &^ (1 << i); y != 0; y &= y - 1 {
			if j := uint32(bits.TrailingZeros32(y)); !o.Before(j, c.time, i) {
				return int(j), int(i)
			}
		}
	}
	return -1, -1
}
