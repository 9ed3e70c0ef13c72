//go:build !js

package engine

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
)

// This file finds races on global memory between launches in different streams that no
// event and no wait of the host orders. On a GPU these run at the same time.
//
// It reuses what the searches within and between blocks note while a launch runs. When the
// launch has ended, its words are compared with those of earlier launches and then added
// to them. A race ends a launch that asks for the search between blocks, and is a warning
// in a small launch, see searchSmall. A store that leaves a word as it is is no race.
// Launches that meet at a flag, which one of them writes atomically after a fence, are not
// compared. See stream_transfer.go for copies and the clearing of buffers.

// Order is the place of a launch among those in all streams of a device.
type Order struct {
	Stream uint32
	Number uint64            // of the launch in its stream
	Before map[uint32]uint64 // by stream: the last launch that comes before this one, or is it
	Alone  bool              // every earlier launch comes before this one
}

// Order gives a launch its place among those in other streams; nil if there are none.
func (s *Streams) Order(l *Launch, o *Order) {
	if l.streams, l.mostThreads = nil, smallThreads; o == nil {
		return
	}
	l.streams = &streamLaunch{l, s, o}
	if threads := int64(l.grid.Size()) * int64(l.threads); threads > smallThreads && threads <= comparedThreads && l.prog.comparedLarge.Add(1) <= mostLarge {
		l.mostThreads = comparedThreads
	}
}

// streamLaunch is a launch with its place.
type streamLaunch struct {
	*Launch
	in    *Streams
	order *Order
}

// With several streams launches have more threads than other small ones, because programs
// divide large arrays among them. To note what they access takes some 20 ms each, so some of
// each program are compared.
const (
	comparedThreads = 1 << 16
	mostLarge       = 16
)

// Streams are the last accesses to words by launches in several streams of a device, which
// owns them and calls their methods one at a time, as it runs launches.
type Streams struct {
	engine *Engine
	last   *streamLaunch // whose accesses are still to be added, or nil
	words  races.Pages[streamWord]
	sites  []streamSite
	latest map[uint32]uint64     // the last launch of each stream that words have
	flags  map[uint64]streamSite // words that were written atomically after a fence
	warned map[[2]any]bool
	room   int64 // bytes that words may still take

	transfers []streamTransfer
}

// These bound the memory of words, and the instructions of launches that access them.
const (
	mostStreamMarks = 256 << 20
	mostSites       = 1 << 20
)

// streamSite is an instruction of a launch.
type streamSite struct {
	stream uint32
	number uint64
	prog   *Program
	in     *instr
}

// streamAccess is the number of a site, 0 for none, and a bit for each byte of a word that it
// accesses.
type streamAccess uint32

func newStreamAccess(site uint32, bytes uint8) streamAccess {
	return streamAccess(site<<4 | uint32(bytes))
}

func (a streamAccess) site() uint32 { return uint32(a) >> 4 }
func (a streamAccess) bytes() uint8 { return uint8(a & races.AllBytes) }

// streamWord are the last accesses to a word, and its value after them.
type streamWord struct {
	write, strong streamAccess // plain writes, atomic and volatile ones
	read, other   streamAccess // other is by another stream
	value         uint32
}

// NewStreams has seen no launches of an engine yet.
func NewStreams(e *Engine) *Streams { return &Streams{engine: e} }

// Drop releases the memory. No launch may run.
func (s *Streams) Drop() { *s = Streams{engine: s.engine} }

// forget drops everything but the last launch.
func (s *Streams) forget() {
	if s.sites == nil {
		s.words, s.latest = races.NewPages[streamWord](), map[uint32]uint64{}
	}
	s.words.Forget()
	s.sites, s.room = append(s.sites[:0], streamSite{}), mostStreamMarks
	s.transfers = s.transfers[:0]
	clear(s.latest)
	clear(s.flags)
	clear(s.warned)
}

