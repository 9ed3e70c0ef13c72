package engine

import (
	"warpbook/gpu"
)

// globalRaces finds races on global memory: two unordered accesses by different threads,
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
// A launch that asks for the search runs on one worker. Beyond mostMarks, new words are not
// searched, and a warning reports it. A small launch is searched without being asked, see
// searchSmall.
type globalRaces struct {
	between bool  // the launch asks for the search, between blocks, too; else a race is a warning
	left    int   // accesses of warps that are still searched, if it does not ask
	noted   bool  // stores of equal values have their note
	room    int64 // bytes that marks may still take

	now     uint32 // counts fences
	events  []event
	rows    pages[row] // by row of memory
	cells   pages[cell]
	strong  pages[strongCell] // last atomic or volatile writes
	leftOut *warp             // the first to access a word that is left out, or nil
	leftAt  *instr

	published map[uint64]*published // by address
	knows     map[int32]knowledge   // by block
	fenced    map[int32]uint32      // by block: the time of its last fence
	signals   map[int32]signal      // by block: its last atomic or volatile write
	flags     map[uint64]*instr     // atomic or volatile writes after a fence, if launches are compared
}

// knowledge holds, for each other block, the time up to which its accesses are visible here.
type knowledge map[int32]uint32

// signal is an atomic or volatile write, by which a block may tell others that its data is
// there, and where it has looked for those of others.
type signal struct {
	address, read uint64
	in            *instr
}

// published is the knowledge that blocks have published at an address.
type published struct {
	knowledge
	version uint32
	learned map[int32]uint32 // version that a block has learned
}

func newGlobalRaces() *globalRaces {
	return &globalRaces{rows: newPages[row](), cells: newPages[cell](), strong: newPages[strongCell](), published: map[uint64]*published{},
		knows: map[int32]knowledge{}, fenced: map[int32]uint32{}, signals: map[int32]signal{}}
}

// forget drops everything but some memory for the next launch.
func (g *globalRaces) forget() {
	g.rows.forget()
	g.cells.forget()
	g.strong.forget()
	if cap(g.events) > keptEvents {
		g.events = nil
	}
	g.leftOut, g.leftAt = nil, nil
	clear(g.published)
	clear(g.knows)
	clear(g.fenced)
	clear(g.signals)
	clear(g.flags)
}

// keptEvents is how many events have memory that waits for the next search.
const keptEvents = 1 << 16

// start prepares for a launch.
func (g *globalRaces) start(between bool) {
	g.between, g.left, g.noted, g.now, g.events = between, smallAccesses, false, 1, append(g.events[:0], event{})
	if g.room = mostMarks; between {
		if free, known := gpu.HostFree(); known {
			g.room = min(g.room, free/2)
		}
	}
}

// A launch that does not ask for a search on global memory is searched within its blocks
// if it has few threads and stores to global memory, until each worker has seen some
// accesses of warps: then the search costs a few milliseconds at most.
// With several streams larger ones are, too, see OrderStreams.
const (
	smallThreads  = 1 << 11
	smallAccesses = 1 << 13
)

// searchSmall reports whether a launch that does not ask for it is searched.
func (l *Launch) searchSmall() bool {
	// What a launch only reads may be written in another stream.
	return l.checks.Has(gpu.CheckThreadRaces) && !l.checks.Has(gpu.CheckBlockRaces) && (l.prog.stores || l.compared()) &&
		l.cluster.Size() == 1 && l.total*int64(l.threads) <= max(smallThreads, l.mostThreads)
}

// searchGlobal makes a block of a launch take part in a search.
func (b *block) searchGlobal(g *globalRaces) {
	b.global, b.carefulGlobal, b.order[globalOrder] = g, g != nil, nil
	if g == nil {
		return
	}
	if b.globalShadow == nil {
		b.globalShadow = &ordering{lanes: make([]order, len(b.warps))}
	}
	b.order[globalOrder] = b.globalShadow
}

// fence notes that a block has fenced.
func (g *globalRaces) fence(block int32) {
	g.now++
	g.fenced[block] = g.now
}

// synchronise handles an atomic or volatile access of a block: the block publishes and
// learns.
func (g *globalRaces) synchronise(block int32, address uint64, writes bool) {
	p := g.published[address]
	if fence := g.fenced[block]; writes && fence != 0 && (p == nil || p.knowledge[block] < fence) {
		if p == nil {
			p = &published{knowledge: knowledge{}, learned: map[int32]uint32{}}
			g.published[address] = p
		}
		p.learn(g.knows[block])
		p.knowledge[block] = fence
		p.version++
	}
	if p == nil || p.learned[block] == p.version {
		return
	}
	p.learned[block] = p.version
	k := g.knows[block]
	if k == nil {
		k = knowledge{}
		g.knows[block] = k
	}
	k.learn(p.knowledge)
}

