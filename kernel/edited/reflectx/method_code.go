//go:build ignore && !llgo

package reflectx

import (
	"reflect"
	"sync"
	"unsafe"
)

// Package reflect takes the Tfn of a method for machine code, which this package has no
// use for: it keeps function values there. Both are kept: Tfn is the code that package
// reflect calls, as net/rpc does, and functions holds the function values.

// functions holds the function value of each method, as a textOff by functionKey.
var functions sync.Map

type functionKey struct {
	name    nameOff // each method has a name of its own in memory
	pointer bool    // the receiver is a pointer
}

// keepFunction keeps the function value of a method and returns its Tfn. The entry is
// its Ifn, which takes a receiver of one pointer.
func keepFunction(name nameOff, pointer bool, function textOff, entry unsafe.Pointer, onePtr bool) textOff {
	functions.Store(functionKey{name, pointer}, function)
	if entry == nil || entry == zeroIfn || !pointer && !onePtr {
		entry = noEntry
	}
	return resolveReflectText(entry)
}

// functionOf is the function value of a method of t.
func functionOf(t *rtype, name nameOff, tfn textOff) textOff {
	if f, ok := functions.Load(functionKey{name, reflect.Kind(t.Kind()) == reflect.Pointer}); ok {
		return f.(textOff)
	}
	return tfn
}

var noEntry = reflect.ValueOf(uncallable).UnsafePointer()

func uncallable() {
	panic("reflect: compiled code cannot call this method through reflect.Type, expected a method of a pointer: use a pointer as receiver")
}
