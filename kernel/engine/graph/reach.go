package graph

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
)

// Unit is a type-checked package whose functions are interpreted: a cell, or
// an imported package that is kept as source.
type Unit struct {
	Pkg         *types.Package
	Info        *types.Info
	Files       []*ast.File // nil once compacted
	Path        string      // names its variables: "main·7", or the import path
	Cell        int
	Imported    bool // a package that is kept as source, not a cell
	Initialised bool // imported, and its variables are set
	Linked      bool // a library of cells, see link
	Running     bool // a cell that has not ended
	Idle        bool // a cell that only declares functions, types, constants and imports
	Decls       []*Decl
	Types       []*types.Named
	Vars        map[string]reflect.Value // name to pointer
	File        token.Pos                // in the file; none if function values of the cell may outlive its declarations
}

// Decl is a function, a method or a variable of a unit, or (node nil) a named type, with
// its references.
type Decl struct {
	Unit     *Unit
	Node     ast.Decl
	Deps     []*Decl
	Compiled []types.Object // functions, methods and variables of compiled packages that it names
	Deferred []types.Object // functions that it defers by name
	Recovers bool           // it calls recover
	Size     int            // of a function, in syntax nodes
	Analysed bool
}

// Graph records the declarations that each declaration reaches, so that a cell is
// compiled with those that it needs and no others.
type Graph struct {
	Units  map[*types.Package]*Unit
	Owner  map[types.Object]*Decl    // of functions, methods and variables
	named  map[*types.TypeName]*Decl // of named types
	Nested map[*types.Named]int      // types local to functions, numbered
	source func(*types.Package) *Unit
}

func New(source func(*types.Package) *Unit) *Graph {
	return &Graph{map[*types.Package]*Unit{}, map[types.Object]*Decl{}, map[*types.TypeName]*Decl{}, map[*types.Named]int{}, source}
}

// Add records the declarations of a unit.
func (g *Graph) Add(u *Unit) {
	g.Units[u.Pkg] = u
	for _, f := range u.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				g.Own(&Decl{Unit: u, Node: d}, d.Name)
				g.AddNested(u, d)
			case *ast.GenDecl:
				g.addSpecs(u, d)
			}
		}
	}
}

func (g *Graph) Own(d *Decl, names ...*ast.Ident) {
	d.Unit.Decls = append(d.Unit.Decls, d)
	for _, n := range names {
		if o := d.Unit.Info.Defs[n]; o != nil {
			g.Owner[o] = d
		}
	}
}

func (g *Graph) addSpecs(u *Unit, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if tn, ok := u.Info.Defs[s.Name].(*types.TypeName); ok && !u.Imported {
				if n, ok := tn.Type().(*types.Named); ok {
					u.Types = append(u.Types, n)
				}
			}
		case *ast.ValueSpec:
			if d.Tok == token.VAR {
				g.Own(&Decl{Unit: u, Node: &ast.GenDecl{Tok: token.VAR, TokPos: d.TokPos, Specs: []ast.Spec{s}}}, s.Names...)
			}
		}
	}
}

// AddNested numbers the types that a function declares. Those of generic
// functions differ by instance and stay with the interpreter.
func (g *Graph) AddNested(u *Unit, d *ast.FuncDecl) {
	fn, ok := u.Info.Defs[d.Name].(*types.Func)
	if !ok || d.Body == nil || IsGeneric(fn) {
		return
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if ts, ok := n.(*ast.TypeSpec); ok {
			if tn, ok := u.Info.Defs[ts.Name].(*types.TypeName); ok {
				if t, ok := tn.Type().(*types.Named); ok {
					g.Nested[t] = len(g.Nested) + 1
				}
			}
		}
		return true
	})
}

func IsGeneric(fn *types.Func) bool {
	sig := fn.Signature()
	return sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0
}

// UnitOf finds the unit of a package, nil if the package is compiled.
func (g *Graph) UnitOf(p *types.Package) *Unit {
	if p == nil {
		return nil
	}
	if u := g.Units[p]; u != nil {
		return u
	}
	return g.source(p)
}

// Interpreted reports whether fn has a body that is interpreted.
func (g *Graph) Interpreted(fn *types.Func) bool {
	g.UnitOf(fn.Pkg())
	d := g.Owner[fn.Origin()]
	if d == nil {
		return false
	}
	f, ok := d.Node.(*ast.FuncDecl)
	return ok && f.Body != nil
}

