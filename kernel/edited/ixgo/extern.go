//go:build ignore

package ixgo

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// extern is findExternFunc for a call that is made many times: the search makes the name of
// the function.
func (i *Interp) extern(fn *ssa.Function) (reflect.Value, bool) {
	if ext, ok := i.externs.Load(fn); ok {
		return ext.(reflect.Value), true
	}
	ext, ok := findExternFunc(i, fn)
	if ok {
		i.externs.Store(fn, ext)
	}
	return ext, ok
}
