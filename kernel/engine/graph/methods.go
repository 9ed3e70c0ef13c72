package graph

import (
	"go/ast"
	"go/types"
	"slices"
)

// AddMethod records a method that a later cell gives to a type. It belongs to the unit of
// the type.
func (g *Graph) AddMethod(t *types.Named, m *types.Func, node *ast.FuncDecl) *Decl {
	d := &Decl{Unit: g.Units[t.Obj().Pkg()], Node: node}
	d.Unit.Decls = append(d.Unit.Decls, d)
	g.Owner[m] = d
	if x := g.named[t.Obj()]; x != nil {
		w := &walker{g: g, d: x, seen: map[types.Type]bool{}}
		w.dep(d)
		w.typ(m.Type())
	}
	return d
}

// RemoveMethod undoes AddMethod.
func (g *Graph) RemoveMethod(t *types.Named, m *types.Func) {
	d := g.Owner[m]
	if d == nil {
		return
	}
	is := func(x *Decl) bool { return x == d }
	d.Unit.Decls = slices.DeleteFunc(d.Unit.Decls, is)
	DropInfo(d.Unit.Info, d.Node)
	delete(g.Owner, m)
	if x := g.named[t.Obj()]; x != nil {
		x.Deps = slices.DeleteFunc(x.Deps, is)
	}
}
