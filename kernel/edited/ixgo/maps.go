//go:build ignore

package ixgo

import (
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A nil interface is a key and a value like any other: m["a"] = nil adds an entry, which
// package reflect takes for the removal of one.

// element returns v as a key or a value of a map, of type t.
func element(v any, t func(reflect.Type) reflect.Type, m reflect.Value) reflect.Value {
	if v == nil {
		return reflect.Zero(t(m.Type()))
	}
	return reflect.ValueOf(v)
}

func keyOf(m reflect.Value, k any) reflect.Value { return element(k, reflect.Type.Key, m) }

func setMap(m, k, v any) {
	vm := reflect.ValueOf(m)
	vm.SetMapIndex(keyOf(vm, k), element(v, reflect.Type.Elem, vm))
}

func deleteKey(m, k any) {
	vm := reflect.ValueOf(m)
	vm.SetMapIndex(keyOf(vm, k), reflect.Value{})
}

// readsToAssign reports whether an element is read for m[k] op= v, and not for itself.
func readsToAssign(read *ssa.Lookup) bool {
	return slices.ContainsFunc(read.Block().Instrs, func(i ssa.Instruction) bool {
		update, ok := i.(*ssa.MapUpdate)
		return ok && update.Map == read.X && update.Key == read.Index && update.Pos() == read.Pos()
	})
}

// checkAssigned panics as an assignment to an element does: compiled Go looks for the
// element once. A map with elements hashes each key that is looked for.
func checkAssigned(m reflect.Value, k any) {
	switch {
	case m.IsNil():
		setMap(m.Interface(), k, nil)
	case m.Len() == 0:
		setMap(reflect.MakeMap(m.Type()).Interface(), k, nil)
	}
}
