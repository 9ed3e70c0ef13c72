package engine

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
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
	mask     uint32
	low      uint64 // the lowest bits of that lane's address
	delta    [32]int32
	min, max int64 // the range of bytes, max is exclusive
	unit     bool  // consecutive words, in the order of the lanes
	covered  uint8 // number of words of contents.written that it touches
	how      simd.Move

	sectors, lines uint64 // of global memory
	waves, groups  uint64 // of shared memory
	bytes          uint64

	// The bits of contents.written: words from that of the first lane on.
	words [32]int32
	bits  [32]uint32

	cells []patternCell // of shared memory, once races are looked for
}

// patterns are the patterns of one instruction, by a hash of mask and low bits.
type patterns struct {
	known        [ways]*pattern
	hits, misses uint32

	// last are the previous addresses of the warps: an access in the next block, or in
	// the next turn of a loop, is likely to be at the same distance. Its lines are
	// fetched while the warp computes.
	last [32]uint64
}

const (
	ways         = 32
	mostPatterns = 4096 // of a table, to bound its memory
)

// patternTable holds a worker's patterns of a program, for all blocks that it runs.
type patternTable struct {
	sites   []patterns
	learned int // number of known patterns
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

// few is the number of words of contents.written up to which checking them one by one is
// faster.
const few = 8

// fast runs an access if its pattern is known and it cannot fault.
func (w *warp) fast(in *instr, m uint32) bool {
	b, mem := w.block, in.mem
	if mem.site < 0 || b.careful || b.carefulGlobal && mem.space == ptx.Global || len(b.visits.words) > 0 {
		return false
	}
	c, base := w.destination(in, m)
	if c == nil {
		return false
	}
	if b.vectors.HasAccess() && c.Whole.Load() && (b.races == nil || mem.space != ptx.Shared) && w.again(in, m, c, base) {
		return true
	}
	p := w.pattern(in, m, base)
	if start, end := mem.room(c); p == nil || int64(base)+p.min < start || int64(base)+p.max > end {
		return false
	}
	if !c.Whole.Load() && !(p.covered > few && mem.kind == load && b.vectors.Written(&c.Written[base>>5], &p.words, &p.bits)) && !p.written(c, base, mem) {
		return false
	}
	if b.races != nil && mem.space == ptx.Shared && !w.surelyNoRace(mem, p, base) {
		return false
	}
	if b.counting {
		p.count(&b.cnt, mem)
	}
	if mem.space == ptx.Global {
		w.fetchAhead(mem, p, c, base)
	}
	w.move(mem, p, unsafe.Add(c.Base, base))
	return true
}

// again runs an access to fully written memory if its pattern can be matched and its
// data moved in one call.
func (w *warp) again(in *instr, m uint32, c *mem.Contents, base uint64) bool {
	b, mem := w.block, in.mem
	s := &b.patterns.sites[mem.site]
	low := base & lowBits(mem.space)
	at := wayOf(m, low)
	start, end := mem.room(c)
	for i := range uint32(2) {
		p := s.known[at^i]
		if p == nil || p.mask != m || p.low != low || p.how == simd.NoMove || int64(base)+p.min < start || int64(base)+p.max > end {
			continue
		}
		if !simd.Access(unsafe.Add(w.slots, in.a), &p.delta, unsafe.Add(c.Base, base), w.slots, &mem.regs, m, p.how) {
			continue
		}
		s.hits++
		if b.counting {
			p.count(&b.cnt, mem)
		}
		if mem.space == ptx.Global {
			w.fetchAhead(mem, p, c, base)
		}
		return true
	}
	return false
}

// destination is the memory of the lowest active lane's access, or nil, and the offset
// in it.
func (w *warp) destination(in *instr, m uint32) (c *mem.Contents, base uint64) {
	b, access := w.block, in.mem
	base = access.offset
	if access.wideAddr {
		base += lanes[uint64](w, in.a)[lowest(m)&31]
	} else {
		base = uint64(lanes[uint32](w, in.a)[lowest(m)&31] + uint32(base))
	}
	if access.space == ptx.Global {
		if from := b.origins[access.origin]; from != nil {
			if base>>mem.WindowBits != uint64(from.ID) {
				return nil, 0
			}
			return from.Contents.Load(), base & mem.OffsetMask
		}
		return b.launch.contentsAt(base), base & mem.OffsetMask
	}
	if b.races != nil && b.races.shift != 2 {
		return nil, 0 // the search for races looks at single bytes
	}
	return b.shared, base
}

// fetchAhead prefetches the bytes that the warp is likely to access next, if they are
// close together. A prefetch of any address cannot fault.
func (w *warp) fetchAhead(mem *access, p *pattern, c *mem.Contents, base uint64) {
	const most = 512 // bytes: four words for each lane
	last := &w.block.patterns.sites[mem.site].last[w.index&31]
	next := 2*base - *last
	*last = base
	if bytes := p.max - p.min; bytes <= most {
		simd.Prefetch(uintptr(c.Base)+uintptr(next)+uintptr(p.min), uintptr(bytes))
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

// contentsAt is the memory of a global address, or nil.
func (l *Launch) contentsAt(address uint64) *mem.Contents {
	table := l.engine.memory.Allocations()
	if id := address >> mem.WindowBits; id < uint64(len(table)) && table[id] != nil {
		return table[id].Contents.Load()
	}
	return nil
}

// pattern finds the pattern of an access, or learns it; nil if it has none.
func (w *warp) pattern(in *instr, m uint32, base uint64) *pattern {
	t := w.block.patterns
	s := &t.sites[in.mem.site]
	low := base & lowBits(in.mem.space)
	at := wayOf(m, low)
	way := &s.known[at]
	for i := range uint32(2) {
		if p := s.known[at^i]; p != nil && p.mask == m && p.low == low && w.matches(in, p) {
			s.hits++
			return p
		}
	}
	if s.misses > 64+s.hits/4 || t.learned >= mostPatterns {
		return nil // it has no pattern
	}
	s.misses++
	if *way != nil && s.known[at^1] == nil {
		way = &s.known[at^1]
	}
	if *way == nil {
		t.learned++
		*way = new(pattern)
	}
	w.effective(in, m)
	if !(*way).learn(&w.addr, m, low, in.mem) {
		(*way).mask = 0 // it matches no request
		return nil
	}
	return *way
}

// wayOf is the first of the two ways in which a pattern may be.
func wayOf(m uint32, low uint64) uint32 { return (m*0x9e3779b1>>27 ^ uint32(low>>2)) % ways }

// matches reports whether the active lanes have the pattern's distances.
func (w *warp) matches(in *instr, p *pattern) bool {
	if in.mem.wideAddr {
		return w.block.vectors.MatchWide(lanes[uint64](w, in.a), &p.delta, p.mask)
	}
	return w.block.vectors.Match(lanes[uint32](w, in.a), &p.delta, p.mask)
}

// learn makes p the pattern of addresses; it reports false if they are too far
// apart or not aligned.
func (p *pattern) learn(addr *[32]uint64, m uint32, low uint64, mem *access) bool {
	*p = pattern{mask: m, low: low, unit: true, bytes: uint64(popcount(m)) * mem.size, cells: p.cells[:0]}
	first := lowest(m)
	base := addr[first&31]
	start := base &^ 31
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		d := int64(addr[l] - base)
		if d != int64(int32(d)) || addr[l]&(mem.size-1) != 0 {
			return false
		}
		p.delta[l] = int32(d)
		p.min, p.max = min(p.min, d), max(p.max, d+int64(mem.size))
		p.unit = p.unit && d == int64(4*(l-first)) && mem.count == 1
		p.cover(int32(int64(addr[l]&^31-start)/32), uint32(1<<mem.size-1)<<(addr[l]&31))
	}
	p.how = mem.move(p)
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

// move selects how one call can move the data of a pattern, if one can.
func (mem *access) move(p *pattern) simd.Move {
	var how simd.Move
	switch {
	case mem.count == 4 && mem.kind == load && p.mask == all:
		how = simd.MoveLoadQuads
	case mem.count > 1:
		return simd.NoMove
	case mem.kind == load && p.unit:
		how = simd.MoveLoadUnit
	case mem.kind == load:
		how = simd.MoveGather
	case p.unit:
		how = simd.MoveStoreUnit
	default:
		how = simd.MoveScatter
	}
	if mem.wideAddr {
		how |= simd.MoveWide
	}
	return how
}

// cover adds bytes of a word to the covered ones.
func (p *pattern) cover(word int32, bits uint32) {
	i := slices.Index(p.words[:p.covered], word)
	if i < 0 {
		i = int(p.covered)
		p.words[i] = word
		p.covered++
	}
	p.bits[i] |= bits
}

// written checks that all bytes of a load were written, or marks those that a store will
// write.
func (p *pattern) written(c *mem.Contents, base uint64, mem *access) bool {
	at := int64(base >> 5)
	for i, bits := range &p.bits {
		if bits == 0 {
			break
		}
		word := &c.Written[at+int64(p.words[i])]
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

func (p *pattern) count(c *gpu.Counters, mem *access) {
	if mem.space == ptx.Shared {
		s := &c.SharedLoad
		if mem.kind == store {
			s = &c.SharedStore
		}
		s.Requests++
		s.Wavefronts += p.waves
		s.Conflicts += p.waves - p.groups
		s.Bytes += p.bytes
		return
	}
	g := &c.GlobalLoad
	if mem.kind == store {
		g = &c.GlobalStore
	}
	g.Requests++
	g.Sectors += p.sectors
	g.Lines += p.lines
	g.Bytes += p.bytes
}

// move moves the data between registers and memory; base is the address of the lowest
// active lane.
func (w *warp) move(mem *access, p *pattern, base unsafe.Pointer) {
	v := w.block.vectors
	if mem.kind == load && mem.count == 4 && p.mask == all && v.LoadQuads(w.slots, &mem.regs, base, &p.delta) {
		return
	}
	for k := range mem.count {
		r, at := lanes[uint32](w, mem.regs[k]), unsafe.Add(base, 4*k)
		switch {
		case mem.kind == load && p.unit:
			v.LoadUnit(r, at, p.mask)
		case mem.kind == load:
			v.Gather(r, at, &p.delta, p.mask)
		case p.unit:
			v.StoreUnit(r, at, p.mask)
		default:
			v.Scatter(r, at, &p.delta, p.mask)
		}
	}
}
