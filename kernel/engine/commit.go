package engine

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/split"
)

// commit applies the cell to the session: its names mean the cell's declarations, and
// declarations that no longer compile are dropped. The journal undoes all of it if a
// step panics.
func (e *Engine) commit(j *namespace.Journal, c *check.Cell, u *graph.Unit, imported map[string]types.Object) {
	e.Stage("move values")
	e.moveValues(c, u)
	changed := changedTypes(c, e.Live)
	before := e.varTypes(changed)
	e.Stage("define")
	defined := e.define(j, c, imported)
	e.Stage("redefine")
	e.redefine(j, c, defined, imported)
	e.Stage("warn")
	e.warnOfOld(c, changed, before)
	e.warn(c)
	e.warnOfMain(c)
	e.Stage("committed")
}

// tidy drops data that is no longer needed after a commit. A panic here is reported and
// ends only the tidying; the cell has taken effect.
func (e *Engine) tidy(c *check.Cell, u *graph.Unit) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(e.stderr, "warning: %v\n", failure.Bug(fmt.Errorf("%s: tidy: %v", cellproto.CellName(c.Cell), r)))
		}
	}()
	e.Stage("learn")
	c.Learn()
	e.Stage("compact")
	e.Graph.Compact(u)
	e.Stage("prune")
	e.prune()
}

// define makes the cell's names live.
func (e *Engine) define(j *namespace.Journal, c *check.Cell, imported map[string]types.Object) (defined []string) {
	for name, o := range imported {
		e.retire(j, e.Live[name])
		namespace.Set(j, e.Live, name, o)
	}
	for name, p := range c.Hidden {
		namespace.Set(j, e.Hidden, name, p)
	}
	scope := c.Pkg.Scope()
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Pkg() == c.Pkg && !strings.HasPrefix(name, "__") {
			if _, ok := o.(*types.PkgName); !ok {
				e.retire(j, e.Live[name])
				namespace.Set(j, e.Live, name, o)
				defined = append(defined, name)
			}
		}
	}
	return defined
}

// warnOfMain warns that nothing calls the main function of a whole program.
func (e *Engine) warnOfMain(c *check.Cell) {
	for _, p := range c.Pieces {
		if p.Kind == split.Statement || p.Kind == split.Magic {
			return
		}
	}
	for _, d := range c.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && fd.Name.Name == "main" && c.Carried(fd.Pos()) == nil {
			fmt.Fprintf(e.stderr, "warning: %s declares main, which nothing calls: write main() as its last line\n", cellproto.CellName(c.Cell))
		}
	}
}

// retire marks a type whose name gets another meaning: its package gets a name of its
// own, by which messages of the checker distinguish the two types, and the type gets a
// name by which its values do.
func (e *Engine) retire(j *namespace.Journal, o types.Object) {
	t, ok := o.(*types.TypeName)
	if !ok {
		return
	}
	if u := e.Namespace.Mark(t); u != nil {
		j.Note(e.Types.Retire(t, u.Cell))
	}
}

// pruneEvery is the number of new cells after which unused ones are dropped.
const pruneEvery = 32

func (e *Engine) prune() {
	if len(e.Graph.Units) < e.nextPrune {
		return
	}
	for _, u := range e.Graph.Prune(e.Live, e.DynamicTypes()) {
		if u.File.IsValid() { // its positions are no longer used
			e.Ctx.FileSet.RemoveFile(e.Ctx.FileSet.File(u.File))
		}
	}
	for name, list := range e.Versions { // drop versions that nothing calls
		e.Versions[name] = slices.DeleteFunc(list, func(v namespace.Version) bool { return e.Graph.Units[v.Decl.Unit.Pkg] == nil })
	}
	e.nextPrune = len(e.Graph.Units) + pruneEvery
	used := map[int]bool{}
	for _, u := range e.Graph.Units {
		used[u.Cell] = true
	}
	for _, d := range e.Decls { // of methods in the unit of their type
		used[d.Cell] = true
	}
	for n := range e.Sources {
		if !used[n] {
			delete(e.Sources, n)
		}
	}
}

