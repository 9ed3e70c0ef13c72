package engine

import (
	"slices"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// globalRaces finds races between blocks of one launch on global memory: two unordered
// accesses by different blocks, at least one a write and at least one neither atomic nor
// volatile. Stores of the same value are no race.
//
// Order between blocks: a block publishes the accesses before a fence of the GPU by its
// next atomic or volatile access after the fence, and learns the published accesses of
// others at the address of each of its own atomic or volatile accesses. grid.sync(),
// locks and the counters of a last block consist of these steps; a barrier of a cluster
// orders its blocks. The search does not distinguish which thread of a block has fenced,
// and ignores accesses of the copy engine.
//
// A searched launch runs on one worker. Marks take ten times the accessed memory; beyond
// mostMarks, new words are not searched, and a warning reports it.
type globalRaces struct {
	now       uint32 // counts fences
	pages     pages[globalMark]
	atomics   pages[globalAccess] // last atomic or volatile writes
	room      int64               // bytes that marks may still take
	leftOut   *warp               // the first to access a word that is left out, or nil
	leftAt    *instr
	published map[uint64]*published // by address
	knows     map[int32]knowledge   // by block
	fenced    map[int32]uint32      // by block: the time of its last fence
}

// knowledge holds, for each other block, the time up to which its accesses are visible here.
type knowledge map[int32]uint32

// published is the knowledge that blocks have published at an address.
type published struct {
	knowledge
	version uint32
	learned map[int32]uint32 // version that a block has learned
}

// pages hold a cell for each word of memory, in pages that are made as they are needed.
type pages[T any] struct {
	known map[uint64]*[pageCells]T
	last  *[pageCells]T // the page that was looked at last: most accesses are of it
	at    uint64        // its number
}

// pageCells is how many words of memory have their marks in one piece.
const pageCells = 1024

// globalMark are the last accesses to a word. Blocks are numbered from 1.
type globalMark struct {
	write, read globalAccess
	other       int32 // a block that read it before the last reader
	otherTime   uint32
}

type globalAccess struct {
	block  int32
	time   uint32
	pc     int32
	thread uint16
	bytes  uint8 // of the word, a bit each
	strong bool  // atomic or volatile
}

// mostMarks bounds the memory of marks.
var mostMarks int64 = 1 << 30

func newGlobalRaces() *globalRaces {
	room := mostMarks
	if free, known := gpu.HostFree(); known {
		room = min(room, free/2)
	}
	return &globalRaces{now: 1, room: room, pages: pages[globalMark]{known: map[uint64]*[pageCells]globalMark{}}, atomics: pages[globalAccess]{known: map[uint64]*[pageCells]globalAccess{}},
		published: map[uint64]*published{},
		knows:     map[int32]knowledge{}, fenced: map[int32]uint32{}}
}

// mark is that of the word at an address; nil if there is no room for it.
func (g *globalRaces) mark(address uint64) *globalMark { return cellOf(g, &g.pages, address, true) }

// atomic is the last atomic or volatile write of the word at an address, nil if there is
// none and none is to be noted.
func (g *globalRaces) atomic(address uint64, note bool) *globalAccess {
	return cellOf(g, &g.atomics, address, note)
}

// cellOf is the cell of a word; nil if it has none and none is to be added, or there is
// no room for it.
func cellOf[T any](g *globalRaces, p *pages[T], address uint64, add bool) *T {
	cell := address / 4
	page := pageOf(g, p, cell/pageCells, add)
	if page == nil {
		return nil
	}
	return &page[cell%pageCells]
}

// pageOf is the page with a number; nil if there is none, as for cellOf.
func pageOf[T any](g *globalRaces, p *pages[T], number uint64, add bool) *[pageCells]T {
	if p.last == nil || p.at != number {
		page := p.known[number]
		if page == nil {
			bytes := int64(unsafe.Sizeof(*page))
			if !add || g.room < bytes {
				return nil
			}
			g.room -= bytes
			page = new([pageCells]T)
			p.known[number] = page
		}
		p.last, p.at = page, number
	}
	return p.last
}

// warnLeftOut warns that there was no memory for all marks.
func (g *globalRaces) warnLeftOut() {
	if g.leftOut != nil {
		g.leftOut.warn(g.leftAt, 0, gpu.ErrMemory, "the search for races between blocks has looked at the first %d MiB of global memory that the launch used, not at the rest: launch it for less data",
			int64(len(g.pages.known))*pageCells*4>>20)
	}
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
	return other != 0 && other != block && g.knows[block][other] <= time
}

// raceBlocks looks for races of an access of the lanes in m to an allocation. It reports
// whether it found none.
func (w *warp) raceBlocks(in *instr, p place, m uint32) bool {
	g, size, block := w.block.launch.global, in.mem.size, w.block.number()
	base := p.allocation.Address()
	now := globalAccess{block: block, pc: in.mem.pc, strong: in.mem.strong}
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		address := base + w.addr[l]
		if in.mem.strong {
			if released(in.src) {
				g.fence(block)
			}
			g.synchronise(block, address, in.mem.kind != load)
		}
		now.time, now.thread = g.now, uint16(w.index*32+l)
		for at := address &^ 3; at < address+size; at += 4 {
			now.bytes = 1<<4 - 1
			if at < address || at+4 > address+size {
				first, last := max(at, address), min(at+4, address+size)
				now.bytes = uint8(1<<(last-at) - 1<<(first-at))
			}
			k := g.mark(at)
			if k == nil {
				if g.leftOut == nil {
					g.leftOut, g.leftAt = w, in
				}
				continue
			}
			if !w.raceWord(in, p, l, at, k, &now) {
				return false
			}
		}
	}
	return true
}

