package check

import (
	"go/ast"
	"go/token"
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

// eachDefined calls f for each variable that a statement of a cell defines.
func eachDefined(st ast.Stmt, f func(*ast.Ident)) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		if st.Tok == token.DEFINE {
			for _, l := range st.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					f(id)
				}
			}
		}
	case *ast.DeclStmt:
		if g := st.Decl.(*ast.GenDecl); g.Tok == token.VAR {
			eachName(g, f)
		}
	}
}
