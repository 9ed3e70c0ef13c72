package compile

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/engine/graph"
)

// Unready is the error of a program that the engine library cannot load. Types whose methods
// take instances of each other are whole only once the methods of all of them are set, so a
// cell that declares them may be ready the second time.
type Unready struct{ error }

// ImportedUnit is the unit of a package that is kept as source.
func (e *Compiler) ImportedUnit(p *types.Package) *graph.Unit {
	sp := e.Ctx.SourcePackage(p.Path())
	if sp == nil || sp.Package != p || !sp.Loaded() {
		return nil
	}
	u := &graph.Unit{Pkg: sp.Package, Info: sp.Info, Files: sp.Files, Path: p.Path(), Imported: true, Vars: map[string]reflect.Value{}}
	e.Graph.Add(u)
	return u
}

// Build builds the program of a unit. Functions of earlier cells are built into it
// again: calls stay fast, positions stay right and redefinition stays simple. If there
// are many, the far ones are linked instead.
func (e *Compiler) Build(u *graph.Unit) (p *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("engine: compile: %v", r)
		}
	}()
	if u.Idle {
		return e.declare(u)
	}
	e.Stage("reach")
	c, err := e.parts(u)
	if err != nil {
		return nil, err
	}
	known := len(e.dynamic)
	if err := e.initialiseAll(u, c.others); err != nil {
		return nil, err
	}
	if len(e.dynamic) > known { // its variables may hold values of types that the unit does not reach
		if c, err = e.parts(u); err != nil {
			return nil, err
		}
	}
	files, info := u.Files, u.Info
	if u.Imported {
		files, info = oneFile(u.Pkg, c.own), e.importedInfo(u)
	}
	e.Stage("ssa")
	p = e.create(u, c, files, info)
	packages := append(slices.Collect(maps.Keys(p.others)), p.Main)
	for _, q := range packages {
		q.Build()
	}
	p.reached = reach(p.SSA, packages, func(q *types.Package) bool { return e.Graph.UnitOf(q) != nil })
	orderPhis(p.reached.functions)
	markMisuse(p.reached.functions)
	e.Stage("link")
	if err := e.interpret(p); err != nil {
		return nil, Unready{err}
	}
	return p, nil
}

// declare makes the functions of an idle unit, which are analysed, and no interpreter: a cell
// that calls one of them is built with it.
func (e *Compiler) declare(u *graph.Unit) (*Program, error) {
	if err := e.initialiseAll(u, nil); err != nil { // packages that it imports for their effects
		return nil, err
	}
	if len(u.Decls) == 1 { // the function of its statements, which has none
		return &Program{Unit: u}, nil
	}
	e.Stage("reach")
	c, err := e.parts(u)
	if err != nil {
		return nil, err
	}
	e.Stage("ssa")
	p := e.create(u, c, u.Files, u.Info)
	p.Main.Build()
	return p, nil
}

// create makes the packages of a program: those of cells, with the declarations that the
// program needs, and compiled ones, with the members that it names.
func (e *Compiler) create(u *graph.Unit, c *parts, files []*ast.File, info *types.Info) *Program {
	mode := ssa.InstantiateGenerics | ssa.BareInits // e.initialise ensures that a package is initialised once
	p := &Program{Unit: u, SSA: ssa.NewProgram(e.Ctx.FileSet, mode), others: map[*ssa.Package]*graph.Unit{}, links: c.links}
	for q, members := range c.compiled {
		p.createCompiled(q, members)
	}
	for v, decls := range c.others {
		info := *v.Info
		info.InitOrder = nil
		p.others[p.create(v.Pkg, oneFile(v.Pkg, decls), &info)] = v
	}
	p.Main = p.create(u.Pkg, files, info)
	return p
}

func (p *Program) create(pkg *types.Package, files []*ast.File, info *types.Info) *ssa.Package {
	pkg.SetImports(nil) // their initialisers must not run
	return p.SSA.CreatePackage(pkg, files, info, false)
}

// createCompiled creates a compiled package with the members that the program names: without
// files it would have thousands.
func (p *Program) createCompiled(pkg *types.Package, members map[types.Object]bool) {
	f, info := oneFile(pkg, nil), &types.Info{Defs: map[*ast.Ident]types.Object{}}
	for o := range members {
		id := ast.NewIdent(o.Name())
		info.Defs[id] = o
		var d ast.Decl = &ast.FuncDecl{Name: id, Type: &ast.FuncType{}}
		if _, variable := o.(*types.Var); variable {
			d = &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{id}}}}
		}
		f[0].Decls = append(f[0].Decls, d)
	}
	p.SSA.CreatePackage(pkg, f, info, true)
}

