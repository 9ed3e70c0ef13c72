package vet

import (
	"fmt"
	"go/ast"
	"go/types"
)

// closed warns of variables of the session that a statement of the cell closes when the
// cell ends: defer f.Close() at the top is meant for the end of a program.
func closed(c Cell) (warnings []Warning) {
	for _, s := range ofBody(c) {
		if id := closes(s); id != nil && ofSession(c, id) {
			warnings = append(warnings, Warning{s.Pos(), fmt.Sprintf("%s is closed when this cell ends, later cells find it closed; close it in the last cell that uses it", id.Name)})
		}
	}
	return warnings
}

// closes returns the variable that a statement defers to close, nil if there is none.
func closes(s ast.Stmt) *ast.Ident {
	d, ok := s.(*ast.DeferStmt)
	if !ok {
		return nil
	}
	sel, ok := ast.Unparen(d.Call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Close" {
		return nil
	}
	id, _ := ast.Unparen(sel.X).(*ast.Ident)
	return id
}

// ofSession reports whether a name is a variable that later cells can use.
func ofSession(c Cell, id *ast.Ident) bool {
	v, ok := c.Info.Uses[id].(*types.Var)
	return ok && v.Parent() != nil && (v.Pkg() != c.Pkg || v.Parent() == c.Pkg.Scope())
}
