package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"warpbook/kernel/engine/rewrite"
)

// settle converts package-level initialisation to statements in Go's order, so that it
// runs with the cell and sees variables that are kept. It reports whether there was any.
func (e *Checker) settle(c *Cell, h *hoist, pkg *types.Package, info *types.Info) bool {
	var list []ast.Stmt
	var lead []*ast.GenDecl
	c.File.Decls = slices.DeleteFunc(c.File.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if ok = ok && g.Tok == token.VAR && !h.raised[g]; ok {
			lead = append(lead, g)
		}
		return ok
	})
	for _, g := range lead {
		for _, spec := range g.Specs {
			vs := spec.(*ast.ValueSpec)
			for _, id := range vs.Names {
				if id.Name == "_" {
					continue
				}
				t := info.Defs[id].Type()
				e.declare(c, h, id.Name, t, pkg)
				if len(vs.Values) == 0 && c.Moved[id.Name] == "" {
					list = append(list, &ast.AssignStmt{Lhs: []ast.Expr{rewrite.Ident(id.Pos(), id.Name)}, TokPos: id.Pos(), Tok: token.ASSIGN,
						Rhs: []ast.Expr{h.zero(t, pkg, id.Pos())}})
				}
			}
		}
	}
	for _, in := range info.InitOrder {
		as := &ast.AssignStmt{TokPos: in.Rhs.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{in.Rhs}}
		for _, v := range in.Lhs {
			as.Lhs = append(as.Lhs, rewrite.Ident(v.Pos(), v.Name()))
		}
		list = append(list, as)
	}
	list = append(list, callInits(c.File)...)
	c.body.Body.List = append(list, c.body.Body.List...)
	return len(list)+len(lead) > 0 // a moved variable is declared without a statement
}

// callInits makes ordinary functions of a file's init functions, and calls them.
func callInits(f *ast.File) (calls []ast.Stmt) {
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.Name == "init" {
			fd.Name.Name = fmt.Sprintf("%s%d", rewrite.InitPrefix, len(calls))
			calls = append(calls, &ast.ExprStmt{X: rewrite.CallOf(fd.Name.Pos(), rewrite.Ident(fd.Name.Pos(), fd.Name.Name))})
		}
	}
	return calls
}
