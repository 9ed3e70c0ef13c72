// Package hang finds blocks that never end: every warp that runs repeats the same steps, all
// others wait or have exited, and nothing changes the memory that they read.
//
// A block is quiet if each of its warps has come to a state in which it was before, all
// lanes that can run have run in between, and no memory got another value. The state of a
// warp is where its lanes are, and the registers that still reach a branch, an address or an
// operation that others see: a loop that leaves by a counter or a clock never repeats its
// state, and one that reads a clock and leaves by memory alone does, see package analysis.
//
// A block is watched once it has run many instructions, or has polled for many turns: first
// at full speed, then with a look at every store. Watching changes nothing, so counters are
// those of a launch that is not watched; a block that is quiet goes on polling, too, as
// long as any block is not.
//
// Its main type is Watch. Package engine has one for each block that it runs, and decides
// whether all blocks of the launch are quiet. This package knows a block by the interface Block
// only, and must not import engine.
package hang

import "slices"

// Block is a block whose warps may repeat their states.
type Block interface {
	Warps() int
	Carry(warp int) uint32 // the carry flags
	Fragments(warp int) int
	Fragment(warp, i int) Fragment

	// Decisive visits the values that decide how the lanes of a fragment go on, while the
	// visitor returns true.
	Decisive(warp, i int, visit func(v uint32) bool)

	CanRun(warp, i int) bool // a fragment waits for nothing
	Yield(warp, i int)       // gives the other lanes of its warp their turn

	Changes() uint64         // how often the block changed memory, while it is careful
	Ticks() uint64           // reads of a clock whose values decide
	SetCareful(careful bool) // count each store that changes memory
	Activity() uint64        // how often a block of the launch may have changed memory
	Stir()                   // counts such activity
}

// Fragment is where some lanes of a warp are.
type Fragment struct {
	PC    int32
	Mask  uint32
	State uint8 // running, or what it waits for
	Bar   uint8 // the barrier that it waits at
}

// Passes through the warps of a block, after which it is no longer watched.
const (
	watchedPasses  = 64
	watchedAtSpeed = 8
)

// Watch looks for a repetition of the state of a block.
type Watch struct {
	On      bool     // the block is watched
	Careful bool     // at stores, too
	Ran     []uint32 // by warp: lanes that have run since the last snapshot

	quiet    bool
	activity uint64 // of the launch, as long as which the block stays quiet
	loud     bool   // the block may have changed memory since the launch's activity was counted
	passes   int
	states   []state
	changes  uint64 // of the block, at the last snapshot
	ticks    uint64
}

// state is where the lanes of a warp are, and what decides how they go on.
type state struct {
	fragments []Fragment
	starts    []int // of the values of each
	values    []uint32
	carry     uint32
}

// Verdict is what a look at a block found.
type Verdict int

const (
	Unknown Verdict = iota
	Quiet           // the block repeats its steps, and will until another one changes memory
	GaveUp          // it is no longer watched
)

// Look follows a block that may never end, after a pass through its warps.
func (s *Watch) Look(b Block) Verdict {
	if !s.On {
		s.begin(b, false)
		return Unknown
	}
	s.passes++
	if b.Changes() != s.changes { // other blocks may see it
		b.Stir()
	} else if s.quiet && s.activity == b.Activity() {
		return Quiet // what has repeated repeats again, also in the states between
	}
	if b.Changes() == s.changes && b.Ticks() == s.ticks && s.repeats(b) {
		s.repeated(b)
		if s.quiet {
			return Quiet
		}
		return Unknown
	}
	s.quiet = false
	most := watchedAtSpeed
	if s.Careful {
		most = watchedPasses
	}
	if s.passes == most {
		s.end(b)
		return GaveUp
	} else if s.passes&(s.passes-1) == 0 { // the state before may not be one of those that repeat
		s.snapshot(b)
	}
	return Unknown
}

// Reset forgets a block, before the next one.
func (s *Watch) Reset(b Block) {
	if s.On {
		s.end(b)
	}
	s.quiet, s.activity = false, 0
}

