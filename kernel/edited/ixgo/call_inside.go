//go:build ignore

package ixgo

import (
	"go/token"
	"reflect"

	"github.com/goplus/reflectx"
)

// callInside calls a method of the value in an interface. Package reflect finds no code for
// an unexported one.
func callInside(v reflect.Value, name string, args []reflect.Value, spread bool) []reflect.Value {
	f := v.MethodByName(name)
	if !token.IsExported(name) && !v.IsNil() {
		v = v.Elem()
		m, _ := reflectx.MethodByName(v.Type(), name)
		f, args = m.Func, append([]reflect.Value{v}, args...)
	}
	if spread {
		return f.CallSlice(args)
	}
	return f.Call(args)
}