// hasUnordered reports whether a launch does not come before one with a place.
func (s *Streams) hasUnordered(o *Order) bool {
	for stream, number := range s.latest {
		if number > o.Before[stream] {
			return true
		}
	}
	return false
}

// begin prepares for work with a place. The accesses of the last launch are added only
// now, because most work comes after everything before it.
func (s *Streams) begin(o *Order) {
	if o.Alone || s.sites == nil {
		s.forget()
	}
	if last := s.last; last != nil {
		s.last = nil
		if !o.Alone {
			last.addTo(s)
		}
		last.keepSearches()
	}
}

func (l *streamLaunch) begin() { l.in.begin(l.order) }

// end compares the accesses of a launch that has ended with those in other streams.
func (l *streamLaunch) end() {
	if l.first != nil {
		l.keepSearches()
		return
	}
	s := l.in
	s.last = l
	if !s.hasUnordered(l.order) {
		return
	}
	for _, g := range l.searches {
		l.meetAtFlags(g)
	}
	var first streamRace
	aside := s.transfersAside(l.order)
	for _, g := range l.searches {
		g.EachWord(func(word uint64, w *races.Word) {
			l.compareWord(&first, g, word, w)
			l.compareTransfers(&first, g, aside, word, w)
		})
	}
	l.report(&first)
}

// keepSearches gives the memory of searches to later launches.
func (l *streamLaunch) keepSearches() {
	for _, g := range l.searches {
		l.engine.blocks.keep(g)
	}
	l.searches = nil
}

// meetAtFlags puts the launches before this one whose flags it accesses atomically.
func (l *streamLaunch) meetAtFlags(g *races.Global) {
	for address, by := range l.in.flags {
		if g.MeetsAt(address, func(pc uint32) bool { return l.prog.code[pc].mem.strong }) {
			l.order.Before[by.stream] = max(l.order.Before[by.stream], by.number)
		}
	}
}

// streamRace is the race with the lowest address.
type streamRace struct {
	found    bool
	word     uint64
	bytes    uint8
	before   streamSite
	transfer string // that comes before, "" for a launch
	event    races.Event
	lane     int
	kind     string // of hazard
	did      string
}

// compareWord looks for a race on a word.
func (l *streamLaunch) compareWord(first *streamRace, g *races.Global, word uint64, w *races.Word) {
	none := int64(0)
	old := l.in.words.Item(word, false, &none)
	if old == nil || first.found && first.word <= word {
		return
	}
	look := func(now races.Seen, before streamAccess, kind, did string) {
		if now.None() || before == 0 || now.Bytes&before.bytes() == 0 || first.found && first.word <= word {
			return
		}
		by, e := l.in.sites[before.site()], g.Event(now)
		if by.number <= l.order.Before[by.stream] {
			return
		}
		this, that := l.prog.code[e.PC()].mem, by.in.mem
		if this.strong && that.strong || !g.Between && (plainRead(this) && that.strong || this.strong && plainRead(that)) {
			return
		}
		*first = streamRace{found: true, word: word, bytes: now.Bytes & before.bytes(), before: by, event: *e, lane: now.Lane(), kind: kind, did: did}
	}
	for _, now := range w.Reads {
		look(now, old.write, "read-after-write", "wrote")
		look(now, old.strong, "read-after-write", "wrote")
	}
	if value, ok := l.wordNow(word); !ok || value == old.value {
		return
	}
	for _, now := range w.Writes {
		look(now, old.write, "write-after-write", "wrote")
		look(now, old.strong, "write-after-write", "wrote")
		look(now, old.read, "write-after-read", "read")
		look(now, old.other, "write-after-read", "read")
	}
}

// plainRead reports whether an access is a load that may see an old value beside atomics,
// which is often meant so.
func plainRead(mem *access) bool { return mem.kind == load && !mem.strong }