// conflicts reports whether an access that a block makes now races with an earlier one.
func (g *globalRaces) conflicts(before, now *globalAccess) bool {
	return before.block != 0 && before.block != now.block && before.bytes&now.bytes != 0 && !(before.strong && now.strong) &&
		g.unordered(now.block, before.block, before.time)
}

// raceWord looks for a race on one word, and notes the access.
func (w *warp) raceWord(in *instr, p place, l int, at uint64, k *globalMark, now *globalAccess) bool {
	g := w.block.launch.global
	if g.conflicts(&k.write, now) && !(in.mem.kind == store && w.keepsWord(in, p, l, at)) {
		w.blockRace(in, p, l, at, &k.write, true)
		return false
	}
	if len(g.atomics.known) > 0 {
		if last := g.atomic(at, false); last != nil && g.conflicts(last, now) && !(in.mem.kind == store && w.keepsWord(in, p, l, at)) {
			w.blockRace(in, p, l, at, last, true)
			return false
		}
	}
	if in.mem.kind == load {
		if k.read.block != now.block {
			k.other, k.otherTime = k.read.block, k.read.time
		}
		k.read = *now
		return true
	}
	if g.conflicts(&k.read, now) && !(in.mem.kind == store && w.keepsWord(in, p, l, at)) {
		w.blockRace(in, p, l, at, &k.read, false)
		return false
	}
	if other := k.read; !other.strong && g.unordered(now.block, k.other, k.otherTime) && other.bytes&now.bytes != 0 && !(in.mem.kind == store && w.keepsWord(in, p, l, at)) {
		other.block, other.time = k.other, k.otherTime
		w.blockRace(in, p, l, at, &other, false)
		return false
	}
	if !now.strong {
		k.write = *now
	} else if last := g.atomic(at, true); last != nil {
		*last = *now
	}
	return true
}

// keepsWord reports whether a store leaves the bytes of a word unchanged.
func (w *warp) keepsWord(in *instr, p place, l int, at uint64) bool {
	base := p.allocation.Address()
	from, to := max(at, base+w.addr[l]), min(at+4, base+w.addr[l]+in.mem.size)
	for ; from < to; from++ {
		offset := from - base
		if !p.contents.Written.Has(int(offset), 1) && !p.contents.Whole.Load() || w.stored(in, l, offset) != p.contents.Data[offset] {
			return false
		}
	}
	return true
}

// blockRace is the fault of a race between two blocks.
func (w *warp) blockRace(in *instr, p place, l int, at uint64, before *globalAccess, wrote bool) {
	b := w.block
	kind, did := "read-after-write", "wrote"
	switch {
	case !wrote:
		kind, did = "write-after-read", "read"
	case in.mem.kind != load:
		kind = "write-after-write"
	}
	first := &b.prog.code[before.pc]
	offset := max(at-p.allocation.Address(), w.addr[l])
	w.fail(in, l, gpu.ErrRace, "%s hazard on byte %d of %s: block %v thread %v %s it with %s at %s, and nothing orders the blocks: use an atomic, grid.sync(), or two launches",
		kind, offset, p.allocation.Name(), b.launch.place(int64(before.block-1)), b.thread(int(before.thread)), did, first.src.Name(), b.prog.placeOf(first))
	b.fault.Other = &gpu.Site{Instruction: first.src.Name(), Line: first.src.Pos.Line, Source: b.prog.sourceOrCall(first), Thread: b.thread(int(before.thread))}
}

// fenceForm lowers membar and fence: memory is always consistent in the emulator, so a
// fence affects only the searches for races.
func fenceForm(lo *lowering) error {
	src := lo.op.in.src
	async := slices.Contains(src.Modifiers, "proxy") && slices.Contains(src.Modifiers, "async")
	engine := async || slices.Contains(src.Modifiers, "mbarrier_init")
	wide := slices.ContainsFunc(src.Modifiers, func(m string) bool { return m == "gl" || m == "gpu" || m == "sys" })
	lo.op.in.exec = func(w *warp, _ *instr, m uint32) {
		if g := w.block.launch.global; g != nil && wide {
			g.fence(w.block.number())
		}
		if engine {
			w.fenceAsync()
		}
		if r := w.block.races; r != nil && async {
			r.warps.now++
			w.proxyFence = r.warps.now
		}
	}
	return nil
}

// released reports whether a memory instruction fences before it writes.
func released(in *ptx.Instruction) bool {
	gpuWide := slices.Contains(in.Modifiers, "gpu") || slices.Contains(in.Modifiers, "sys")
	return gpuWide && (slices.Contains(in.Modifiers, "release") || slices.Contains(in.Modifiers, "acq_rel"))
}
