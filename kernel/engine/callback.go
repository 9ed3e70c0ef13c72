//go:build edited

package engine

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/stop"
)

// A function value, or a method, leaves its interpreter as a Go function. Compiled code
// and the functions of other interpreters call it through enter, wherever they have it
// from. So one place guards all of them.

// mostFrames is the number of frames that a panic collects from its interpreters.
const mostFrames = 200

// enter executes a function that code outside of its interpreter calls. It adds the
// frames of the function to its panic, because the interpreter of the caller does not know
// them.
func (e *host) enter(fr *ixgo.Frame) {
	o := e.ownerOf(gid.Get())
	if o == nil {
		e.enterForeign(fr)
		return
	}
	left := o.inside(fr)
	v := executed(fr)
	left()
	if v != nil {
		panic(e.traced(fr, v)) // after the stack is unwound: a deferred function would keep that of a deep recursion
	}
}

// executed executes a function and returns its panic.
func executed(fr *ixgo.Frame) (v any) {
	ended := false
	defer func() {
		if !ended { // a panic, or runtime.Goexit
			v = recover()
		}
	}()
	fr.Execute()
	ended = true
	return nil
}

// callFromPackage is the call of a function value by an imported package. On a goroutine
// of the package where no function recovers, as in Group.Go of errgroup, a panic becomes
// the error of the call: the package must not take the function for one that has
// succeeded.
func (e *host) callFromPackage(fr *ixgo.Frame, call func(*ixgo.Frame)) (failed error) {
	o := e.ownerOf(gid.Get())
	if o == nil || !o.ofPackage || fr.Recovered() {
		call(fr)
		return nil
	}
	o.ofPackage = false
	defer func() {
		o.ofPackage = true
		if v := recover(); v != nil {
			failed = e.reportCallback(e.traced(fr, v))
		}
	}()
	call(fr)
	return nil
}

// enterForeign executes a function on a goroutine that compiled code has started. A panic
// is reported, because there it would end the process. Functions that it calls find the
// goroutine marked, so that their panics reach its own deferred calls.
func (e *host) enterForeign(fr *ixgo.Frame) {
	o := &owner{}
	e.mark(o)
	defer o.inside(fr)()
	var callers [64]uintptr
	n := runtime.Callers(1, callers[:])
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		e.forget()
		v := recover()
		if v == nil {
			return
		}
		t := e.traced(fr, v)
		if _, exits := t.Value.(failure.Goexit); exits {
			runtime.Goexit()
		}
		switch recovering(callers[:n]) {
		case byConsumer:
			panic(t)
		case byServer: // it closes the connection; for another value it would print its own stack
			if t.Value != abortHandler {
				_ = e.reportCallback(t)
			}
			panic(abortHandler)
		}
		fr.Fail(e.reportCallback(t))
	}()
	fr.Execute()
}

// reportCallback prints a panic of a function that compiled code called, and returns the
// panic as an error for its caller.
func (e *host) reportCallback(t failure.Traced) error {
	frames := t.Frames()
	e.reportPanic("a function that compiled code called", t.Value, frames)
	if stopped, ok := t.Value.(stop.Interrupted); ok {
		return stopped
	}
	text := "panic: " + failure.Shorten(failure.PanicText(t.Value), failure.MaxValue)
	if len(frames) > 0 {
		text += " at " + frames[0].String()
	}
	if err, ok := t.Value.(error); ok {
		return fmt.Errorf("%s%w", text, silent{err})
	}
	return errors.New(text)
}

// silent adds an error to a chain, but not its text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// traced is a panic that leaves a function, with the frames of its interpreter. It
// reports a fault of the runtime to the debugger.
func (e *host) traced(fr *ixgo.Frame, v any) failure.Traced {
	e.faulted(fr, v)
	value, frames := failure.Unwrap(v)
	if len(frames) < mostFrames {
		frames = failure.Join(frames, failure.Callers(fr.Innermost()))
	}
	return failure.Traced{Value: value, Frames: failure.Known(frames)}
}

// The function that recovers a panic on a goroutine of compiled code.
const (
	byNobody   = iota
	byServer   // a server of net/http
	byConsumer // the goroutine that compiled code works for, which panics again
)

// recovering finds the compiled function, among the callers of a function, that recovers
// its panic. The standard library has few of them.
func recovering(callers []uintptr) int {
	frames := runtime.CallersFrames(callers)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch name := f.Function; {
		case strings.HasPrefix(name, "net/http.(*conn).serve"), strings.HasPrefix(name, "net/http.(*timeoutHandler).ServeHTTP"),
			strings.HasPrefix(name, "net/http") && strings.HasSuffix(name, "erverConn).runHandler"): // of HTTP/2
			return byServer
		case strings.HasPrefix(name, "iter.Pull"):
			return byConsumer
		}
	}
	return byNobody
}
