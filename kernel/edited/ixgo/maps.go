//go:build ignore

package ixgo

import "reflect"

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
