package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
)

// The signature of a method that joins a live type may need types that the cell declares:
//
//	type Visitor struct{ nodes int }
//	func (n *Node) Accept(v *Visitor) { v.nodes++ }
//
// Each check of the cell makes its types anew, but the live type has one method. So the
// new types of such a cell become live before the rest of the cell is checked, as if a cell
// before it declared them. Their own methods are then added to live types too.

// declareFirst makes the new types of the cell live, until the journal is undone. It reports
// whether it did; if they or their methods need the rest of the cell, the session is as
// before.
func (e *Checker) declareFirst(j *namespace.Journal, c *Cell) bool {
	if c.first != nil {
		return false
	}
	c.first = map[*types.Named]bool{}
	specs := e.newTypes(c)
	file := c.partOfFile(func(g *ast.GenDecl) bool { return g.Tok == token.IMPORT || g.Tok == token.CONST })
	for _, ts := range specs {
		file.Decls = append(file.Decls, &ast.GenDecl{Tok: token.TYPE, TokPos: ts.Pos(), Specs: []ast.Spec{ts}})
	}
	at := e.scope(file, &hoist{gone: goneOf(c)})
	info, errs := e.TypeCheck(at, file)
	if len(errs) > 0 || len(specs) == 0 {
		return false
	}
	e.Serial++
	u := &graph.Unit{Pkg: at.Pkg, Info: info, Files: []*ast.File{file}, Path: fmt.Sprintf("main·%d", e.Serial), Cell: c.Cell, Vars: map[string]reflect.Value{}, File: file.FileStart}
	e.Graph.Add(u)
	for _, n := range u.Types {
		c.first[n] = true
	}
	if !e.methodsFit(c, u) {
		e.Graph.Remove(u)
		clear(c.first)
		return false
	}
	j.Note(func() { e.Graph.Remove(u) })
	for _, d := range e.declarations(c.Source) {
		if o, ok := at.Pkg.Scope().Lookup(d.Name).(*types.TypeName); ok && d.Base == "" {
			d.Serial = e.Serial
			d.NoteUses(info)
			namespace.Set(j, e.Live, d.Name, types.Object(o))
			namespace.Set(j, e.Decls, d.Name, d)
		}
	}
	e.Graph.Compact(u)
	return true
}

// newTypes are the declarations of types whose names have no meaning before the cell.
func (e *Checker) newTypes(c *Cell) (specs []*ast.TypeSpec) {
	eachType(c.File, func(ts *ast.TypeSpec) {
		if name := ts.Name.Name; e.Live[name] == nil && !strings.HasPrefix(name, keptPrefix) && c.Carried(ts.Pos()) == nil {
			specs = append(specs, ts)
		}
	})
	return specs
}

// methodsFit reports whether the methods that the cell declares for types of a unit can be
// added to them.
func (e *Checker) methodsFit(c *Cell, u *graph.Unit) bool {
	for _, d := range c.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			continue
		}
		o, ok := u.Pkg.Scope().Lookup(c.aliased(baseName(fd))).(*types.TypeName)
		if !ok {
			continue
		}
		if n, ok := o.Type().(*types.Named); !ok || !e.addable(fd, n, c.first) {
			return false
		}
	}
	return true
}
