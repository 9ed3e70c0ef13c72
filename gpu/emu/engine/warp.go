package engine

import (
	"math/bits"
	"slices"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/emu/flow"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
	"warpbook/gpu/emu/simd"
)

// warp is 32 threads of a block: their registers and their positions.
type warp struct {
	block *block
	index int
	first uint32 // lanes that exist
	alive uint32 // lanes that have not exited
	past  uint32 // lanes that have gone past the barriers of the block, see goesPast
	frags []fragment

	slots unsafe.Pointer // the register file; keeps its memory alive
	preds []uint32       // a bit a lane
	set   []uint32       // of tracked registers: lanes that were written
	carry uint32         // the carry flag of each lane
	local *mem.Contents  // frames of the 32 lanes, one after the other

	copied [][32]uint32 // of each copy: the bytes of its load that had been written

	vector simd.Run
	copies copyengine.Async
	bulk   copyengine.Bulk

	party races.Party // in the search for races on global memory

	products []uint32 // groups of wgmma that the warp has committed: the times, for the search for races
	product  productState

	fenced         uint64     // the block's count of fences when the warp last ran one for the copy engine
	proxyFence     uint32     // when the warp last ran fence.proxy.async
	clusterArrived uint32     // lanes that have arrived at the barrier of the cluster and not waited
	clusterPhase   [32]uint32 // the phase of their arrival

	absences []absence // lanes that .sync operations have waited for

	undefined *undefined // values that shuffles read from inactive lanes; nil for none
	unset     unset      // registers with bits that were never written; nil for none
	turned    int32      // the access that made unset

	polled   *instr // the last atomic or volatile access, and its lowest address
	polledAt uint64

	waits uint32 // operations since the last count that may wait for other threads

	judge judge // of the access that runs, for the search for races

	addr [32]uint64 // effective addresses of the access that runs
	tmp  [3][32]uint64
}

// groupMet reports whether a fragment that waits for other warps can continue.
func (w *warp) groupMet(f *fragment) bool {
	in := &w.block.prog.code[f.pc]
	return in.x.wait.met(w, f, in)
}

// fragment is a set of lanes at one instruction.
type fragment struct {
	pc    int32
	mask  uint32
	waits uint32 // operations since it was last alone that may wait for other threads
	state state
	bar   uint8 // barrier that it waits at
}

type state uint8

const (
	running state = iota
	atSync        // at a .sync operation that waits for lanes
	atBarrier
	atGroup // waits for other warps, see groupSync
)

// spinAfter is the number of atomics, volatile loads and the like that a fragment may
// run while others of its warp are at lower addresses: after it, they get a turn.
// Without it a spin lock inside a warp would never end. It is large, because a fragment
// that gets its turn early no longer reconverges.
const spinAfter = 256

func (w *warp) reset() {
	w.alive, w.past, w.absences = w.first, 0, w.absences[:0]
	w.frags = append(w.frags[:0], fragment{mask: w.first})
	clear(w.set)
	if w.block.prog.asynchronous {
		w.copies.Reset()
		w.product.reset()
		w.bulk.Reset()
	}
	w.clusterArrived, w.proxyFence, w.fenced, w.products = 0, 0, 0, w.products[:0]
	w.polled, w.undefined, w.unset = nil, nil, nil
	if w.local != nil {
		clear(w.local.Written)
	}
}

// pick merges fragments that have met and returns the one to run with the address at
// which it meets another; nil if all wait. Code lies in reverse postorder, so the others
// wait for the lowest fragment.
func (w *warp) pick() (*fragment, int32) {
	const end = 1<<31 - 1
	if len(w.frags) == 1 {
		switch f := &w.frags[0]; f.state {
		case running:
			f.waits = 0
			return f, end
		case atBarrier:
			return nil, 0
		}
	}
	w.merge()
	best, limit := -1, int32(end)
	for i := range w.frags {
		f := &w.frags[i]
		if f.state == atBarrier || f.state == atSync && !w.together(f) || f.state == atGroup && !w.groupMet(f) {
			continue
		}
		if best < 0 || f.before(&w.frags[best]) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0
	}
	f := &w.frags[best]
	f.state = running
	for i := range w.frags {
		if pc := w.frags[i].pc; pc > f.pc && w.frags[i].state != atBarrier {
			limit = min(limit, pc)
		}
	}
	return f, limit
}

func (f *fragment) before(g *fragment) bool {
	if a, b := f.waits/spinAfter, g.waits/spinAfter; a != b {
		return a < b
	}
	return f.pc < g.pc
}

// merge joins fragments at the same instruction, unless they wait at a barrier, which
// counts them when they arrive.
func (w *warp) merge() {
	for i := 0; i < len(w.frags); i++ {
		f := &w.frags[i]
		if f.state == atBarrier {
			continue
		}
		for j := i + 1; j < len(w.frags); {
			g := &w.frags[j]
			if g.pc != f.pc || g.state == atBarrier {
				j++
				continue
			}
			f.mask |= g.mask
			f.state = running
			f.waits = max(f.waits, g.waits)
			w.drop(j)
		}
	}
}