// keepImports keeps the imports of a cell that does not compile, so that the corrected
// part in another cell needs no import. Names that mean something else keep their
// meaning.
func (e *Engine) keepImports(src string) {
	pieces, _ := split.Cell(src)
	for _, piece := range pieces {
		if piece.Kind != split.Import {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+src[piece.Start:piece.End], parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, s := range f.Imports {
			path := check.ImportPath(s)
			p, err := e.Importer.Import(path)
			if err != nil || path == rewrite.RuntimePath {
				continue
			}
			name := p.Name()
			if s.Name != nil {
				name = s.Name.Name
			}
			if name == "." {
				for _, exported := range p.Scope().Names() {
					if token.IsExported(exported) && e.Live[exported] == nil {
						e.Live[exported] = p.Scope().Lookup(exported)
					}
				}
			}
			if _, imported := e.Live[name].(*types.PkgName); name != "_" && name != "." && (imported || e.Live[name] == nil) {
				e.Live[name] = types.NewPkgName(token.NoPos, nil, name, p)
			}
		}
	}
}

// replaceMethods makes functions the bodies of the methods that they represent, and
// removes the functions from the cell.
func (e *Engine) replaceMethods(j *namespace.Journal, c *check.Cell) {
	for _, r := range c.Replaced {
		fd, t := *r.Decl, *r.Decl.Type
		params := *t.Params
		fd.Recv, params.List = &ast.FieldList{List: params.List[:1]}, params.List[1:]
		fd.Type, t.Params = &t, &params
		v := namespace.Version{Decl: e.Graph.Owner[r.Old], Fn: r.Old}
		if t := c.Added[r.Old]; t != nil {
			v.Decl = e.Graph.AddMethod(t, r.Old, &fd)
			j.Note(func() { e.Graph.RemoveMethod(t, r.Old) })
			e.become(v, &fd, c.Info)
		} else {
			e.replace(j, v, &fd, c.Info)
		}
		e.Graph.AddNested(v.Decl.Unit, v.Decl.Node.(*ast.FuncDecl))
		c.File.Decls = slices.DeleteFunc(c.File.Decls, func(d ast.Decl) bool { return d == r.Decl })
	}
	if len(c.Added) > 0 {
		e.NoteGrown()
	}
}

// moveVars keeps moved variables at their place in memory, so that pointers to them and
// closures over them stay valid. Types that are alike have the same layout; interfaces
// refer to their methods through tables of their own.
func (e *Engine) moveVars(c *check.Cell, u *graph.Unit) {
	for name := range c.Moved {
		from, ok := e.Graph.Units[e.Live[name].Pkg()].Vars[name]
		if t := u.Pkg.Scope().Lookup(name).Type(); ok && !types.IsInterface(t) {
			u.Vars[name] = reflect.NewAt(e.Types.ReflectType(t), from.UnsafePointer())
		}
	}
}

// moveValues copies the values of moved variables that have another place in memory.
func (e *Engine) moveValues(c *check.Cell, u *graph.Unit) {
	for name := range c.Moved {
		from, ok := e.Graph.Units[e.Live[name].Pkg()].Vars[name]
		if to := u.Vars[name]; ok && to.UnsafePointer() != from.UnsafePointer() {
			to.Elem().Set(from.Elem().Convert(to.Elem().Type()))
		}
	}
}

// redefine updates the sources of live declarations. An import takes the place of a
// declaration of its name.
func (e *Engine) redefine(j *namespace.Journal, c *check.Cell, defined []string, imported map[string]types.Object) {
	for name := range imported {
		e.Undeclare(j, name)
		namespace.Delete(j, e.Broken, name)
		namespace.Delete(j, e.Lost, name)
	}
	for _, name := range defined {
		e.Undeclare(j, name)
		namespace.Delete(j, e.Lost, name)
	}
	for d := range c.Broken {
		again := e.Lost[d.Name] == d
		namespace.Set(j, e.Lost, d.Name, d)
		for _, name := range d.Names {
			if again {
				continue
			}
			fmt.Fprintf(e.stderr, "warning: %s\n", e.Broken[name])
			if d.Base == "" {
				e.Undeclare(j, name)
				namespace.Delete(j, e.Live, name)
			}
			namespace.Delete(j, e.Decls, name)
		}
	}
	for _, d := range c.Decls {
		if d.Serial == 0 {
			d.Serial = e.Serial
		}
		d.NoteUses(c.Info)
		for _, n := range d.Names {
			namespace.Set(j, e.Decls, n, d)
			namespace.Delete(j, e.Broken, n)
			namespace.Delete(j, e.Lost, n)
		}
	}
}

// replaceFuncs gives earlier functions the bodies of the cell's functions that have the
// same name and signature.
func (e *Engine) replaceFuncs(j *namespace.Journal, c *check.Cell) {
	scope := c.Pkg.Scope()
	for _, name := range scope.Names() {
		now := scope.Lookup(name)
		d := e.Graph.Owner[now]
		fn, ok := now.(*types.Func)
		if d == nil || now.Pkg() != c.Pkg || strings.HasPrefix(name, "__") {
			continue
		}
		if old := e.Live[name]; old == nil || !check.Same(old, now) {
			namespace.Delete(j, e.Versions, name)
		}
		if !ok || graph.IsGeneric(fn) {
			continue
		}
		for _, v := range e.Versions[name] {
			e.replace(j, v, d.Node.(*ast.FuncDecl), c.Info)
		}
		namespace.Set(j, e.Versions, name, append(slices.Clip(e.Versions[name]), namespace.Version{Decl: d, Fn: fn}))
	}
}

// replace gives an earlier function the body of a new one.
func (e *Engine) replace(j *namespace.Journal, v namespace.Version, now *ast.FuncDecl, from *types.Info) {
	before, known := v.Decl.Node.(*ast.FuncDecl), graph.NewInfo()
	graph.CopyInfo(known, v.Decl.Unit.Info, before)
	j.Note(func() { e.become(v, before, known) })
	e.become(v, now, from)
}

// become makes a declaration the new body of an earlier function.
func (e *Engine) become(v namespace.Version, now *ast.FuncDecl, from *types.Info) {
	fd, name := *now, rewrite.Ident(now.Name.Pos(), v.Fn.Name())
	fd.Name = name
	info := v.Decl.Unit.Info
	graph.DropInfo(info, v.Decl.Node)
	graph.CopyInfo(info, from, now)
	info.Defs[name] = v.Fn
	v.Decl.Node, v.Decl.Analysed = &fd, false
	v.Decl.Deps, v.Decl.Compiled = nil, nil
	v.Decl.Deferred, v.Decl.Recovers, v.Decl.Size = nil, false, 0
	e.Unlink(v.Decl)
	e.RenewHomes()
}

// warn prints the findings of the analysers in the order of the lines.
func (e *Engine) warn(c *check.Cell) {
	slices.SortStableFunc(c.Warnings, func(a, b failure.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	for _, w := range slices.Compact(c.Warnings) {
		fmt.Fprintf(e.stderr, "warning: %s: %s\n", failure.Place{Cell: w.Cell, Line: w.Line}, w.Msg)
	}
}