func (k knowledge) learn(from knowledge) {
	for block, time := range from {
		k[block] = max(k[block], time)
	}
}

// meet orders earlier accesses of some blocks before their later ones.
func (g *globalRaces) meet(blocks []*block) {
	g.now++
	for _, b := range blocks {
		k := g.knows[b.number()]
		if k == nil {
			k = knowledge{}
			g.knows[b.number()] = k
		}
		for _, other := range blocks {
			k.learn(g.knows[other.number()])
			k[other.number()] = g.now
		}
	}
}

// number is the number of a block in its grid, from 1.
func (b *block) number() int32 { return int32(b.linear() + 1) }

// unordered reports whether an access by another block is unordered with the current
// accesses of a block.
func (g *globalRaces) unordered(block, other int32, time uint32) bool {
	return g.knows[block][other] <= time
}

// raceGlobal looks for races of an access of the lanes in m to an allocation. It reports
// whether it found none that ends the launch.
func (w *warp) raceGlobal(in *instr, p place, m uint32) bool {
	g, size := w.block.global, in.mem.size
	if !g.between {
		if g.left--; g.left < 0 {
			w.block.searchGlobal(nil)
			return true
		}
	}
	base := p.allocation.Address()
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		address := base + w.addr[l]
		if in.mem.strong {
			w.synchronise(in, address)
		}
		now := reference(w.happening(in.mem.pc)<<laneBits | uint32(l))
		for at := address &^ 3; at < address+size; at += 4 {
			k := (*cell)(nil)
			if g.spread(at / rowBytes) {
				k = g.cells.item(at/4, true, &g.room)
			}
			if k == nil || now.event() == 0 {
				if g.leftOut == nil {
					g.leftOut, g.leftAt = w, in
				}
				continue
			}
			if !w.raceWord(in, p, at, k, seen{now, bytesOf(at, address, size), false}) {
				return false
			}
		}
	}
	return true
}

// bytesOf are the bytes of a word that an access has.
func bytesOf(word, address, size uint64) uint8 {
	if word >= address && word+4 <= address+size {
		return allBytes
	}
	first, last := max(word, address), min(word+4, address+size)
	return uint8(1<<(last-word) - 1<<(first-word))
}

// signalled reports whether a block has signalled without a fence after an event, and another
// block has counted or polled at the same place.
func (g *globalRaces) signalled(e *event, block int32) bool {
	by, to := g.signals[e.block], g.signals[block]
	return by.in != nil && g.fenced[e.block] <= e.time && (to.address == by.address || to.read == by.address)
}

// synchronise handles an atomic or volatile access: its block and its warp publish what
// they have done, and learn what others have.
func (w *warp) synchronise(in *instr, address uint64) {
	b, writes := w.block, in.mem.kind != load
	g := b.global
	if in.mem.releases {
		w.fence(in.mem.wide)
	}
	if g.between {
		g.synchronise(b.number(), address, writes)
		s := g.signals[b.number()]
		if s.read = address; writes {
			s.address, s.in = address, in
		}
		g.signals[b.number()] = s
	}
	if writes && w.released != 0 && b.launch.compared() {
		g.signal(address, in)
	}
	b.synchronise(w, address, writes)
}

// fence notes a fence of a warp; a wide one is of the GPU.
func (w *warp) fence(wide bool) {
	b := w.block
	if wide && b.global.between {
		b.global.fence(b.number())
	}
	o := &b.order[globalOrder].warps
	o.now++
	w.released = o.now
}

// synchronise is that of the warps of a block.
func (b *block) synchronise(w *warp, address uint64, writes bool) {
	o, known := b.order[globalOrder], b.published[address]
	if known != nil {
		o.warps.learn(w.index, known)
	}
	if !writes || w.released == 0 {
		return
	}
	if known == nil {
		if b.published == nil {
			b.published = map[uint64]*[32]uint32{}
		}
		known = new([32]uint32)
		b.published[address] = known
	}
	o.warps.teach(w.index, known)
	known[w.index] = max(known[w.index], w.released)
	o.lanes[w.index].meetAll()
}

// relation is how an earlier access and the current one are related.
type relation uint8

const (
	harmless relation = iota
	inBlock           // they race, of one block
	ofBlocks          // they race, of two
)

