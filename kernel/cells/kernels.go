//go:build cells && edited && !js

package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/visualfc/gid"

	"warpbook/gpu/compile"
	emu "warpbook/gpu/emu/engine"
	"warpbook/gpu/inspect"
	"warpbook/kernel/debug"
	"warpbook/kernel/engine/trace"
)

// kernels is the debuggee for launches on the emulator. A breakpoint stops the first warp
// that comes to its line; in the rest of the launch it stops that warp only, the focus,
// unless it has a condition: then each warp with a lane for which the condition holds.
type kernels struct {
	session *debug.Session
	tracer  *trace.Tracer // of the cells that launch
	readOn  func()        // lets the program read requests while this goroutine is stopped

	each atomic.Bool // each instruction is of interest, not only each line

	mu    sync.Mutex // guards the fields below
	watch debug.Watch
	cells map[int]string    // sources of %%cuda and %%ptx cells, by number
	paths map[string]string // of the sources, by the file names of the line tables
	focus *warpAt           // of the launch that runs
	trail *emu.Trail        // of the launch that ran last

	recording bool
	cursor    *lane // of %debug in the launch that ran last

	last emu.Stop // of the launch that runs, to look at its results; written by its goroutine
}

// warpAt is a warp of a launch, at a depth of calls.
type warpAt struct {
	block string
	warp  int
	depth int
}

func (w warpAt) same(o warpAt) bool { return w.block == o.block && w.warp == o.warp }

// ran notes the source of a %%cuda or %%ptx cell.
func (k *kernels) ran(cell int, source string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cells[cell] = source
	for _, suffix := range []string{"cu", "ptx"} {
		k.paths[fmt.Sprintf("cell%d.%s", cell, suffix)] = k.session.Path(source)
	}
	if words := strings.Fields(firstLine(source)); len(words) > 1 && words[0] == "%%ptx" {
		k.paths[strings.TrimSuffix(words[1], ".ptx")+".ptx"] = k.session.Path(source)
	}
	k.session.Ran(source)
}

func firstLine(source string) string {
	line, _, _ := strings.Cut(source, "\n")
	return line
}

// Lines are those of a source with code, by its text: the line table of the compiler moves
// breakpoints when the kernel is launched.
func (k *kernels) Lines(source string) []int {
	for at, line := 0, 1; at < len(source); line++ { // comments may stand above
		text := firstLine(source[at:])
		at += len(text) + 1
		if word, _, _ := strings.Cut(strings.TrimSpace(text), " "); word == "%%cuda" || word == "%%ptx" {
			return compile.CodeLines(source[min(at, len(source)):], word == "%%ptx", line+1)
		}
	}
	return nil
}

func (k *kernels) Globals() []debug.Variable { return nil }

func (k *kernels) Find(expression string) (debug.Variable, error) {
	return debug.Variable{}, fmt.Errorf("%s: no kernel is stopped", expression)
}

// Watch sets what launches stop at. Launches that run without a follower stay without.
func (k *kernels) Watch(w debug.Watch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watch = w
	k.each.Store(w.NaNs || len(w.Data) > 0)
	k.follow()
}

// record keeps what repeats later launches, for %debug without a client, or ends it.
func (k *kernels) record(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.recording = on
	if !on {
		k.trail, k.cursor = nil, nil
	}
	k.follow()
}

// follow follows launches if something may want them. The caller holds mu.
func (k *kernels) follow() {
	if k.watch.On || k.recording {
		emu.Follow(k)
		compile.Debug(k.wants)
	} else {
		emu.Follow(nil)
		compile.Debug(nil)
	}
}

// wants reports whether a launch of a cell's module may stop: it gets a debug build.
func (k *kernels) wants(m *compile.Module) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	newest := -1
	for cell, source := range k.cells {
		if cell > newest && strings.HasSuffix(source, m.Source) {
			newest = cell
		}
	}
	if newest >= 0 {
		k.paths[m.Name] = k.session.Path(k.cells[newest])
	}
	return k.stopsIn(m.Name)
}

// stopsIn reports whether a launch of code from a file may stop. The caller holds mu.
func (k *kernels) stopsIn(file string) bool {
	source, known := k.paths[path.Base(file)]
	w := &k.watch
	return known && k.recording || known && w.On && (len(w.Lines[source]) > 0 || w.Pause || w.Faults || w.NaNs || len(w.Data) > 0 || k.steps())
}

// Follows reports whether a launch may stop.
func (k *kernels) Follows(files []string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	follows := slices.ContainsFunc(files, k.stopsIn)
	if follows {
		k.focus = nil
	}
	return follows
}

