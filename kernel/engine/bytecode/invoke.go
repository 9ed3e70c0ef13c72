package bytecode

import (
	"reflect"
	"unsafe"

	"golang.org/x/tools/go/ssa"
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

// planMethod plans the calls of compiled methods.
func (l *lowering) planMethod(in *ssa.Call) *invoking {
	v := &invoking{name: in.Call.Method.Name()}
	t := l.types[in.Call.Value.Type()]
	if t == nil || t.Kind() != reflect.Interface || !nativesWork() {
		return v
	}
	method, ok := t.MethodByName(v.name)
	if !ok || method.PkgPath != "" { // the linker keeps exported methods only
		return v
	}
	if n := nativeMethod(method.Type); n != nil && fitsCall(n, &in.Call, 1) {
		v.native, v.typ, v.index, v.replaced = n, typeWord(t), method.Index, l.host.Methods[v.name]
	}
	return v
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

// methodAt is a function value: a place in the table of an interface.
func methodAt(table unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(table, methodsOfTable+8*i)
}

// methodsOfTable is the offset of the methods in ITab of package internal/abi.
const methodsOfTable = 24

// method is the method of a value of a type, nil if the engine has to call it.
func (v *invoking) method(c *code, typ unsafe.Pointer) *Function {
	if f, ok := v.met.find(typ); ok {
		return f
	}
	if typ == nil {
		return nil
	}
	f := c.functions[methodsOf(c.pfn.Interp, typeOf(typ))[v.name]]
	if f != nil && (len(f.fn.Params) == 0 || !f.callable()) {
		f = nil
	}
	v.met.add(typ, f)
	return f
}
