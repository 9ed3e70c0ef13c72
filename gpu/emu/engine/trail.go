package engine

import (
	"io"
	"slices"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// Trail repeats a launch that is followed: a debugger goes back by it. The emulator runs a
// followed launch in one order, so a repetition comes to the same instructions with the
// same values. It has memory of its own, the buffers of the device stay as they are.
//
// A repetition starts where a block does and none other waits, because only memory must be
// kept there. The copies of memory together take at most mostKept bytes; with more of them
// the distance between two grows.
type Trail struct {
	launch *Launch // for its arguments; it may have ended

	following *following

	points []point // in the order of time; empty if the memory is too large
	kept   int64   // bytes of all points
	every  uint64  // instructions between two points
	used   int64   // bytes of memory at the beginning

	interrupted atomic.Bool
}

// point is a place from which a launch can be repeated.
type point struct {
	number int64 // of the block, or the cluster, that begins
	time   uint64
	memory *mem.Memory
	bytes  int64 // that it keeps and the point before does not
}

// mostKept bounds the memory that a launch keeps for its repetition; firstEvery is the
// number of instructions between two points at first.
const (
	mostKept   = 256 << 20
	firstEvery = 100_000
)

func (l *Launch) newTrail() *Trail {
	t := &Trail{launch: l, every: firstEvery}
	if t.used, _ = l.engine.memory.InUse(); t.used <= mostKept {
		t.add(0, 0)
	}
	return t
}

func (t *Trail) add(number int64, time uint64) {
	var last *mem.Memory
	if n := len(t.points); n > 0 {
		last = t.points[n-1].memory
	}
	m, bytes := t.launch.engine.memory.Copy(last)
	t.points = append(t.points, point{number, time, m, bytes})
	t.kept += bytes
}

// note keeps a point where a block begins, if the last one is far enough. Past the bound
// every second point goes.
func (t *Trail) note(number int64, time uint64) {
	if len(t.points) == 0 || time < t.points[len(t.points)-1].time+t.every {
		return
	}
	t.add(number, time)
	if t.kept <= mostKept {
		return
	}
	t.every *= 2
	kept := t.points[:1]
	for i, p := range t.points[1:] {
		if i%2 == 1 {
			kept = append(kept, p)
		}
	}
	clear(t.points[len(kept):])
	t.points = kept
	t.kept = 0
	for i := range kept { // sharing is not counted again: the bound holds without it
		used, _ := kept[i].memory.InUse()
		t.kept += used
		if t.kept > mostKept {
			clear(kept[i:])
			t.points = kept[:i]
			break
		}
	}
}

// Module is the text of the launched code.
func (t *Trail) Module() *ptx.Module { return t.launch.prog.text }

// Kept is whether the launch can be repeated; if not, why is the reason.
func (t *Trail) Kept() (ok bool, used, most int64) { return len(t.points) > 0, t.used, mostKept }

// Replay repeats the launch from the last kept point that is not after a time, and calls
// each before each instruction, and after a fault, until each returns false or the launch
// ends.
func (t *Trail) Replay(from uint64, each func(at *Stop) bool) {
	var start *point
	for i := range t.points {
		if p := &t.points[i]; p.time <= from {
			start = p
		}
	}
	if start == nil {
		return
	}
	l := t.again(start)
	l.following = &following{to: &repetition{l.engine, each, &t.interrupted, false}, last: map[*warp]step{}, time: start.time}
	l.next.Store(start.number)
	_ = l.Run(0) // its fault is that of the launch, and each has seen it
}

// Interrupt ends repetitions early, or lets later ones run again.
func (t *Trail) Interrupt(now bool) { t.interrupted.Store(now) }

// Last is the time of the last stop before a time that matches.
func (t *Trail) Last(before uint64, match func(at *Stop) bool) (time uint64, found bool) {
	for i := len(t.points) - 1; i >= 0 && !found; i-- {
		from := t.points[i].time
		if from >= before {
			continue
		}
		t.Replay(from, func(at *Stop) bool {
			if at.Time() < before && match(at) {
				time, found = at.Time(), true
			}
			return at.Time() < before
		})
		before = from
	}
	return time, found
}

// First is the time of the first stop from a time on, and before another, that matches.
func (t *Trail) First(from, before uint64, match func(at *Stop) bool) (time uint64, found bool) {
	t.Replay(from, func(at *Stop) bool {
		found = at.Time() >= from && at.Time() < before && match(at)
		time = at.Time()
		return !found && at.Time() < before
	})
	return time, found
}

// End is the number of instructions that the launch has come to.
func (t *Trail) End() uint64 { return t.following.time }

// Fault is that of the launch, nil if it has none yet.
func (t *Trail) Fault() *gpu.Fault { return t.following.failed }

// again is the launch with memory of its own.
func (t *Trail) again(p *point) *Launch {
	l := t.launch
	memory, _ := p.memory.Copy(nil)
	e := New(l.info, memory, repeated{})
	e.maxWorkers.Store(l.engine.maxWorkers.Load())
	e.maxVectors.Store(l.engine.maxVectors.Load())
	e.SetOutput(io.Discard)
	l.engine.objects.CopyTo(&e.objects)
	again := &Launch{
		engine: e, prog: l.prog, info: l.info, grid: l.grid, block: l.block, threads: l.threads, dynamic: l.dynamic,
		params: slices.Clone(l.params), source: l.source, checks: l.checks, limit: l.limit, goOn: l.goOn, stack: l.stack, order: l.order, cluster: l.cluster, races: l.races, explain: l.explain,
	}
	table := memory.Allocations()
	again.buffers = make([]*mem.Allocation, len(l.buffers))
	for i, a := range l.buffers {
		if a != nil {
			again.buffers[i] = table[a.ID]
		}
	}
	if l.workspace != nil {
		again.workspace = table[l.workspace.ID]
	}
	again.into.warnings = &again.unwanted
	again.findOrigins()
	again.paramContents = mem.Wrap(again.params[:l.prog.paramBytes])
	return again
}

// repetition is the follower of a repeated launch.
type repetition struct {
	engine *Engine
	each   func(at *Stop) bool
	stop   *atomic.Bool
	ended  bool
}

func (r *repetition) Follows([]string) bool { return true }

func (r *repetition) Begin(*Trail) {}

func (r *repetition) Step(at *Stop) {
	if !r.ended && (r.stop.Load() || !r.each(at)) {
		r.ended = true
		r.engine.Interrupt()
	}
}

// repeated are the resources of a launch whose arguments are known.
type repeated struct{ Resources }

func (repeated) Waiting() bool { return false }
