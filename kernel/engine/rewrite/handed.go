package rewrite

import (
	"go/ast"
	"go/types"
	"strings"
)

func (r *Rewriter) call(n *ast.CallExpr) {
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
		if b, ok := r.Info.Uses[id].(*types.Builtin); ok && (b.Name() == "println" || b.Name() == "print") {
			n.Fun, r.Changed = Fun(n.Pos(), strings.ToUpper(b.Name()[:1])+b.Name()[1:]), true
			return
		}
	}
	if r.Info.Types[n.Fun].IsType() {
		if r.keeps(r.Info.TypeOf(n.Fun)) {
			r.hand(&n.Args[0])
		}
		return
	}
	if fn := r.compiledFunc(n.Fun); fn == nil || callsBackAtOnce[fn.Pkg().Path()] && fn.FullName() != GroupGo {
		return
	}
	for i := range n.Args {
		r.hand(&n.Args[i])
	}
}

// composite guards the functions in a literal of a compiled type.
func (r *Rewriter) composite(n *ast.CompositeLit) {
	if !r.keeps(r.Info.TypeOf(n)) {
		return
	}
	for i, x := range n.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			r.hand(&kv.Value)
		} else {
			r.hand(&n.Elts[i])
		}
	}
}

// assign guards the functions that are assigned to fields of compiled types.
func (r *Rewriter) assign(n *ast.AssignStmt) {
	for i, l := range n.Lhs {
		sel, ok := ast.Unparen(l).(*ast.SelectorExpr)
		if ok && len(n.Lhs) == len(n.Rhs) && r.Info.Selections[sel] != nil && r.keeps(r.Info.TypeOf(sel.X)) {
			r.hand(&n.Rhs[i])
		}
	}
}

// keeps reports whether compiled code may call, on any goroutine, functions in values of
// a type: the type belongs to a compiled package.
func (r *Rewriter) keeps(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && !callsBackAtOnce[n.Obj().Pkg().Path()] && r.Compiled(n.Obj().Pkg())
}

// hand guards an expression that is passed to compiled code, if it is a function. A
// literal also notes the frames in which it panics, because a fault of the Go runtime
// does not carry them outside of the literal.
func (r *Rewriter) hand(at *ast.Expr) {
	x := *at
	tv := r.Info.Types[x]
	if tv.Type == nil || tv.IsNil() || isTypeParam(tv.Type) {
		return
	}
	if _, ok := tv.Type.Underlying().(*types.Signature); !ok {
		return
	}
	pos := x.Pos()
	if lit, ok := ast.Unparen(x).(*ast.FuncLit); ok {
		r.prepend(lit.Body, deferred(pos, "Traced"))
	}
	*at, r.Changed = Call(pos, "W", x, number(pos)), true
	r.Info.Types[*at] = tv
}

// GroupGo is the name of a function that starts a goroutine.
const GroupGo = "(*sync.WaitGroup).Go"

// callsBackAtOnce are packages that call functions only on the goroutine that passed
// them, where a panic propagates without help.
var callsBackAtOnce = map[string]bool{
	"bytes": true, "errors": true, "fmt": true, "iter": true, "maps": true, "path/filepath": true, "regexp": true,
	"slices": true, "sort": true, "strings": true, "sync": true, "unicode": true, RuntimePath: true,
}
