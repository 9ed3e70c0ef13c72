package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// program is an SSA program of one unit and of what it reaches, shaken free
// of everything else, with the interpreter that runs it.
type program struct {
	unit   *unit
	ssa    *ssa.Program
	main   *ssa.Package
	others map[*ssa.Package]*unit
	links  []*decl // functions that it calls in other programs
	interp *ixgo.Interp
}

// compile builds the program of a unit. Functions of earlier cells are built
// into it again: calls stay fast, positions right and redefinition simple. Where
// they are many, the farther ones are linked instead.
func (e *Engine) compile(u *unit) (p *program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cell: compile: %v", r)
		}
	}()
	own, parts, compiled, links, err := e.parts(u)
	if err != nil {
		return nil, err
	}
	for v := range parts { // the state of an imported package is made once
		if v.imported && !v.initialised {
			v.initialised = true
			if err := e.initialise(v); err != nil {
				return nil, err
			}
		}
	}
	files, info := u.files, u.info
	if u.imported {
		files, info = oneFile(u.pkg, own), e.importedInfo(u)
	}
	mode := ssa.InstantiateGenerics | ssa.BareInits // e.initialise sees to it that a package is initialised once
	p = &program{unit: u, ssa: ssa.NewProgram(e.ctx.FileSet, mode), others: map[*ssa.Package]*unit{}, links: links}
	for q := range compiled {
		p.ssa.CreatePackage(q, nil, nil, true)
	}
	p.build(parts, files, info)
	if err := e.interpret(p); err != nil {
		return nil, err
	}
	if len(links) > 0 && e.dropLibraries() { // the unit itself has a type that they do not know
		return e.compile(u)
	}
	return p, nil
}

func (p *program) build(parts map[*unit][]ast.Decl, files []*ast.File, info *types.Info) {
	for v, decls := range parts {
		info := *v.info
		info.InitOrder = nil
		p.others[p.create(v.pkg, oneFile(v.pkg, decls), &info)] = v
	}
	p.main = p.create(p.unit.pkg, files, info)
	for q := range p.others {
		q.Build()
	}
	p.main.Build()
	p.orderPhis()
}

func (p *program) create(pkg *types.Package, files []*ast.File, info *types.Info) *ssa.Package {
	pkg.SetImports(nil) // their initialisers must not run
	return p.ssa.CreatePackage(pkg, files, info, false)
}

func oneFile(pkg *types.Package, decls []ast.Decl) []*ast.File {
	return []*ast.File{{Name: ast.NewIdent(pkg.Name()), Decls: decls}}
}

// parts finds what a unit needs: declarations of its own, of other units,
// compiled packages, and functions that it is linked to.
func (e *Engine) parts(u *unit) (own []ast.Decl, others map[*unit][]ast.Decl, compiled map[*types.Package]bool, links []*decl, err error) {
	var roots []*decl
	for _, d := range u.decls {
		f, isFunc := d.node.(*ast.FuncDecl)
		if u.imported && isFunc && (f.Name.Name != "init" || f.Recv != nil) {
			continue
		}
		roots = append(roots, d)
	}
	for _, n := range u.types {
		roots = append(roots, e.graph.typeDecl(n))
	}
	others, compiled = map[*unit][]ast.Decl{}, map[*types.Package]bool{}
	reached, links, err := e.cut(u, roots, e.graph.reach(roots, nil))
	for _, d := range links {
		others[d.unit] = append(others[d.unit], withoutBody(d))
	}
	for _, d := range reached {
		for _, q := range d.compiled {
			compiled[q] = true
		}
		switch {
		case d.node == nil:
		case d.unit == u:
			own = append(own, d.node)
		default:
			others[d.unit] = append(others[d.unit], d.node)
		}
	}
	if kept := e.behindInterfaces(reached); len(kept) > 0 {
		k := e.keeper(kept)
		others[k] = k.files[0].Decls
	}
	return own, others, compiled, links, err
}

// importedInfo leaves out the initialisation of variables that live in
// compiled code.
func (e *Engine) importedInfo(u *unit) *types.Info {
	info := *u.info
	info.InitOrder = nil
	compiled, _ := e.loader.Loader.Installed(u.path)
	for _, in := range u.info.InitOrder {
		for _, v := range in.Lhs {
			if compiled == nil || !compiled.Vars[v.Name()].IsValid() {
				info.InitOrder = append(info.InitOrder, in)
				break
			}
		}
	}
	return &info
}

func (e *Engine) initialise(u *unit) error {
	p, err := e.compile(u)
	if err == nil {
		_, err = p.interp.RunFunc("init")
	}
	if err != nil {
		return fmt.Errorf("cell: initialise %s: %w", u.path, err)
	}
	return nil
}

// interpret makes the interpreter and takes note of where it put the unit's
// variables and of the types that it turns into interfaces.
func (e *Engine) interpret(p *program) (err error) {
	shared := map[string]*ixgo.Package{}
	for q, v := range p.others {
		if !v.imported { // all cells are package main: their variables need keys of their own
			q.Pkg = types.NewPackage(v.path, v.pkg.Name())
		}
		shared[v.path] = e.loader.withVars(v)
	}
	if p.interp, err = e.types.newInterp(e.linkedContext(p), p.main, shared); err != nil {
		return err
	}
	e.noteDynamic(p.ssa.RuntimeTypes())
	for name, m := range p.main.Members {
		if g, ok := m.(*ssa.Global); ok {
			if a, ok := p.interp.GetVarAddr(g.Name()); ok {
				p.unit.vars[name] = reflect.ValueOf(a)
			}
		}
	}
	return nil
}
