package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// rangeArray rewrites a range over the indices of an array to one over its length if Go
// does not evaluate the array: for i := range *p runs for any p. The SSA builder would
// read *p.
//
//	for i := range 4 { if 0 != 0 { _ = *p }; ... }
func (r *Rewriter) rangeArray(n *ast.RangeStmt) {
	if n.Value != nil { // Go evaluates the array also for i, _ := range *p
		return
	}
	if _, variable := ast.Unparen(n.X).(*ast.Ident); variable {
		return
	}
	t := r.Info.TypeOf(n.X)
	if t == nil {
		return
	}
	a, ok := types.Unalias(t).Underlying().(*types.Array)
	if !ok || r.evaluates(n.X) {
		return
	}
	pos, zero := n.X.Pos(), func() ast.Expr { return &ast.BasicLit{ValuePos: n.For, Kind: token.INT, Value: "0"} }
	r.prepend(n.Body, &ast.IfStmt{If: pos, Cond: &ast.BinaryExpr{X: zero(), OpPos: pos, Op: token.NEQ, Y: zero()}, // the checker sees that variables are used
		Body: block(pos, &ast.AssignStmt{Lhs: []ast.Expr{Ident(pos, "_")}, TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{n.X}})})
	n.X = &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.FormatInt(a.Len(), 10)}
	if n.Tok == token.ASSIGN {
		n.X = Call(pos, "Length", n.X) // an int, whatever type the variable has
	}
}

// evaluates reports whether an expression calls or receives, so that its length is not
// constant.
func (r *Rewriter) evaluates(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || !r.Info.Types[n.Fun].IsType() && r.Info.Types[n].Value == nil
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}