// Wake looks again at a quiet block after other blocks may have changed memory.
func (s *Watch) Wake(b Block) {
	if s.quiet && s.activity != b.Activity() {
		s.quiet = false
		s.snapshot(b)
	}
}

// Runs begins an iteration of the block. Its stores are counted only in careful iterations.
func (s *Watch) Runs() { s.loud = s.loud || !s.Careful }

// Rests counts what the block may have changed.
func (s *Watch) Rests(b Block, exited bool) {
	if s.loud || exited {
		b.Stir()
		s.loud = false
	}
}

// Stays keeps the block watched, however long others may take.
func (s *Watch) Stays() { s.passes = 0 }

// Quiet reports whether the block can't go on at an activity of its launch.
func (s *Watch) Quiet(activity uint64) bool { return s.quiet && s.activity == activity }

// IsQuiet reports whether it was quiet when it was last looked at.
func (s *Watch) IsQuiet() bool { return s.quiet }

// repeated continues after a repetition: with a look at stores, with lanes that have not
// run, or, if other blocks may have changed memory meanwhile, once more.
func (s *Watch) repeated(b Block) {
	switch {
	case !s.Careful:
		s.begin(b, true)
	case s.letOthersRun(b), s.activity != b.Activity():
		s.quiet = false
		s.snapshot(b)
	default:
		s.quiet = true
	}
}

func (s *Watch) begin(b Block, careful bool) {
	if s.states == nil {
		s.states, s.Ran = make([]state, b.Warps()), make([]uint32, b.Warps())
	}
	s.On, s.Careful, s.passes = true, careful, 0
	b.SetCareful(careful)
	s.snapshot(b)
}

func (s *Watch) end(b Block) {
	s.On, s.Careful = false, false
	b.SetCareful(false)
}

// snapshot keeps the state of the block. From here on the launch's activity counts for it.
func (s *Watch) snapshot(b Block) {
	if s.loud {
		b.Stir()
		s.loud = !s.Careful
	}
	s.activity, s.changes, s.ticks = b.Activity(), b.Changes(), b.Ticks()
	clear(s.Ran)
	for warp := range s.states {
		s.states[warp].keep(b, warp)
	}
}

func (s *state) keep(b Block, warp int) {
	s.fragments, s.starts, s.values, s.carry = s.fragments[:0], s.starts[:0], s.values[:0], b.Carry(warp)
	for i := range b.Fragments(warp) {
		s.fragments, s.starts = append(s.fragments, b.Fragment(warp, i)), append(s.starts, len(s.values))
		b.Decisive(warp, i, func(v uint32) bool { s.values = append(s.values, v); return true })
	}
}

// repeats reports whether all warps are in the states that were kept.
func (s *Watch) repeats(b Block) bool {
	for warp := range s.states {
		if !s.states[warp].equals(b, warp) {
			return false
		}
	}
	return true
}

func (s *state) equals(b Block, warp int) bool {
	if len(s.fragments) != b.Fragments(warp) || s.carry != b.Carry(warp) {
		return false
	}
	for k := range s.fragments {
		i := slices.Index(s.fragments, b.Fragment(warp, k))
		if i < 0 {
			return false
		}
		at, same := s.starts[i], true
		b.Decisive(warp, k, func(v uint32) bool { same = v == s.values[at]; at++; return same })
		if !same {
			return false
		}
	}
	return true
}

// letOthersRun finds lanes that could run and have not, because lanes before them repeat
// their steps; it gives them their turn, and reports whether there were any.
func (s *Watch) letOthersRun(b Block) (found bool) {
	for warp, ran := range s.Ran {
		waits := false
		for i := range b.Fragments(warp) {
			waits = waits || b.Fragment(warp, i).Mask&^ran != 0 && b.CanRun(warp, i)
		}
		for i := 0; waits && i < b.Fragments(warp); i++ {
			if b.Fragment(warp, i).Mask&ran != 0 {
				b.Yield(warp, i)
			}
		}
		found = found || waits
	}
	return found
}
