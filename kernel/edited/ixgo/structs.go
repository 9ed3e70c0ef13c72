//go:build ignore

package ixgo

import (
	"go/types"
	"reflect"
)

// unnamedStruct returns the type of an unnamed struct. The loader knows those that
// have methods by the types which they embed: a session has one reflect.Type for
// each.
func (r *TypesRecord) unnamedStruct(t *types.Struct) (rt reflect.Type, nested bool) {
	if rt, ok := r.loader.LookupReflect(t); ok {
		return rt, false
	}
	return r.toStructType(t, true)
}
