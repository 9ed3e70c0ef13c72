//go:build ignore

package ixgo

import (
	"go/types"
	"reflect"
)

// is reports whether a value of type dynamic passes an assertion to type asserted:
// an interface must be implemented, any other type must be identical. Unnamed
// types are compared by structure too, because interpreters may have made one of
// them each.
func is(dynamic, asserted reflect.Type) bool {
	switch {
	case dynamic == asserted:
		return true
	case asserted.Kind() == reflect.Interface:
		return dynamic.Implements(asserted)
	case dynamic.Name() != "" || asserted.Name() != "":
		return false
	case dynamic.Kind() == reflect.Chan && asserted.Kind() == reflect.Chan && dynamic.ChanDir() != asserted.ChanDir():
		return false
	}
	return dynamic.AssignableTo(asserted)
}

// LocalTypes is a Loader that knows the types which generic functions declare. Each
// program has types.Named of its own for them, and a session has one
// reflect.Type for each declaration and list of type arguments.
type LocalTypes interface {
	LocalType(t *types.Named, args []reflect.Type) (reflect.Type, bool)
	KeepLocalType(t *types.Named, args []reflect.Type, rt reflect.Type)
}

// local returns the loader's types and the type arguments of the function that
// is being compiled if the function declares t and is an instance of a generic one.
func (r *TypesRecord) local(t *types.Named) (l LocalTypes, args []reflect.Type, ok bool) {
	if l, ok = r.loader.(LocalTypes); !ok || len(r.instances) == 0 || t.Obj().Parent() != nil || t.Obj().Pkg() == nil || t.TypeArgs().Len() > 0 {
		return nil, nil, false
	}
	for _, arg := range r.instances[len(r.instances)-1].TypeArgs() {
		rt, _ := r.ToType(arg)
		args = append(args, rt)
	}
	return l, args, true
}

// localType returns the type that an earlier program has made for t.
func (r *TypesRecord) localType(t *types.Named) (reflect.Type, bool) {
	for i := range t.TypeArgs().Len() { // the loader, which is asked for t, must know them
		r.ToType(t.TypeArgs().At(i))
	}
	l, args, ok := r.local(t)
	if !ok {
		return nil, false
	}
	rt, ok := l.LocalType(t, args)
	if ok {
		r.saveType(t, rt, false)
	}
	return rt, ok
}

// keepLocalType makes the type of t known to later programs.
func (r *TypesRecord) keepLocalType(t *types.Named, rt reflect.Type) {
	if l, args, ok := r.local(t); ok {
		l.KeepLocalType(t, args, rt)
	}
}
