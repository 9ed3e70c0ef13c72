package cell

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// hoist turns the variables that a cell's statements define into variables of
// the package, so that functions and later cells see them.
type hoist struct {
	pkg     *types.Package // of the pass that only infers types
	info    *types.Info
	whole   bool // that pass saw the whole cell, no bodies were left out
	all     []types.Error
	errs    []diagnostic // those that only this pass can see
	names   []string     // of all top-level variables, in order
	types   map[string]types.Type
	aliases []alias
	gone    map[string]bool // live names that mean nothing any more
	raised  map[ast.Decl]bool
	old     []*types.Var // variables that the cell replaces but reads first
}

// alias is a name for a type that has none in the file.
type alias struct {
	name string
	typ  types.Type
}

// infer checks the cell without function bodies, to learn the types of its
// top-level variables.
func (e *Engine) infer(c *checked) *hoist {
	h := &hoist{aliases: slices.Clone(c.parameters), types: map[string]types.Type{}, gone: map[string]bool{}, raised: map[ast.Decl]bool{}}
	for d := range c.broken {
		for _, n := range d.names {
			h.gone[n] = true
		}
	}
	bodies := map[*ast.FuncDecl]*ast.BlockStmt{}
	for _, d := range c.file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd != c.body {
			bodies[fd], fd.Body = fd.Body, nil
		}
	}
	h.whole = len(bodies) == 0
	h.pkg = e.scope(c.file, h)
	h.info, h.all = e.typeCheck(h.pkg, c.file)
	for fd, b := range bodies {
		fd.Body = b
	}
	h.collect(c.source)
	h.errs = e.diagnose(slices.DeleteFunc(slices.Clone(h.all), func(te types.Error) bool {
		inside := c.body.Pos() <= te.Pos && te.Pos < c.body.End()
		return !inside || strings.HasPrefix(te.Msg, "declared and not used") || strings.HasPrefix(te.Msg, unexportedField) || unusedResult(c.source, te)
	}))
	return h
}

// unusedResult: the checker does not know that the last expression is shown.
func unusedResult(s *source, te types.Error) bool {
	es := s.result()
	return es != nil && te.Pos >= es.Pos() && strings.HasSuffix(te.Msg, "is not used")
}

// collect finds the top-level variables and their types.
func (h *hoist) collect(s *source) {
	add := func(id *ast.Ident) {
		if o := h.info.Defs[id]; o != nil && id.Name != "_" {
			if h.types[id.Name] == nil {
				h.names = append(h.names, id.Name)
			}
			h.types[id.Name] = o.Type()
		}
	}
	for _, d := range s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			eachName(g, add)
		}
	}
	for _, st := range s.body.Body.List {
		switch st := unlabel(st).(type) {
		case *ast.AssignStmt:
			if st.Tok == token.DEFINE {
				for _, l := range st.Lhs {
					if id, ok := l.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.DeclStmt:
			if g := st.Decl.(*ast.GenDecl); g.Tok == token.VAR {
				eachName(g, add)
			}
		}
	}
}

func unlabel(st ast.Stmt) ast.Stmt {
	for {
		l, ok := st.(*ast.LabeledStmt)
		if !ok {
			return st
		}
		st = l.Stmt
	}
}

func eachName(g *ast.GenDecl, f func(*ast.Ident)) {
	for _, s := range g.Specs {
		for _, id := range s.(*ast.ValueSpec).Names {
			f(id)
		}
	}
}

// advance moves var declarations that an earlier line names before all
// statements, as the order of declarations does not matter in a package.
func (e *Engine) advance(c *checked, h *hoist) bool {
	moved := false
	for _, te := range h.all {
		name, ok := strings.CutPrefix(te.Msg, "undefined: ")
		if !ok {
			continue
		}
		for _, st := range c.body.Body.List {
			ds, ok := st.(*ast.DeclStmt)
			if !ok || ds.Pos() < te.Pos {
				continue
			}
			eachName(ds.Decl.(*ast.GenDecl), func(id *ast.Ident) {
				moved = moved || id.Name == name && c.toLead(e.ctx.FileSet.Position(ds.Pos()))
			})
		}
	}
	return moved
}

// toLead puts the var piece at p before the statements.
func (s *source) toLead(p token.Position) bool {
	for i, piece := range s.pieces {
		if piece.Line == p.Line && piece.Col == p.Column && !s.lead[i] {
			s.lead[i] = true
			return true
		}
	}
	return false
}

// raise rewrites the statements that define variables to assignments, and
// declares the variables; one whose type has not changed keeps its place in
// memory, so that everything that knows it sees the new value. It says whether it
// changed the file.
func (e *Engine) raise(c *checked, h *hoist) (changed bool) {
	e.keepOld(c, h)
	if len(h.names) > 0 {
		lead := e.names(c.file)
		for _, name := range h.names {
			if !lead[name] {
				e.declare(c, h, name, h.types[name], h.pkg)
			}
		}
	}
	var list []ast.Stmt
	for _, st := range c.body.Body.List {
		switch s := unlabel(st).(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				s.Tok, changed = token.ASSIGN, true
			}
		case *ast.DeclStmt:
			if g := s.Decl.(*ast.GenDecl); g.Tok == token.VAR {
				list, changed = append(list, h.assignments(g)...), true
				continue
			}
		}
		list = append(list, st)
	}
	c.body.Body.List = list
	return h.showResult(c) || changed
}

