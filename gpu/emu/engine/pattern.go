package engine

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/ptx"
)

// This file is the fast path of loads and stores of 32-bit words in global and shared
// memory. The lanes of a memory instruction nearly always access addresses in the same
// pattern, shifted by a distance: the cost of a pattern on a GPU, the bytes that it
// covers and the best way to move its data are computed once.
//
// The fast path finds no faults: if one is possible, or anything is unusual, it leaves
// the access to access.go before it has changed anything.

// pattern is the addresses of the lanes relative to the lowest active one.
type pattern struct {
	races.Pattern // first, because assembly finds it
	mem           *access
	unit          bool // consecutive words, in the order of the lanes

	sectors, lines uint64 // of global memory
	waves, groups  uint64 // of shared memory
	bytes          uint64
}

// patterns are the patterns of one instruction.
type patterns struct {
	simd.Site // first, because assembly finds it by the number of the instruction
	known     [simd.Ways]*pattern
	misses    uint32
}

const (
	siteBytes    = uint32(unsafe.Sizeof(patterns{}))
	mostPatterns = 4096 // of a table, to bound its memory
)

// patternTable holds a worker's patterns of a program, for all blocks that it runs.
type patternTable struct {
	sites   []patterns
	learned []*pattern
}

// Learned is the pattern with a number.
func (t *patternTable) Learned(number uint32) *races.Pattern { return &t.learned[number].Pattern }

// newPatternTable is the patterns of the blocks of a launch, before any is known.
func (b *block) newPatternTable() *patternTable {
	t := &patternTable{sites: make([]patterns, b.prog.sites)}
	for i := range b.prog.code {
		in := &b.prog.code[i]
		if in.mem == nil || in.mem.site < 0 {
			continue
		}
		s := &t.sites[in.mem.site]
		s.Count, s.Regs, s.Offset = uint32(in.mem.count), in.mem.regs, in.mem.offset
		if in.mem.space == ptx.Shared && b.shared != nil {
			start, end := in.mem.room(b.shared)
			s.Start, s.Room = uint64(start), uint64(max(end-start, 0))
		}
	}
	return t
}

// finish counts the accesses of a launch, and forgets its memory.
func (t *patternTable) finish(b *block) {
	for _, p := range t.learned {
		if b.counting {
			p.count(&b.cnt)
		}
		p.Runs = 0
	}
	for i := range t.sites {
		s := &t.sites[i]
		s.Own, s.Holder, s.Contents = simd.Memory{}, nil, nil
	}
}

// owns makes an allocation the memory of a site.
func (s *patterns) owns(a *mem.Allocation, c *mem.Contents) {
	if s.Contents != unsafe.Pointer(c) {
		s.Own, s.Window, s.Start, s.Room = memoryOf(c), a.Address(), 0, uint64(len(c.Data))
		s.Holder, s.Contents = unsafe.Pointer(&a.Contents), unsafe.Pointer(c)
	}
}

// memoryOf is memory as assembly sees it.
func memoryOf(c *mem.Contents) simd.Memory {
	return simd.Memory{Base: c.Base, Written: unsafe.Pointer(unsafe.SliceData(c.Written)), Whole: (*uint32)(unsafe.Pointer(&c.Whole))}
}

// step is an access as assembly reads it.
func (mem *access) step(in *instr) simd.Step {
	s := simd.Step{Op: simd.AccessGlobal, A: in.a, D: uint32(mem.site) * siteBytes, Guard: 4 * in.guard, Flip: in.flip}
	switch {
	case mem.space == ptx.Shared && mem.wideAddr:
		s.Op = simd.AccessSharedWide
	case mem.space == ptx.Shared:
		s.Op = simd.AccessShared
	}
	return s
}

