package check

import (
	"go/ast"
	"go/types"
	"slices"

	"warpbook/kernel/engine/failure"
)

// Reflection makes an unnamed type of its parts, and the types of its methods are parts.
// A type whose methods lead back to the type itself is infinite, unless a named type is
// between: struct{ I } for interface I with the method M() struct{ I }.

// recursive reports unnamed structs and interfaces of this kind.
func (e *Checker) recursive(c *Cell, info *types.Info) (diags []failure.Diagnostic) {
	named := map[ast.Expr]bool{}
	ast.Inspect(c.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			named[n.Type] = true
		case *ast.StructType, *ast.InterfaceType:
			x := n.(ast.Expr)
			t := info.TypeOf(x)
			if named[x] || t == nil || !leadsTo(t, t, nil) {
				break
			}
			p := e.Ctx.FileSet.Position(x.Pos())
			diags = append(diags, failure.Diagnostic{Cell: failure.CellOf(p.Filename), Line: p.Line, Col: p.Column, Pos: x.Pos(),
				Msg: types.ExprString(x) + " has a method whose type contains it, which cells support for declared types only; declare it: type NAME " + types.ExprString(x)})
		}
		return true
	})
	return diags
}

// leadsTo reports whether the methods of a type, or the parts of its parts, contain
// another type. Declared types end the search.
func leadsTo(t, end types.Type, seen []types.Type) bool {
	if slices.ContainsFunc(seen, func(s types.Type) bool { return types.Identical(s, t) }) {
		return len(seen) > 0 && types.Identical(t, end)
	}
	seen = append(seen, t)
	leads := func(list ...types.Type) bool {
		return slices.ContainsFunc(list, func(p types.Type) bool { return leadsTo(p, end, seen) })
	}
	switch t := t.(type) {
	case *types.Alias:
		return leadsTo(types.Unalias(t), end, seen[:len(seen)-1])
	case *types.Pointer:
		return leads(t.Elem())
	case *types.Slice:
		return leads(t.Elem())
	case *types.Array:
		return leads(t.Elem())
	case *types.Chan:
		return leads(t.Elem())
	case *types.Map:
		return leads(t.Key(), t.Elem())
	case *types.Signature:
		return leads(t.Params(), t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if leads(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if leads(f.Type()) {
				return true
			}
		}
		for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
			if leads(m.Type()) {
				return true
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if leads(m.Type()) {
				return true
			}
		}
	}
	return false
}
