package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goplus/ixgo"
)

// A cell is compiled with the functions of earlier cells that it reaches. When
// these are many, that takes long, and it takes as long for the next cell. So
// only the nearest of them are compiled again, and the rest is linked: called in
// a program that is made once. Such a call takes ten times as long as one within
// a program, which is why the nearest, those that a cell calls in its loops, are
// not linked.

// linkBeyond is the size, in syntax nodes, of the functions of earlier cells
// that a cell is compiled with: a dozen of twenty lines, 2 ms.
const linkBeyond = 2500

// library is a program of functions that cells are linked to.
type library struct {
	interp  *ixgo.Interp
	entries map[*decl]string // functions, and the names of those that call them
	reached map[*decl]bool   // all that the program was made of
	dynamic int              // how many types behind interfaces it knows
}

// linkable says whether a function can be called in another program. One that
// recovers must be in that of the function which defers it.
func (e *Engine) linkable(u *unit, d *decl, deferred map[types.Object]bool) bool {
	f, ok := d.node.(*ast.FuncDecl)
	if !ok || f.Recv != nil || f.Body == nil || d.unit == u || d.unit.imported || d.recovers {
		return false
	}
	fn, ok := d.unit.info.Defs[f.Name].(*types.Func)
	return ok && !isGeneric(fn) && e.live[fn.Name()] == fn && !deferred[fn]
}

// entry is the library that a function is in, nil if there is none.
func (e *Engine) entry(d *decl) *library {
	for _, l := range e.libraries {
		if l.entries[d] != "" {
			return l
		}
	}
	return nil
}

// cut finds what a unit is compiled with, and the functions that it is linked
// to, of all that it reaches.
func (e *Engine) cut(u *unit, roots, all []*decl) (reached, links []*decl, err error) {
	c := &cutter{e: e, u: u, deferred: map[types.Object]bool{}}
	size := 0
	for _, d := range all {
		if d.unit != u {
			size += d.size
		}
		for _, o := range d.deferred {
			c.deferred[o] = true
		}
	}
	if size <= linkBeyond {
		return all, nil, nil
	}
	e.dropLibraries()
	reached = e.graph.reach(roots, c.far)
	if c.beyond > linkBeyond && !u.linked {
		if err := e.link(c.missing); err != nil {
			return nil, nil, err
		}
		c.links, c.near = nil, 0
		reached = e.graph.reach(roots, c.far)
	}
	return reached, c.links, nil
}

// cutter decides what a unit is linked to, while what it reaches is walked
// through, the nearest first.
type cutter struct {
	e        *Engine
	u        *unit
	deferred map[types.Object]bool
	near     int     // size of what has been met
	beyond   int     // size of what is far and in no library
	missing  []*decl // what could be in one
	links    []*decl
}

func (c *cutter) far(d *decl) bool {
	if !c.e.linkable(c.u, d, c.deferred) {
		return false
	}
	l := c.e.entry(d)
	if l == nil {
		c.missing = append(c.missing, d)
	}
	if c.near += d.size; c.near <= linkBeyond && !c.u.linked {
		return false
	}
	if l == nil {
		c.beyond += d.size
		return false
	}
	c.links = append(c.links, d)
	return true
}

