//go:build ignore

package ixgo

import (
	"reflect"
	"unsafe"

	"github.com/visualfc/funcval"
)

// Captured are the variables, as pointers, and the values that a function value captures.
// It is nil for a function of compiled code.
func Captured(f reflect.Value) []any {
	if f.IsNil() {
		return nil
	}
	if !f.CanInterface() {
		if !f.CanAddr() {
			return nil
		}
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	fv, n := funcval.Get(f.Interface())
	made := (*makeFuncVal)(unsafe.Pointer(fv))
	if n == 1 && (made.typ == f.Type() || made.typ == unnamed(f.Type())) { // else other code has made it
		return made.env
	}
	return nil
}

// unnamed is a type of functions without its name.
func unnamed(t reflect.Type) reflect.Type {
	var in, out []reflect.Type
	for i := range t.NumIn() {
		in = append(in, t.In(i))
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.FuncOf(in, out, t.IsVariadic())
}