// assignments are what a var declaration among statements does.
func (h *hoist) assignments(g *ast.GenDecl) []ast.Stmt {
	var list []ast.Stmt
	for _, spec := range g.Specs {
		vs := spec.(*ast.ValueSpec)
		as := &ast.AssignStmt{Tok: token.ASSIGN, TokPos: vs.Pos(), Rhs: vs.Values}
		for _, id := range vs.Names {
			if o := h.info.Defs[id]; len(vs.Values) == 0 && o != nil {
				if id.Name == "_" {
					continue
				}
				as.Rhs = append(as.Rhs, h.zero(o.Type(), h.pkg, id.Pos()))
			}
			as.Lhs = append(as.Lhs, id)
		}
		if len(as.Lhs) > 0 {
			list = append(list, as)
		}
	}
	return list
}

// zero is the expression rt.Zero[T](): cells may give new another meaning.
func (h *hoist) zero(t types.Type, own *types.Package, pos token.Pos) ast.Expr {
	return callOf(pos, &ast.IndexExpr{X: rtFun(pos, "Zero"), Index: h.typeExpr(t, own)})
}

// declare adds var name T to the file, unless the live variable will do.
func (e *Engine) declare(c *checked, h *hoist, name string, t types.Type, own *types.Package) {
	if e.keeps(name, t) && !h.gone[name] {
		return
	}
	d := &ast.GenDecl{Tok: token.VAR, TokPos: c.body.Pos(), Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{ident(c.body.Pos(), name)}, Type: h.typeExpr(t, own)},
	}}
	h.raised[d] = true
	c.file.Decls = append(c.file.Decls, d)
}

// keeps says whether a live variable has this name and type.
func (e *Engine) keeps(name string, t types.Type) bool {
	v, ok := e.live[name].(*types.Var)
	return ok && types.Identical(v.Type(), t)
}

// failsCell says whether the last value of a last expression ends the cell when
// it is an error: that of a call does, be it the call's only result, as a launch
// has it. A variable that holds an error is a value like any other.
func failsCell(x ast.Expr, t types.Type) bool {
	_, call := ast.Unparen(x).(*ast.CallExpr)
	return call && fails(t)
}

// showResult makes the last expression the cell's values, unless a semicolon
// follows. What fmt's printing functions return is not worth showing. It says
// whether it changed the file.
func (h *hoist) showResult(c *checked) bool {
	es := c.result()
	if es == nil {
		return false
	}
	tv := h.info.Types[es.X]
	if tv.Type == nil || tv.IsVoid() || tv.IsType() || tv.IsBuiltin() || prints(h.info, es.X) {
		return false
	}
	hidden, fails := c.last().Semicolon, failsCell(es.X, tv.Type)
	if hidden && fails { // the value is not to be shown; its error is one that is dropped
		return false
	}
	c.errLast = fails
	as := &ast.AssignStmt{Lhs: []ast.Expr{ident(es.Pos(), "__r")}, TokPos: es.Pos(), Tok: token.ASSIGN,
		Rhs: []ast.Expr{rtCall(es.Pos(), "Values", es.X)}}
	if hidden {
		as.Lhs[0] = ident(es.Pos(), "_")
	}
	for i := range c.body.Body.List {
		at := &c.body.Body.List[i]
		for l, ok := (*at).(*ast.LabeledStmt); ok; l, ok = (*at).(*ast.LabeledStmt) {
			at = &l.Stmt
		}
		if *at == es {
			*at = as
		}
	}
	return true
}

// prints says whether an expression is a call of fmt that prints.
func prints(info *types.Info, x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := info.Uses[sel.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" &&
		(strings.HasPrefix(fn.Name(), "Print") || strings.HasPrefix(fn.Name(), "Fprint"))
}

// initPrefix and a number name the init functions of a cell.
const initPrefix = "__init"

// settle turns package-level initialisation into statements in Go's order, so
// that it runs with the cell and reaches variables that are kept. It says
// whether there was any.
func (e *Engine) settle(c *checked, h *hoist, pkg *types.Package, info *types.Info) bool {
	var list []ast.Stmt
	var lead []*ast.GenDecl
	c.file.Decls = slices.DeleteFunc(c.file.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if ok = ok && g.Tok == token.VAR && !h.raised[g]; ok {
			lead = append(lead, g)
		}
		return ok
	})
	for _, g := range lead {
		for _, spec := range g.Specs {
			vs := spec.(*ast.ValueSpec)
			for _, id := range vs.Names {
				if id.Name == "_" {
					continue
				}
				t := info.Defs[id].Type()
				e.declare(c, h, id.Name, t, pkg)
				if len(vs.Values) == 0 && c.moved[id.Name] == "" {
					list = append(list, &ast.AssignStmt{Lhs: []ast.Expr{ident(id.Pos(), id.Name)}, TokPos: id.Pos(), Tok: token.ASSIGN,
						Rhs: []ast.Expr{h.zero(t, pkg, id.Pos())}})
				}
			}
		}
	}
	for _, in := range info.InitOrder {
		as := &ast.AssignStmt{TokPos: in.Rhs.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{in.Rhs}}
		for _, v := range in.Lhs {
			as.Lhs = append(as.Lhs, ident(v.Pos(), v.Name()))
		}
		list = append(list, as)
	}
	list = append(list, callInits(c.file)...)
	c.body.Body.List = append(list, c.body.Body.List...)
	return len(list) > 0
}

// callInits makes init functions of a file ordinary ones, and calls them.
func callInits(f *ast.File) (calls []ast.Stmt) {
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.Name == "init" {
			fd.Name.Name = fmt.Sprintf("%s%d", initPrefix, len(calls))
			calls = append(calls, &ast.ExprStmt{X: callOf(fd.Name.Pos(), ident(fd.Name.Pos(), fd.Name.Name))})
		}
	}
	return calls
}
