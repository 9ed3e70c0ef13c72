package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// dropped makes a statement of the cell that drops an error warn of it. The last
// expression shows its own error.
//
//	if _, err := f(); err != nil { rt.Dropped(position, err) }
func (r *Rewriter) dropped(c *astutil.Cursor, n *ast.ExprStmt) {
	t := r.Info.TypeOf(n.X)
	_, call := ast.Unparen(n.X).(*ast.CallExpr)
	if _, labelled := c.Parent().(*ast.LabeledStmt); !r.inCell[n] || !call || !Fails(t) || Prints(r.Info, n.X) || c.Index() < 0 && !labelled {
		return
	}
	pos := n.Pos()
	as := &ast.AssignStmt{Tok: token.DEFINE, TokPos: pos, Rhs: []ast.Expr{n.X}}
	for range results(t) - 1 {
		as.Lhs = append(as.Lhs, Ident(pos, "_"))
	}
	as.Lhs = append(as.Lhs, Ident(pos, "__err"))
	r.replace(c, &ast.IfStmt{If: pos, Init: as,
		Cond: &ast.BinaryExpr{X: Ident(pos, "__err"), OpPos: pos, Op: token.NEQ, Y: Ident(pos, "nil")},
		Body: block(pos, &ast.ExprStmt{X: Call(pos, "Dropped", number(pos), Ident(pos, "__err"))})})
}

// results is the number of values of an expression's type.
func results(t types.Type) int {
	switch t := t.(type) {
	case nil:
		return 0
	case *types.Tuple:
		return t.Len()
	}
	return 1
}

// Fails reports whether the last value of an expression is an error.
func Fails(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// Prints reports whether an expression is a call of fmt that prints.
func Prints(info *types.Info, x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := info.Uses[sel.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" &&
		(strings.HasPrefix(fn.Name(), "Print") || strings.HasPrefix(fn.Name(), "Fprint"))
}
