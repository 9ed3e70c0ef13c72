package ask

import (
	"go/ast"
	"go/token"
)

// branch is the statement whose label is at the cursor, nil if there is none.
func (p *partial) branch() *ast.BranchStmt {
	if len(p.path) < 2 {
		return nil
	}
	b, _ := p.path[1].(*ast.BranchStmt)
	return b
}

// labels adds the labels to which a statement can branch: those of statements around it, or
// for goto all of its function.
func (c *completer) labels(p *partial, b *ast.BranchStmt) {
	for _, n := range p.path {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			if b.Tok == token.GOTO {
				c.labelsOf(n)
			}
			return
		case *ast.LabeledStmt:
			if b.Tok == token.BREAK && breaks(n.Stmt) || b.Tok == token.CONTINUE && loops(n.Stmt) {
				c.add(n.Label.Name, "label", nil)
			}
		}
	}
}

// labelsOf adds all labels of a function.
func (c *completer) labelsOf(function ast.Node) {
	ast.Inspect(function, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok {
			c.add(l.Label.Name, "label", nil)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner || n == function
	})
}

func loops(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

func breaks(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true
	}
	return loops(s)
}
