package rewrite

import (
	"go/ast"
	"go/types"
)

// read rewrites x.Read(p) to a call of the runtime package, which an interrupt ends
// without a loss of data. It returns any other call unchanged.
func (r *Rewriter) read(n *ast.CallExpr) {
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Read" || len(n.Args) != 1 || results(r.Info.TypeOf(n)) != 2 {
		return
	}
	if s := r.Info.Selections[sel]; s == nil || s.Kind() != types.MethodVal || types.NewMethodSet(r.Info.TypeOf(sel.X)).Lookup(nil, "Read") == nil {
		return // the method belongs to the pointer of a variable
	}
	if p, ok := r.Info.TypeOf(n.Args[0]).Underlying().(*types.Slice); !ok || !types.Identical(p.Elem(), types.Typ[types.Byte]) {
		return
	}
	n.Fun, n.Args = Fun(n.Pos(), "Read"), []ast.Expr{sel.X, n.Args[0]}
}
