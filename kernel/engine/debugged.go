//go:build edited

package engine

import (
	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"
	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/engine/bytecode"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/stop"
)

// debugged reports whether a client of the debugger is attached.
func (e *host) debugged() bool { return e.config.Debugger != nil && e.config.Debugger.On() }

// inside notes a function that code outside of its interpreter calls, or the frame above
// it, until left is called.
func (o *owner) inside(fr *ixgo.Frame) (left func()) {
	o.inner = append(o.inner, fr)
	n := len(o.inner) - 1
	return func() { o.inner = o.inner[:n] }
}

// Stack are the frames of this goroutine from fr outwards, or from the innermost one if fr
// is nil, at most a number. They pass through compiled code that has called a function.
func (e *host) Stack(fr *ixgo.Frame, most int) (list []*ixgo.Frame) {
	o := e.ownerOf(gid.Get())
	if o == nil {
		return nil
	}
	outer := append([]*ixgo.Frame{o.root.Load()}, o.inner...)
	if fr == nil && outer[len(outer)-1] != nil {
		fr = outer[len(outer)-1].Innermost()
	}
	for fr != nil && len(list) < most {
		first := fr
		for ; fr != nil && len(list) < most; fr = fr.Outer() {
			first, list = fr, append(list, fr)
		}
		if fr == nil {
			fr = bytecode.Caller(first)
		}
		for n := len(outer) - 1; fr == nil && n > 0; n-- {
			if outer[n] != nil && outer[n-1] != nil && outer[n].Above(first) {
				fr = outer[n-1].Innermost()
			}
		}
	}
	return list
}

// faulted tells the debugger of a panic below a frame of this goroutine, unless it has been
// told.
func (e *host) faulted(fr *ixgo.Frame, v any) {
	if !e.debugged() {
		return
	}
	if fatal, ok := v.(ixgo.FatalError); ok {
		v = fatal.Value
	}
	if _, told := v.(failure.Traced); told {
		return
	}
	value := failure.Value(v)
	switch value.(type) {
	case stop.Interrupted, failure.Exit, failure.Goexit:
		return
	}
	e.config.Lasting()
	fr = fr.Innermost()
	e.config.Debugger.Panicked(fr, e.caught(fr), func() string { return failure.Shorten(failure.PanicText(value), failure.MaxValue) }, e.stop.Channel())
}

// caught reports whether a panic in a frame of this goroutine meets a deferred call of
// cells, or of an interpreted package, that recovers.
func (e *host) caught(fr *ixgo.Frame) bool {
	for _, fr := range e.Stack(fr, 1<<20) {
		if fr.Defers(recovers) {
			return true
		}
	}
	return false
}

// recovers reports whether a function calls recover, apart from the ends of goroutines.
func recovers(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(*ssa.Call); ok {
				if f, ok := call.Call.Value.(*ssa.Function); ok && f.String() == rewrite.RuntimePath+".Recovered" {
					return true
				}
			}
		}
	}
	return ofPackage(fn) && ixgo.Recovers(fn)
}
