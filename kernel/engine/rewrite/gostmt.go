package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// goStmt evaluates the function and its arguments, then starts a goroutine
// that reports a panic to its cell:
//
//	{ f, a := f, a; c := rt.GoStart(); go func() { defer func() { rt.GoEnd(recover()) }(); rt.GoRun(c, pos); f(a) }() }
func (r *Rewriter) goStmt(n *ast.GoStmt) ast.Stmt {
	pos := n.Pos()
	var list []ast.Stmt
	call := *n.Call
	call.Fun = r.keepFunc(&list, n.Call.Fun)
	call.Args = nil
	for _, a := range n.Call.Args {
		call.Args = append(call.Args, r.keepArg(&list, a)...)
	}
	cell := r.keep(&list, Call(pos, "GoStart"), 1)
	list = append(list,
		&ast.GoStmt{Go: pos, Call: CallOf(pos, thunk(pos, deferred(pos, "GoEnd"), &ast.ExprStmt{X: Call(pos, "GoRun", append(cell, number(pos))...)}, &ast.ExprStmt{X: &call}))})
	return block(pos, list...)
}

// StartsGoroutine reports whether a function literal is the one that goStmt makes.
func StartsGoroutine(f *ast.FuncLit) bool {
	if f == nil {
		return false
	}
	found := false
	for _, s := range f.Body.List {
		d, ok := s.(*ast.DeferStmt)
		if !ok {
			continue
		}
		ast.Inspect(d.Call, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "GoEnd" {
				x, is := sel.X.(*ast.Ident)
				found = found || is && x.Name == RuntimeName
			}
			return !found
		})
	}
	return found
}

// keep adds the assignment of x to n new variables and returns them.
func (r *Rewriter) keep(list *[]ast.Stmt, x ast.Expr, n int) (vars []ast.Expr) {
	as := &ast.AssignStmt{TokPos: x.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{x}}
	for range n {
		r.names++
		name := fmt.Sprintf("__g%d", r.names)
		as.Lhs = append(as.Lhs, Ident(x.Pos(), name))
		vars = append(vars, Ident(x.Pos(), name))
	}
	*list = append(*list, as)
	return vars
}

func (r *Rewriter) keepFunc(list *[]ast.Stmt, fun ast.Expr) ast.Expr {
	switch f := ast.Unparen(fun).(type) {
	case *ast.FuncLit, *ast.IndexExpr, *ast.IndexListExpr:
		return fun
	case *ast.Ident:
		switch r.Info.Uses[f].(type) {
		case *types.Func, *types.Builtin:
			return fun
		}
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			if _, ok := r.Info.Uses[x].(*types.PkgName); ok || x.Name == RuntimeName {
				return fun
			}
		}
	}
	return r.keep(list, fun, 1)[0]
}

func (r *Rewriter) keepArg(list *[]ast.Stmt, a ast.Expr) []ast.Expr {
	tv := r.Info.Types[a]
	if _, lit := a.(*ast.FuncLit); lit || tv.Value != nil || tv.IsNil() || tv.IsType() {
		return []ast.Expr{a}
	}
	if t, ok := tv.Type.(*types.Tuple); ok {
		return r.keep(list, a, t.Len())
	}
	return r.keep(list, a, 1)
}
