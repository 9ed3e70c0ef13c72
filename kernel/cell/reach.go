package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
)

// unit is a type-checked package whose functions are interpreted: a cell, or
// an imported package that is kept as source.
type unit struct {
	pkg         *types.Package
	info        *types.Info
	files       []*ast.File // nil once compacted
	path        string      // names its variables: "main·7", or the import path
	cell        int
	imported    bool // a package that is kept as source, not a cell
	initialised bool // imported, and its variables are set
	linked      bool // a library of cells, see link
	running     bool // a cell that has not ended
	decls       []*decl
	types       []*types.Named
	vars        map[string]reflect.Value // name to pointer
	file        token.Pos                // in it; none if function values of the cell may outlive what it declares
}

// decl is a function, a method or a variable of a unit, or (node nil) a named
// type, with what it refers to.
type decl struct {
	unit     *unit
	node     ast.Decl
	deps     []*decl
	compiled []*types.Package // compiled packages it refers to
	ifaces   []types.Type     // interfaces whose methods it may call
	deferred []types.Object   // functions that it defers by name
	recovers bool             // it calls recover
	generic  bool             // its interfaces may have type parameters
	size     int              // of a function, in syntax nodes
	analysed bool
}

// graph records what each declaration reaches, so that a cell is compiled
// with the declarations that it needs and no others.
type graph struct {
	units  map[*types.Package]*unit
	owner  map[types.Object]*decl    // of functions, methods and variables
	named  map[*types.TypeName]*decl // of named types
	nested map[*types.Named]int      // types local to functions, numbered
	source func(*types.Package) *unit
}

func newGraph(source func(*types.Package) *unit) *graph {
	return &graph{map[*types.Package]*unit{}, map[types.Object]*decl{}, map[*types.TypeName]*decl{}, map[*types.Named]int{}, source}
}

// add records the declarations of a unit.
func (g *graph) add(u *unit) {
	g.units[u.pkg] = u
	for _, f := range u.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				g.own(&decl{unit: u, node: d}, d.Name)
				g.addNested(u, d)
			case *ast.GenDecl:
				g.addSpecs(u, d)
			}
		}
	}
}

func (g *graph) own(d *decl, names ...*ast.Ident) {
	d.unit.decls = append(d.unit.decls, d)
	for _, n := range names {
		if o := d.unit.info.Defs[n]; o != nil {
			g.owner[o] = d
		}
	}
}

func (g *graph) addSpecs(u *unit, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if tn, ok := u.info.Defs[s.Name].(*types.TypeName); ok && !u.imported {
				if n, ok := tn.Type().(*types.Named); ok {
					u.types = append(u.types, n)
				}
			}
		case *ast.ValueSpec:
			if d.Tok == token.VAR {
				g.own(&decl{unit: u, node: &ast.GenDecl{Tok: token.VAR, TokPos: d.TokPos, Specs: []ast.Spec{s}}}, s.Names...)
			}
		}
	}
}

// addNested numbers the types that a function declares. Those of generic
// functions differ by instance and stay with the interpreter.
func (g *graph) addNested(u *unit, d *ast.FuncDecl) {
	fn, ok := u.info.Defs[d.Name].(*types.Func)
	if !ok || d.Body == nil || isGeneric(fn) {
		return
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if ts, ok := n.(*ast.TypeSpec); ok {
			if tn, ok := u.info.Defs[ts.Name].(*types.TypeName); ok {
				if t, ok := tn.Type().(*types.Named); ok {
					g.nested[t] = len(g.nested) + 1
				}
			}
		}
		return true
	})
}

func isGeneric(fn *types.Func) bool {
	sig := fn.Signature()
	return sig.TypeParams().Len()+sig.RecvTypeParams().Len() > 0
}

// unitOf finds the unit of a package, nil if the package is compiled.
func (g *graph) unitOf(p *types.Package) *unit {
	if p == nil {
		return nil
	}
	if u := g.units[p]; u != nil {
		return u
	}
	return g.source(p)
}

// interpreted says whether fn has a body that is interpreted.
func (g *graph) interpreted(fn *types.Func) bool {
	g.unitOf(fn.Pkg())
	d := g.owner[fn.Origin()]
	if d == nil {
		return false
	}
	f, ok := d.node.(*ast.FuncDecl)
	return ok && f.Body != nil
}

// typeDecl stands for a named type: it reaches all methods, as compiled code
// may call any of them.
func (g *graph) typeDecl(n *types.Named) *decl {
	o := n.Origin().Obj()
	if d := g.named[o]; d != nil {
		return d
	}
	u := g.unitOf(o.Pkg())
	if u == nil {
		return nil
	}
	w := &walker{g: g, d: &decl{unit: u, analysed: true, generic: n.Origin().TypeParams().Len() > 0}, seen: map[types.Type]bool{}}
	g.named[o] = w.d
	for m := range n.Origin().Methods() {
		if x := g.owner[m]; x != nil {
			w.d.deps = append(w.d.deps, x)
		}
		w.typ(m.Type())
	}
	w.typ(n.Origin().Underlying())
	return w.d
}

// analyse finds what a declaration refers to.
func (g *graph) analyse(d *decl) {
	if d.analysed {
		return
	}
	d.analysed = true
	w := &walker{g: g, d: d, seen: map[types.Type]bool{}}
	info := d.unit.info
	d.measure()
	ast.Inspect(d.node, func(n ast.Node) bool {
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

// measure finds what decides whether a function can be linked.
func (d *decl) measure() {
	f, ok := d.node.(*ast.FuncDecl)
	if !ok {
		return
	}
	info := d.unit.info
	if fn, ok := info.Defs[f.Name].(*types.Func); ok {
		d.generic = isGeneric(fn)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.DeferStmt:
			if id, ok := ast.Unparen(n.Call.Fun).(*ast.Ident); ok {
				d.deferred = append(d.deferred, info.Uses[id])
			}
		case *ast.Ident:
			d.recovers = d.recovers || info.Uses[n] == types.Universe.Lookup("recover")
		}
		d.size++
		return true
	})
}

// walker collects what one declaration reaches.
type walker struct {
	g    *graph
	d    *decl
	seen map[types.Type]bool
}

func (w *walker) dep(x *decl) {
	if x != w.d && !slices.Contains(w.d.deps, x) {
		w.d.deps = append(w.d.deps, x)
	}
}

// pkg notes a compiled package. Methods of unnamed interfaces may be of the package
// that a cell was only inferred with.
func (w *walker) pkg(p *types.Package) {
	if p.Path() != "main" && !slices.Contains(w.d.compiled, p) {
		w.d.compiled = append(w.d.compiled, p)
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
	u := w.g.unitOf(o.Pkg())
	if x := w.g.owner[o]; x != nil {
		w.dep(x)
	} else if u == nil {
		w.pkg(o.Pkg())
	}
	w.typ(o.Type())
}

func (w *walker) typ(t types.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	if i, ok := t.Underlying().(*types.Interface); ok && i.NumMethods() > 0 && i.IsMethodSet() {
		w.d.ifaces = append(w.d.ifaces, t)
	}
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
	if x := w.g.typeDecl(t); x != nil {
		w.dep(x)
	} else if p := t.Obj().Pkg(); p != nil {
		w.pkg(p)
	}
}

// reach returns all that the declarations reach, themselves included, the
// nearest first. A declaration that stop holds for is left out, with what only it
// reaches.
func (g *graph) reach(roots []*decl, stop func(*decl) bool) []*decl {
	seen := map[*decl]bool{}
	var out []*decl
	push := func(d *decl) {
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
		for _, x := range out[i].deps {
			push(x)
		}
	}
	return out
}