// open lets assembly run the accesses that need no check by Go.
func (w *warp) open(r *simd.Run) {
	b := w.block
	r.Global, r.Shared, r.Found, r.Ask, r.Search = 0, nil, nil, 0, nil
	if b.careful || len(b.visits.words) > 0 {
		return
	}
	r.Sites = unsafe.Pointer(unsafe.SliceData(b.patterns.sites))
	if !b.carefulGlobal {
		r.Global = 1
	}
	if b.shared != nil {
		r.Shared = &b.sharedMemory
	}
	if b.races != nil {
		switch {
		case b.races.CellBytes() == 1:
			r.Shared = nil // the search for races looks at single bytes
		case b.races.ByRows(w.index):
			r.Search, r.Key, r.Stamp = b.races.Rows(), b.races.RowKey(w.index), b.races.Stamp(w.index)
		default:
			r.Ask = 1
		}
	}
}

// found runs an access to shared memory that assembly has found to be of a known pattern
// and without a fault, unless it may be a race.
func (w *warp) found(in *instr, p *pattern, m uint32) bool {
	_, _, base := w.destination(in, m)
	if !w.block.races.Surely(&p.Pattern, base, w.index, w.block.patterns) {
		return false
	}
	r := &w.vector
	left := r.N
	r.Ask, r.Search, r.Steps, r.N = 0, nil, &w.block.prog.steps[in.mem.pc], 1
	w.block.vectors.Run(r)
	r.N = left
	return true
}

// lowBits are those that two addresses must share to have the same pattern: in global
// memory the place in a 128-byte line, in shared memory that in a word of
// contents.written. Banks rotate with the address.
func lowBits(space ptx.Space) uint64 {
	if space == ptx.Shared {
		return 31
	}
	return 127
}

// regular reports whether the fast path can run an access.
func (mem *access) regular() bool {
	return mem.kind != update && !mem.strong && !mem.uncounted && mem.bytes == 4 && !mem.wideData &&
		mem.skip == [4]bool{} && (mem.space == ptx.Global || mem.space == ptx.Shared)
}

// fast runs an access if its pattern is known, or can be learned, and it cannot fault.
func (w *warp) fast(in *instr, m uint32) bool {
	b, mem := w.block, in.mem
	if mem.site < 0 || b.careful || w.unset != nil || len(b.visits.words) > 0 {
		return false
	}
	if p := w.vector.Found; p != nil {
		w.vector.Found = nil
		return w.found(in, (*pattern)(unsafe.Pointer(p)), m) // it is the first field
	}
	a, c, base := w.destination(in, m)
	if c == nil {
		return false
	}
	p := w.pattern(in, m, base)
	if start, end := mem.room(c); p == nil || int64(base)+p.Min < start || int64(base)+p.Min+int64(p.Bytes) > end {
		return false
	}
	if b.carefulGlobal && mem.space == ptx.Global && !b.global.Surely(&w.party, &p.Pattern, a.Address()+base) {
		return false
	}
	if !c.Whole.Load() && !p.written(c, base, mem) {
		return false
	}
	if b.races != nil && mem.space == ptx.Shared && !b.races.Surely(&p.Pattern, base, w.index, b.patterns) {
		return false
	}
	p.Runs++
	if mem.space == ptx.Global {
		b.patterns.sites[mem.site].owns(a, c)
		w.fetchAhead(mem, p, c, base)
	}
	w.move(mem, p, unsafe.Add(c.Base, base))
	return true
}

// destination is the memory of the lowest active lane's access, or nil, its allocation if
// it is global, and the offset in it.
func (w *warp) destination(in *instr, m uint32) (a *mem.Allocation, c *mem.Contents, base uint64) {
	b, access := w.block, in.mem
	base = access.offset
	if access.wideAddr {
		base += lanes[uint64](w, in.a)[lowest(m)&31]
	} else {
		base = uint64(lanes[uint32](w, in.a)[lowest(m)&31] + uint32(base))
	}
	if access.space == ptx.Global {
		a = b.launch.allocationAt(base)
		if from := b.origins[access.origin]; a == nil || from != nil && a != from {
			return nil, nil, 0
		}
		return a, a.Contents.Load(), base & mem.OffsetMask
	}
	if b.races != nil && b.races.CellBytes() == 1 {
		return nil, nil, 0 // the search for races looks at single bytes
	}
	return nil, b.shared, base
}

