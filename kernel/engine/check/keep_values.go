package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// keepOld lets x := f(x) read the x that it replaces by a variable of another type: the
// live variable gets a second name in the statements that mean it.
func (e *Checker) keepOld(j *namespace.Journal, c *Cell, h *hoist) {
	var u *graph.Unit // most cells need none
	ast.Inspect(c.body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || h.types[id.Name] == nil || h.info.Uses[id] == nil || h.info.Uses[id] != e.Live[id.Name] || e.Keeps(id.Name, h.types[id.Name]) {
			return true
		}
		v, ok := e.Live[id.Name].(*types.Var)
		if !ok {
			p := e.Ctx.FileSet.Position(id.Pos())
			h.errs = append(h.errs, failure.Diagnostic{Cell: c.Cell, Line: p.Line, Col: p.Column, Msg: id.Name + " is replaced by a variable here, which needs another name to be made of it"})
			return true
		}
		if u == nil {
			u = &graph.Unit{Pkg: types.NewPackage("main", "main"), Info: graph.NewInfo(), Path: fmt.Sprintf("main·%d·old", e.Serial+1), Vars: map[string]reflect.Value{}}
		}
		e.addOld(j, u, h, v)
		id.Name = oldPrefix + id.Name
		return true
	})
}

// addOld adds to u a second name for a live variable.
func (e *Checker) addOld(j *namespace.Journal, u *graph.Unit, h *hoist, v *types.Var) {
	id := rewrite.Ident(token.NoPos, oldPrefix+v.Name())
	if _, ok := u.Vars[id.Name]; ok {
		return
	}
	o := types.NewVar(token.NoPos, u.Pkg, id.Name, v.Type())
	u.Pkg.Scope().Insert(o)
	u.Info.Defs[id] = o
	u.Vars[id.Name] = e.Graph.Units[v.Pkg()].Vars[v.Name()]
	if e.Graph.Units[u.Pkg] == nil {
		j.Note(func() { e.Graph.Remove(u) })
	}
	e.Graph.Units[u.Pkg] = u
	e.Graph.Own(&graph.Decl{Unit: u, Node: &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{id}}}}}, id)
	h.old = append(h.old, o)
}
