package rewrite

import (
	"go/ast"
	"go/types"
)

// enter rewrites the start of a function. A function that calls interpreted functions
// calls an empty one first: the engine reuses the frames of calls and does not clear
// their links to the frames below, and a panic that meets a circle of such links never
// ends. Only the function of a cell's statements need not check the flag.
//
// A declared function that defers calls defers an empty one before it checks the flag:
// the engine compiles a call of a function without known deferred calls as one that
// needs no recovery, and a call of the function in its own body would be compiled before
// its deferred calls are known.
func (r *Rewriter) enter(b *ast.BlockStmt, check, declared bool) {
	calls := r.callsInterpreted(b)
	if check {
		r.insert(b, checksFlag, b.Lbrace)
	}
	if calls {
		r.insert(b, enters, b.Lbrace)
	}
	if DefersInRange(b) || declared && Defers(b) {
		r.insert(b, defersEnter, b.Lbrace)
	}
}

// Defers reports whether a function defers calls, without those of its literals.
func Defers(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, literal := n.(*ast.FuncLit)
		_, is := n.(*ast.DeferStmt)
		found = found || is
		return !literal && !found
	})
	return found
}

// DefersInRange reports whether a function defers calls in the body of a range loop. If
// that body becomes a function of its own, the engine runs them only if the function
// defers another call itself.
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

// leaf reports whether a call makes no frame, or one that calls no other function.
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
