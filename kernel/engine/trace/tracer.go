//go:build edited

package trace

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"

	"warpbook/kernel/debug"
	"warpbook/kernel/engine/bytecode"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// Session is the debugger: the part of debug.Session that a Tracer calls.
type Session interface {
	Reach(stop *debug.Stop, cancel <-chan struct{})
	Path(code string) string
	Ran(code string)
}

// Engine runs the cells.
type Engine interface {
	Globals() []namespace.Global
	Global(name string) (namespace.Global, bool)

	// Stack are the frames of this goroutine from fr, or from the innermost, outwards.
	Stack(fr *ixgo.Frame, most int) []*ixgo.Frame

	// Place makes a variable of a type and returns a pointer to it.
	Place(t types.Type) (reflect.Value, error)

	// Define gives the session a variable.
	Define(name string, t types.Type, at reflect.Value) error

	// Watch computes an expression, or executes an assignment, with local variables.
	Watch(ctx context.Context, text string, locals []namespace.Local) ([]any, error)
}

// Tracer is the debuggee for Go cells. Any goroutine may call its methods.
type Tracer struct {
	session Session
	engine  Engine
	armed   [rewrite.Points]uint8 // read by cells without synchronisation; written with mu held

	on        atomic.Bool // a client is attached
	computing sync.Map    // ids of goroutines that compute expressions

	mu        sync.Mutex // guards the fields below
	watch     debug.Watch
	points    []point
	functions int
	paths     map[int]string // of the sources of cells, by number
}

// New returns a tracer.
func New(session Session, engine Engine) *Tracer {
	return &Tracer{session: session, engine: engine, paths: map[int]string{}}
}

// Armed are the flags of the points.
func (t *Tracer) Armed() *[rewrite.Points]uint8 { return &t.armed }

// On reports whether a client is attached.
func (t *Tracer) On() bool { return t.on.Load() }

// Names are the variables that the check of a point passes.
func (t *Tracer) Names(point int) (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if point < len(t.points) {
		for _, l := range t.points[point].locals {
			names = append(names, l.name)
		}
	}
	return names
}

// Instrument adds checks to the file of a cell, if a client is attached. It reports
// whether it changed the file.
func (t *Tracer) Instrument(cell int, source string, f *ast.File, info *types.Info, fset *token.FileSet) bool {
	t.mu.Lock()
	on := t.watch.On
	if on {
		t.paths[cell] = t.session.Path(source)
	}
	t.mu.Unlock()
	if !on {
		return false
	}
	t.session.Ran(source)
	in := &instrumenter{info: info, fset: fset, add: t.add, functions: &t.functions, cell: cell, last: strings.Count(strings.TrimRight(source, "\n"), "\n") + 1}
	in.file(f)
	return in.changed
}

// add numbers a point and arms it if it must be.
func (t *Tracer) add(p point) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.path = t.paths[p.cell]
	t.points = append(t.points, p)
	k := len(t.points) - 1
	if t.wanted(&p) {
		t.arm(k%rewrite.Points, 1)
	}
	return k
}

// arm is hidden from the race detector, as the interrupt flag is: cells read the flags
// at each statement, and a late read only stops later.
//
//go:norace
func (t *Tracer) arm(k int, to uint8) { t.armed[k] = to }

// wanted reports whether a point must be armed. The caller holds mu.
func (t *Tracer) wanted(p *point) bool {
	w := &t.watch
	switch {
	case !w.On:
		return false
	case w.Pause, w.Step != nil:
		return true
	}
	return p.first && w.Lines[p.path].Has(p.line)
}

// Watch arms the points that a client wants.
func (t *Tracer) Watch(w debug.Watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watch = w
	t.on.Store(w.On)
	t.armAll()
}

// armAll sets the flags of all points. The caller holds mu.
func (t *Tracer) armAll() {
	var want [rewrite.Points]uint8
	for k := range t.points {
		if t.wanted(&t.points[k]) {
			want[k%rewrite.Points] = 1
		}
	}
	for k, to := range want {
		if t.armed[k] != to {
			t.arm(k, to)
		}
	}
}

// Line is called before a statement whose flag is set. It returns what the
// debugger has assigned to the variables, see engine.Debugger.
func (t *Tracer) Line(fr *ixgo.Frame, k int, values []any, cancel <-chan struct{}) (set [][]any, changed bool) {
	t.mu.Lock()
	p, id := t.points[k], int(gid.Get())
	why := t.why(&p, fr, id)
	t.mu.Unlock()
	if why == "" || t.computes() {
		return nil, false
	}
	v := &variables{tracer: t, point: &p, values: passed(fr, values)}
	stop := t.stop(fr, id, &p, v)
	stop.Reason = why
	t.Reach(stop, cancel)
	return v.set, v.set != nil
}

// Reach lets this goroutine stop.
func (t *Tracer) Reach(stop *debug.Stop, cancel <-chan struct{}) {
	t.session.Reach(stop, cancel)
}

