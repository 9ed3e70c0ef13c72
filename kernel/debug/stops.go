package debug

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-dap"
)

// Reach is called by a thread of the debuggee at a place where it may stop, and returns
// once the thread may go on. It returns early when cancel closes.
func (s *Session) Reach(stop *Stop, cancel <-chan struct{}) {
	if len(stop.Frames) == 0 || stop.Reason == AtBreakpoint && !s.hits(stop) {
		return
	}
	if !s.wait(stop, cancel) {
		return
	}
	defer func() { <-s.turn }()
	h := &halt{Stop: stop, resume: make(chan struct{})}
	if !s.halt(h) {
		return
	}
	s.watch()
	s.announce(stop)
	select {
	case <-h.resume:
	case <-cancel:
		s.unhalt(h, nil)
	}
	s.tell("continued", dap.ContinuedEventBody{ThreadId: stop.Thread, AllThreadsContinued: true})
}

func (s *Session) announce(stop *Stop) {
	body := map[string]any{"reason": stop.Reason, "threadId": stop.Thread, "allThreadsStopped": false, "preserveFocusHint": false}
	if len(stop.hits) > 0 {
		body["hitBreakpointIds"] = stop.hits
	}
	if stop.Text != "" {
		body["text"], body["description"] = stop.Text, stop.Text
	}
	s.tell("stopped", body)
}

// stepTime is how long a thread that comes to a stop waits for the step of another one,
// which may wait for it.
const stepTime = 500 * time.Millisecond

// take makes the stop of a thread the next one, after that of another thread and the
// steps from it. It reports false if cancel closes.
func (s *Session) take(thread int, cancel <-chan struct{}) bool {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		select {
		case s.turn <- struct{}{}:
		default: // another thread is stopped, and may step next
			select {
			case s.turn <- struct{}{}:
				began = time.Now()
			case <-cancel:
				return false
			}
		}
		s.mu.Lock()
		steps := s.step != nil && s.step.From.Thread != thread
		s.mu.Unlock()
		if !steps || time.Since(began) > stepTime {
			return true
		}
		<-s.turn
	}
}

// halt makes a stop the one that clients see, unless the debugger has ended meanwhile.
func (s *Session) halt(h *halt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return false
	}
	s.step, s.pausing, s.halted = nil, false, h
	s.number(h)
	return true
}

// number gives the frames of a stop their ids. The caller holds mu.
func (s *Session) number(h *halt) {
	h.frames = nil
	for _, f := range h.Frames {
		h.frames = append(h.frames, s.references.add(f))
	}
}

// unhalt ends a stop; the ids of its frames and variables become invalid. It reports
// whether the stop had not ended.
func (s *Session) unhalt(h *halt, next *Step) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h == nil || s.halted != h {
		return false
	}
	s.halted, s.step = nil, next
	s.references.clear()
	return true
}

var errRunning = errors.New("debug: no thread is stopped")

// resume lets the stopped thread go on, as a step if there is one.
func (s *Session) resume(next *Step) error {
	if s.forward(next) {
		return nil
	}
	h, _ := s.current()
	if !s.unhalt(h, next) {
		return errRunning
	}
	s.watch()
	close(h.resume)
	return nil
}

// stepTo steps the stopped thread, or another one that goes on with it.
func (s *Session) stepTo(kind StepKind, thread int) error {
	h, at := s.current()
	if h == nil {
		return errRunning
	}
	if beside := at.beside(thread); beside != nil {
		at = &Stop{Thread: at.Thread, State: beside.State}
	}
	return s.resume(&Step{From: at, Kind: kind})
}

func (s *Session) pause() (any, error) {
	s.mu.Lock()
	s.pausing = s.halted == nil
	s.mu.Unlock()
	s.watch()
	return struct{}{}, nil
}

// watch gives the debuggee what it stops at.
func (s *Session) watch() {
	s.watching.Lock()
	defer s.watching.Unlock()
	s.mu.Lock()
	w := Watch{On: s.started, Panics: Panics{s.exceptions[allPanics], s.exceptions[uncaughtPanics]}, Faults: s.exceptions[faults] && s.started, NaNs: s.exceptions[nans] && s.started, Data: slices.Concat(s.data, s.watched), Pause: s.pausing, Step: s.step, Lines: map[string]LineSet{}}
	for path, list := range s.breaks {
		w.Lines[path] = LineSet{}
		for _, b := range list {
			w.Lines[path][b.line] = Conditional(strings.TrimSpace(b.Condition) != "")
		}
	}
	s.mu.Unlock()
	for _, d := range s.debuggees {
		d.Watch(w)
	}
}

func (s *Session) stackTrace(q dap.StackTraceArguments) (any, error) {
	list := []dap.StackFrame{}
	for _, n := range s.framesOf(q.ThreadId) {
		list = append(list, dap.StackFrame{Id: n.id, Name: n.frame.Name, Line: n.frame.Line, Column: 1, Source: &dap.Source{Path: n.frame.Path}})
	}
	total := len(list)
	list = list[min(max(q.StartFrame, 0), total):]
	if q.Levels > 0 {
		list = list[:min(q.Levels, len(list))]
	}
	return dap.StackTraceResponseBody{StackFrames: list, TotalFrames: total}, nil
}

// frame is a frame of the stop, the innermost for id 0.
func (s *Session) frame(id int) (Frame, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 && s.halted != nil {
		return s.halted.Frames[0], nil
	}
	if f, ok := s.references.of[id].(Frame); ok {
		return f, nil
	}
	return Frame{}, fmt.Errorf("debug: frame %d: no thread is stopped in it", id)
}

// hints are the kinds of scopes that the protocol knows.
var hints = map[string]string{"Locals": "locals", "Arguments": "arguments", "Registers": "registers"}

func (s *Session) scopes(id int) (any, error) {
	f, err := s.frame(id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []dap.Scope{}
	for _, x := range f.Scopes {
		list = append(list, dap.Scope{Name: x.Name, Expensive: x.Expensive, VariablesReference: s.references.add(x.Variables), PresentationHint: hints[x.Name]})
	}
	return dap.ScopesResponseBody{Scopes: list}, nil
}

// references number the frames and the lists of variables that clients ask for.
type references struct {
	of   map[int]any // Frame, or func() []Variable
	last int
}

func (r *references) add(x any) int {
	if r.of == nil {
		r.of = map[int]any{}
	}
	r.last++
	r.of[r.last] = x
	return r.last
}

func (r *references) clear() { maps.DeleteFunc(r.of, func(int, any) bool { return true }) }
