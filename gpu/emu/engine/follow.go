package engine

import (
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// Follower gets the instructions that the warps of a launch come to: a debugger is one. A
// launch without one executes the same code as before: the follower is looked at once for
// each turn of a warp, not for each instruction.
type Follower interface {
	// Follows reports whether a launch of code from these files is followed. One that is
	// runs its blocks one after the other, on the goroutine that launches it.
	Follows(files []string) bool

	// Begin is called with what repeats the launch, before its first instruction.
	Begin(t *Trail)

	// Step is called before a fragment of a warp executes an instruction, and once after a
	// fault. The warp goes on when it returns.
	Step(at *Stop)
}

// follower is that of all emulators of this process: a debugger does not know which
// devices code opens.
var follower atomic.Pointer[Follower]

// Follow sets the follower of later launches; nil is none.
func Follow(f Follower) {
	if f == nil {
		follower.Store(nil)
	} else {
		follower.Store(&f)
	}
}

// Follow sets the follower of later launches of this engine, besides that of the process;
// nil is none.
func (e *Engine) Follow(f Follower) {
	if f == nil {
		e.observe.Store(nil)
		return
	}
	observe := func(l *Launch) observer { return l.followedBy(f) }
	e.observe.Store(&observe)
}

// follow is the observer of a launch that followers want, nil if none does.
func (l *Launch) follow() observer {
	if observe := l.engine.observe.Load(); observe != nil {
		return (*observe)(l)
	}
	return l.followedBy(nil)
}

// followedBy is the observer of a launch for a follower, or nil, and for that of the process.
func (l *Launch) followedBy(own Follower) observer {
	all := follower.Load()
	if own == nil && all == nil {
		return nil
	}
	files := []string{l.prog.file}
	for _, name := range l.prog.files {
		files = append(files, name)
	}
	var to followers
	if own != nil && own.Follows(files) {
		to = append(to, own)
	}
	if all != nil && (*all).Follows(files) {
		to = append(to, *all)
	}
	if to == nil {
		return nil
	}
	s := &following{to: to, last: map[*warp]step{}, trail: l.newTrail()}
	s.trail.following = s
	to.Begin(s.trail)
	return s
}

// followers are those of one launch.
type followers []Follower

func (list followers) Follows([]string) bool { return true }

func (list followers) Begin(t *Trail) {
	for _, f := range list {
		f.Begin(t)
	}
}

func (list followers) Step(at *Stop) {
	for _, f := range list {
		f.Step(at)
	}
}

// following is the state of a launch that is followed. It belongs to the goroutine that
// runs the launch.
type following struct {
	to     Follower
	last   map[*warp]step
	time   uint64 // instructions that fragments have come to
	at     Stop   // at the last of them
	failed *gpu.Fault
	trail  *Trail // nil in a repetition
}

// step is where a warp was.
type step struct {
	line ptx.Source // File is 0 for a line of the PTX
	pc   int32
	mask uint32
}

// begin is called when a block begins; alone says that no other block waits.
func (s *following) begin(b *block, number int64, alone bool) {
	for _, w := range b.warps {
		delete(s.last, w)
	}
	if s.trail != nil && alone {
		s.trail.note(number, s.time)
	}
}

// before is called before a fragment of a warp executes an instruction. An instruction
// that the compiler gave no line, or that of the one before, begins no line; a jump back
// does.
func (s *following) before(w *warp, f *fragment) {
	if p := w.block.pending; p != nil {
		s.fault(w.block, p)
	}
	in := &w.block.prog.code[f.pc]
	line := w.block.prog.lineOf(in)
	now, last := step{line, f.pc, f.mask}, s.last[w]
	if line.Line != 0 {
		s.last[w] = now
	}
	s.at = Stop{warp: w, mask: f.mask, in: in, pc: f.pc, time: s.time,
		NewLine: line.Line != 0 && (line != last.line || now.mask != last.mask || now.pc <= last.pc)}
	s.time++
	s.to.Step(&s.at)
}

// fault tells the follower of a fault, at the instruction before it.
func (s *following) fault(b *block, f *gpu.Fault) {
	if s.failed == f || f == stopped || f.Kind == gpu.ErrInterrupted || s.at.warp == nil || s.at.warp.block != b {
		return
	}
	s.failed = f
	at := s.at
	at.Fault, at.NewLine = f, false
	s.to.Step(&at)
}

// hung tells the follower of a block that hangs, at a fragment that polls, or else at one
// that waits.
func (s *following) hung(b *block, f *gpu.Fault) {
	found := false
	for _, w := range b.warps {
		for i := range w.frags {
			x := &w.frags[i]
			pc, waits := x.pc, x.state == atBarrier
			if waits {
				pc--
			}
			if !found || !waits {
				s.at = Stop{warp: w, mask: x.mask, in: &b.prog.code[pc], pc: pc, time: s.time - 1}
				found = true
			}
		}
	}
	if found {
		s.fault(b, f)
	}
}

// lineOf is the line of the source of an instruction, or that of the PTX if it was made
// from no source. Line is 0 where the compiler gave none.
func (p *Program) lineOf(in *instr) ptx.Source {
	switch {
	case in.src == nil:
		return ptx.Source{}
	case len(p.files) == 0:
		return ptx.Source{Line: in.src.Pos.Line}
	}
	return in.src.Source
}
