package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
)

// This file ends launches that never end: every warp that runs repeats the same steps, all
// others wait or have exited, and nothing changes the memory that they read.
//
// A block is quiet if each of its warps has come to a state in which it was before, all
// lanes that can run have run in between, and no memory got another value. The state of a
// warp is where its lanes are, and the registers that still reach a branch, an address or an
// operation that others see: a loop that leaves by a counter or a clock never repeats its
// state, and one that reads a clock and leaves by memory alone does, see decisive.go. A
// launch hangs if every resident block is quiet, no further block can begin, and no waiting
// stream and no running host program can write its memory.
//
// A block is watched once it has run many instructions, or has polled for many turns: first
// at full speed, then with a look at every store. Watching changes nothing, so counters are
// those of a launch that is not watched; a block that is quiet goes on polling, too, as
// long as any block is not.

var (
	suspectAfter  uint64 = 1 << 21 // instructions of a block
	suspectVisits        = 4       // turns of a block that polls
)

// Passes through the warps of a block, after which it is no longer watched.
const (
	watchedPasses  = 64
	watchedAtSpeed = 8
)

// watch looks for a repetition of the state of a block.
type watch struct {
	careful bool // it looks at stores
	passes  int
	states  []warpState
	ran     []uint32 // by warp: lanes that have run since
	changes uint64   // of the block, then
	ticks   uint64
}

// warpState is where the lanes of a warp are, and what decides how they go on.
type warpState struct {
	frags  []fragment
	starts []int // of the values of each
	values []uint32
	carry  uint32
}

// quiet is what a block has come to.
type quiet struct {
	on       bool
	activity uint64 // of the launch, as long as which it stays quiet
}

// endless follows a block that may never end; it reports whether the block is quiet.
func (b *block) endless() bool {
	s := b.watch
	if s == nil {
		b.beginWatch(false)
		return false
	}
	s.passes++
	if b.changes != s.changes { // other blocks may see it
		b.launch.activity.Add(1)
	} else if b.quiet.on && b.quiet.activity == b.launch.activity.Load() {
		return true // what has repeated repeats again, also in the states between
	}
	if b.changes == s.changes && (b.ticks == s.ticks || !b.prog.decisive().clock) && b.repeats() {
		b.repeated()
		return b.quiet.on
	}
	b.quiet.on = false
	most := watchedAtSpeed
	if s.careful {
		most = watchedPasses
	}
	if s.passes == most {
		b.endWatch()
		b.suspect = b.cnt.WarpInstructions + max(suspectAfter, b.cnt.WarpInstructions-b.steps)
	} else if s.passes&(s.passes-1) == 0 { // the state before may not be one of those that repeat
		b.snapshot()
	}
	return false
}

// repeated continues after a repetition: with a look at stores, with lanes that have not
// run, or, if other blocks may have changed memory meanwhile, once more.
func (b *block) repeated() {
	switch {
	case !b.watch.careful:
		b.beginWatch(true)
	case b.letOthersRun(), b.quiet.activity != b.launch.activity.Load():
		b.quiet.on = false
		b.snapshot()
	default:
		b.quiet.on = true
	}
}

func (b *block) beginWatch(careful bool) {
	if b.watch == nil {
		b.watch = &watch{states: make([]warpState, len(b.warps)), ran: make([]uint32, len(b.warps))}
		b.hurried = b.careful
	}
	b.watch.careful, b.watch.passes = careful, 0
	b.careful = careful || b.hurried
	b.snapshot()
}

func (b *block) endWatch() { b.watch, b.careful = nil, b.hurried }

// snapshot keeps the state of the block. From here on the launch's activity counts for it.
func (b *block) snapshot() {
	s := b.watch
	if b.loud {
		b.launch.activity.Add(1)
		b.loud = !s.careful
	}
	b.quiet.activity = b.launch.activity.Load()
	s.changes, s.ticks = b.changes, b.ticks
	clear(s.ran)
	for i, w := range b.warps {
		s.states[i].keep(w)
	}
}

