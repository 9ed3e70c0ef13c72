//go:build ignore

package ixgo

import (
	"go/token"
	"reflect"
	"slices"
	"unsafe"

	"github.com/visualfc/funcval"
	"golang.org/x/tools/go/ssa"
)

// enter executes a frame for code outside of the interpreter.
func (i *Interp) enter(fr *frame) {
	if h := i.ctx.Hooks; h != nil {
		h.Enter(fr)
	} else {
		fr.run()
	}
}

// Execute runs the function of a frame.
func (fr *frame) Execute() { fr.run() }

// Fail ends a frame that has panicked: its results are zero values, but for an error
// that is the last one.
func (fr *frame) Fail(err error) {
	clear(fr.stack[:fr.pfn.nres])
	if returnsError(fr.pfn.Fn.Signature) {
		fr.stack[fr.pfn.nres-1] = err
	}
	fr.ipc, fr.callee = -1, nil
}

// Innermost is the frame of the last call below a frame that has not ended.
func (fr *frame) Innermost() *frame {
	for fr.callee.valid() && fr.callee.aborted() {
		fr = fr.callee
	}
	return fr
}

// Recovered reports whether a frame, or a caller of it, has deferred a function that
// calls recover.
func (fr *frame) Recovered() bool {
	for ; fr != nil; fr = fr.caller {
		if fr.Defers(Recovers) {
			return true
		}
	}
	return false
}

// Defers reports whether a frame has deferred a function for which is holds.
func (fr *frame) Defers(is func(fn *ssa.Function) bool) bool {
	if fr.recorder != nil {
		fr.recorder.List(fr)
	}
	for d := fr._defer; d != nil; d = d.tail {
		if fn := fr.interp.functionOf(d.fn); fn != nil && is(fn) {
			return true
		}
	}
	return false
}

// functionOf is the function of a function value, nil if it is not of the interpreter.
func (i *Interp) functionOf(fn value) *ssa.Function {
	switch f := fn.(type) {
	case *ssa.Function:
		return f
	case *closure:
		return f.pfn.Fn
	}
	if v := reflect.ValueOf(fn); v.Kind() != reflect.Func || v.IsNil() {
		return nil
	}
	fv, n := funcval.Get(fn)
	if made := (*makeFuncVal)(unsafe.Pointer(fv)); n == 1 && made.interp == i {
		return made.pfn.Fn
	}
	return nil
}

// Recovers reports whether a function calls recover itself.
func Recovers(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(*ssa.Call); ok {
				if f, ok := call.Call.Value.(*ssa.Builtin); ok && f.Name() == "recover" {
					return true
				}
			}
		}
	}
	return false
}

// Blocked returns the positions of the calls below a frame, the innermost first. Another
// goroutine executes them and is expected to be in a compiled call.
//
//go:norace
func (fr *frame) Blocked() (at []token.Pos) {
	for ; fr != nil && len(at) < mostFrames; fr = fr.callee {
		if pfn, ipc := fr.pfn, fr.ipc; pfn != nil && ipc > 0 {
			at = append(at, pfn.PosForPC(ipc-1))
		}
	}
	slices.Reverse(at)
	return at
}

// Active reports whether a call below a frame has not ended.
func (fr *frame) Active() bool { return fr.callee != nil }