// fetchAhead prefetches the bytes that the warp is likely to access next, if they are
// close together. A prefetch of any address cannot fault.
func (w *warp) fetchAhead(mem *access, p *pattern, c *mem.Contents, base uint64) {
	last := &w.block.patterns.sites[mem.site].Last[w.index&31]
	next := 2*base - *last
	*last = base
	if p.Ahead > 0 {
		simd.Prefetch(uintptr(c.Base)+uintptr(next)+uintptr(p.Min), uintptr(p.Ahead))
	}
}

// room is the range of offsets that an access must stay in.
func (mem *access) room(c *mem.Contents) (start, end int64) {
	end = int64(len(c.Data))
	if v := mem.variable; v != nil && mem.space == ptx.Shared {
		return int64(v.at), min(int64(v.at+v.bytes), end)
	}
	return 0, end
}

// allocationAt is the allocation of a global address, or nil.
func (l *Launch) allocationAt(address uint64) *mem.Allocation {
	table := l.engine.memory.Allocations()
	if id := address >> mem.WindowBits; id < uint64(len(table)) {
		return table[id]
	}
	return nil
}

// pattern finds the pattern of an access, or learns it; nil if it has none.
func (w *warp) pattern(in *instr, m uint32, base uint64) *pattern {
	b := w.block
	t := b.patterns
	s := &t.sites[in.mem.site]
	low := uint32(base & lowBits(in.mem.space))
	at := simd.WayOf(m, low)
	for i := range uint32(2) {
		if p := s.known[at^i]; p != nil && p.Mask == m && p.Low == low && w.matches(in, p) {
			s.Hits++
			return p
		}
	}
	if s.misses > 64+s.Hits/4 || len(t.learned) >= mostPatterns {
		return nil // it has no pattern
	}
	s.misses++
	if s.known[at] != nil && s.known[at^1] == nil {
		at ^= 1
	}
	p := s.known[at]
	number := uint32(len(t.learned))
	if p == nil {
		p = new(pattern)
		t.learned = append(t.learned, p)
		s.known[at], s.Known[at] = p, &p.Pattern.Pattern
	} else {
		number = p.Number
		if b.counting {
			p.count(&b.cnt)
		}
		if b.races != nil {
			b.races.Replay(t) // the log may name it
		}
	}
	w.effective(in, m)
	if !p.learn(&w.addr, m, low, in.mem) {
		p.Mask, p.Number = 0, number // it matches no request
		return nil
	}
	p.Number = number
	return p
}

// matches reports whether the active lanes have the pattern's distances.
func (w *warp) matches(in *instr, p *pattern) bool {
	if in.mem.wideAddr {
		return simd.MatchWide(lanes[uint64](w, in.a), &p.Delta, p.Mask)
	}
	return simd.Match(lanes[uint32](w, in.a), &p.Delta, p.Mask)
}

// learn makes p the pattern of addresses; it reports false if they are too far
// apart or not aligned.
func (p *pattern) learn(addr *[32]uint64, m, low uint32, mem *access) bool {
	p.Reset(simd.Pattern{Mask: m, Low: low}, mem.pc, mem.size, mem.kind == load)
	*p = pattern{Pattern: p.Pattern, mem: mem, unit: true, bytes: uint64(popcount(m)) * mem.size}
	first := lowest(m)
	base := addr[first&31]
	start := base &^ 31
	end := int64(0)
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		d := int64(addr[l] - base)
		if d != int64(int32(d)) || addr[l]&(mem.size-1) != 0 {
			return false
		}
		p.Delta[l] = int32(d)
		p.Min, end = min(p.Min, d), max(end, d+int64(mem.size))
		p.unit = p.unit && d == int64(4*(l-first)) && mem.count == 1
		p.cover(int32(int64(addr[l]&^31-start)/32), uint32(1<<mem.size-1)<<(addr[l]&31))
	}
	p.Bytes = uint64(end - p.Min)
	if most := uint64(512); p.Bytes <= most { // four words for each lane
		p.Ahead = p.Bytes
	}
	if mem.kind == store {
		p.Marks = 1
	}
	p.How = mem.move(p)
	if p.First = simd.Uneven; p.unit {
		p.First = int32(first)
	} else if mem.kind == store && p.Clashes() {
		p.First = simd.Clash
	}
	lanes := gpu.Pattern{Mask: m, Bytes: int(mem.size), Write: mem.kind == store, Address: *addr}
	if mem.space == ptx.Shared {
		waves, groups := lanes.Wavefronts()
		p.waves, p.groups = uint64(waves), uint64(groups)
	} else {
		sectors, lines := lanes.Sectors()
		p.sectors, p.lines = uint64(sectors), uint64(lines)
	}
	return true
}

