package rewrite

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// waiting are compiled packages, besides warpbook's, whose calls may end because an
// interrupt ends the event that they wait for: a subprocess, a line of input.
var waiting = map[string]bool{"bufio": true, "io": true, "net": true, "net/http": true, "os": true, "os/exec": true}

// waits reports whether a call's function is compiled and may take long.
func (r *Rewriter) waits(x ast.Expr) bool {
	path, name := "", ""
	if fn := r.compiledFunc(x); fn != nil {
		path, name = fn.Pkg().Path(), fn.Name()
	} else if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok && r.Info.Selections[sel] != nil {
		// The methods of compiled interfaces have no package.
		if n, ok := types.Unalias(r.Info.TypeOf(sel.X)).(*types.Named); ok && types.IsInterface(n) && n.Obj().Pkg() != nil && r.Compiled(n.Obj().Pkg()) {
			path = n.Obj().Pkg().Path()
		}
	}
	return waiting[path] || strings.HasPrefix(path, "warpbook/") || path == "fmt" && strings.HasPrefix(name, "Scan")
}

// waited checks the flag after a call that waits and may fail: an error that an
// interrupt causes is not for the code of the cell. The runtime package has one function
// for each number of results.
func (r *Rewriter) waited(c *astutil.Cursor, n *ast.CallExpr) {
	switch c.Parent().(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return
	}
	name := map[int]string{1: "Waited", 2: "Waited2", 3: "Waited3"}[results(r.Info.TypeOf(n))]
	if name == "" || !r.waits(n.Fun) || !Fails(r.Info.TypeOf(n)) {
		return
	}
	r.read(n)
	w := Call(n.Pos(), name, n)
	r.Info.Types[w] = r.Info.Types[n]
	r.replace(c, w)
}

// markWaits finds the statements of a list in which a call waits, without the statements
// inside of them.
func (r *Rewriter) markWaits(n ast.Node) bool {
	var list []ast.Stmt
	switch n := n.(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	case *ast.CommClause:
		list = n.Body
	}
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt, *ast.FuncLit, *ast.CaseClause, *ast.CommClause:
				return false
			case *ast.CallExpr:
				r.before[s] = r.before[s] || r.waits(n.Fun)
			}
			return true
		})
	}
	return true
}
