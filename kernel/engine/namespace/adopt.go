package namespace

import (
	"go/types"
	"reflect"
	"unsafe"
)

// adopt makes type parameters of live methods belong to the package that is checked,
// until restore is called. The checker takes each type parameter that it meets in an
// argument of the package's own generic function for one of the package, and stops with
// a failed assertion at any other (go/types, monoGraph.assign).
func (s Scope) adopt() (restore func()) {
	owners := map[**types.Package]*types.Package{}
	for _, o := range s.live {
		if p, ok := o.Type().(*types.TypeParam); ok {
			at := (**types.Package)(member(p.Obj(), "pkg"))
			owners[at], *at = *at, s.Pkg
		}
	}
	return func() {
		for at, owner := range owners {
			*at = owner
		}
	}
}

// member is the address of an unexported field of an object of package go/types. A Go
// without the field fails TestSequences/reruns.
func member(p any, name string) unsafe.Pointer {
	return unsafe.Pointer(reflect.ValueOf(p).Elem().FieldByName(name).UnsafeAddr())
}
