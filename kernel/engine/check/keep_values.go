package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// keepOld lets x := f(x) read the x that it replaces by a variable of another type: the
// live variable gets a second name in the statements that mean it. So does a package or a
// constant: url, err := url.Parse(s).
func (e *Checker) keepOld(j *namespace.Journal, c *Cell, h *hoist) {
	var u *graph.Unit // most cells need none
	ast.Inspect(c.body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || h.types[id.Name] == nil || h.info.Uses[id] == nil {
			return true
		}
		if p, ok := h.info.Uses[id].(*types.PkgName); ok {
			c.Hidden[p.Name()] = p.Imported()
			h.addOldPackage(p.Name(), p.Imported())
			id.Name = oldPrefix + id.Name
			return true
		}
		if outer := h.info.Uses[id]; outer.Parent() == types.Universe || outer.Parent() == h.Pkg.Scope() && isConstant(outer) {
			h.refuse(e, c, id)
			return true
		}
		if h.info.Uses[id] != e.Live[id.Name] || e.Keeps(id.Name, h.types[id.Name]) {
			return true
		}
		var v *types.Var
		switch o := e.Live[id.Name].(type) {
		case *types.Var:
			v = o
		case *types.Const:
			h.addOld(types.NewConst(token.NoPos, h.Pkg, oldPrefix+id.Name, o.Type(), o.Val()))
			id.Name = oldPrefix + id.Name
			return true
		default:
			h.refuse(e, c, id)
			return true
		}
		if u == nil {
			u = &graph.Unit{Pkg: types.NewPackage("main", "main"), Info: graph.NewInfo(), Path: fmt.Sprintf("main·%d·old", e.Serial+1), Vars: map[string]reflect.Value{}}
		}
		e.addOldVar(j, u, h, v)
		id.Name = oldPrefix + id.Name
		return true
	})
}

// addOldVar adds to u a second name for a live variable.
func (e *Checker) addOldVar(j *namespace.Journal, u *graph.Unit, h *hoist, v *types.Var) {
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

// isConstant reports whether an object is no variable.
func isConstant(o types.Object) bool {
	_, variable := o.(*types.Var)
	return !variable
}

// refuse reports a use of a name that a variable of the cell takes.
func (h *hoist) refuse(e *Checker, c *Cell, id *ast.Ident) {
	p := e.Ctx.FileSet.Position(id.Pos())
	h.errs = append(h.errs, failure.Diagnostic{Cell: c.Cell, Line: p.Line, Col: p.Column,
		Msg: id.Name + " becomes a variable in this cell and loses its other meaning: give the variable another name"})
}

// removeHidden removes the imports that variables of the cell hide. The statements that
// use them do so by their second names.
func (e *Checker) removeHidden(c *Cell, h *hoist) {
	c.File.Decls = slices.DeleteFunc(c.File.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT || len(g.Specs) == 0 {
			return false
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool {
			names := e.specNames(s)
			return len(names) == 1 && h.types[names[0]] != nil
		})
		return len(g.Specs) == 0
	})
}

// addOldPackage adds the second name of a package.
func (h *hoist) addOldPackage(name string, p *types.Package) {
	h.addOld(types.NewPkgName(token.NoPos, h.Pkg, oldPrefix+name, p))
}

// addOld adds an object with a second name to the scope of the file.
func (h *hoist) addOld(o types.Object) {
	if !slices.ContainsFunc(h.old, func(x types.Object) bool { return x.Name() == o.Name() }) {
		h.old = append(h.old, o)
	}
}

// findHidden has a statement that defines a variable mean the package that the variable
// hid when a cell defined it before: a cell that says url, err := url.Parse(s) does the
// same when it is run again.
func (e *Checker) findHidden(c *Cell, h *hoist) {
	if len(e.Hidden) == 0 {
		return
	}
	imported := e.Names(c.File)
	for _, st := range c.body.Body.List {
		as, ok := unlabel(st).(*ast.AssignStmt)
		if !ok || as.Tok != token.DEFINE {
			continue
		}
		for _, l := range as.Lhs {
			id, ok := l.(*ast.Ident)
			if !ok || e.Hidden[id.Name] == nil || imported[id.Name] {
				continue
			}
			if _, variable := e.Live[id.Name].(*types.Var); variable {
				c.meanHidden(as, h, id.Name, e.Hidden[id.Name])
			}
		}
	}
}

// meanHidden gives the package in the values of a statement its second name.
func (c *Cell) meanHidden(as *ast.AssignStmt, h *hoist, name string, p *types.Package) {
	for _, x := range as.Rhs {
		ast.Inspect(x, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok || id.Name != name || !sel.Sel.IsExported() || p.Scope().Lookup(sel.Sel.Name) == nil {
				return true
			}
			c.Hidden[name] = p
			id.Name = oldPrefix + name
			h.addOldPackage(name, p)
			return false
		})
	}
}