func (s *warpState) keep(w *warp) {
	s.frags = append(s.frags[:0], w.frags...)
	s.starts, s.values, s.carry = s.starts[:0], s.values[:0], w.carry
	for i := range w.frags {
		s.starts = append(s.starts, len(s.values))
		w.eachDecisive(&w.frags[i], func(v uint32) bool { s.values = append(s.values, v); return true })
	}
}

// eachDecisive visits the values that decide how the lanes of a fragment go on, while the
// visitor returns true.
func (w *warp) eachDecisive(f *fragment, visit func(v uint32) bool) {
	d, more := w.block.prog.decisive(), true
	d.at[f.pc].each(func(i int) {
		if i >= d.parts {
			more = more && visit(w.preds[i-d.parts]&f.mask)
			return
		}
		part := lanes[uint32](w, uint32(i*slotPart))
		for m := f.mask; m != 0 && more; m &= m - 1 {
			more = visit(part[lowest(m)])
		}
	})
}

// repeats reports whether all warps are in the states that were kept.
func (b *block) repeats() bool {
	for i, w := range b.warps {
		if !b.watch.states[i].equals(w) {
			return false
		}
	}
	return true
}

func (s *warpState) equals(w *warp) bool {
	if len(s.frags) != len(w.frags) || s.carry != w.carry {
		return false
	}
	for k := range w.frags {
		f, same := &w.frags[k], true
		i := slices.IndexFunc(s.frags, func(g fragment) bool {
			return f.pc == g.pc && f.mask == g.mask && f.state == g.state && f.bar == g.bar
		})
		if i < 0 {
			return false
		}
		at := s.starts[i]
		w.eachDecisive(f, func(v uint32) bool { same = v == s.values[at]; at++; return same })
		if !same {
			return false
		}
	}
	return true
}

// letOthersRun finds lanes that could run and have not, because lanes before them repeat
// their steps; it gives them their turn, and reports whether there were any.
func (b *block) letOthersRun() (found bool) {
	for i, w := range b.warps {
		ran := b.watch.ran[i]
		if !slices.ContainsFunc(w.frags, func(f fragment) bool { return f.mask&^ran != 0 && w.canRun(&f) }) {
			continue
		}
		found = true
		for k := range w.frags {
			if f := &w.frags[k]; f.mask&ran != 0 {
				f.waits += spinAfter
			}
		}
	}
	return found
}

// canRun reports whether a fragment waits for nothing.
func (w *warp) canRun(f *fragment) bool {
	return f.state != atBarrier && !(f.state == atSync && !w.together(f)) && !(f.state == atGroup && !w.groupMet(f))
}

// changing counts a store that changes memory.
func (w *warp) changing(in *instr, p place, m uint32) {
	for ; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		from := w.addr[l]
		for i, now := range peek(p, from, in.mem.size) {
			if w.stored(in, l, from+uint64(i)) != now {
				w.block.changes++
				return
			}
		}
	}
}

// peek is a copy of some bytes of memory, read word by word, since other workers may update
// the words at the same time.
func peek(p place, from, size uint64) []byte {
	var words [32]byte
	data, first := p.contents.Data, from&^3
	if last := from + size; (last+3)&^3 > uint64(len(data)) { // no word of others ends there
		return data[from:last]
	}
	for at := first; at < from+size; at += 4 {
		word := atomic.LoadUint32((*uint32)(unsafe.Add(p.contents.Base, at)))
		binary.LittleEndian.PutUint32(words[at-first:], word)
	}
	return words[from-first : from-first+size]
}

// atomWatched is atom, and counts a change of memory.
func (w *warp) atomWatched(in *instr, p place, m uint32) {
	var before [32][8]byte
	eachLane(m, func(l int) { copy(before[l][:], peek(p, w.addr[l], in.mem.size)) })
	w.atom(in, p, m)
	eachLane(m, func(l int) {
		if !bytes.Equal(before[l][:in.mem.size], peek(p, w.addr[l], in.mem.size)) {
			w.block.changes++
		}
	})
}