// Begin moves breakpoints to the lines that the launch has.
func (k *kernels) Begin(t *emu.Trail) {
	k.mu.Lock()
	k.trail, k.cursor, k.last = t, nil, emu.Stop{}
	moved := map[string][]int{}
	for file, source := range k.paths {
		if len(k.watch.Lines[source]) > 0 {
			if lines := compile.LinesOf(t.Module(), file); lines != nil {
				moved[source] = lines
			}
		}
	}
	k.mu.Unlock()
	for source, lines := range moved {
		k.session.Compiled(source, lines)
	}
}

// steps reports whether this goroutine steps into what it calls. The caller holds mu.
func (k *kernels) steps() bool {
	s := k.watch.Step
	return s != nil && s.Kind == debug.In && s.From.Thread == int(gid.Get())
}

// Step is called before each instruction of a warp.
func (k *kernels) Step(at *emu.Stop) {
	each := k.each.Load()
	if !each && !at.NewLine && at.Fault == nil {
		return
	}
	if each {
		last := k.last
		k.last = *at
		if text, lane := k.nan(&last); text != "" {
			k.stop(&last, lane, debug.AtException, text)
		}
		if text, lane := k.touches(at); text != "" {
			k.stop(at, lane, debug.AtData, text)
			return
		}
	}
	if why, text := k.why(at); why != "" {
		k.stop(at, inspect.New(at).Lane, why, text)
	}
}

// stop shows a stop to clients, with the focus on a lane, until the warp goes on.
func (k *kernels) stop(at *emu.Stop, focus int, why debug.Reason, text string) {
	k.mu.Lock()
	trail := k.trail
	k.mu.Unlock()
	l := &lane{kernels: k, trail: trail, live: at, thread: int(gid.Get()), callers: k.tracer.Callers(), time: at.Time(), focus: focus}
	s := l.stop(why, text)
	interrupted, done := at.Interrupted()
	defer done()
	k.readOn()
	k.tracer.Reach(s, interrupted)
}

// why is the reason to stop a warp, "" if there is none.
func (k *kernels) why(at *emu.Stop) (debug.Reason, string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := &k.watch
	file, line := at.Place()
	source := k.paths[path.Base(file)]
	conditional, set := w.Lines[source][line]
	here := placeOf(at)
	switch {
	case !w.On:
	case at.Fault != nil && w.Faults:
		return debug.AtException, at.Fault.Error()
	case source == "" || at.Fault != nil:
	case w.Pause:
		return debug.AtPause, ""
	case k.stepEnds(here, at):
		k.focus = &here
		return debug.AtStep, ""
	case set && (bool(conditional) || k.focus == nil || k.focus.same(here)):
		if !conditional {
			k.focus = &here
		}
		return debug.AtBreakpoint, ""
	}
	return "", ""
}

func placeOf(at *emu.Stop) warpAt { return warpAt{fmt.Sprint(at.Block()), at.Warp(), len(at.Calls())} }

// stepEnds reports whether a step ends here. From a kernel, next follows its warp over
// calls, stepIn the warps of its block, and stepOut its warp to the next barrier. The
// caller holds mu.
func (k *kernels) stepEnds(here warpAt, at *emu.Stop) bool {
	if k.watch.Step == nil {
		return false
	}
	from, inKernel := k.watch.Step.From.State.(warpAt)
	if !inKernel {
		return k.steps()
	}
	switch k.watch.Step.Kind {
	case debug.In:
		return here.block == from.block
	case debug.Out:
		return here.same(from) && at.AfterBarrier()
	}
	return here.same(from) && here.depth <= from.depth
}

// nan describes the NaN that an instruction has made, "" if it has made none, with the first
// lane that has it.
func (k *kernels) nan(at *emu.Stop) (text string, lane int) {
	k.mu.Lock()
	on := k.watch.NaNs
	k.mu.Unlock()
	if !on || !at.Valid() {
		return "", 0
	}
	if lanes := at.MadeNaN(); lanes != 0 {
		name, _ := at.Instruction()
		return fmt.Sprintf("%s has made a NaN in lanes %s", name, mask(lanes)), active(lanes)[0]
	}
	return "", 0
}

// touches describes the access of a data breakpoint that an instruction is about to do, with
// its lane.
func (k *kernels) touches(at *emu.Stop) (text string, lane int) {
	k.mu.Lock()
	points := k.watch.Data
	k.mu.Unlock()
	if len(points) == 0 {
		return "", 0
	}
	for _, a := range at.Accesses() {
		for _, p := range points {
			d, err := parseData(p.Data)
			if err == nil && d.touched(at, a, p.Reads) {
				return d.describe(at, a), a.Lane
			}
		}
	}
	return "", 0
}
