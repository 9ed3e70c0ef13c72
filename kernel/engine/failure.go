package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/stop"
)

// runError is the outcome of a run that failed. Its text is made while the run can still
// be stopped, because methods of cells may make it.
type runError struct {
	name   string // panicError, errorError, interrupt or exitError
	text   string
	by     string // the error of a call that an interrupt ended
	frames []failure.Place
	value  any
}

// failed describes the error of a run. The goroutine of the run calls it.
func (e *Engine) failed(err error) *runError {
	f := &runError{name: failure.PanicError}
	f.value, f.frames = failure.Unwrap(err)
	switch f.value.(type) {
	case *magicError:
		return f
	case failure.Goexit:
		f.value = failure.ErrGoexit
	}
	if text := internal(f.value); text != "" {
		f.name, f.text = failure.Internal, text
		if len(f.frames) > 0 {
			f.text = fmt.Sprintf("%s: %s", f.frames[0], text)
		}
		return f
	}
	f.name, f.by = nameOf(f.value)
	if f.text = failure.InterruptText; f.name != failure.Interrupted {
		f.text = failure.PanicText(f.value)
	}
	return f
}

// internal is the text of a panic by which ixgo says that it lacks code, "" for another one.
func internal(value any) string {
	err, ok := value.(error)
	if !ok {
		return ""
	}
	switch text := failure.TextOf(err); {
	case strings.HasPrefix(text, "no code for method: "), strings.HasPrefix(text, "no code for function: "):
		return text
	}
	return ""
}

// nameOf reports whether a value stops the cell, and the error that a compiled call made
// of the stop. It may call methods of cells.
func nameOf(value any) (name, by string) {
	defer func() {
		if recover() != nil {
			name = failure.PanicError
		}
	}()
	err, ok := value.(error)
	stop := stop.Interrupted{}
	switch {
	case !ok:
	case errors.As(err, &stop):
		if stop.By != nil {
			by = failure.TextOf(stop.By)
		}
		return failure.Interrupted, by
	case errors.As(err, new(failure.Exit)):
		return failure.ExitCalled, ""
	}
	return failure.PanicError, ""
}

// failedWith is the failure of a cell whose last expression is an error.
func failedWith(err error) *runError {
	return &runError{name: failure.ErrorError, text: failure.TextOf(err)}
}

// stoppedBy is the failure of an interrupted run, whatever value the run ended with.
func stoppedBy(f *runError) *runError {
	switch {
	case f == nil:
		return &runError{name: failure.Interrupted, text: failure.InterruptText}
	case f.name == failure.Interrupted:
		return f
	}
	return &runError{name: failure.Interrupted, text: failure.InterruptText, by: f.text, frames: f.frames}
}

// storesThroughNil reports whether a panic is the engine's for *p = 1 with a nil p, and
// not one of code that uses reflection.
func (e *Engine) storesThroughNil(value any, frames []failure.Place) bool {
	zero, ok := value.(*reflect.ValueError)
	if !ok || zero.Kind != reflect.Invalid || len(frames) == 0 {
		return false
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	line, _ := e.Line(frames[0].Cell, frames[0].Line)
	return strings.Contains(line, "*") && !strings.Contains(line, "Set")
}

// runFailure reports the outcome of a run.
func (e *Engine) runFailure(f *runError) *cellproto.Error {
	if m, ok := f.value.(*magicError); ok {
		return e.magicFailure(m)
	}
	text := f.text
	if e.storesThroughNil(f.value, f.frames) {
		text = failure.ErrNilStore.Error()
	}
	value, _, _ := strings.Cut(text, "\n")
	report := &cellproto.Error{Name: f.name, Value: failure.Shorten(value, failure.MaxValue), Traceback: []string{f.name + ": " + failure.Shorten(text, failure.MaxText)}}
	if f.by != "" {
		report.Traceback = append(report.Traceback, "the call that was stopped: "+failure.Shorten(f.by, failure.MaxText))
	}
	e.Mu.Lock() // not earlier: the methods of a cell's error may need the lock
	defer e.Mu.Unlock()
	inner, outer := f.frames, []failure.Place(nil)
	if len(inner) > mostCalls {
		inner, outer = inner[:mostCalls-outermostCalls], inner[len(inner)-outermostCalls:]
	}
	for _, p := range inner {
		report.Traceback = append(report.Traceback, e.describe(p))
	}
	if len(outer) > 0 {
		report.Traceback = append(report.Traceback, fmt.Sprintf("… %d more calls", len(f.frames)-mostCalls))
	}
	for _, p := range outer {
		report.Traceback = append(report.Traceback, e.describe(p))
	}
	return report
}

// mostCalls is the number of calls that a report names, outermostCalls that of the
// outermost ones among them.
const mostCalls, outermostCalls = 30, 5

func (e *Engine) describe(p failure.Place) string {
	s := p.String()
	if line, ok := e.Line(p.Cell, p.Line); ok {
		s += "\n    " + failure.Shorten(strings.TrimSpace(line), failure.MaxValue)
	}
	return s
}