// wordNow is the value of a word in memory.
func (l *Launch) wordNow(word uint64) (value uint32, ok bool) {
	a, offset := l.allocationAt(4*word), int(4*word&mem.OffsetMask)
	if a == nil {
		return 0, false
	}
	c := a.Contents.Load()
	if c == nil {
		return 0, false
	}
	var bytes [4]byte
	copy(bytes[:], c.Data[min(offset, len(c.Data)):])
	return binary.LittleEndian.Uint32(bytes[:]), true
}

// report makes a race a fault or a warning.
func (l *streamLaunch) report(r *streamRace) {
	if !r.found {
		return
	}
	in := &l.prog.code[r.event.PC()]
	a, offset := l.allocationAt(4*r.word), int(4*r.word&mem.OffsetMask)+bits.TrailingZeros8(r.bytes)
	by, with, work, key := r.transfer, "", "the "+r.transfer, [2]any{r.transfer + a.Name(), in.src}
	if old := r.before; old.prog != nil {
		by, with, work = old.prog.name, " with "+old.in.src.Name()+" at "+old.prog.shortPlace(old.in), "the launch of "+old.prog.name
		key[0] = old.in.src
	}
	if s := l.in; l.global == nil {
		if s.warned[key] {
			return
		}
		s.warn(key)
	}
	f := l.prog.newFault(in, gpu.ErrRace, fmt.Sprintf("%s hazard on %s of %s: %s %s it in another stream%s, and nothing orders the two, which a GPU may run at the same time: record an event after %s, and let this stream wait for it before the launch of %s",
		r.kind, in.mem.elementAt(offset), l.named(a), by, r.did, with, work, l.prog.name))
	block, thread := l.place(int64(r.event.Block-1)), l.thread(r.event.Warp()*32+r.lane)
	f.Block, f.Thread = &block, &thread
	if l.global != nil {
		l.first = f
		return
	}
	l.warned.add(in, f)
}

// warn notes that a race was reported.
func (s *Streams) warn(key [2]any) {
	if s.warned == nil {
		s.warned = map[[2]any]bool{}
	}
	s.warned[key] = true
}

// addTo adds the accesses of the launch. If there is no room for them, all are dropped.
func (l *streamLaunch) addTo(s *Streams) {
	s.latest[l.order.Stream] = l.order.Number
	for _, g := range l.searches {
		sites, full := make([]uint32, len(l.prog.code)), len(s.sites) > mostSites
		g.EachWord(func(word uint64, x *races.Word) {
			w := s.words.Item(word, true, &s.room)
			if full = full || w == nil; !full {
				l.addWord(s, g, sites, w, x)
				w.value, _ = l.wordNow(word)
			}
		})
		g.EachFlag(func(address uint64, pc uint32) { s.flag(address, l.streamSite(&l.prog.code[pc])) })
		if full {
			s.forget()
		}
	}
}

// addWord adds the accesses to a word; sites are those of the instructions, if they have one.
func (l *streamLaunch) addWord(s *Streams, g *races.Global, sites []uint32, w *streamWord, of *races.Word) {
	access := func(x races.Seen) streamAccess {
		if x.None() {
			return 0
		}
		pc := g.Event(x).PC()
		if sites[pc] == 0 {
			sites[pc] = uint32(len(s.sites))
			s.sites = append(s.sites, l.streamSite(&l.prog.code[pc]))
		}
		return newStreamAccess(sites[pc], x.Bytes)
	}
	if x := access(of.Writes[0]); x != 0 {
		w.write = x
	}
	if x := access(of.Writes[1]); x != 0 {
		w.strong = x
	}
	for _, read := range of.Reads {
		if x := access(read); x != 0 {
			if w.read != 0 && s.sites[w.read.site()].stream != l.order.Stream {
				w.other = w.read
			}
			w.read = x
		}
	}
}

// flag notes an atomic or volatile write after a fence.
func (s *Streams) flag(address uint64, by streamSite) {
	if s.flags == nil {
		s.flags = map[uint64]streamSite{}
	}
	s.flags[address] = by
}

func (l *streamLaunch) streamSite(in *instr) streamSite {
	return streamSite{l.order.Stream, l.order.Number, l.prog, in}
}