func oneFile(pkg *types.Package, decls []ast.Decl) []*ast.File {
	return []*ast.File{{Name: ast.NewIdent(pkg.Name()), Decls: decls}}
}

// parts are the parts of a program: declarations of its unit and of other units, members of
// compiled packages, and linked functions.
type parts struct {
	own      []ast.Decl
	others   map[*graph.Unit][]ast.Decl
	compiled map[*types.Package]map[types.Object]bool
	links    []*graph.Decl
}

func (e *Compiler) parts(u *graph.Unit) (*parts, error) {
	var roots []*graph.Decl
	for _, d := range u.Decls {
		f, isFunc := d.Node.(*ast.FuncDecl)
		if u.Imported && isFunc && (f.Name.Name != "init" || f.Recv != nil) {
			continue
		}
		roots = append(roots, d)
	}
	for _, n := range u.Types {
		roots = append(roots, e.Graph.TypeDecl(n))
	}
	reached, links, err := e.cut(u, roots, e.Graph.Reach(roots, nil))
	p := &parts{others: map[*graph.Unit][]ast.Decl{}, compiled: map[*types.Package]map[types.Object]bool{}, links: links}
	for _, d := range links {
		p.others[d.Unit] = append(p.others[d.Unit], withoutBody(d))
	}
	for _, d := range reached {
		p.add(u, d)
	}
	if kept := e.behindInterfaces(reached); len(kept) > 0 && !u.Idle {
		k := e.keeper(kept)
		p.others[k] = k.Files[0].Decls
	}
	return p, err
}

// add adds a declaration, and the members of compiled packages that it names.
func (p *parts) add(u *graph.Unit, d *graph.Decl) {
	for _, o := range d.Compiled {
		if p.compiled[o.Pkg()] == nil {
			p.compiled[o.Pkg()] = map[types.Object]bool{}
		}
		p.compiled[o.Pkg()][o] = true
	}
	switch {
	case d.Node == nil:
	case d.Unit == u:
		p.own = append(p.own, d.Node)
	default:
		p.others[d.Unit] = append(p.others[d.Unit], d.Node)
	}
}

// importedInfo omits the initialisation of variables that live in compiled code.
func (e *Compiler) importedInfo(u *graph.Unit) *types.Info {
	info := *u.Info
	info.InitOrder = nil
	compiled, _ := e.Loader.Loader.Installed(u.Path)
	for _, in := range u.Info.InitOrder {
		for _, v := range in.Lhs {
			if compiled == nil || !compiled.Vars[v.Name()].IsValid() {
				info.InitOrder = append(info.InitOrder, in)
				break
			}
		}
	}
	return &info
}

// initialiseAll makes the state of the packages that a unit imports, or that it reaches.
func (e *Compiler) initialiseAll(u *graph.Unit, reached map[*graph.Unit][]ast.Decl) error {
	for _, v := range uninitialised(sources{e.Ctx, e.Graph}, u, reached) {
		if err := e.initialise(v); err != nil {
			return err
		}
	}
	return nil
}

// initialise makes the state of an imported package, once.
func (e *Compiler) initialise(u *graph.Unit) (err error) {
	if u.Initialised {
		return nil
	}
	u.Initialised = true
	defer func() { u.Initialised = err == nil }()
	p, err := e.Build(u)
	if err == nil {
		_, err = p.Interp.RunFunc("init")
	}
	if err != nil {
		return fmt.Errorf("engine: initialise %s: %w", u.Path, err)
	}
	return nil
}

// interpret makes the interpreter and records the addresses of the unit's variables and
// the types that the unit converts to interfaces.
func (e *Compiler) interpret(p *Program) (err error) {
	shared := map[string]*ixgo.Package{}
	for q, v := range p.others {
		if !v.Imported { // all cells are package main: their variables need keys of their own
			q.Pkg = types.NewPackage(v.Path, v.Pkg.Name())
		}
		shared[v.Path] = e.Loader.WithVars(v)
	}
	ctx := e.linkedContext(p)
	e.Reached(ctx, p.reached.types)
	if p.Interp, err = e.Types.NewInterp(ctx, p.Main, shared); err != nil {
		return err
	}
	if err := e.Execute(p.Interp); err != nil {
		return err
	}
	e.noteDynamic(p.reached.types)
	for name, m := range p.Main.Members {
		if g, ok := m.(*ssa.Global); ok {
			if a, ok := p.Interp.GetVarAddr(g.Name()); ok {
				p.Unit.Vars[name] = reflect.ValueOf(a)
			}
		}
	}
	return nil
}
