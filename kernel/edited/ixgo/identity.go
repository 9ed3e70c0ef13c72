//go:build ignore

package ixgo

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// Is reports whether a value of type dynamic passes an assertion to type asserted:
// an interface must be implemented, any other type must be identical. Unnamed
// types are compared by structure too, because interpreters may have made one of
// them each.
func Is(dynamic, asserted reflect.Type) bool {
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
// reflect.Type for each declaration and list of type arguments. Promote corrects
// the methods that a struct of a generic function has from embedded types.
type LocalTypes interface {
	LocalType(t *types.Named, args []reflect.Type) (reflect.Type, bool)
	KeepLocalType(t *types.Named, args []reflect.Type, rt reflect.Type)
	Promote(t types.Type, rt reflect.Type)
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

// localType returns the type that an earlier program has made for t, or that was made
// with the type arguments of t, whose methods may need it.
func (r *TypesRecord) localType(t *types.Named) (rt reflect.Type, nested, ok bool) {
	if t.TypeArgs().Len() > 0 {
		for i := range t.TypeArgs().Len() { // the loader, which is asked for t, must know them
			r.ToType(t.TypeArgs().At(i))
		}
		if rt, ok, nested := r.lookupCache(t); ok {
			return rt, nested, true
		}
	}
	l, args, ok := r.local(t)
	if !ok {
		return nil, false, false
	}
	if rt, ok = l.LocalType(t, args); ok {
		r.saveType(t, rt, false)
	}
	return rt, false, ok
}

// keepLocalType makes the type of t known to later programs.
func (r *TypesRecord) keepLocalType(t *types.Named, rt reflect.Type) {
	if l, args, ok := r.local(t); ok {
		l.KeepLocalType(t, args, rt)
	}
}

// promote corrects the promoted methods of a type that has got its methods.
func (r *TypesRecord) promote(t types.Type, rt reflect.Type) {
	if l, ok := r.loader.(LocalTypes); ok {
		l.Promote(t, rt)
	}
}

// compareMixed is == or != of two structs or two channels of different types, nil for
// other operands. The types differ in a name or a direction only.
func compareMixed(instr *ssa.BinOp, ir, ix, iy register, xtyp, ytyp reflect.Type) func(fr *frame) {
	if xtyp == nil || ytyp == nil || xtyp == ytyp || xtyp.Kind() != ytyp.Kind() || xtyp.Kind() != reflect.Struct && xtyp.Kind() != reflect.Chan {
		return nil
	}
	to := xtyp
	if xtyp.Kind() == reflect.Chan && xtyp.ChanDir() == reflect.BothDir {
		to = ytyp
	}
	equal := instr.Op == token.EQL
	return func(fr *frame) {
		fr.setReg(ir, (as(fr.reg(ix), to) == as(fr.reg(iy), to)) == equal)
	}
}

// as gives a value another type of the same layout. Package reflect takes the types that
// interpreters make for others.
func as(v any, t reflect.Type) any {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return reflect.NewAt(t, p.UnsafePointer()).Elem().Interface()
}

// nilAsserted is the error of a type assertion of a nil interface. One to its own type,
// whose result nothing uses, is the check that x is not nil in a method value x.M.
func nilAsserted(fr *frame, instr *ssa.TypeAssert, typ, xtyp reflect.Type) error {
	switch {
	case typ == xtyp && len(*instr.Referrers()) == 0:
		return fr.runtimeError(instr, "invalid memory address or nil pointer dereference")
	case typ.Kind() == reflect.Interface:
		return fr.plainError(instr, fmt.Sprintf("interface conversion: interface is nil, not %v", typ))
	}
	return fr.plainError(instr, fmt.Sprintf("interface conversion: %v is nil, not %v", xtyp, typ))
}

// missing is the first method of an interface that a compiled type does not have, "" if
// none is known or nothing shows it.
func missing(rt, typ reflect.Type) string {
	for m := range typ.Methods() {
		has, ok := rt.MethodByName(m.Name)
		if !ok || m.PkgPath != "" || has.Type.NumIn() != m.Type.NumIn()+1 || has.Type.NumOut() != m.Type.NumOut() {
			return m.Name
		}
	}
	return ""
}
