package engine

import (
	"math/bits"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/simd"
)

// races finds races on the shared memory of a block, as compute-sanitizer's racecheck
// does: the order of two accesses does not matter, only whether a barrier separates two
// accesses of different threads, at least one of them a write. Volatile accesses race
// like any other; two stores of the same value do not. Atomics are writes that race with
// plain loads and stores, not with each other or with volatile accesses: a counter that
// may be used before it is zeroed is a defect, a flag that is polled is none.
//
// For each cell of shared memory it keeps the last write and the last reads by the lanes
// of two warps. That finds every race between barriers of the whole block. With named
// barriers of some warps only, it may drop a read by a third warp.
type races struct {
	shift  uint    // cells have 4 bytes, or 1 if some accesses are narrower or unaligned
	writes []mark  // last write of each cell
	reads  lasting // last reads
	atoms  lasting // last atomics; empty before the first
	began  uint32  // time at which the block began
	stored uint32  // lanes whose marks are set for the current store
	*ordering
	phase
}

// lasting are the last accesses of one kind to each cell.
type lasting struct {
	one   []mark // by lanes of one warp
	other []mark // by lanes of another warp
}

func newLasting(cells int) lasting { return lasting{make([]mark, cells), make([]mark, cells)} }

func (a lasting) forget() {
	clear(a.one)
	clear(a.other)
}

// mark is an access to a cell. Marks are never cleared: one from before the last barrier
// of the whole block is ignored.
type mark struct {
	epoch uint32 // time among the warps; 0 for none
	time  uint32 // time among the lanes
	lanes uint32
	who   uint32 // warp and instruction
}

const pcBits = 27 // of who; the remaining bits are the warp's

func newMark(w *warp, pc int32) mark {
	r := w.block.races
	return mark{epoch: r.warps.now, time: r.lanes[w.index].now, who: uint32(w.index)<<pcBits | uint32(pc)}
}

func (k *mark) warp() uint32 { return k.who >> pcBits }

func (k *mark) pc() uint32 { return k.who & (1<<pcBits - 1) }

func newRaces(narrow bool, bytes, warps int) *races {
	r := &races{shift: 2, ordering: &ordering{lanes: make([]order, warps)}}
	if narrow {
		r.shift = 0
	}
	cells := bytes>>r.shift + 4 // an access may reach into the padding of the last word
	r.writes, r.reads = make([]mark, cells), newLasting(cells)
	if !narrow {
		r.rows = simd.NewSearch(bytes)
	}
	return r
}

// lookForRaces turns the search on or off; the shadow is kept for the next launch.
func (b *block) lookForRaces(on bool) {
	b.races, b.searching, b.order[sharedOrder] = nil, false, nil
	if !on {
		return
	}
	narrow := b.prog.narrow || !b.checks.Has(gpu.CheckAlignment)
	if b.shadow == nil || narrow != (b.shadow.shift == 0) {
		b.shadow = newRaces(narrow, b.sharedBytes(), len(b.warps))
	}
	b.races, b.order[sharedOrder] = b.shadow, b.shadow.ordering
	b.races.only = b.prog.marks || b.launch.cluster.Size() > 1
}

// start discards all accesses: another block begins.
func (r *races) start() {
	before := r.warps.now
	r.begin()
	if r.warps.now < before {
		clear(r.writes)
		r.reads.forget()
		r.atoms.forget()
		if r.time = 0; r.rows != nil {
			clear(r.rows.Rows)
		}
	}
	r.began = r.warps.now
}