// TypeDecl represents a named type. It reaches all methods, because compiled code may
// call any of them.
func (g *Graph) TypeDecl(n *types.Named) *Decl {
	o := n.Origin().Obj()
	if d := g.named[o]; d != nil {
		return d
	}
	u := g.UnitOf(o.Pkg())
	if u == nil {
		return nil
	}
	w := &walker{g: g, d: &Decl{Unit: u, Analysed: true}, seen: map[types.Type]bool{}}
	g.named[o] = w.d
	for m := range n.Origin().Methods() {
		if x := g.Owner[m]; x != nil {
			w.d.Deps = append(w.d.Deps, x)
		}
		w.typ(m.Type())
	}
	w.typ(n.Origin().Underlying())
	return w.d
}

// analyse collects the references of a declaration.
func (g *Graph) analyse(d *Decl) {
	if d.Analysed {
		return
	}
	d.Analysed = true
	w := &walker{g: g, d: d, seen: map[types.Type]bool{}}
	info := d.Unit.Info
	d.measure()
	ast.Inspect(d.Node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := info.Uses[id]; o != nil {
				w.object(o)
			}
			if o := info.Defs[id]; o != nil {
				w.typ(o.Type())
			}
			if in, ok := info.Instances[id]; ok {
				for t := range in.TypeArgs.Types() {
					w.typ(t)
				}
			}
		}
		if x, ok := n.(ast.Expr); ok {
			if tv, ok := info.Types[x]; ok {
				w.typ(tv.Type)
			}
		}
		return true
	})
}

// measure collects the facts that decide whether a function can be linked.
func (d *Decl) measure() {
	f, ok := d.Node.(*ast.FuncDecl)
	if !ok {
		return
	}
	info := d.Unit.Info
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.DeferStmt:
			if id, ok := ast.Unparen(n.Call.Fun).(*ast.Ident); ok {
				d.Deferred = append(d.Deferred, info.Uses[id])
			}
		case *ast.Ident:
			d.Recovers = d.Recovers || info.Uses[n] == types.Universe.Lookup("recover")
		}
		d.Size++
		return true
	})
}

// walker collects the declarations that one declaration reaches.
type walker struct {
	g    *Graph
	d    *Decl
	seen map[types.Type]bool
}

func (w *walker) dep(x *Decl) {
	if x != w.d && !slices.Contains(w.d.Deps, x) {
		w.d.Deps = append(w.d.Deps, x)
	}
}

// compiled notes a function, method or variable of a compiled package. Methods of unnamed
// interfaces may belong to the package of the cell's first, inferring pass.
func (w *walker) compiled(o types.Object) {
	if fn, ok := o.(*types.Func); ok && fn.Signature().Recv() != nil && types.IsInterface(fn.Signature().Recv().Type()) {
		return
	}
	if o.Pkg().Path() != "main" && !slices.Contains(w.d.Compiled, o) {
		w.d.Compiled = append(w.d.Compiled, o)
	}
}

func (w *walker) object(o types.Object) {
	switch x := o.(type) {
	case *types.Func:
		o = x.Origin()
	case *types.Var:
		o = x.Origin()
		if x.IsField() {
			w.typ(x.Type())
			return
		}
	default:
		return
	}
	if o.Pkg() == nil {
		return
	}
	u := w.g.UnitOf(o.Pkg())
	if x := w.g.Owner[o]; x != nil {
		w.dep(x)
	} else if u == nil {
		w.compiled(o)
	}
	w.typ(o.Type())
}

func (w *walker) typ(t types.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.typ(types.Unalias(t))
	case *types.Named:
		w.namedType(t)
	case *types.Map:
		w.typ(t.Key())
		w.typ(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		w.typ(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			w.typ(f.Type())
		}
	case *types.Signature:
		w.typ(t.Params())
		w.typ(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.typ(v.Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			w.typ(m.Type())
		}
	}
}

func (w *walker) namedType(t *types.Named) {
	for a := range t.TypeArgs().Types() {
		w.typ(a)
	}
	if x := w.g.TypeDecl(t); x != nil {
		w.dep(x)
	}
}

// Reach returns all declarations that the given ones reach, including themselves, the
// nearest first. It omits declarations for which stop returns true, and those that only
// they reach.
func (g *Graph) Reach(roots []*Decl, stop func(*Decl) bool) []*Decl {
	seen := map[*Decl]bool{}
	var out []*Decl
	push := func(d *Decl) {
		if d == nil || seen[d] {
			return
		}
		if seen[d] = true; stop == nil || !stop(d) {
			out = append(out, d)
		}
	}
	for _, d := range roots {
		push(d)
	}
	for i := 0; i < len(out); i++ {
		g.analyse(out[i])
		for _, x := range out[i].Deps {
			push(x)
		}
	}
	return out
}
