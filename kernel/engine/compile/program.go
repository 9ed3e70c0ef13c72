package compile

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"

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
	e.Stage("reach")
	own, parts, compiled, links, err := e.parts(u)
	if err != nil {
		return nil, err
	}
	known := len(e.dynamic)
	for _, v := range uninitialised(sources{e.Ctx, e.Graph}, u, parts) {
		if err := e.initialise(v); err != nil {
			return nil, err
		}
	}
	if len(e.dynamic) > known { // its variables may hold values of types that the unit does not reach
		if own, parts, compiled, links, err = e.parts(u); err != nil {
			return nil, err
		}
	}
	files, info := u.Files, u.Info
	if u.Imported {
		files, info = oneFile(u.Pkg, own), e.importedInfo(u)
	}
	mode := ssa.InstantiateGenerics | ssa.BareInits // e.initialise ensures that a package is initialised once
	p = &Program{Unit: u, SSA: ssa.NewProgram(e.Ctx.FileSet, mode), others: map[*ssa.Package]*graph.Unit{}, links: links}
	for q := range compiled {
		p.SSA.CreatePackage(q, nil, nil, true)
	}
	e.Stage("ssa")
	p.build(parts, files, info)
	e.Stage("link")
	if err := e.interpret(p); err != nil {
		return nil, Unready{err}
	}
	return p, nil
}

func (p *Program) build(parts map[*graph.Unit][]ast.Decl, files []*ast.File, info *types.Info) {
	for v, decls := range parts {
		info := *v.Info
		info.InitOrder = nil
		p.others[p.create(v.Pkg, oneFile(v.Pkg, decls), &info)] = v
	}
	p.Main = p.create(p.Unit.Pkg, files, info)
	for q := range p.others {
		q.Build()
	}
	p.Main.Build()
	p.orderPhis()
	p.markMisuse()
}

func (p *Program) create(pkg *types.Package, files []*ast.File, info *types.Info) *ssa.Package {
	pkg.SetImports(nil) // their initialisers must not run
	return p.SSA.CreatePackage(pkg, files, info, false)
}

func oneFile(pkg *types.Package, decls []ast.Decl) []*ast.File {
	return []*ast.File{{Name: ast.NewIdent(pkg.Name()), Decls: decls}}
}

// parts collects the parts of a unit: declarations of its own and of other units,
// compiled packages, and linked functions.
func (e *Compiler) parts(u *graph.Unit) (own []ast.Decl, others map[*graph.Unit][]ast.Decl, compiled map[*types.Package]bool, links []*graph.Decl, err error) {
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
	others, compiled = map[*graph.Unit][]ast.Decl{}, map[*types.Package]bool{}
	reached, links, err := e.cut(u, roots, e.Graph.Reach(roots, nil))
	for _, d := range links {
		others[d.Unit] = append(others[d.Unit], withoutBody(d))
	}
	for _, d := range reached {
		for _, q := range d.Compiled {
			compiled[q] = true
		}
		switch {
		case d.Node == nil:
		case d.Unit == u:
			own = append(own, d.Node)
		default:
			others[d.Unit] = append(others[d.Unit], d.Node)
		}
	}
	if kept := e.behindInterfaces(reached); len(kept) > 0 {
		k := e.keeper(kept)
		others[k] = k.Files[0].Decls
	}
	return own, others, compiled, links, err
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
	if p.Interp, err = e.Types.NewInterp(e.linkedContext(p), p.Main, shared); err != nil {
		return err
	}
	if err := e.Execute(p.Interp); err != nil {
		return err
	}
	e.noteDynamic(p.SSA.RuntimeTypes())
	for name, m := range p.Main.Members {
		if g, ok := m.(*ssa.Global); ok {
			if a, ok := p.Interp.GetVarAddr(g.Name()); ok {
				p.Unit.Vars[name] = reflect.ValueOf(a)
			}
		}
	}
	return nil
}
