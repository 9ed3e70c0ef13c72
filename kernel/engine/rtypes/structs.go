package rtypes

import (
	"go/types"
	"reflect"
)

// ofStruct is the type of an unnamed struct with methods of embedded types. The engine
// library makes another type of it in each program.
func (l *Loader) ofStruct(s *types.Struct) (reflect.Type, bool) {
	embeds := false
	for f := range s.Fields() {
		embeds = embeds || f.Embedded()
	}
	if !embeds || types.NewMethodSet(types.NewPointer(s)).Len() == 0 || !l.ofSession(s, map[types.Type]bool{}) {
		return nil, false
	}
	if rt, ok := l.Types.structs.At(s).(reflect.Type); ok {
		return rt, true
	}
	rt, _ := l.Types.record.ToType(s)
	l.Types.structs.Set(s, rt)
	l.Types.promote(s, rt)
	return rt, true
}

// ofSession reports whether a type is the same one in all programs: it has no type
// parameters and no types that a generic function declares.
func (l *Loader) ofSession(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return true
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		return l.ofSession(types.Unalias(t), seen)
	case *types.TypeParam:
		return false
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if !l.ofSession(a, seen) {
				return false
			}
		}
		return !l.local(t)
	case *types.Map:
		return l.ofSession(t.Key(), seen) && l.ofSession(t.Elem(), seen)
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return l.ofSession(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if !l.ofSession(f.Type(), seen) {
				return false
			}
		}
	case *types.Signature:
		return l.ofSession(t.Params(), seen) && l.ofSession(t.Results(), seen)
	case *types.Tuple:
		for v := range t.Variables() {
			if !l.ofSession(v.Type(), seen) {
				return false
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if !l.ofSession(m.Type(), seen) {
				return false
			}
		}
	}
	return true
}

// local reports whether a generic function declares a type: such a type differs by
// instance.
func (l *Loader) local(n *types.Named) bool {
	o := n.Origin().Obj()
	return o.Pkg() != nil && o.Parent() != o.Pkg().Scope() && l.Nested[n.Origin()] == 0
}