// relate compares an earlier access of a word with the current one; one of them writes.
func (w *warp) relate(before, now seen, strong bool) relation {
	if before.reference == 0 || before.bytes&now.bytes == 0 {
		return harmless
	}
	b := w.block
	g := b.global
	e := &g.events[before.event()]
	switch {
	case strong && b.prog.code[e.pc()].mem.strong:
	case !g.between && (strong || b.prog.code[e.pc()].mem.strong): // often meant so, see remedyOf
	case e.block == b.number():
		if !w.orderedInBlock(e, before, now.lane()) {
			return inBlock
		}
	case g.between && g.unordered(b.number(), e.block, e.time):
		return ofBlocks
	}
	return harmless
}

// orderedInBlock reports whether an earlier access by a thread of the block is ordered
// before the current one of a lane, or is of the same thread.
func (w *warp) orderedInBlock(e *event, before seen, lane int) bool {
	o := w.block.order[globalOrder]
	if e.warp() != uint32(w.index) {
		return o.warps.before(e.warp(), e.epoch, uint32(w.index))
	}
	lanes := &o.lanes[w.index]
	switch {
	case before.lane() == lane && !before.many, e.phase < lanes.all:
		return true
	case lanes.some && before.many:
		return true // which lanes have read it is not known
	}
	return lanes.before(uint32(before.lane()), e.phase, uint32(lane))
}

// raceWord looks for a race on one word, and notes the access.
func (w *warp) raceWord(in *instr, p place, at uint64, c *cell, now seen) bool {
	g, strong := w.block.global, in.mem.strong
	if !w.apart(in, p, at, c.written(), now, true) {
		return false
	}
	if len(g.strong.known) > 0 {
		if s := g.strong.item(at/4, false, &g.room); s != nil && !w.apart(in, p, at, seen{s.write, s.bytes, false}, now, true) {
			return false
		}
	}
	if in.mem.kind == load {
		w.noteRead(c, now)
		return true
	}
	if last, other := c.reads(); !w.apart(in, p, at, last, now, false) || !w.apart(in, p, at, other, now, false) {
		return false
	}
	if !strong {
		c.wrote(now)
	} else if s := g.strong.item(at/4, true, &g.room); s != nil {
		*s = strongCell{now.reference, now.bytes}
	}
	return true
}

// noteRead adds a read to the last ones of a word. A read that is ordered before it is
// dropped: what races with it races with the later one, too.
func (w *warp) noteRead(c *cell, now seen) {
	last, _ := c.reads()
	if last.reference == 0 {
		c.reading(now)
		return
	}
	e, o := &w.block.global.events[last.event()], w.block.order[globalOrder]
	switch {
	case e.block != w.block.number():
		c.shift()
	case e.warp() == uint32(w.index):
		now.many = e.phase >= o.lanes[w.index].all && last.bytes == now.bytes && (last.many || last.lane() != now.lane())
	case e.epoch >= o.warps.all:
		c.shift()
	}
	c.reading(now)
}

// apart reports whether an earlier access of a word and the current one are no race that
// ends the launch; wrote is whether the earlier one was a write.
func (w *warp) apart(in *instr, p place, at uint64, before, now seen, wrote bool) bool {
	r := w.relate(before, now, in.mem.strong)
	if r == harmless {
		return true
	}
	g := w.block.global
	if in.mem.kind == store && w.keepsWord(in, p, at, before, now) {
		if wrote && g.between && !g.noted {
			g.noted = true
			w.noteEqual(in, p, at, before, now)
		}
		return true
	}
	race := w.globalRace(in, p, at, before, now, wrote, r)
	if g.between {
		w.block.fault = race
		return false
	}
	w.block.launch.warned.add(in, race)
	g.left = 0
	return true
}

// keepsWord reports whether a store leaves the bytes of a word as they are, or as an
// earlier lane of the same instruction stores them.
func (w *warp) keepsWord(in *instr, p place, at uint64, before, now seen) bool {
	base, l := p.allocation.Address(), now.lane()
	from, to := max(at, base+w.addr[l]), min(at+4, base+w.addr[l]+in.mem.size)
	for ; from < to; from++ {
		offset := from - base
		have := p.contents.Data[offset]
		switch first := before.lane(); {
		case before.event() == now.event() && w.reaches(in, first, offset):
			have = w.stored(in, first, offset)
		case !p.contents.Whole.Load() && !p.contents.Written.Has(int(offset), 1):
			return false
		}
		if w.stored(in, l, offset) != have {
			return false
		}
	}
	return true
}
