package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// infer checks the cell without function bodies, to learn the types of its
// top-level variables.
func (e *Checker) infer(c *Cell) *hoist {
	h := &hoist{aliases: slices.Clone(c.parameters), types: map[string]types.Type{}, gone: map[string]bool{}, raised: map[ast.Decl]bool{}}
	for d := range c.Broken {
		for _, n := range d.Names {
			h.gone[n] = true
		}
	}
	bodies := map[*ast.FuncDecl]*ast.BlockStmt{}
	for _, d := range c.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd != c.body {
			bodies[fd], fd.Body = fd.Body, nil
		}
	}
	h.whole = len(bodies) == 0
	e.findHidden(c, h)
	h.Scope = e.scope(c.File, h)
	h.info, h.all = e.TypeCheck(h.Scope, c.File)
	for fd, b := range bodies {
		fd.Body = b
	}
	h.collect(c.Source)
	h.errs = e.diagnose(slices.DeleteFunc(slices.Clone(h.all), func(te types.Error) bool {
		inside := c.body.Pos() <= te.Pos && te.Pos < c.body.End()
		return !inside || strings.HasPrefix(te.Msg, "declared and not used") || strings.HasPrefix(te.Msg, unexportedField) || unusedResult(c.Source, te)
	}))
	return h
}

// unusedResult matches an error that does not apply: the checker does not know that the
// last expression is shown.
func unusedResult(s *Source, te types.Error) bool {
	es := s.result()
	return es != nil && te.Pos >= es.Pos() && strings.HasSuffix(te.Msg, "is not used")
}

// collect finds the top-level variables and their types.
func (h *hoist) collect(s *Source) {
	add := func(id *ast.Ident) {
		if o := h.info.Defs[id]; o != nil && id.Name != "_" {
			if h.types[id.Name] == nil {
				h.names = append(h.names, id.Name)
			}
			h.types[id.Name] = o.Type()
		}
	}
	for _, d := range s.File.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			eachName(g, add)
		}
	}
	for _, st := range s.body.Body.List {
		eachDefined(unlabel(st), add)
	}
}

// advance moves var declarations that an earlier line names before all statements: in a
// package, the order of declarations does not matter.
func (e *Checker) advance(c *Cell, h *hoist) bool {
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
				moved = moved || id.Name == name && c.toLead(e.Ctx.FileSet.Position(ds.Pos()))
			})
		}
	}
	return moved
}

// toLead puts the var piece at p before the statements.
func (s *Source) toLead(p token.Position) bool {
	for i, piece := range s.Pieces {
		if piece.Line == p.Line && piece.Col == p.Column && !s.lead[i] {
			s.lead[i] = true
			return true
		}
	}
	return false
}

// raise rewrites the statements that define variables to assignments, and declares the
// variables. A variable whose type has not changed keeps its place in memory, so that
// all references to it see the new value. It reports whether it changed the file.
func (e *Checker) raise(j *namespace.Journal, c *Cell, h *hoist) (changed bool) {
	e.keepOld(j, c, h)
	e.removeHidden(c, h)
	if len(h.names) > 0 {
		lead := e.Names(c.File)
		for _, name := range h.names {
			if !lead[name] {
				e.declare(c, h, name, h.types[name], h.Pkg)
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

// assignments are the assignments of a var declaration among statements.
func (h *hoist) assignments(g *ast.GenDecl) []ast.Stmt {
	var list []ast.Stmt
	for _, spec := range g.Specs {
		vs := spec.(*ast.ValueSpec)
		as := &ast.AssignStmt{Tok: token.ASSIGN, TokPos: vs.Pos(), Rhs: vs.Values}
		for _, id := range vs.Names {
			if len(vs.Values) == 0 {
				o := h.info.Defs[id]
				if id.Name == "_" || o == nil { // nil is an error: the name is declared twice
					continue
				}
				as.Rhs = append(as.Rhs, h.zero(o.Type(), h.Pkg, id.Pos()))
			}
			as.Lhs = append(as.Lhs, id)
		}
		if len(as.Lhs) > 0 {
			list = append(list, as)
		}
	}
	return list
}

// zero is the expression rt.Zero[T](). It does not use new, which cells may redefine.
func (h *hoist) zero(t types.Type, own *types.Package, pos token.Pos) ast.Expr {
	return rewrite.CallOf(pos, &ast.IndexExpr{X: rewrite.Fun(pos, "Zero"), Index: h.typeExpr(t, own)})
}

// declare adds var name T to the file, unless the live variable has this type.
func (e *Checker) declare(c *Cell, h *hoist, name string, t types.Type, own *types.Package) {
	if e.Keeps(name, t) && !h.gone[name] {
		return
	}
	d := &ast.GenDecl{Tok: token.VAR, TokPos: c.body.Pos(), Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{rewrite.Ident(c.body.Pos(), name)}, Type: h.typeExpr(t, own)},
	}}
	h.raised[d] = true
	c.File.Decls = append(c.File.Decls, d)
}

// failsCell reports whether the last value of a last expression ends the cell if it is
// an error. The last result of a call does, also if it is the only one, as for a launch.
// A variable that holds an error is shown like any other value.
func failsCell(x ast.Expr, t types.Type) bool {
	_, call := ast.Unparen(x).(*ast.CallExpr)
	return call && rewrite.Fails(t)
}

// showResult makes the last expression the cell's values, unless a semicolon follows.
// Results of fmt's printing functions are not shown. It reports whether it changed the
// file.
func (h *hoist) showResult(c *Cell) bool {
	es := c.result()
	if es == nil {
		return false
	}
	tv := h.info.Types[es.X]
	if tv.Type == nil || tv.IsVoid() || tv.IsType() || tv.IsBuiltin() || rewrite.Prints(h.info, es.X) {
		return false
	}
	hidden, fails := c.last().Semicolon, failsCell(es.X, tv.Type)
	if hidden && fails { // the value is hidden; its error counts as a dropped one
		return false
	}
	c.ErrLast = fails
	as := &ast.AssignStmt{Lhs: []ast.Expr{rewrite.Ident(es.Pos(), "__r")}, TokPos: es.Pos(), Tok: token.ASSIGN,
		Rhs: []ast.Expr{rewrite.Call(es.Pos(), "Values", es.X)}}
	if hidden {
		as.Lhs[0] = rewrite.Ident(es.Pos(), "_")
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