// Panicked is called when this goroutine panics, with the innermost frame.
func (t *Tracer) Panicked(fr *ixgo.Frame, caught bool, text func() string, cancel <-chan struct{}) {
	t.mu.Lock()
	wanted := t.watch.Panics.Has(caught)
	t.mu.Unlock()
	if !wanted || t.computes() {
		return
	}
	v := t.variablesOf(fr)
	stop := t.stop(fr, int(gid.Get()), v.point, v)
	stop.Reason, stop.Text = debug.AtException, text() // the text may call methods of cells
	t.Reach(stop, cancel)
}

// Callers are the calls of this goroutine, for a stop of code that they call.
func (t *Tracer) Callers() []debug.Frame {
	chain := t.engine.Stack(nil, mostFrames)
	return t.frames(chain, nil, nil)
}

// why is the reason to stop at a point, "" if there is none. The caller holds mu.
func (t *Tracer) why(p *point, fr *ixgo.Frame, thread int) debug.Reason {
	w := &t.watch
	switch {
	case !w.On:
	case w.Pause:
		return debug.AtPause
	case w.Step != nil && ends(w.Step, p, fr, thread):
		return debug.AtStep
	case p.first && w.Lines[p.path].Has(p.line):
		return debug.AtBreakpoint
	}
	return ""
}

// place is where a stop was, for the end of a step from it.
type place struct {
	chain []*ixgo.Frame // the frame and its callers
	point point
}

// ends reports whether a step ends at a point.
func ends(s *debug.Step, p *point, fr *ixgo.Frame, thread int) bool {
	if s.From.Thread != thread {
		return false
	}
	from, ok := s.From.State.(*place)
	if !ok { // it began in a kernel, which has ended
		return true
	}
	same := from.chain[0] == fr && from.point.function == p.function
	if same && from.point.line == p.line && from.point.path == p.path && !p.first {
		return false // another statement of the line
	}
	switch s.Kind {
	case debug.In:
		return true
	case debug.Over:
		return same || slices.Contains(from.chain[1:], fr)
	}
	return slices.Contains(from.chain[1:], fr)
}

// mostFrames is how many frames a client sees.
const mostFrames = 200

// stop describes a stop of this goroutine in a frame, at a point or after it.
func (t *Tracer) stop(fr *ixgo.Frame, thread int, p *point, top *variables) *debug.Stop {
	at := &place{chain: t.engine.Stack(fr, mostFrames)}
	if len(at.chain) == 0 { // a goroutine of compiled code that has left
		at.chain = []*ixgo.Frame{fr}
	}
	if p != nil {
		at.point = *p
	}
	s := &debug.Stop{Thread: thread, Name: "goroutine", State: at, Frames: t.frames(at.chain, p, top)}
	if n := len(s.Frames); n > 0 {
		s.Name = s.Frames[n-1].Name
	}
	return s
}

// frames are the calls of cells in a chain. The variables of the first are given if it has
// come to a point.
func (t *Tracer) frames(chain []*ixgo.Frame, p *point, top *variables) (list []debug.Frame) {
	for i, x := range chain {
		name, file, line := x.Place()
		v := top
		if i > 0 || v == nil {
			v = t.variablesOf(x)
		} else if !top.fixed {
			line = p.line
		}
		cell := failure.CellOf(file)
		if v.point != nil && (cell == 0 || line == 0) { // the instruction has no place
			cell, line = v.point.cell, v.point.line
		}
		path := t.path(cell)
		if path == "" || name == "" || rewrite.StartsGoroutine(x.Literal()) {
			continue
		}
		f := debug.Frame{Name: frameName(name, cell), Path: path, Line: line}
		v.fill(&f)
		list = append(list, f)
	}
	return list
}

func (t *Tracer) path(cell int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paths[cell]
}

// variablesOf are the variables of a call, in the statement that it executes.
func (t *Tracer) variablesOf(fr *ixgo.Frame) *variables {
	v := &variables{tracer: t, fixed: true}
	k, list, ok := bytecode.Locals(fr)
	t.mu.Lock()
	defer t.mu.Unlock()
	if ok && k < len(t.points) {
		p := t.points[k]
		v.point, v.values = &p, list
	}
	return v
}

// passed are the values that a check passes in a frame, with their types.
func passed(fr *ixgo.Frame, values []any) []bytecode.Local {
	_, list, ok := bytecode.Locals(fr)
	if !ok || len(list) != len(values) {
		list = make([]bytecode.Local, len(values))
	}
	for i, x := range values {
		list[i].Value, list[i].Known = x, true
	}
	return list
}

// Computes lets this goroutine compute an expression: it does not stop until done is
// called.
func (t *Tracer) Computes() (done func()) {
	id := gid.Get()
	t.computing.Store(id, true)
	return func() { t.computing.Delete(id) }
}

// computes reports whether this goroutine computes an expression.
func (t *Tracer) computes() bool {
	_, is := t.computing.Load(gid.Get())
	return is
}

// Lines are the lines of a cell's source that have a statement.
func (t *Tracer) Lines(source string) []int { return linesOf(source) }