// race looks for a race of an access of the lanes in m, whose offsets are in w.addr, and
// notes the access. It reports whether it found none.
func (w *warp) race(in *instr, m uint32) bool {
	r := w.block.races
	w.block.toMarks()
	o := &r.lanes[w.index]
	k := newMark(w, in.mem.pc)
	cells := in.mem.size >> r.shift
	reads := in.mem.kind == load
	r.stored = 0
	for m != 0 {
		at := w.addr[lowest(m)&31]
		k.lanes = m & -m
		m &= m - 1
		for reads && m != 0 && w.addr[lowest(m)&31] == at { // a broadcast
			k.lanes |= m & -m
			m &= m - 1
		}
		first := at >> r.shift
		for i := first; i < first+cells; i++ {
			c := &r.writes[i]
			if c.epoch >= r.warps.all && (c.lanes != k.lanes || c.warp() != k.warp()) && !r.ordered(c, &k) && w.hazard(in, c, &k, i) {
				return false
			}
			if r.atoms.one != nil && !in.mem.strong && w.afterAtomic(in, &k, i) {
				return false
			}
			if reads {
				r.note(r.reads, i, &k, o)
				continue
			}
			if r.unordered(&r.reads.one[i], &k) && w.hazard(in, &r.reads.one[i], &k, i) ||
				r.unordered(&r.reads.other[i], &k) && w.hazard(in, &r.reads.other[i], &k, i) {
				return false
			}
			*c = k
		}
		r.stored |= k.lanes
	}
	return true
}

// afterAtomic reports whether a plain access to a cell races with an atomic.
func (w *warp) afterAtomic(in *instr, k *mark, cell uint64) bool {
	r := w.block.races
	for _, c := range [...]*mark{&r.atoms.one[cell], &r.atoms.other[cell]} {
		if r.unordered(c, k) && w.hazard(in, c, k, cell) {
			return true
		}
	}
	return false
}

// raceAtomic looks for a race of an atomic with plain accesses, and notes the atomic. It
// reports whether it found none.
func (w *warp) raceAtomic(in *instr, m uint32) bool {
	r := w.block.races
	w.block.toMarks()
	if r.atoms.one == nil {
		r.atoms = newLasting(len(r.writes))
	}
	k := newMark(w, in.mem.pc)
	for ; m != 0; m &= m - 1 {
		k.lanes = m & -m
		first := w.addr[lowest(m)&31] >> r.shift
		for i := first; i < first+in.mem.size>>r.shift; i++ {
			for _, c := range [...]*mark{&r.writes[i], &r.reads.one[i], &r.reads.other[i]} {
				if r.unordered(c, &k) && !w.block.prog.code[c.pc()].mem.strong && w.hazard(in, c, &k, i) {
					return false
				}
			}
			r.note(r.atoms, i, &k, &r.lanes[w.index])
		}
	}
	return true
}

// note adds an access to the last ones. Accesses ordered before it are dropped: accesses
// after it are after them, too.
func (r *races) note(last lasting, i uint64, k *mark, o *order) {
	c := &last.one[i]
	if c.epoch < r.warps.all || c.warp() == k.warp() && c.time < o.all {
		*c = *k
		return
	}
	if c.warp() != k.warp() {
		if d := &last.other[i]; d.epoch < r.warps.all || d.warp() == k.warp() && d.time < o.all || r.warps.some && r.ordered(d, k) {
			*d = *k
			return
		} else if d.warp() == k.warp() {
			c = d
		} else if r.warps.some && r.ordered(c, k) {
			*c = *k
			return
		} else {
			return
		}
	}
	if o.some && r.ordered(c, k) {
		*c = *k
		return
	}
	c.lanes |= k.lanes
}

func (r *races) unordered(c, k *mark) bool {
	return c.epoch >= r.warps.all && !r.ordered(c, k)
}

// ordered reports whether the accesses of c are before those of k, the current ones, or
// of the same thread.
func (r *races) ordered(c, k *mark) bool {
	if c.warp() != k.warp() {
		return r.warps.before(c.warp(), c.epoch, k.warp())
	}
	c1, _ := r.pair(c, k)
	return c1 < 0
}

// pair is a lane of c and a lane of k, of the same warp, that are not ordered; -1 if
// there are none.
func (r *races) pair(c, k *mark) (before, now int) {
	o := &r.lanes[k.warp()]
	if c.time < o.all {
		return -1, -1
	}
	for x := k.lanes; x != 0; x &= x - 1 {
		i := uint32(bits.TrailingZeros32(x))
		for y := c.lanes &^ (1 << i); y != 0; y &= y - 1 {
			if j := uint32(bits.TrailingZeros32(y)); !o.before(j, c.time, i) {
				return int(j), int(i)
			}
		}
	}
	return -1, -1
}

