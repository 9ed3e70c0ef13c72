package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// mostConstant is the longest slice of a constant length that is made as an array and
// sliced, which the SSA builder does. Larger ones, which may exceed the memory, are made
// by make.
const mostConstant = 1 << 24

// lengths replaces long constant lengths and capacities of slices by values that the SSA
// builder does not treat as constants.
func (r *Rewriter) lengths(n *ast.CallExpr) {
	if !r.isBuiltin(n, "make") {
		return
	}
	if _, ok := r.Info.TypeOf(n).Underlying().(*types.Slice); !ok {
		return
	}
	for i, x := range n.Args[1:] {
		v := r.Info.Types[x].Value
		if v == nil {
			continue
		}
		if length, ok := constant.Int64Val(constant.ToInt(v)); ok && length > mostConstant { // as an int, whatever type it has
			text := strconv.FormatInt(length, 10)
			n.Args[1+i], r.Changed = Call(x.Pos(), "Length", &ast.BasicLit{ValuePos: x.Pos(), Kind: token.INT, Value: text}), true
		}
	}
}

// offset replaces unsafe.Offsetof of a field of a type with type parameters by a call of
// the runtime package: the engine cannot compute it in the instance. It is nil for any
// other call.
func (r *Rewriter) offset(n *ast.CallExpr) ast.Expr {
	f, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || r.Info.Uses[f.Sel] != types.Unsafe.Scope().Lookup("Offsetof") || r.Info.Types[n].Value != nil {
		return nil
	}
	var path []ast.Expr
	x := ast.Unparen(n.Args[0])
	for { // Offsetof(p.a.b) does not dereference p
		field, ok := x.(*ast.SelectorExpr)
		if !ok || r.Info.Selections[field] == nil {
			break
		}
		path = append(path, &ast.BasicLit{ValuePos: field.Sel.Pos(), Kind: token.STRING, Value: strconv.Quote(field.Sel.Name)})
		x = ast.Unparen(field.X)
	}
	slices.Reverse(path)
	return Call(n.Pos(), "Offsetof", append([]ast.Expr{x}, path...)...)
}