func (w *warp) drop(i int) {
	last := len(w.frags) - 1
	if i != last {
		w.frags[i] = w.frags[last]
	}
	w.frags = w.frags[:last]
}

// run runs the warp until all its lanes wait or have exited, or until its turn ends. It
// reports whether anything ran.
func (w *warp) run() (progress bool) {
	turn := int64(turnInstructions)
	for turn > 0 && len(w.frags) > 0 {
		f, limit := w.pick()
		if f == nil {
			return progress
		}
		progress = true
		if s := &w.block.watch; s.On {
			s.Ran[w.index] |= f.mask
		}
		if s := w.block.following; s != nil {
			s.before(w, f)
			limit = min(limit, f.pc+1)
		}
		if !w.follows() {
			turn -= w.runFragment(f, limit)
		} else {
			turn -= w.runFollowing(f, limit)
		}
		if w.block.fault == turnToFollow {
			w.block.fault = nil
		}
		if w.block.fault != nil {
			return true
		}
		if len(w.frags) == 1 && (w.frags[0].state == atBarrier || w.frags[0].waits >= spinAfter) {
			return true // it waits, or may wait, for another warp
		}
	}
	return progress
}

// turnInstructions bounds a warp's turn, so that an interrupt is seen in time and other
// warps of the block continue.
const turnInstructions = 4_000

// runFragment runs a fragment until it meets another, splits, waits or exits, or until
// its turn ends; it returns the number of instructions.
func (w *warp) runFragment(f *fragment, limit int32) (ran int64) {
	code, vectors := w.block.prog.code, w.block.vectors != simd.NoVectors
	through := len(w.frags) == 1 && w.block.tracer == nil && w.block.following == nil // a branch that all lanes take needs no action
	mask := f.mask
	pc, start := f.pc, f.pc
	for pc < limit {
		in := &code[pc]
		if vectors && in.run > 0 {
			w.vector.Target = simd.NoTarget
			if through {
				pc = w.runThrough(pc, start, mask, ran)
			} else {
				n := min(in.run, limit-pc)
				w.runVector(pc, n, mask)
				pc += n
			}
			taken := w.vector.Target != simd.NoTarget
			if taken {
				ran += w.countRun(f)
				start = int32(w.vector.Target / stepBytes)
			}
			if w.block.fault != nil {
				return w.stops(f, start, ran)
			}
			if taken && (ran >= turnInstructions || f.waits >= spinAfter) {
				f.pc = pc
				return ran + w.count(f, start, pc)
			}
			continue
		}
		m := mask & (w.preds[in.guard] ^ in.flip)
		switch in.flow {
		case next:
			if m != 0 {
				in.exec(w, in, m)
			}
			pc++
			continue
		case checked:
			if m != 0 {
				in.exec(w, in, m)
				if w.block.fault != nil {
					return w.stops(f, start, ran)
				}
			}
			pc++
			continue
		case jump, branch:
			pc++
			if in.flow == branch {
				w.block.cnt.Branches++
			}
			if in.leaves != stays {
				w.goesPast(in, m, mask)
			}
			if m == 0 {
				continue
			}
			ran += w.count(f, start, pc)
			if m != mask {
				if !in.skips || len(w.frags) > 1 || w.block.following != nil {
					w.split(f, in.target, m, pc)
					return ran
				}
				ran += w.runSkipped(f, in, m, pc)
				if w.block.fault != nil {
					return ran
				}
			}
			pc = in.target
		default:
			end := pc + 1
			if (in.flow == warpSync || in.flow == groupSync) && m != 0 {
				end = pc // waiting lanes count when they continue
			}
			ran += w.count(f, start, end)
			f.pc = pc
			if !w.control(f, in, m) {
				return ran
			}
			pc++
			if w.follows() {
				f.pc = pc
				return ran
			}
		}
		start = pc
		if ran >= turnInstructions || len(w.frags) > 1 || f.waits >= spinAfter || w.block.following != nil { // a jump back is below the limit
			break
		}
	}
	ran += w.count(f, start, pc)
	f.pc = pc
	return ran
}

// runSkipped runs the code that a branch skips in the lanes that do not take it, up to
// the point where they meet the others. A split would do the same, because all lanes of
// the warp are at the branch and nothing in the code can stop them.
func (w *warp) runSkipped(f *fragment, in *instr, taken uint32, pc int32) int64 {
	w.diverged(pc-1, taken, f.mask)
	f.mask &^= taken
	w.runStraight(pc, in.target, f.mask)
	if w.block.fault != nil {
		ran, rest := w.stops(f, pc, 0), fragment{pc: in.target, mask: taken, waits: f.waits}
		w.frags = append(w.frags, rest)
		return ran
	}
	ran := w.count(f, pc, in.target)
	f.mask |= taken
	return ran
}