// hazard records a race and reports whether it is one: two threads that store the same
// value do not race.
func (w *warp) hazard(in *instr, c, k *mark, cell uint64) bool {
	b := w.block
	before, now := bits.TrailingZeros32(c.lanes), bits.TrailingZeros32(k.lanes)
	within := c.warp() == k.warp()
	if within {
		before, now = b.races.pair(c, k)
	}
	first := racer{&b.prog.code[c.pc()], int(c.warp())*32 + before}
	second := racer{in, w.index*32 + now}
	if in.mem.kind == store && first.in.mem.kind == store && w.sameValue(in, c, k, cell<<b.races.shift) {
		return false
	}
	switch {
	case b.launch.goOn && !b.searching:
		if !b.launch.warned.has(in) {
			b.launch.warned.add(in, b.raceOf(first, second, cell))
		}
		return false
	case b.pending != nil && b.pending.Kind == gpu.ErrRace: // the first one is enough
		if !within {
			b.preferWarps(first, second, cell)
		}
		return false
	case b.searching:
		b.writtenLater(in, b.thread(second.thread), b.barrierForReaders(first, second))
		return false
	}
	b.pending, b.fault = nil, b.raceOf(first, second, cell)
	return !b.postpone(within && len(b.warps) > 1)
}

// postpone delays a race until the block has ended. If threads wait at a barrier and others
// skip it, the skipped barrier is the cause. After a race within one of several warps, one
// of two warps may follow: then a barrier of the warp would not be enough.
func (b *block) postpone(within bool) bool {
	skips := slices.ContainsFunc(b.barriers[:], func(bar barrier) bool { return bar.came > 0 && !bar.explicit })
	if !skips && !within {
		return false
	}
	b.pending, b.patience, b.fault = b.fault, b.cnt.WarpInstructions+patience, nil
	return true
}

// sameValue reports whether a store at an offset, by the one lane of k, leaves the cell
// as the store of c made it. Lanes of the current instruction have not stored yet.
func (w *warp) sameValue(in *instr, c, k *mark, offset uint64) bool {
	r := w.block.races
	now := bits.TrailingZeros32(k.lanes)
	other := func(at uint64) byte { return w.block.shared.Data[at] }
	if before := bits.TrailingZeros32(c.lanes); c.warp() == k.warp() && c.pc() == k.pc() && r.stored>>before&1 != 0 && w.reaches(in, before, offset) {
		other = func(at uint64) byte { return w.stored(in, before, at) }
	}
	for at := offset; at < offset+1<<r.shift; at++ {
		if w.stored(in, now, at) != other(at) {
			return false
		}
	}
	return true
}

// reaches reports whether a lane accesses the cell at an offset.
func (w *warp) reaches(in *instr, lane int, offset uint64) bool {
	return w.addr[lane] <= offset && offset < w.addr[lane]+in.mem.size
}

// stored is the byte that a lane stores at an offset.
func (w *warp) stored(in *instr, lane int, offset uint64) byte {
	at := offset - w.addr[lane]
	return byte(w.data(in.mem, int(at/in.mem.bytes), lane) >> (8 * (at % in.mem.bytes)))
}

// met orders the lanes that bar.warp.sync names. Shuffles and votes order no memory
// accesses, as in racecheck.
func (w *warp) met(in *instr, m uint32) {
	if !w.block.searches() || in.src.Opcode != "bar" {
		return
	}
	named := lanes[uint32](w, in.x.e)
	for m != 0 {
		mask := named[lowest(m)]
		w.meet(mask)
		m &^= naming(named, m, mask)
	}
}

// bulk reports whether an instruction is a copy of the copy engine into shared memory.
func bulk(in *instr) bool {
	return in.src.Opcode == "cp" && slices.Contains(in.src.Modifiers, "bulk") && in.mem.kind == store
}
