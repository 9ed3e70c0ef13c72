package vet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
)

// useful are the analysers of syntax that may find something in a cell. Most cells call no
// function of any number of arguments, drop no result, or have no type with a lock, and the
// analysers took a tenth of the time in which a cell is checked.
func useful(c Cell) (list []*analysis.Analyzer) {
	u := uses{info: c.Info, seen: map[types.Type]bool{}}
	ast.Inspect(c.File, u.node)
	if u.variadic {
		list = append(list, printf.Analyzer)
	}
	if u.drops {
		list = append(list, unusedresult.Analyzer)
	}
	if u.locks {
		list = append(list, copylock.Analyzer)
	}
	return list
}

// uses are the constructs of a cell that the analysers report on.
type uses struct {
	info     *types.Info
	seen     map[types.Type]bool
	variadic bool // calls or functions with any number of arguments, which may print
	drops    bool // statements that drop the results of a call
	locks    bool // types that may contain a lock
}

func (u *uses) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ellipsis:
		u.variadic = true
	case *ast.CallExpr:
		if f := u.info.Types[n.Fun]; f.IsValue() { // neither append nor a conversion
			sig, ok := f.Type.Underlying().(*types.Signature)
			u.variadic = u.variadic || ok && sig.Variadic()
		}
	case *ast.ExprStmt:
		u.drops = u.drops || u.dropsResult(n.X)
	}
	if x, ok := n.(ast.Expr); ok && !u.locks {
		u.locks = u.mayLock(u.info.TypeOf(x))
	}
	return true
}

// dropsResult reports whether a statement drops the result of a function, but of those that
// print.
func (u *uses) dropsResult(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	fun := ast.Unparen(call.Fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		fun = sel.Sel
	}
	if id, ok := fun.(*ast.Ident); ok && (strings.HasPrefix(id.Name, "Print") || strings.HasPrefix(id.Name, "Fprint")) {
		return false
	}
	t := u.info.TypeOf(call)
	tuple, ok := t.(*types.Tuple)
	return t != nil && (!ok || tuple.Len() > 0)
}

// mayLock reports whether a value of a type may contain a lock.
func (u *uses) mayLock(t types.Type) bool {
	if t == nil || u.seen[t] {
		return false
	}
	u.seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		for m := range t.Methods() {
			if _, ok := t.Underlying().(*types.Struct); ok && m.Name() == "Lock" {
				return true
			}
		}
	}
	switch t := t.Underlying().(type) {
	case *types.Array:
		return u.mayLock(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if u.mayLock(f.Type()) {
				return true
			}
		}
	case *types.Tuple:
		for v := range t.Variables() {
			if u.mayLock(v.Type()) {
				return true
			}
		}
	}
	return false
}
