package check

import (
	"go/ast"
)

func unlabel(st ast.Stmt) ast.Stmt {
	for {
		l, ok := st.(*ast.LabeledStmt)
		if !ok {
			return st
		}
		st = l.Stmt
	}
}

func eachName(g *ast.GenDecl, f func(*ast.Ident)) {
	for _, s := range g.Specs {
		for _, id := range s.(*ast.ValueSpec).Names {
			f(id)
		}
	}
}
