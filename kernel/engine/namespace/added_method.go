package namespace

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// AddMethod gives a live type a method, until j.Undo. SyncInstances comes after the last one.
func (e *Namespace) AddMethod(j *Journal, t *types.Named, m *types.Func) {
	t.AddMethod(m)
	j.Note(func() { e.RemoveMethod(t, m) })
}

// RemoveMethod takes a method away that AddMethod gave to a type.
func (e *Namespace) RemoveMethod(t *types.Named, m *types.Func) {
	methods := methodsOf(t)
	*methods = slices.DeleteFunc(slices.Clone(*methods), func(has *types.Func) bool { return has == m })
	e.SyncInstances(t)
}

// NewMethod is a method of a type with the parameters and results of a function. Its
// receiver has the type parameters of the type itself.
func NewMethod(t *types.Named, name *ast.Ident, pointer bool, f *types.Signature) *types.Func {
	pkg, recv := t.Obj().Pkg(), types.Type(t)
	if t.TypeParams().Len() > 0 {
		var own []types.Type
		for p := range t.TypeParams().TypeParams() {
			own = append(own, p)
		}
		recv, _ = types.Instantiate(nil, t, own, false)
	}
	if pointer {
		recv = types.NewPointer(recv)
	}
	sig := types.NewSignatureType(types.NewVar(token.NoPos, pkg, "", recv), nil, nil, f.Params(), f.Results(), f.Variadic())
	*(**types.TypeParamList)(member(sig, "rparams")) = t.TypeParams()
	*(**types.Scope)(member(sig, "scope")) = types.NewScope(nil, token.NoPos, token.NoPos, "") // package ssa asks whether it has types of its own
	return types.NewFunc(name.Pos(), pkg, name.Name, sig)
}

func methodsOf(t *types.Named) *[]*types.Func { return (*[]*types.Func)(member(t, "methods")) }

// An instance of a generic type makes its methods when they are asked for, and expects
// as many as the generic type had when the instance was first used.

// SyncInstances makes the instances of a generic type expect the methods that the type has
// now.
func (e *Namespace) SyncInstances(t *types.Named) {
	if t.TypeParams().Len() == 0 {
		return
	}
	s := &instances{of: t, seen: map[types.Type]bool{}}
	for _, o := range e.Live {
		s.typ(o.Type())
	}
	for _, u := range e.Graph.Units {
		if u.Imported { // a package knows no type of a cell
			continue
		}
		for _, n := range u.Types {
			s.typ(n)
		}
		for _, tv := range u.Info.Types {
			s.typ(tv.Type)
		}
		for _, o := range u.Info.Defs {
			if o != nil {
				s.typ(o.Type())
			}
		}
		for _, o := range u.Info.Uses {
			s.typ(o.Type())
		}
		for _, in := range u.Info.Instances {
			s.typ(in.Type)
		}
	}
	if e.MadeTypes != nil {
		e.MadeTypes(s.typ)
	}
}

// instances walks types for the instances of a generic one.
type instances struct {
	of   *types.Named
	seen map[types.Type]bool
}

func (s *instances) typ(t types.Type) {
	if t == nil || s.seen[t] {
		return
	}
	s.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		s.typ(types.Unalias(t))
	case *types.Named:
		s.named(t)
	case *types.Map:
		s.typ(t.Key())
		s.typ(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		s.typ(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			s.typ(f.Type())
		}
	case *types.Signature:
		if r := t.Recv(); r != nil {
			s.typ(r.Type())
		}
		s.typ(t.Params())
		s.typ(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			s.typ(v.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			s.typ(m.Type())
		}
		for x := range t.EmbeddedTypes() {
			s.typ(x)
		}
	case *types.Union:
		for x := range t.Terms() {
			s.typ(x.Type())
		}
	case *types.TypeParam:
		s.typ(t.Constraint())
	}
}

// named visits what a named type is made of, without making parts of an instance that
// nothing has asked for yet: they may have no end.
func (s *instances) named(t *types.Named) {
	if t.Origin() == s.of && t != s.of {
		expectAll(t)
	}
	for a := range t.TypeArgs().Types() {
		s.typ(a)
	}
	for p := range t.TypeParams().TypeParams() {
		s.typ(p)
	}
	for _, m := range *methodsOf(t) {
		if m != nil {
			s.typ(m.Type())
		}
	}
	s.typ(*(*types.Type)(member(t, "fromRHS")))
	s.typ(*(*types.Type)(member(t, "underlying")))
}

// instance is the part of a types.Named that an instance has.
type instance struct {
	orig     *types.Named
	_        *types.TypeList // the type arguments
	expanded int             // methods that are made
	context  *types.Context
}

// hasMethods is the bit in the state of a types.Named that all its methods are made.
const hasMethods = 1 << 2

// expectAll makes an instance expect the methods that its generic type has now.
func expectAll(t *types.Named) {
	methods, in, state := methodsOf(t), *(**instance)(member(t, "inst")), (*uint32)(member(t, "state_"))
	if *state == 0 || len(*methods) == 0 && *state&hasMethods == 0 { // it has asked for none yet
		return
	}
	all := *methodsOf(in.orig)
	made := make([]*types.Func, len(all))
	in.expanded = 0
	for i, m := range all {
		if at := slices.IndexFunc(*methods, func(f *types.Func) bool { return f != nil && f.Origin() == m }); at >= 0 {
			made[i] = (*methods)[at]
			in.expanded++
		}
	}
	*methods = made
	if in.expanded == len(all) {
		*state |= hasMethods
	} else if *state &^= hasMethods; in.context == nil {
		in.context = types.NewContext()
	}
}