// changesOther are the opcodes that may change memory in another way than by an access, or
// that others see.
var changesOther = map[string]bool{"mbarrier": true, "barrier": true, "st": true, "red": true, "cp": true, "sust": true, "sured": true, "wgmma": true,
	"stmatrix": true, "wmma": true, "tensormap": true, "call vprintf": true, "call malloc": true, "call free": true}

// changesMore makes an instruction that changes memory in another way than by an access,
// or that others see, count as a change.
func changesMore(in *instr) {
	if !changesOther[in.src.Opcode] {
		return
	}
	switch has := func(word string) bool { return slices.Contains(in.src.Modifiers, word) }; in.src.Opcode {
	case "mbarrier":
		if has("test_wait") || has("try_wait") {
			return
		}
	case "barrier":
		if !has("cluster") {
			return
		}
	case "st", "red":
		if !has("async") {
			return
		}
	}
	if exec := in.exec; exec != nil {
		in.exec = func(w *warp, in *instr, m uint32) {
			w.block.changes++
			exec(w, in, m)
		}
	}
}

// still are the quiet blocks of a launch.
type still struct {
	activity uint64
	blocks   map[*block]bool
}

// hangs notes that a block is quiet, and reports whether the launch hangs, for which it
// then has a fault.
func (l *Launch) hangs(b *block) bool {
	f, first := l.hang(b)
	if f != nil {
		if first.following != nil {
			first.following.hung(first, f)
		}
		l.fail(l.ordered(int64(first.linear())), f)
	}
	return f != nil
}

// hang is the fault of a launch that hangs, with the first block of it.
func (l *Launch) hang(b *block) (*gpu.Fault, *block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.activity.Load()
	if !b.quiet.on || b.quiet.activity != now {
		return nil, nil
	}
	if l.still.activity != now || l.still.blocks == nil {
		l.still = still{now, map[*block]bool{}}
	}
	l.still.blocks[b] = true
	left := l.left.Load()
	begun := min(l.next.Load()*int64(l.cluster.Size()), l.total)
	if int64(len(l.still.blocks)) < left || begun < l.total && left < l.room() || !l.onlyWriter() {
		return nil, nil
	}
	first := b
	for other := range l.still.blocks {
		if l.ordered(int64(other.linear())) < l.ordered(int64(first.linear())) {
			first = other
		}
	}
	return first.hangs(begun), first
}

// onlyWriter reports whether the launch was the only writer of its memory at this check and at
// the one before. If not, its quiet blocks must repeat their states once more. l.mu is held.
func (l *Launch) onlyWriter() bool {
	was := l.alone
	if l.alone = !l.engine.resources.Waiting(); !was || !l.alone {
		l.activity.Add(1)
	}
	return was && l.alone
}

// hangs is the fault of a block of a launch that never ends; begun is how many have begun.
func (b *block) hangs(begun int64) *gpu.Fault {
	if b.pending != nil {
		return b.pending
	}
	l := b.launch
	at, where := b.standing()
	text := "no thread can go on: what runs repeats the same steps, and nothing changes the memory that it reads; " + where
	if at != nil && b.prog.loopsAlone(at) {
		text += "; this loop reads no memory: a plain variable that it waits for was read once, before it: declare the variable volatile, or read it by an atomic such as atomicAdd(&x, 0)"
	}
	if begun < l.total {
		text += fmt.Sprintf("; only %d of the %d blocks fit on %s at once%s, and the others begin when these end: launch at most %d, use grid.sync() and Cooperative: true, which refuses more, or let blocks take their numbers by atomicAdd if each waits for earlier ones only", l.room(), l.total, l.info.Name, l.becauseOfRegisters(), l.room())
	}
	return b.newFault(at, gpu.ErrHang, text)
}

// becauseOfRegisters names the registers if they limit how many blocks are resident.
func (l *Launch) becauseOfRegisters() string {
	if l.perSM() == l.info.Occupancy(l.threads, 0, l.prog.static+l.dynamic) {
		return ""
	}
	return fmt.Sprintf(" with %d registers a thread", l.prog.Registers())
}
