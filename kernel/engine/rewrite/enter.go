package rewrite

import (
	"go/ast"
	"go/types"
)

// enter begins a function. One that calls interpreted functions calls one that
// does nothing first: the engine uses the frames of calls again and does not
// clear their links to the frames below, and when a panic finds such a link
// that has become a circle, it never ends.
// Only the function that holds a cell's statements need not look at the flag.
//
// A declared function that defers calls defers one that does nothing before it
// looks at the flag: the engine compiles a call of a function that it knows no
// deferred calls of as one that needs no recovery, and would be in the middle of
// this function when it meets a call of it in its body.
func (r *Rewriter) enter(b *ast.BlockStmt, check, declared bool) {
	calls := r.callsInterpreted(b)
	if check {
		r.prepend(b, checkFlag(b.Lbrace))
	}
	if calls {
		r.prepend(b, &ast.ExprStmt{X: Call(b.Lbrace, "Enter")})
	}
	if DefersInRange(b) || declared && Defers(b) {
		r.prepend(b, &ast.DeferStmt{Defer: b.Lbrace, Call: Call(b.Lbrace, "Enter")})
	}
}

// Defers reports whether a function defers calls, those of its literals apart.
func Defers(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, literal := n.(*ast.FuncLit)
		_, is := n.(*ast.DeferStmt)
		found = found || is
		return !literal && !found
	})
	return found
}

// DefersInRange reports whether a function defers calls in the body of a range
// loop. Where that becomes a function of its own, the engine runs them only if
// the function defers another call itself.
func DefersInRange(b *ast.BlockStmt) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.RangeStmt:
			found = found || Defers(n.Body)
		}
		return !found
	})
	return found
}

func (r *Rewriter) callsInterpreted(b *ast.BlockStmt) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it has frames of its own
		case *ast.RangeStmt:
			_, iterator := types.Unalias(r.Info.TypeOf(n.X)).(*types.Signature)
			found = found || iterator
		case *ast.CallExpr:
			found = found || !r.leaf(n)
		}
		return !found
	})
	return found
}

// leaf reports whether a call makes no frame, or one that calls nothing.
func (r *Rewriter) leaf(n *ast.CallExpr) bool {
	if r.Info.Types[n.Fun].IsType() || r.Info.Types[n.Fun].IsBuiltin() {
		return true
	}
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == RuntimeName {
			return true
		}
		if s := r.Info.Selections[sel]; s != nil && types.IsInterface(s.Recv()) {
			return false
		}
	}
	return r.compiledFunc(n.Fun) != nil
}
