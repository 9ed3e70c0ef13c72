package vet

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/passes/lostcancel"

	"warpbook/kernel/engine/rewrite"
)

// cancels runs lostcancel. It expects each function to use the cancel functions that it
// makes; one that a statement of the cell makes is a variable of the session, which a later
// cell may call, and the cell has no return statement at its end.
func (p *pass) cancels(c Cell) {
	before := len(p.warnings)
	p.try(lostcancel.Analyzer)
	statements := ofBody(c)
	var kept []Warning
	dropped := false // the finding before, which its return statement follows
	for _, w := range p.warnings[before:] {
		returns := strings.HasPrefix(w.Text, "this return statement ")
		if !returns {
			dropped = slices.ContainsFunc(statements, func(s ast.Stmt) bool { return s.Pos() == w.Pos })
		}
		if !dropped && !(returns && statements[len(statements)-1].Pos() == w.Pos) {
			kept = append(kept, w)
		}
	}
	p.warnings = append(p.warnings[:before], kept...)
}

// ofBody are the statements of a cell.
func ofBody(c Cell) []ast.Stmt {
	for _, d := range c.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == rewrite.BodyName && fd.Recv == nil {
			return fd.Body.List
		}
	}
	return nil
}
