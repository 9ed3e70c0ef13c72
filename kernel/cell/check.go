package cell

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"runtime"
	"slices"
	"strings"
)

// checked is a cell that is right and ready to compile.
type checked struct {
	*source
	pkg     *types.Package
	info    *types.Info
	errLast bool           // the last expression's last value is an error that fails the cell
	decls   []*declaration // of functions, types and constants, to be carried later
	broken  map[*declaration]diagnostic
	anew    map[string]bool // types that are declared again for the sake of their methods
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Scopes: map[ast.Node]*types.Scope{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances: map[*ast.Ident]types.Instance{},
	}
}

// typeCheck checks a file and collects all errors.
func (e *Engine) typeCheck(pkg *types.Package, file *ast.File) (*types.Info, []types.Error) {
	var errs []types.Error
	conf := &types.Config{
		Sizes: types.SizesFor("gc", runtime.GOARCH), Importer: e.importer, DisableUnusedImportCheck: true,
		Error: func(err error) {
			if te, ok := err.(types.Error); ok {
				errs = append(errs, te)
			}
		},
	}
	info := newInfo()
	e.ctx.SetEvalMode(true) // libraries kept as source may have unused imports
	defer e.ctx.SetEvalMode(false)
	types.NewChecker(conf, e.ctx.FileSet, pkg, info).Files([]*ast.File{file})
	return info, errs
}

// check finds a form of the cell that type-checks, or says why there is none.
// Each round may move a variable before the statement that uses it, or carry
// declarations of earlier cells whose meaning the cell changes, and starts
// again. It returns neither when ctx is cancelled meanwhile.
func (e *Engine) check(ctx context.Context, n int, src string) (*checked, []diagnostic) {
	s, diags := newSource(n, src)
	if len(diags) > 0 || ctx.Err() != nil {
		return nil, diags
	}
	defer func() { e.declaring = nil }()
	c := &checked{source: s, broken: map[*declaration]diagnostic{}, anew: map[string]bool{}}
	for {
		if diags := c.parse(e.ctx.FileSet); len(diags) > 0 {
			return nil, diags
		}
		e.distinguish(c)
		e.findReplaced(c)
		if e.carryReceivers(c) {
			e.forget(c.file)
			continue
		}
		c.methodsToFuncs()
		if ctx.Err() != nil {
			e.forget(c.file)
			e.unbreak(c)
			return nil, nil
		}
		h := e.infer(c)
		if c.changesSignature(h.info) || e.advance(c, h) || e.carryMore(c, h) {
			e.forget(c.file)
			continue
		}
		c.decls = e.declarations(c.source)
		diags := e.complete(ctx, c, h)
		if ctx.Err() != nil {
			e.forget(c.file)
			e.unbreak(c)
			return nil, nil
		}
		if e.breaks(c, diags) {
			e.forget(c.file)
			continue
		}
		if len(diags) > 0 {
			e.unbreak(c)
			return nil, diags
		}
		return c, nil
	}
}

// distinguish has messages of the checker tell the types that the cell declares
// from the live ones of the same names.
func (e *Engine) distinguish(c *checked) {
	e.declaring = e.names(c.file)
	for name := range e.declaring {
		if t, ok := e.live[name].(*types.TypeName); ok {
			e.mark(t)
		}
	}
}

// mark gives the package of a type a name of its own, for named.
func (e *Engine) mark(t *types.TypeName) *unit {
	u := e.graph.units[t.Pkg()]
	if u == nil || u.imported {
		return nil
	}
	u.pkg.SetName(u.path)
	return u
}

// forget frees what the file set keeps for a file that is parsed again.
func (e *Engine) forget(f *ast.File) {
	e.ctx.FileSet.RemoveFile(e.ctx.FileSet.File(f.FileStart))
}

