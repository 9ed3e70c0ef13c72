//go:build edited

package trace

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
)

// mostVariables bounds the variables that a stop knows, the innermost first.
const mostVariables = 64

// point is a statement before which a goroutine can stop.
type point struct {
	cell, line int
	path       string
	first      bool // of its line in its function
	function   int  // which function of all that were instrumented
	locals     []local
}

// instrumenter adds the checks to a file.
type instrumenter struct {
	info *types.Info
	fset *token.FileSet
	add  func(point) int // returns the number of a new point
	cell int             // that is compiled
	last int             // its last line: the statement that ends the cell comes after it

	scopes     []level
	function   int
	functions  *int
	parameters *ast.FieldList
	lines      map[int]bool // of the function, that have a point
	changed    bool
}

// level is a scope around a statement.
type level struct {
	scope   *types.Scope
	literal map[types.Object]bool // of a function literal: what it uses; nil for other scopes
}

// file instruments the functions of a file.
func (in *instrumenter) file(f *ast.File) {
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil {
			in.enterFunction(fd.Type, fd.Body, nil)
		}
	}
}

// enterFunction instruments the body of a function.
func (in *instrumenter) enterFunction(t *ast.FuncType, body *ast.BlockStmt, uses map[types.Object]bool) {
	function, parameters, lines := in.function, in.parameters, in.lines
	*in.functions++
	in.function, in.parameters, in.lines = *in.functions, t.Params, map[int]bool{}
	in.push(t, uses)
	body.List = in.statements(body.List)
	in.pop()
	in.function, in.parameters, in.lines = function, parameters, lines
}

func (in *instrumenter) push(n ast.Node, literal map[types.Object]bool) {
	in.scopes = append(in.scopes, level{in.info.Scopes[n], literal})
}

func (in *instrumenter) pop() { in.scopes = in.scopes[:len(in.scopes)-1] }

// statements instruments a list of statements.
func (in *instrumenter) statements(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range list {
		check := in.check(s)
		in.nested(s)
		if check != nil {
			out, in.changed = append(out, check), true
		}
		out = append(out, s)
	}
	return out
}

// nested instruments what is inside a statement: blocks, and function literals of its
// expressions.
func (in *instrumenter) nested(s ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			in.enterFunction(n.Type, n.Body, in.uses(n))
			return false
		case *ast.BlockStmt:
			in.push(n, nil)
			n.List = in.statements(n.List)
			in.pop()
			return false
		case *ast.CaseClause:
			for _, x := range n.List {
				in.nested(x)
			}
			in.push(n, nil)
			n.Body = in.statements(n.Body)
			in.pop()
			return false
		case *ast.CommClause:
			if n.Comm != nil {
				in.nested(n.Comm)
			}
			in.push(n, nil)
			n.Body = in.statements(n.Body)
			in.pop()
			return false
		case *ast.SwitchStmt:
			in.within(n, n.Body, n.Init, n.Tag)
			return false
		case *ast.TypeSwitchStmt:
			in.within(n, n.Body, n.Init, n.Assign)
			return false
		case *ast.SelectStmt:
			in.clauses(n.Body)
			return false
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			in.push(n, nil)
			for _, part := range parts(n) {
				in.nested(part)
			}
			in.pop()
			return false
		}
		return true
	})
}

// parts are the parts of a statement with a scope of its own.
func parts(n ast.Node) (list []ast.Node) {
	add := func(part ast.Node, is bool) {
		if is {
			list = append(list, part)
		}
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		add(n.Init, n.Init != nil)
		add(n.Cond, true)
		add(n.Body, true)
		add(n.Else, n.Else != nil)
	case *ast.ForStmt:
		add(n.Init, n.Init != nil)
		add(n.Cond, n.Cond != nil)
		add(n.Post, n.Post != nil)
		add(n.Body, true)
	case *ast.RangeStmt:
		add(n.X, true)
		add(n.Body, true)
	}
	return list
}

// within instruments a switch: its clauses are no statements of a list.
func (in *instrumenter) within(n ast.Node, body *ast.BlockStmt, before ...ast.Node) {
	in.push(n, nil)
	defer in.pop()
	for _, part := range before {
		switch x := part.(type) {
		case ast.Stmt:
			if x != nil {
				in.nested(x)
			}
		case ast.Expr:
			if x != nil {
				in.nested(x)
			}
		}
	}
	in.clauses(body)
}

func (in *instrumenter) clauses(body *ast.BlockStmt) {
	for _, c := range body.List {
		in.nested(c)
	}
}

// uses are the objects that a function literal names.
func (in *instrumenter) uses(f *ast.FuncLit) map[types.Object]bool {
	used := map[types.Object]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := in.info.Uses[id]; o != nil {
				used[o] = true
			}
		}
		return true
	})
	return used
}

