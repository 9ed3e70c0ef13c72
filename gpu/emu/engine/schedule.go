package engine

import (
	"fmt"
	"math/bits"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/hang"
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

// block is the state in which a worker runs the blocks of the grid, one after another:
// the warps' registers and the shared memory are allocated once per launch.
type block struct {
	prog          *Program
	launch        *Launch
	origins       []*mem.Allocation // of the launch
	at            gpu.Dim           // index in the grid
	place         special.Block     // the same for special registers
	cnt           gpu.Counters
	counting      bool     // count memory accesses
	careful       bool     // accesses take the slow path
	carefulGlobal bool     // accesses of global memory take the slow path
	following     observer // of the launch
	tracer        tracer   // counts the events of each instruction; nil if not wanted
	vectors       simd.Vectors
	patterns      *patternTable // of the worker that runs the block
	fault         *gpu.Fault
	steps         uint64 // instructions of earlier blocks
	last          uint64 // the limit after another block has failed, in the same count; 0 before
	clock         clock

	warps        []*warp
	shared       *mem.Contents // static, then dynamic
	sharedMemory simd.Memory   // the same as assembly sees it
	barriers     [16]barrier
	pastBy       *instr // a branch by which threads have gone past the barriers
	awaited      uint32 // barriers at which threads have arrived, a bit each
	live         int    // threads that have not exited
	checks       gpu.Checks
	order        [orders]*races.Ordering
	races        *races.Shared // nil without the search for races
	shadow       *races.Shared // of the last launch that looked for them
	searching    bool          // races are looked for since a read of unwritten memory only
	global       *races.Global // nil without a search on global memory
	team         *races.Team   // of the last launch that had one
	pending      *gpu.Fault    // a symptom whose cause may come later: an unwritten read before its race, a race before its barrier
	watch        hang.Watch    // finds out whether it ever ends
	suspect      uint64        // the count of instructions from which on it is watched
	polled       int           // turns in which it has only polled
	changes      uint64        // changes of memory by instructions that it watches
	hurried      bool          // careful, when it is not watched
	patience     uint64        // instructions until a pending fault is the fault

	matrices  matrix.Unit          // of its warps
	cluster   *cluster             // nil in a launch without clusters, until it is used
	stuck     bool                 // no thread could continue in its last turns
	filled    int                  // copies of the copy engine into its shared memory that have not ended
	fences    uint64               // fences for the copy engine and initialisations of mbarriers
	visits    visits               // by other blocks of its cluster
	groupEnds [][]groupEnd         // of the warpgroups, by their first warp
	mbarriers map[uint64]*mbarrier // by offset, their state besides their words
	text      []byte               // output of its threads
}

// raceSearch looks for races of accesses that the search of a block or of a launch notes. Its
// methods report whether they found none that ends the block.
type raceSearch interface {
	shared(w *warp, in *instr, m uint32) bool
	atomic(w *warp, in *instr, m uint32) bool
	global(w *warp, in *instr, p place, m uint32) bool
	visit(w *warp, in *instr, to *block, m uint32) bool // an access to the shared memory of another block
	visited(w *warp, in *instr, m uint32) bool          // one to its own, which other blocks access
	ends(b *block)                                      // what others still do to the shared memory of a block that ends
	warnLeftOut(l *Launch)                              // of memory that the search had no room for
}

// barrier is one of a block's 16 named barriers.
type barrier struct {
	expected int       // number of threads that it waits for; 0 before the first arrival
	explicit bool      // the instruction gives the number: exited threads are missing
	arrived  int       // exited lanes are included with the last lane of their warp
	came     int       // arrived lanes, excluding exited ones
	reduces  bool      // some of the threads have arrived for a reduction
	count    int       // of the reduction: threads with a true predicate
	arrivals []arrival // by bar.arrive
}

// arrival is a warp that has arrived without waiting, and the time in each ordering.
type arrival struct {
	warp  int
	times [orders]uint32
}

// start resets the block and moves it to a place in the grid.
func (b *block) start(at gpu.Dim) {
	b.at = at
	b.steps, b.last = b.cnt.WarpInstructions, 0
	b.clock.waits, b.clock.skipped = 0, 0
	if b.awaited != 0 {
		b.barriers, b.awaited = [16]barrier{}, 0
	}
	b.live, b.pending = b.launch.threads, nil
	b.watch.Reset(b)
	b.polled, b.suspect = 0, b.steps+suspectAfter
	if b.clusterSize() == 1 {
		b.cluster = nil
	}
	if b.races != nil {
		b.races.Start()
	}
	if b.order[globalOrder] != nil {
		b.team.Begin()
		for _, w := range b.warps {
			w.party.Begin(b.number())
		}
	}
	if b.shared != nil {
		b.shared.UnwriteAll()
	}
	clear(b.mbarriers)
	b.visits.forget()
	b.visits.since = 0
	b.filled, b.fences, b.groupEnds = 0, 0, b.groupEnds[:0]
	for _, w := range b.warps {
		w.reset()
	}
	b.fillBlock()
}

// run runs the block to its end, a fault or an interrupt, or until it may wait for
// another block.
func (b *block) run() {
	b.watch.Wake(b)
	b.turns()
	b.watch.Rests(b, b.live == 0)
	if b.fault == nil && b.live == 0 {
		b.fault = b.launch.check(b)
		b.launch.races.ends(b)
	}
	if b.pending != nil && b.fault != stopped && (b.fault != nil || b.live == 0 || b.cnt.WarpInstructions > b.patience) {
		if b.fault == nil || b.fault.Kind != gpu.ErrBarrier { // threads that skip a barrier are the cause
			b.fault = b.pending
		}
	}
	if b.fault != nil && b.following != nil {
		b.following.fault(b, b.fault)
	}
	if b.fault != nil || b.live == 0 {
		b.launch.printed.keep(b.linear(), b.text)
		b.text = nil
	}
}

// turns gives each warp its turn until all have exited or spin, or one fails.
func (b *block) turns() {
	moved := false
	for spun := 0; spun < patientPasses; moved = true {
		progress, alive := false, false
		b.watch.Runs()
		for _, w := range b.warps {
			if len(w.frags) == 0 {
				continue
			}
			alive = true
			if w.run() {
				progress = true
			}
			if b.fault == nil && b.launch.interrupted() { // the turns of all warps may take long
				b.fault = b.launch.check(b)
			}
			if b.fault != nil {
				return
			}
		}
		if !alive {
			return
		}
		if !progress {
			if b.clusterSize() == 1 {
				b.stall()
			}
			b.stuck = !moved // another block of its cluster may free it
			return
		}
		if b.fault = b.launch.check(b); b.fault != nil {
			return
		}
		if b.pending != nil && b.cnt.WarpInstructions > b.patience {
			return
		}
		if (b.watch.On || b.cnt.WarpInstructions >= b.suspect) && b.repeats() && !b.spins() {
			return
		}
		if spun++; !b.spins() {
			spun = 0
		}
	}
}

// When a block is watched: after so many instructions, and after so many turns in which it polls.
var (
	suspectAfter  uint64 = 1 << 21
	suspectVisits        = 4
)

// repeats follows a block that may never end; it reports whether the block is quiet.
func (b *block) repeats() bool {
	switch b.watch.Look(b) {
	case hang.Quiet:
		return true
	case hang.GaveUp:
		b.suspect = b.cnt.WarpInstructions + max(suspectAfter, b.cnt.WarpInstructions-b.steps)
	}
	return false
}

// barrier makes lanes arrive at a barrier of the block. It reports whether the fragment
// continues, as it does after bar.arrive.
func (w *warp) barrier(f *fragment, in *instr, m uint32) bool {
	id, done := w.arrive(in, m)
	if w.block.fault != nil {
		return false
	}
	if in.sub == barrierArrive {
		if done {
			w.block.release(id)
		}
		return true
	}
	pc, rest := f.pc+1, f.mask&^m
	*f = fragment{pc: pc, mask: m, state: atBarrier, bar: id}
	if rest != 0 {
		w.frags = append(w.frags, fragment{pc: pc, mask: rest})
	}
	if done {
		w.block.release(id)
	}
	return false
}

// arrive counts lanes at a barrier and reports whether all have arrived.
func (w *warp) arrive(in *instr, m uint32) (id uint8, done bool) {
	b, first := w.block, lowest(m)
	n, expected := lanes[uint32](w, in.a)[first], b.launch.threads
	explicit := in.x.hasD2
	if explicit {
		expected = int(lanes[uint32](w, in.b)[first])
	}
	if n != 0 || explicit || b.barriers[0].explicit {
		if err := b.checkBarrier(n, expected); err != "" {
			w.fail(in, first, gpu.ErrBarrier, "%s", err)
			return 0, false
		}
	}
	b.awaited |= 1 << n
	bar := &b.barriers[n]
	bar.expected, bar.explicit = expected, bar.explicit || explicit
	bar.came += popcount(m)
	bar.arrived += popcount(m)
	if m == w.alive {
		bar.arrived += popcount(w.first &^ w.alive)
	}
	if in.x.hasD {
		bar.reduces = true
		bar.count += popcount(m & (w.preds[in.x.p] ^ in.x.pflip))
	}
	b.cnt.Barriers++
	done = bar.complete(b.live)
	if done && b.live != b.launch.threads {
		b.missed(in, bar)
	}
	if bar.arrived > bar.expected && b.checks.Has(gpu.CheckBarriers) {
		w.fail(in, first, gpu.ErrBarrier, "%d threads have arrived at barrier %d, which takes %d", bar.arrived, n, expected)
	}
	if in.sub == barrierArrive && b.searches() {
		bar.arrivals = append(bar.arrivals, w.arrives())
	}
	return uint8(n), done
}

// complete reports whether all threads have arrived: the number of the instruction, or
// all that have not exited. More than that number is a fault, if that is checked.
func (bar *barrier) complete(live int) bool {
	if bar.explicit {
		return bar.arrived >= bar.expected
	}
	return bar.came > 0 && bar.came >= live
}

// The forms of a barrier.
const (
	barrierSync = iota
	barrierArrive
	barrierPopc
	barrierAnd
	barrierOr
)

func (b *block) checkBarrier(id uint32, expected int) string {
	switch {
	case id >= uint32(len(b.barriers)):
		return fmt.Sprintf("barrier %d, expected 0 to 15", id)
	case !b.checks.Has(gpu.CheckBarriers):
		return ""
	case expected%32 != 0 && expected != b.launch.threads:
		return fmt.Sprintf("%d threads, expected a multiple of 32", expected)
	case b.barriers[id].expected != 0 && b.barriers[id].expected != expected:
		return fmt.Sprintf("barrier %d takes %d threads, and %d of those that wait there", id, expected, b.barriers[id].expected)
	}
	return ""
}

// release lets all threads that wait at a barrier continue, with the result of its
// reduction if it has one.
func (b *block) release(id uint8) {
	bar := b.barriers[id]
	b.barriers[id] = barrier{}
	b.awaited &^= 1 << id
	if b.searches() {
		b.meet(id, bar)
	}
	if b.shared != nil {
		b.shared.Settle() // a kernel nearly always fills its arrays before the first barrier
	}
	for _, w := range b.warps {
		if len(w.frags) > 1 {
			b.divergent(w, id)
		}
		for i := range w.frags {
			f := &w.frags[i]
			if f.state != atBarrier || f.bar != id {
				continue
			}
			f.state = running
			if !bar.reduces {
				continue
			}
			if in := &b.prog.code[f.pc-1]; in.sub >= barrierPopc && in.x.hasD {
				w.reduced(in, f.mask, bar)
			}
		}
	}
}

// divergent is a fault if lanes of a warp wait at different instructions that all lanes
// must run together; instructions without .aligned need not. A GPU lets them continue,
// or hangs.
func (b *block) divergent(w *warp, id uint8) {
	if !b.checks.Has(gpu.CheckBarriers) {
		return
	}
	first := -1
	for i := range w.frags {
		f := &w.frags[i]
		if f.state != atBarrier || f.bar != id || !aligned(b.prog.code[f.pc-1].src) {
			continue
		}
		if first < 0 {
			first = i
		} else if g := &w.frags[first]; g.pc != f.pc {
			one, other := &b.prog.code[g.pc-1], &b.prog.code[f.pc-1]
			w.fail(other, lowest(f.mask), gpu.ErrBarrier, "%v of warp %d wait at barrier %d at %s and %v at %s: all lanes of a warp must come to the same one",
				lanesOf(w, g.mask), w.index, id, b.prog.placeOf(one), lanesOf(w, f.mask), b.prog.placeOf(other))
		}
	}
}

// missed is a fault if threads that should arrive at a completed barrier have exited.
// All threads of a block must arrive; threads that a bounds check ended, and whole
// warps, are excepted, as on a GPU, unless they did something else meanwhile.
func (b *block) missed(in *instr, bar *barrier) {
	if in == nil || bar.explicit || b.live == b.launch.threads || !b.checks.Has(gpu.CheckBarriers) {
		return
	}
	if past := b.wentPast(); past != "" {
		b.fault = b.newFault(in, gpu.ErrBarrier, fmt.Sprintf("%d threads wait at it, and %s: move the barrier out of the if, or let all threads come to it", bar.came, past))
		return
	}
	if b.aliveInBounds() {
		return
	}
	b.fault = b.newFault(in, gpu.ErrBarrier, fmt.Sprintf("%d threads wait at it, and %s have exited without coming to it: move the barrier out of the if, or let all threads come to it before they return",
		bar.came, b.exited()))
}

// goesPast notes the lanes of a branch that go past the barriers of the block.
func (w *warp) goesPast(in *instr, taken, mask uint32) {
	if in.leaves == othersGo {
		taken = mask &^ taken
	}
	if taken != 0 {
		w.past |= taken
		w.block.pastBy = in
	}
}

// wentPast describes the threads that have gone past a barrier and exited; "" for none.
func (b *block) wentPast() string {
	var set ranges
	for _, w := range b.warps {
		set.add(w.index*32, w.past&^w.alive)
	}
	if len(set) == 0 {
		return ""
	}
	return fmt.Sprintf("%v have gone past it, by the branch at %s, and exited", set, b.prog.placeOf(b.pastBy))
}

// aliveInBounds reports whether the threads that have not exited are whole warps, or a
// box of the block.
func (b *block) aliveInBounds() bool {
	parted := false
	least, most := b.launch.block, gpu.Dim{}
	for _, w := range b.warps {
		parted = parted || w.alive != 0 && w.alive != w.first
		for m := w.alive; m != 0; m &= m - 1 {
			t := b.thread(w.index*32 + lowest(m))
			least = gpu.Dim{X: min(least.X, t.X), Y: min(least.Y, t.Y), Z: min(least.Z, t.Z)}
			most = gpu.Dim{X: max(most.X, t.X), Y: max(most.Y, t.Y), Z: max(most.Z, t.Z)}
		}
	}
	return !parted || (most.X-least.X+1)*(most.Y-least.Y+1)*(most.Z-least.Z+1) == b.live
}

// waiting is an instruction at which threads wait for a barrier, or nil.
func (b *block) waiting(id uint8) *instr {
	for _, w := range b.warps {
		for i := range w.frags {
			if f := &w.frags[i]; f.state == atBarrier && f.bar == id {
				return b.prog.standsAt(f)
			}
		}
	}
	return nil
}

func lanesOf(w *warp, m uint32) ranges {
	var r ranges
	r.add(w.index*32, m)
	return r
}

// aligned reports whether all lanes of a warp run a barrier together.
func aligned(src *ptx.Instruction) bool {
	return src.Opcode == "bar" || slices.Contains(src.Modifiers, "aligned")
}

// reduced gives lanes the result of a barrier reduction.
func (w *warp) reduced(in *instr, m uint32, bar barrier) {
	switch in.sub {
	case barrierPopc:
		d := lanes[uint32](w, in.d)
		for x := m; x != 0; x &= x - 1 {
			d[bits.TrailingZeros32(x)] = uint32(bar.count)
		}
	case barrierAnd:
		w.setPred(in.d, m, bar.count == bar.came)
	case barrierOr:
		w.setPred(in.d, m, bar.count > 0)
	}
}

func (w *warp) setPred(p, m uint32, v bool) {
	w.preds[p] &^= m
	if v {
		w.preds[p] |= m
	}
}

// standsAt is the instruction that a fragment is at, or waits in.
func (p *Program) standsAt(f *fragment) *instr {
	if f.state == atBarrier {
		return p.instruction(f.pc - 1)
	}
	return p.instruction(f.pc)
}

// instruction is the one at pc, or the one after code that the emulator has added there.
func (p *Program) instruction(pc int32) *instr {
	for int(pc)+1 < len(p.code) && p.code[pc].src == nil {
		pc++
	}
	return &p.code[pc]
}
