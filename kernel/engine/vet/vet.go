// Package vet runs analysers of go vet on the cells of a session.
//
// Each cell is a package of its own for the analysers. Their facts about the functions
// of one cell, such as that it forwards its arguments to fmt.Printf, are kept under the
// function's name for later cells. Package check calls it through Facts. The package
// must not import the engine.
package vet

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/ssa"
)

// Warning is a finding of an analyser.
type Warning struct {
	Pos  token.Pos
	Text string
}

// Cell is a cell that the type checker accepts.
type Cell struct {
	Fset *token.FileSet
	File *ast.File
	Pkg  *types.Package
	Info *types.Info
}

// Facts are the facts of the analysers about the functions of a session. The zero value
// is empty. It is not safe for concurrent use.
type Facts struct {
	known map[fact]analysis.Fact
}

// fact identifies a kind of knowledge about an object. Objects of one name in two cells
// are the same function, checked twice.
type fact struct {
	object string
	kind   reflect.Type
}

func factOf(o types.Object, f analysis.Fact) fact {
	name := o.Name()
	switch o := o.(type) {
	case *types.Func:
		name = o.FullName()
	default:
		if o.Pkg() != nil {
			name = o.Pkg().Path() + "." + name
		}
	}
	return fact{name, reflect.TypeOf(f)}
}

// Syntax runs the analysers of syntax and types that may find something: printf,
// unusedresult, copylocks and, if a cell makes a context, lostcancel. Learn stores facts about the cell's functions, in
// place of those about earlier functions of their names; it is not called for a cell
// that does not begin.
func (f *Facts) Syntax(c Cell) (warnings []Warning, learn func()) {
	p := &pass{cell: c, facts: f, fresh: map[fact]analysis.Fact{}, results: map[*analysis.Analyzer]any{}}
	p.cell.File = inOrder(c.File)
	for _, a := range useful(c) {
		p.try(a)
	}
	if path := contexts(c.Info); path != nil {
		if !slices.Contains(c.Pkg.Imports(), path) { // an earlier cell imports it; lostcancel reads this list
			c.Pkg.SetImports(append(slices.Clone(c.Pkg.Imports()), path))
		}
		p.cancels(c)
	}
	p.warnings = append(p.warnings, closed(c)...)
	return p.warnings, p.learn
}

// inOrder is a file with its declarations in the order of their positions: the analysers
// take the end of the last declaration for the end of the file.
func inOrder(f *ast.File) *ast.File {
	sorted := *f
	sorted.Decls = slices.Clone(f.Decls)
	slices.SortStableFunc(sorted.Decls, func(a, b ast.Decl) int { return cmp.Compare(a.End(), b.End()) })
	return &sorted
}

// Nilness runs the analyser of values that are known to be nil on functions of the
// cell in SSA form.
func Nilness(c Cell, pkg *ssa.Package, functions []*ssa.Function) []Warning {
	p := &pass{cell: c, facts: &Facts{}, results: map[*analysis.Analyzer]any{
		buildssa.Analyzer: &buildssa.SSA{Pkg: pkg, SrcFuncs: functions},
	}}
	p.try(nilness.Analyzer)
	return p.warnings
}

// contexts is package context, if the cell uses a function of it, else nil.
func contexts(info *types.Info) *types.Package {
	for _, o := range info.Uses {
		if fn, ok := o.(*types.Func); ok && fn.Pkg() != nil && fn.Pkg().Path() == "context" {
			return fn.Pkg()
		}
	}
	return nil
}

// pass is one run of analysers on a cell.
type pass struct {
	cell     Cell
	facts    *Facts
	fresh    map[fact]analysis.Fact
	results  map[*analysis.Analyzer]any
	warnings []Warning
}

// try runs an analyser. One that panics reports nothing: analysers expect packages as
// the go command checks them, and satisfy.Finder, which printf uses, panics at a method
// expression of an interface literal.
func (p *pass) try(a *analysis.Analyzer) {
	before := len(p.warnings)
	defer func() {
		if recover() != nil {
			p.warnings = p.warnings[:before]
		}
	}()
	p.run(a)
}

// run runs an analyser after those that it requires.
func (p *pass) run(a *analysis.Analyzer) any {
	if r, done := p.results[a]; done {
		return r
	}
	required := map[*analysis.Analyzer]any{}
	for _, r := range a.Requires {
		required[r] = p.run(r)
	}
	r, err := a.Run(&analysis.Pass{
		Analyzer: a, Fset: p.cell.Fset, Files: []*ast.File{p.cell.File}, Pkg: p.cell.Pkg, TypesInfo: p.cell.Info,
		TypesSizes: types.SizesFor("gc", runtime.GOARCH), ResultOf: required,
		Report: func(d analysis.Diagnostic) {
			p.warnings = append(p.warnings, Warning{d.Pos, strings.ReplaceAll(d.Message, "@patch", "")}) // generic types of the library are source
		},
		ImportObjectFact: p.importFact,
		ExportObjectFact: func(o types.Object, f analysis.Fact) { p.fresh[factOf(o, f)] = f },
		ImportPackageFact: func(*types.Package, analysis.Fact) bool {
			return false
		},
		ExportPackageFact: func(analysis.Fact) {},
	})
	if err != nil {
		panic(fmt.Errorf("vet: %s: %w", a.Name, err))
	}
	p.results[a] = r
	return r
}

// importFact fills a fact about an object of this cell or, if another cell declares it,
// of that cell.
func (p *pass) importFact(o types.Object, f analysis.Fact) bool {
	name := factOf(o, f)
	known, ok := p.fresh[name]
	if !ok && !p.declares(o) {
		known, ok = p.facts.known[name]
	}
	if ok {
		reflect.ValueOf(f).Elem().Set(reflect.ValueOf(known).Elem())
	}
	return ok
}

func (p *pass) declares(o types.Object) bool {
	return p.cell.File.FileStart <= o.Pos() && o.Pos() < p.cell.File.FileEnd
}

// learn stores the facts of this run.
func (p *pass) learn() {
	for _, o := range p.cell.Info.Defs {
		if fn, ok := o.(*types.Func); ok {
			maps.DeleteFunc(p.facts.known, func(k fact, _ analysis.Fact) bool { return k.object == fn.FullName() })
		}
	}
	if len(p.fresh) == 0 {
		return
	}
	if p.facts.known == nil {
		p.facts.known = map[fact]analysis.Fact{}
	}
	maps.Copy(p.facts.known, p.fresh)
}
