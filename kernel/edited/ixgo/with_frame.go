//go:build ignore

package ixgo

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// asValue is a compiled function as a function value. One that takes the frame of its caller, as
// runtime.Caller does here, gets the innermost frame of the goroutine that calls the value.
func (i *Interp) asValue(ext reflect.Value, fn *ssa.Function) reflect.Value {
	h, t := i.ctx.Hooks, ext.Type()
	if h == nil || t.NumIn() == 0 || t.In(0) != typFramePtr {
		return ext
	}
	return reflect.MakeFunc(i.preToType(fn.Type()), func(args []reflect.Value) []reflect.Value {
		fr := h.Innermost()
		if fr == nil { // the goroutine runs no code of the interpreter
			fr = &frame{interp: i}
		}
		return ext.Call(append([]reflect.Value{reflect.ValueOf(fr)}, args...))
	})
}
