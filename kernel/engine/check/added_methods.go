package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/rtypes"
)

// A method that a cell adds to a live type becomes a method of that type, so that values
// which exist already get it too. Its signature is found first, by a check of the cell's
// declarations without bodies; then the type gets the method, and the cell is checked as
// if it replaced it.

// addedMethod is a method that the cell adds to a live type.
type addedMethod struct {
	decl *ast.FuncDecl
	to   *types.Named
}

// addable reports whether a method of that name can be added to a live type. A type that
// is declared first has no values yet, so its methods may hide others.
func (e *Checker) addable(fd *ast.FuncDecl, t *types.Named, first map[*types.Named]bool) bool {
	if t == nil || t.TypeArgs().Len() > 0 || e.Graph.Units[t.Obj().Pkg()] == nil || fd.Type.TypeParams != nil || len(fd.Recv.List) != 1 || !fitsGeneric(fd, t) {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return false
	}
	if o, _, _ := types.LookupFieldOrMethod(t, true, t.Obj().Pkg(), fd.Name.Name); o != nil && !first[t] { // of an embedded type
		return false
	}
	base := ast.Unparen(fd.Recv.List[0].Type)
	if star, ok := base.(*ast.StarExpr); ok {
		base = ast.Unparen(star.X)
	}
	_, twice := base.(*ast.StarExpr)
	return !twice && fd.Name.Name != "_"
}

// addMethods gives live types the methods that the cell adds, with these signatures, until
// the journal is undone. A type for which this cannot be done is declared again.
func (e *Checker) addMethods(j *namespace.Journal, c *Cell, signatures []*types.Signature) {
	for i, a := range c.adds {
		sig, base := signatures[i], a.to.Obj().Name()
		if c.anew[base] || sig == nil || methodOf(a.to, a.decl.Name.Name) != nil { // twice in the cell
			c.anew[base] = true
			continue
		}
		_, pointer := ast.Unparen(a.decl.Recv.List[0].Type).(*ast.StarExpr)
		m := namespace.NewMethod(a.to, a.decl.Name, pointer, sig)
		e.AddMethod(j, a.to, m)
		c.Added[m] = a.to
		c.Replaced = append(c.Replaced, namespace.Replacement{Decl: a.decl, Old: m})
	}
	synced := map[*types.Named]bool{}
	for _, a := range c.adds { // after all: a signature of the last may have an instance of the first, made without methods
		if !synced[a.to] {
			synced[a.to] = true
			e.SyncInstances(a.to)
		}
	}
}

// signatures are those of the methods that the cell adds, nil for one that has errors or
// needs a type that the cell declares; own reports whether one does.
func (e *Checker) signatures(c *Cell) (list []*types.Signature, own bool) {
	if len(c.adds) == 0 {
		return nil, false
	}
	file := c.partOfFile(func(g *ast.GenDecl) bool { return g.Tok != token.VAR })
	list = make([]*types.Signature, len(c.adds))
	heads := make([]*ast.Ident, len(c.adds))
	for i, a := range c.adds {
		heads[i] = rewrite.Ident(a.decl.Name.Pos(), methodPrefix+a.to.Obj().Name()+"_"+a.decl.Name.Name)
		file.Decls = append(file.Decls, &ast.FuncDecl{Name: heads[i], Type: a.decl.Type})
	}
	at := e.scope(file, &hoist{gone: goneOf(c), aliases: c.parameters})
	info, _ := e.TypeCheck(at, file)
	for i, id := range heads {
		fn, ok := info.Defs[id].(*types.Func)
		if !ok || strings.Contains(fn.Type().String(), "invalid type") {
			continue
		}
		if mentions(fn.Type(), at.Pkg) {
			own = true
		} else {
			list[i] = fn.Signature()
		}
	}
	return list, own
}

// partOfFile is the file of the cell with some of its declarations.
func (c *Cell) partOfFile(want func(*ast.GenDecl) bool) *ast.File {
	file := &ast.File{Name: c.File.Name, Package: c.File.Package, FileStart: c.File.FileStart, FileEnd: c.File.FileEnd, Imports: c.File.Imports}
	for _, d := range c.File.Decls {
		if g, ok := d.(*ast.GenDecl); ok && want(g) {
			file.Decls = append(file.Decls, g)
		}
	}
	return file
}

// goneOf are the names that lose their meaning with the cell.
func goneOf(c *Cell) map[string]bool {
	gone := map[string]bool{}
	for d := range c.Broken {
		for _, n := range d.Names {
			gone[n] = true
		}
	}
	return gone
}

// grow gives the methods that the cell adds to the values of their types. A type for which
// this cannot be done is declared again; grow reports whether there is one.
func (e *Checker) grow(j *namespace.Journal, c *Cell) (again bool) {
	names := map[*types.Named][]string{}
	for m, t := range c.Added {
		names[t] = append(names[t], m.Name())
	}
	var undo []func()
	fresh := rtypes.Fresh{}
	for t, added := range names {
		shrink, err := e.Grow(t, added, fresh)
		if err != nil {
			c.anew[t.Obj().Name()], again = true, true
			continue
		}
		undo = append(undo, shrink)
	}
	for _, f := range undo {
		if again {
			f()
		} else {
			j.Note(f)
		}
	}
	return again
}

// dropAdded takes the methods away again that the cell added in the round before: one may
// no longer compile, or its type may be declared again after all.
func (e *Checker) dropAdded(c *Cell) {
	for m, t := range c.Added {
		e.RemoveMethod(t, m)
		delete(c.Added, m)
	}
}