// move selects how assembly moves the data of a pattern.
func (mem *access) move(p *pattern) simd.Move {
	quads := mem.count == 4 && p.Mask == all
	switch {
	case mem.kind == load && quads:
		return quadsMove(&p.Delta)
	case mem.kind == load && p.unit:
		return simd.MoveLoadUnit
	case mem.kind == load && p.Mask == all && p.Bytes == mem.size:
		return simd.MoveBroadcast
	case mem.kind == load:
		return simd.MoveGather
	case quads:
		return simd.MoveStoreQuads
	case p.unit:
		return simd.MoveStoreUnit
	}
	return simd.MoveScatter
}

// quadsMove selects the way to load four words for each lane. The lanes of a product load
// rows and columns of a tile, which several of them share.
func quadsMove(delta *[32]int32) simd.Move {
	halves, twice := true, true
	for l, d := range delta {
		halves = halves && d == delta[l&^15]
		twice = twice && d == delta[l&15]
	}
	switch {
	case halves:
		return simd.MoveLoadHalves
	case twice:
		return simd.MoveLoadTwice
	}
	return simd.MoveLoadQuads
}

// cover adds bytes of a word to the covered ones.
func (p *pattern) cover(word int32, bits uint32) {
	i := slices.Index(p.Words[:p.Covered], word)
	if i < 0 {
		i = int(p.Covered)
		p.Words[i] = word
		p.Covered++
	}
	p.Bits[i] |= bits
}

// written checks that all bytes of a load were written, or marks those that a store will
// write.
func (p *pattern) written(c *mem.Contents, base uint64, mem *access) bool {
	at := int64(base >> 5)
	for i, bits := range p.Bits[:p.Covered] {
		word := &c.Written[at+int64(p.Words[i])]
		if have := atomic.LoadUint32(word); have&bits == bits {
			continue
		}
		switch {
		case mem.kind == load:
			return false
		case mem.space == ptx.Shared: // of one worker
			*word |= bits
		default:
			atomic.OrUint32(word, bits)
		}
	}
	return true
}

// count counts the accesses since the last count.
func (p *pattern) count(c *gpu.Counters) {
	n := p.Runs
	p.Runs = 0
	if n == 0 {
		return
	}
	if p.mem.space == ptx.Shared {
		s := &c.SharedLoad
		if p.mem.kind == store {
			s = &c.SharedStore
		}
		s.Requests += n
		s.Wavefronts += n * p.waves
		s.Conflicts += n * (p.waves - p.groups)
		s.Bytes += n * p.bytes
		return
	}
	g := &c.GlobalLoad
	if p.mem.kind == store {
		g = &c.GlobalStore
	}
	g.Requests += n
	g.Sectors += n * p.sectors
	g.Lines += n * p.lines
	g.Bytes += n * p.bytes
}

// move moves the data between registers and memory; base is the address of the lowest
// active lane.
func (w *warp) move(mem *access, p *pattern, base unsafe.Pointer) {
	for k := range mem.count {
		r, at := lanes[uint32](w, mem.regs[k]), unsafe.Add(base, 4*k)
		switch {
		case mem.kind == load && p.unit:
			simd.LoadUnit(r, at, p.Mask)
		case mem.kind == load:
			simd.Gather(r, at, &p.Delta, p.Mask)
		case p.unit:
			simd.StoreUnit(r, at, p.Mask)
		default:
			simd.Scatter(r, at, &p.Delta, p.Mask)
		}
	}
}
