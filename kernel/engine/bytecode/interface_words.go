package bytecode

import (
	"reflect"
	"unsafe"
)

//go:linkname ifaceE2I reflect.ifaceE2I
//go:noescape
func ifaceE2I(t unsafe.Pointer, from any, to unsafe.Pointer)

// loadInterface is the interface at an address as an any.
func loadInterface(at unsafe.Pointer, methods bool) (typ, data unsafe.Pointer) {
	e := (*eface)(at)
	if methods && e.typ != nil {
		return (*table)(e.typ).typ, e.data
	}
	return e.typ, e.data
}

// storeInterface writes an interface of a type with methods.
func storeInterface(t, at unsafe.Pointer, e eface) {
	if e.typ == nil {
		*(*eface)(at) = eface{}
		return
	}
	ifaceE2I(t, *(*any)(unsafe.Pointer(&e)), at)
}

// typeOf is the type of an interface's first word.
func typeOf(word unsafe.Pointer) reflect.Type {
	e := eface{typ: word}
	return reflect.TypeOf(*(*any)(unsafe.Pointer(&e)))
}

// hashable reports whether an interface may be a key of a map.
func (e eface) hashable() bool {
	if e.typ == nil {
		return true
	}
	if k := typeOf(e.typ).Kind(); k <= reflect.Complex128 || k == reflect.String || k == reflect.Pointer {
		return true
	}
	return reflect.ValueOf(*(*any)(unsafe.Pointer(&e))).Comparable()
}