// link makes a library of functions.
func (e *Engine) link(functions []*decl) error {
	pkg, l := types.NewPackage("main", "main"), &library{entries: map[*decl]string{}, reached: map[*decl]bool{}, dynamic: len(e.dynamic)}
	var b strings.Builder
	b.WriteString("package main\n")
	for i, d := range functions {
		fn := d.unit.info.Defs[d.node.(*ast.FuncDecl).Name].(*types.Func)
		pkg.Scope().Insert(fn)
		l.entries[d] = fmt.Sprintf("__f%d", i)
		b.WriteString(entryPoint(pkg, l.entries[d], fn))
	}
	f, err := parser.ParseFile(e.ctx.FileSet, "", b.String(), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	defer e.forget(f)
	info, errs := e.typeCheck(pkg, f)
	if len(errs) > 0 {
		return errs[0]
	}
	u := &unit{pkg: pkg, info: info, files: []*ast.File{f}, path: "main·link", linked: true, vars: map[string]reflect.Value{}}
	e.graph.add(u)
	defer delete(e.graph.units, pkg)
	p, err := e.compile(u)
	if err != nil {
		return err
	}
	for _, d := range e.graph.reach(u.decls, nil) {
		l.reached[d] = true
	}
	l.interp = p.interp
	e.libraries = append(e.libraries, l)
	return nil
}

// entryPoint is the source of a function that calls fn and returns its results
// in a slice.
func entryPoint(pkg *types.Package, name string, fn *types.Func) string {
	sig := fn.Signature()
	var params, args, results []string
	for i := range sig.Params().Len() {
		t := fmt.Sprintf("%s_%d", name, i)
		pkg.Scope().Insert(types.NewTypeName(token.NoPos, pkg, t, sig.Params().At(i).Type()))
		params, args = append(params, fmt.Sprintf("a%d %s", i, t)), append(args, fmt.Sprintf("a%d", i))
	}
	for i := range sig.Results().Len() {
		results = append(results, fmt.Sprintf("r%d", i))
	}
	call := fn.Name() + "(" + strings.Join(args, ", ")
	if sig.Variadic() {
		call += "..."
	}
	list := strings.Join(results, ", ")
	if list != "" {
		call = list + " := " + call
	}
	return fmt.Sprintf("func %s(%s) []any { %s); return []any{%s} }\n", name, strings.Join(params, ", "), call, list)
}

// call is a function of the type t that calls an entry point.
func (l *library) call(entry string, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		in := make([]ixgo.Value, len(args))
		for i, a := range args {
			in[i] = a.Interface()
		}
		r, err := l.interp.RunFunc(entry, in...)
		if err != nil {
			value, frames := unwrap(err)
			panic(traced{value, frames})
		}
		out := make([]reflect.Value, t.NumOut())
		for i, v := range r.([]any) {
			if out[i] = reflect.ValueOf(v); v == nil {
				out[i] = reflect.Zero(t.Out(i))
			}
		}
		return out
	})
}

// linkedContext is what an interpreter is made with that calls linked functions,
// or whose variables have a place. It is the interpreter's own: others read theirs
// while they run.
func (e *Engine) linkedContext(p *program) *ixgo.Context {
	placed := !p.unit.imported && len(p.unit.vars) > 0
	if len(p.links) == 0 && !placed {
		return e.ctx
	}
	ctx := newContext(ixgo.DisableAutoLoadPatchs) // it imports nothing
	ctx.FileSet, ctx.Loader = e.ctx.FileSet, e.loader
	for name, f := range e.externals {
		ctx.RegisterExternal(name, f)
	}
	if placed {
		for name, v := range p.unit.vars {
			ctx.RegisterExternal(p.unit.pkg.Path()+"."+name, v.Interface())
		}
	}
	for _, d := range p.links {
		f := d.node.(*ast.FuncDecl)
		l, t := e.entry(d), e.types.reflectType(d.unit.info.Defs[f.Name].Type())
		ctx.RegisterExternal(d.unit.path+"."+f.Name.Name, l.call(l.entries[d], t).Interface())
	}
	return ctx
}

// newContext is a context of the engine library.
func newContext(mode ixgo.Mode) *ixgo.Context {
	ctx := ixgo.NewContext(ixgo.OptionLoadAllImethod | mode)
	ctx.SetPanic(trace)
	return ctx
}

// withoutBody is the declaration of a function that is linked.
func withoutBody(d *decl) ast.Decl {
	f := *d.node.(*ast.FuncDecl)
	f.Body = nil
	return &f
}

// dropLibraries drops all when one of them may meet a type, behind an interface,
// that is newer than it is, and says so. It also drops those of which nothing is
// live.
func (e *Engine) dropLibraries() (all bool) {
	for _, l := range e.libraries {
		if l.dynamic == len(e.dynamic) {
			continue
		}
		reached := slices.Collect(maps.Keys(l.reached))
		if slices.ContainsFunc(e.dynamic[l.dynamic:], func(t dynamicType) bool { return t.mayBeCalled(reached) }) {
			e.libraries = nil
			return true
		}
		l.dynamic = len(e.dynamic)
	}
	e.libraries = slices.DeleteFunc(e.libraries, func(l *library) bool {
		for d := range l.entries {
			if e.linkable(nil, d, nil) {
				return false
			}
		}
		return true
	})
	return false
}

// unlink drops all libraries when a function that one of them knows has changed.
func (e *Engine) unlink(d *decl) {
	if slices.ContainsFunc(e.libraries, func(l *library) bool { return l.reached[d] }) {
		e.libraries = nil
	}
}