// runStraight runs code without branches, and ends early after a fault.
func (w *warp) runStraight(pc, end int32, mask uint32) {
	code, vectors := w.block.prog.code, w.block.vectors != simd.NoVectors
	for pc < end {
		in := &code[pc]
		if vectors && in.run > 0 {
			n := min(in.run, end-pc)
			w.runVector(pc, n, mask)
			if w.block.fault != nil {
				return
			}
			pc += n
			continue
		}
		if m := mask & (w.preds[in.guard] ^ in.flip); m != 0 {
			in.exec(w, in, m)
			if w.block.fault != nil {
				return
			}
		}
		pc++
	}
}

// findSkips marks the branches over code that runs from its start to its end whatever
// other threads do.
func (p *Program) findSkips() {
	for i := range p.code {
		in := &p.code[i]
		if in.flow != branch || int(in.target) <= i {
			continue
		}
		in.skips = !slices.ContainsFunc(p.code[i+1:in.target], func(in instr) bool {
			plain := in.flow == checked && in.mem != nil && !in.mem.strong
			return in.flow != next && !plain
		})
	}
}

// count counts the instructions of a straight run.
func (w *warp) count(f *fragment, from, to int32) int64 {
	if t := w.block.tracer; t != nil {
		t.ran(from, to, f.mask)
	}
	return w.add(f, w.block.prog.before[to]-w.block.prog.before[from])
}

// countRun counts the instructions of a run to the last branch that was taken.
func (w *warp) countRun(f *fragment) int64 { return w.add(f, int32(w.vector.Ran)) }

func (w *warp) add(f *fragment, n int32) int64 {
	w.block.cnt.WarpInstructions += uint64(n)
	w.block.cnt.ThreadInstructions += uint64(n) * uint64(bits.OnesCount32(f.mask))
	f.waits += w.waits
	w.waits = 0
	return int64(n)
}

// split sends the taken lanes of a divergent branch to its target.
func (w *warp) split(f *fragment, target int32, taken uint32, fall int32) {
	w.diverged(fall-1, taken, f.mask)
	g := fragment{pc: target, mask: taken, waits: f.waits}
	f.mask &^= taken
	f.pc = fall
	w.frags = append(w.frags, g)
}

// diverged counts a branch that some active lanes take and others do not.
func (w *warp) diverged(pc int32, taken, active uint32) {
	w.block.cnt.DivergentBranches++
	if t := w.block.tracer; t != nil {
		t.diverged(w, pc, taken, active)
	}
}

// control runs an instruction that may stop the fragment; it reports whether the
// fragment continues with the next one.
func (w *warp) control(f *fragment, in *instr, m uint32) bool {
	if m == 0 {
		return true
	}
	switch in.flow {
	case leave:
		w.exit(f, m)
		return false
	case indexed:
		w.branchIndexed(f, in, m)
		return false
	case blockSync:
		return w.barrier(f, in, m)
	case groupSync:
		return in.x.wait.wait(w, f, in, m)
	}
	return w.sync(f, in, m)
}

// exit ends lanes of a fragment; the others continue.
func (w *warp) exit(f *fragment, m uint32) {
	w.alive &^= m
	f.mask &^= m
	f.pc++
	if f.mask == 0 {
		w.remove(f)
	}
	b := w.block
	b.live -= popcount(m)
	if b.cluster != nil {
		b.cluster.complete()
	}
	for m := b.awaited; m != 0; m &= m - 1 {
		id := lowest(m)
		if bar := &b.barriers[id&15]; bar.complete(b.live) {
			b.missed(b.waiting(uint8(id)), bar)
			b.release(uint8(id))
		}
	}
}

// remove takes a fragment without lanes off the list.
func (w *warp) remove(f *fragment) {
	for i := range w.frags {
		if &w.frags[i] == f {
			w.drop(i)
			return
		}
	}
}

// branchIndexed sends each lane to the target with its index; lanes with equal targets
// stay together.
func (w *warp) branchIndexed(f *fragment, in *instr, m uint32) {
	w.block.cnt.Branches++
	index := lanes[uint32](w, in.a)
	parts := make([]fragment, 0, len(in.x.targets)+1)
	if rest := f.mask &^ m; rest != 0 {
		parts = append(parts, fragment{pc: f.pc + 1, mask: rest, waits: f.waits})
	}
	for t, pc := range in.x.targets {
		var taken uint32
		for x := m; x != 0; x &= x - 1 {
			if l := bits.TrailingZeros32(x); index[l] == uint32(t) {
				taken |= 1 << l
			}
		}
		if m &^= taken; taken != 0 {
			parts = append(parts, fragment{pc: pc, mask: taken, waits: f.waits})
		}
	}
	if m != 0 {
		l := bits.TrailingZeros32(m)
		if flow.Returns(in.src.Operands[1].Symbol) {
			w.fail(in, l, gpu.ErrOutOfBounds, "the return address of a recursive call was overwritten, by a store outside of a local array")
			return
		}
		w.fail(in, l, gpu.ErrOutOfBounds, "index %d of a table of %d targets", index[l], len(in.x.targets))
		return
	}
	if len(parts) > 1 {
		w.diverged(f.pc, f.mask&^parts[0].mask, f.mask)
	}
	*f = parts[0]
	w.frags = append(w.frags, parts[1:]...)
}
