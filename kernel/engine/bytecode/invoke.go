package bytecode

import (
	"reflect"
	"unsafe"
)

// invoking is the method that a call through an interface calls.
type invoking struct {
	name string
	met  lookups[*Function] // nil if it is none of cells

	native   *native                        // how a compiled method is called, nil if the engine has to call it
	args     []slot                         // of such a call
	typ      unsafe.Pointer                 // of the interface
	index    int                            // of the method in the tables of that type
	replaced map[reflect.Type]reflect.Value // by receivers, for which other functions are called
	compiled lookups[unsafe.Pointer]        // the function, nil if the engine has to call it
}

// inheap reports whether an address is in the heap, as types are that package reflect makes.
//
//go:linkname inheap runtime.inheap
func inheap(at uintptr) bool

// function is the compiled method of a value of a type that has none of cells, nil if the
// engine has to call it.
func (v *invoking) function(typ unsafe.Pointer) unsafe.Pointer {
	if fn, ok := v.compiled.find(typ); ok || v.native == nil {
		return fn
	}
	var fn unsafe.Pointer
	if _, replaced := v.replaced[typeOf(typ)]; !replaced && !inheap(uintptr(typ)) && typ != rtype {
		var table eface
		storeInterface(v.typ, unsafe.Pointer(&table), eface{typ: typ})
		fn = methodAt(table.typ, v.index)
	}
	v.compiled.add(typ, fn)
	return fn
}

// rtype is the type of a reflect.Type, of which the engine replaces methods.
var rtype = typeWord(reflect.TypeOf(reflect.TypeFor[int]()))