// check is the check before a statement, nil if it has none:
//
//	if rt.Armed[7] != 0 { if __set, __changed := rt.Line(7, x); __changed { if rt.IsSet(__set[0]) { x = rt.As(__set[0], x) } } }
func (in *instrumenter) check(s ast.Stmt) ast.Stmt {
	pos := s.Pos()
	at := in.fset.Position(pos)
	p := point{cell: failure.CellOf(at.Filename), line: at.Line, function: in.function}
	if p.cell == 0 || !stops(s) || p.cell == in.cell && p.line > in.last {
		return nil
	}
	p.first = !in.lines[p.line]
	in.lines[p.line] = true
	p.locals = in.visible(pos)
	k := in.add(p)
	call := rewrite.Call(pos, "Line", literal(pos, k))
	for _, l := range p.locals {
		call.Args = append(call.Args, rewrite.Ident(pos, l.name))
	}
	var do ast.Stmt = &ast.ExprStmt{X: call}
	if len(p.locals) > 0 {
		do = assigned(pos, call, p.locals)
	}
	return &ast.IfStmt{If: pos, Body: block(pos, do),
		Cond: &ast.BinaryExpr{X: &ast.IndexExpr{X: rewrite.Fun(pos, "Armed"), Lbrack: pos, Index: literal(pos, k%rewrite.Points), Rbrack: pos},
			OpPos: pos, Op: token.NEQ, Y: literal(pos, 0)}}
}

// assigned is the call, with assignments of the variables that it has changed. The others
// are not written: a goroutine that has captured one may write it meanwhile.
func assigned(pos token.Pos, call ast.Expr, locals []local) ast.Stmt {
	const set, changed = "__set", "__changed"
	ident := func(name string) ast.Expr { return rewrite.Ident(pos, name) }
	var list []ast.Stmt
	for i, l := range locals {
		value := func() ast.Expr {
			return &ast.IndexExpr{X: ident(set), Lbrack: pos, Index: literal(pos, i), Rbrack: pos}
		}
		list = append(list, &ast.IfStmt{If: pos, Cond: rewrite.Call(pos, "IsSet", value()), Body: block(pos, &ast.AssignStmt{
			Lhs: []ast.Expr{ident(l.name)}, Tok: token.ASSIGN, TokPos: pos, Rhs: []ast.Expr{rewrite.Call(pos, "As", value(), ident(l.name))}})})
	}
	return &ast.IfStmt{If: pos, Cond: ident(changed), Body: block(pos, list...),
		Init: &ast.AssignStmt{Lhs: []ast.Expr{ident(set), ident(changed)}, Tok: token.DEFINE, TokPos: pos, Rhs: []ast.Expr{call}}}
}

func block(pos token.Pos, list ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: pos, List: list, Rbrace: pos}
}

func literal(pos token.Pos, n int) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(n)}
}

// stops reports whether a debugger stops before a statement. Blocks and labels begin
// with other statements.
func stops(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.EmptyStmt, *ast.BlockStmt:
		return false
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		return ok && g.Tok == token.VAR
	}
	return true
}

// local is a variable that a statement can name.
type local struct {
	name      string
	face      bool // its type is an interface, that of its value another one
	parameter bool
}

// visible are the variables that a statement can name. A function literal shows those of
// the functions around it that it uses.
func (in *instrumenter) visible(pos token.Pos) (list []local) {
	var found []types.Object
	seen, outside := map[string]bool{}, []map[types.Object]bool(nil)
	for i := len(in.scopes) - 1; i >= 0 && len(found) < mostVariables; i-- {
		l := in.scopes[i]
		if l.scope == nil {
			continue
		}
		for _, name := range l.scope.Names() {
			o := l.scope.Lookup(name)
			if seen[name] || o.Pos() >= pos && o.Pos().IsValid() {
				continue
			}
			seen[name] = true
			_, variable := o.(*types.Var)
			if variable && !strings.HasPrefix(name, "__") && name != "_" && usedBy(o, outside) && len(found) < mostVariables {
				found = append(found, o)
			}
		}
		if l.literal != nil {
			outside = append(outside, l.literal)
		}
	}
	slices.SortFunc(found, func(a, b types.Object) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, o := range found {
		_, generic := o.Type().(*types.TypeParam)
		list = append(list, local{o.Name(), types.IsInterface(o.Type()) && !generic, in.parameters.Pos() <= o.Pos() && o.Pos() < in.parameters.End()})
	}
	return list
}

func usedBy(o types.Object, literals []map[types.Object]bool) bool {
	for _, used := range literals {
		if !used[o] {
			return false
		}
	}
	return true
}
