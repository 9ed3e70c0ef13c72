package rewrite

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// Rewriter changes checked code so that it can be interrupted and so that a
// panic in one of its goroutines does not end the process:
//
//   - functions, loops and gotos check the interrupt flag;
//   - channel operations also wait for the kill channel;
//   - go statements start a goroutine that recovers and reports;
//   - a compiled call that waits ends the cell if the cell was stopped meanwhile;
//   - a statement of the cell that drops an error warns of it;
//   - print and println write to standard error;
//   - recover sees neither interrupts nor the ends of cells;
//   - panic(nil) panics with a runtime.PanicNilError;
//   - slices of a long constant length are made when the code runs.
//
// If Changed is set, the caller type-checks the result again. If not, Describe adds what the
// checker would find to Info. No node may appear in the result twice.
type Rewriter struct {
	Info        *types.Info
	Interpreted func(*types.Func) bool
	Compiled    func(*types.Package) bool
	inSelect    map[ast.Node]bool // channel operations that are cases of a select
	inCell      map[ast.Node]bool // expressions that are statements of the cell, not of a function
	before      map[ast.Node]bool // statements that wait
	names       int
	inserted    []inserted
	Reenters    bool // the cell may call itself
	Changed     bool // something had to be rewritten, beside what Describe describes
}

func (r *Rewriter) replace(c *astutil.Cursor, n ast.Node) {
	c.Replace(n)
	r.Changed = true
}

func (r *Rewriter) prepend(b *ast.BlockStmt, s ast.Stmt) {
	b.List = append([]ast.Stmt{s}, b.List...)
	r.Changed = true
}

func (r *Rewriter) isBuiltin(n *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	return ok && r.Info.Uses[id] == types.Universe.Lookup(name)
}

// compiledFunc is the compiled function or method that an expression names.
func (r *Rewriter) compiledFunc(x ast.Expr) *types.Func {
	var o types.Object
	switch f := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		o = r.Info.Uses[f.Sel]
	case *ast.Ident:
		o = r.Info.Uses[f]
	}
	fn, ok := o.(*types.Func)
	if !ok || fn.Pkg() == nil || r.Interpreted(fn) {
		return nil
	}
	return fn
}

func (r *Rewriter) isChan(x ast.Expr) bool {
	t := r.Info.TypeOf(x)
	if t == nil || isTypeParam(t) {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// maybeNil reports whether an expression is an interface, or nil.
func (r *Rewriter) maybeNil(x ast.Expr) bool {
	tv := r.Info.Types[x]
	return tv.IsNil() || tv.Type != nil && types.IsInterface(tv.Type)
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}
