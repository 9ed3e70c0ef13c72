package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

func (r *Rewriter) File(f *ast.File) {
	r.inSelect, r.inCell, r.before = map[ast.Node]bool{}, map[ast.Node]bool{}, map[ast.Node]bool{}
	for _, d := range f.Decls {
		ast.Inspect(d, r.markSelect)
		ast.Inspect(d, r.markWaits)
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == BodyName {
			ast.Inspect(fd, r.markCell)
		}
		astutil.Apply(d, nil, func(c *astutil.Cursor) bool {
			if r.before[c.Node()] { // an interrupt has ended the waiting call, and would not end the next wait
				c.InsertBefore(checkFlag(c.Node().Pos()))
				r.Changed = true
			}
			r.node(c)
			return true
		})
	}
}

func (r *Rewriter) markSelect(n ast.Node) bool {
	if cc, ok := n.(*ast.CommClause); ok {
		switch s := cc.Comm.(type) {
		case *ast.SendStmt:
			r.inSelect[s] = true
		case *ast.ExprStmt:
			r.inSelect[ast.Unparen(s.X)] = true
		case *ast.AssignStmt:
			r.inSelect[ast.Unparen(s.Rhs[0])] = true
		}
	}
	return true
}

func (r *Rewriter) markCell(n ast.Node) bool {
	if x, ok := n.(*ast.ExprStmt); ok {
		r.inCell[x] = true
	}
	_, literal := n.(*ast.FuncLit)
	return !literal
}

// node rewrites one node; the nodes below it are already rewritten.
func (r *Rewriter) node(c *astutil.Cursor) {
	switch n := c.Node().(type) {
	case *ast.FuncDecl:
		if n.Body != nil {
			r.enter(n.Body, n.Name.Name != BodyName || r.Reenters, true)
		}
	case *ast.FuncLit:
		r.enter(n.Body, true, false)
	case *ast.ForStmt:
		r.insert(n.Body, checksFlag, n.For)
	case *ast.RangeStmt:
		if r.isChan(n.X) {
			n.X, r.Changed = Call(n.X.Pos(), "Iter", n.X), true
		}
		r.rangeArray(n)
		r.insert(n.Body, checksFlag, n.For)
	case *ast.BranchStmt:
		if n.Tok == token.GOTO {
			r.replace(c, block(n.Pos(), checkFlag(n.Pos()), n))
		}
	case *ast.UnaryExpr:
		r.receive(c, n)
	case *ast.SendStmt:
		if !r.inSelect[n] {
			r.replace(c, &ast.SelectStmt{Select: n.Pos(), Body: block(n.Pos(),
				&ast.CommClause{Case: n.Pos(), Comm: n, Colon: n.Pos()}, killCase(n.Pos()))})
		}
	case *ast.SelectStmt:
		r.selectStmt(c, n)
	case *ast.CallExpr:
		if r.isBuiltin(n, "recover") {
			switch c.Parent().(type) {
			case *ast.DeferStmt, *ast.GoStmt: // called later, which the hook Recovered follows
				return
			}
			r.replace(c, Call(n.Pos(), "Recovered", n))
			return
		}
		if r.isBuiltin(n, "panic") && r.maybeNil(n.Args[0]) {
			n.Args[0], r.Changed = Call(n.Args[0].Pos(), "NotNil", n.Args[0]), true
		}
		if x := r.offset(n); x != nil {
			r.replace(c, x)
			return
		}
		r.lengths(n)
		r.print(n)
		r.waited(c, n)
	case *ast.ExprStmt:
		r.dropped(c, n)
	case *ast.GoStmt:
		r.replace(c, r.goStmt(n))
	}
}

// print makes print and println write to the standard error of cells.
func (r *Rewriter) print(n *ast.CallExpr) {
	switch {
	case r.isBuiltin(n, "print"):
		n.Fun, r.Changed = Fun(n.Pos(), "Print"), true
	case r.isBuiltin(n, "println"):
		n.Fun, r.Changed = Fun(n.Pos(), "Println"), true
	}
}

func (r *Rewriter) receive(c *astutil.Cursor, n *ast.UnaryExpr) {
	if n.Op != token.ARROW || r.inSelect[n] || !r.isChan(n.X) {
		return
	}
	name := "Recv"
	if _, ok := r.Info.TypeOf(n).(*types.Tuple); ok {
		name = "Recv2"
	}
	r.replace(c, Call(n.OpPos, name, n.X))
}

func (r *Rewriter) selectStmt(c *astutil.Cursor, n *ast.SelectStmt) {
	if len(n.Body.List) == 0 {
		r.replace(c, &ast.ForStmt{For: n.Pos(), Body: block(n.Pos(), &ast.ExprStmt{X: Call(n.Pos(), "Block")})})
		return
	}
	for _, cl := range n.Body.List {
		if cl.(*ast.CommClause).Comm == nil { // it has a default case and never waits
			return
		}
	}
	n.Body.List, r.Changed = append(n.Body.List, killCase(n.Pos())), true
}
