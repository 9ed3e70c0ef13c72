//go:build ignore

package ixgo

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/tools/go/ssa"
)

// A deferred function may be a Go function value that leads to a function of this or of
// another interpreter: a closure of an earlier cell, a method that package reflect has
// found. It can recover as if it were deferred itself. A function that compiled code calls,
// such as that of a deferred once.Do, cannot.

// lent are the frames that panic while such a deferred value begins, by goroutine; lending
// is their number.
var (
	lent    sync.Map
	lending atomic.Int32
)

// callDeferred calls a deferred function.
func (fr *frame) callDeferred(d *_defer) {
	if isNil(d.fn) {
		var none func()
		none() // panics as Go does
	}
	if !fr._panic.isNil() && leads(d.fn) {
		id := goroutineID()
		lent.Store(id, fr)
		lending.Add(1)
		defer func() {
			lent.Delete(id)
			lending.Add(-1)
		}()
	}
	if !d.unlocks() {
		fr.interp.callDiscardsResult(fr, d.fn, d.args, d.ssaArgs)
	}
}

// unlocks calls a deferred method of package sync, without reflection: most deferred calls
// of compiled functions unlock. It reports whether it has done so.
func (d *_defer) unlocks() bool {
	v, ok := d.fn.(reflect.Value)
	if !ok || len(d.args) != 1 {
		return false
	}
	switch x := d.args[0].(type) {
	case *sync.Mutex:
		return calls(v, x)
	case *sync.RWMutex:
		return calls(v, x)
	case *sync.WaitGroup:
		return calls(v, x)
	}
	return false
}

func calls[T any](v reflect.Value, x T) bool {
	f, ok := v.Interface().(func(T))
	if ok {
		f(x)
	}
	return ok
}

// runDeferred runs the deferred calls of a frame. Compiled code that these call finds the
// frame while it panics: only then can a function recover.
func (fr *frame) runDeferred() {
	interp, noted := fr.interp, false
	for d := fr._defer; d != nil; d = fr._defer {
		fr._defer = d.tail
		if !noted && !fr._panic.isNil() {
			noted = true
			atomic.AddInt32(&interp.deferCount, 1)
			fr.deferid = goroutineID()
			interp.deferMap.Store(fr.deferid, fr)
		}
		fr.runDefer(d)
	}
	if noted {
		interp.deferMap.Delete(fr.deferid)
		atomic.AddInt32(&interp.deferCount, -1)
		fr.deferid = 0
	}
}

// onlyCalled reports whether a closure is only called, by statements that read its
// variables themselves.
func onlyCalled(in *ssa.MakeClosure) bool {
	for _, r := range *in.Referrers() {
		var call *ssa.CallCommon
		switch r := r.(type) {
		case *ssa.DebugRef:
			continue
		case *ssa.Call:
			call = &r.Call
		case *ssa.Defer:
			call = &r.Call
		case *ssa.Go:
			call = &r.Call
		default:
			return false
		}
		if call.Value != in || slices.Contains(call.Args, ssa.Value(in)) {
			return false
		}
	}
	return true
}

// entered notes that code outside of the interpreter has called the function of a frame,
// and which frame has deferred that call. Functions that it calls are not deferred.
func (fr *frame) entered() {
	fr.outside, fr.by = true, nil
	if lending.Load() != 0 {
		if by, ok := lent.LoadAndDelete(goroutineID()); ok {
			fr.by = by.(*frame)
		}
	}
}

// isNil reports whether a deferred value is a nil function.
func isNil(fn value) bool {
	switch fn.(type) {
	case reflect.Value, *ssa.Function, *closure, *ssa.Builtin:
		return false
	}
	v := reflect.ValueOf(fn)
	return v.Kind() == reflect.Func && v.IsNil()
}

// leads reports whether a deferred value is a Go function that was made to call another
// one: by package reflect, or as a method of a type of cells.
func leads(fn value) bool {
	v, ok := fn.(reflect.Value)
	if !ok {
		switch fn.(type) {
		case *ssa.Function, *closure, *ssa.Builtin:
			return false
		}
		v = reflect.ValueOf(fn)
	}
	if v.Kind() != reflect.Func || v.IsNil() {
		return false
	}
	f := runtime.FuncForPC(v.Pointer())
	return f == nil || f.Name() == "reflect.makeFuncStub" || f.Name() == "reflect.methodValueCall" || strings.HasPrefix(f.Name(), "github.com/goplus/reflectx")
}