// complete checks the whole cell, rewrites it and checks the outcome.
func (e *Engine) complete(ctx context.Context, c *checked, h *hoist) []diagnostic {
	if ctx.Err() != nil {
		return nil
	}
	pkg, info, errs := h.pkg, h.info, h.all
	if e.raise(c, h) || !h.whole || len(errs) > 0 {
		pkg, info, errs = e.checkKeyed(c, h)
	}
	diags := append(h.errs, e.diagnose(errs)...)
	if len(diags) > 0 || ctx.Err() != nil {
		return diags
	}
	settled := e.settle(c, h, pkg, info)
	r := &rewriter{info: info, reenters: strings.Contains(c.src, bodyName),
		interpreted: func(fn *types.Func) bool { return fn.Pkg() == pkg || e.graph.interpreted(fn) },
		compiled:    func(p *types.Package) bool { return p != pkg && e.graph.unitOf(p) == nil }}
	r.file(c.file)
	if c.pkg, c.info = pkg, info; !settled && !r.changed {
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	pkg = e.scope(c.file, h)
	info, errs = e.typeCheck(pkg, c.file)
	for _, d := range e.diagnose(errs) {
		d.msg = "the cell engine rewrote this wrongly: " + d.msg
		diags = append(diags, d)
	}
	c.pkg, c.info = pkg, info
	return diags
}

// scope makes the package that a file is checked in: it holds the live objects
// that the file names and does not declare. The checker compares package paths,
// so that unexported fields and methods of earlier cells stay in reach.
func (e *Engine) scope(f *ast.File, h *hoist) *types.Package {
	mine, pkg := e.names(f), types.NewPackage("main", "main")
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !mine[id.Name] && !h.gone[id.Name] {
			e.insert(pkg, id.Name)
		}
		return true
	})
	for _, v := range h.old {
		pkg.Scope().Insert(v)
	}
	for _, a := range h.aliases {
		pkg.Scope().Insert(types.NewTypeName(token.NoPos, pkg, a.name, a.typ))
	}
	return pkg
}

// insert adds a live object to the scope of a package, once.
func (e *Engine) insert(pkg *types.Package, name string) {
	o := e.live[name]
	if o == nil || pkg.Scope().Lookup(name) != nil {
		return
	}
	if p, ok := o.(*types.PkgName); ok {
		o = types.NewPkgName(token.NoPos, pkg, name, p.Imported())
	}
	pkg.Scope().Insert(o)
}

// names are the package-level names that a file declares or imports.
func (e *Engine) names(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				for _, name := range e.specNames(s) {
					names[name] = true
				}
			}
		}
	}
	return names
}

func (e *Engine) specNames(s ast.Spec) (names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
	case *ast.ImportSpec:
		if s.Name != nil {
			return []string{s.Name.Name}
		}
		if p, err := e.importer.Import(importPath(s)); err == nil {
			return []string{p.Name()}
		}
	}
	return names
}

func importPath(s *ast.ImportSpec) string { return strings.Trim(s.Path.Value, "`\"") }

const unexportedField = "implicit assignment to unexported field"

// checkKeyed checks the file. T{1, 2} of an earlier cell's T is taken for that
// of a foreign package; there it puts the keys in and checks again.
func (e *Engine) checkKeyed(c *checked, h *hoist) (*types.Package, *types.Info, []types.Error) {
	for {
		pkg := e.scope(c.file, h)
		info, errs := e.typeCheck(pkg, c.file)
		if !addKeys(c.file, info, errs) {
			return pkg, info, errs
		}
	}
}

func addKeys(f *ast.File, info *types.Info, errs []types.Error) bool {
	bad := map[token.Pos]bool{}
	for _, e := range errs {
		if strings.HasPrefix(e.Msg, unexportedField) {
			bad[e.Pos] = true
		}
	}
	if len(bad) == 0 {
		return false
	}
	fixed := false
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.CompositeLit); ok && slices.ContainsFunc(l.Elts, func(e ast.Expr) bool { return bad[e.Pos()] }) {
			fixed = key(l, info.TypeOf(l)) || fixed
		}
		return true
	})
	return fixed
}

// key puts field names before the elements of a struct literal.
func key(l *ast.CompositeLit, t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T left out in []*T{{...}}
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || len(l.Elts) > st.NumFields() {
		return false
	}
	fixed := false
	for i, e := range l.Elts {
		if _, keyed := e.(*ast.KeyValueExpr); !keyed {
			l.Elts[i] = &ast.KeyValueExpr{Key: &ast.Ident{Name: st.Field(i).Name(), NamePos: e.Pos()}, Colon: e.Pos(), Value: e}
			fixed = true
		}
	}
	return fixed
}
