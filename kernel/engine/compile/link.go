package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
)

// A cell is compiled with the functions of earlier cells that it reaches. If these are
// many, that takes long, for each cell again. So only the nearest are compiled again,
// and the rest is linked: called in a program that is made once. Such a call takes ten
// times as long as one within a program. The nearest functions are not linked, because a
// cell calls them in its loops.

// linkBeyond is the size, in syntax nodes, of the functions of earlier cells
// that a cell is compiled with: a dozen of twenty lines, 2 ms.
const linkBeyond = 2500

// library is a program of functions that cells are linked to.
type library struct {
	interp  *ixgo.Interp
	entries map[*graph.Decl]string // functions, and the names of their entry points
	reached map[*graph.Decl]bool   // all declarations in the program
}

// linkable reports whether a function can be called in another program. A function that
// recovers must be in the program of the function that defers it.
func (e *Compiler) linkable(u *graph.Unit, d *graph.Decl, deferred map[types.Object]bool) bool {
	f, ok := d.Node.(*ast.FuncDecl)
	if !ok || f.Recv != nil || f.Body == nil || d.Unit == u || d.Unit.Imported || d.Recovers {
		return false
	}
	fn, ok := d.Unit.Info.Defs[f.Name].(*types.Func)
	return ok && !graph.IsGeneric(fn) && e.Live[fn.Name()] == fn && !deferred[fn]
}

// entry is the library that contains a function, nil if there is none.
func (e *Compiler) entry(d *graph.Decl) *library {
	for _, l := range e.Libraries {
		if l.entries[d] != "" {
			return l
		}
	}
	return nil
}

// cut divides the declarations that a unit reaches into those that it is compiled with
// and those that it is linked to.
func (e *Compiler) cut(u *graph.Unit, roots, all []*graph.Decl) (reached, links []*graph.Decl, err error) {
	c := &cutter{e: e, u: u, deferred: map[types.Object]bool{}}
	size := 0
	for _, d := range all {
		if d.Unit != u {
			size += d.Size
		}
		for _, o := range d.Deferred {
			c.deferred[o] = true
		}
	}
	if size <= linkBeyond || u.Idle {
		return all, nil, nil
	}
	e.dropLibraries()
	reached = e.Graph.Reach(roots, c.far)
	if c.beyond > linkBeyond && !u.Linked {
		if err := e.link(c.missing); err != nil {
			return nil, nil, err
		}
		c.links, c.near = nil, 0
		reached = e.Graph.Reach(roots, c.far)
	}
	return reached, c.links, nil
}

// cutter chooses the functions that a unit is linked to, while the reached declarations
// are walked, the nearest first.
type cutter struct {
	e        *Compiler
	u        *graph.Unit
	deferred map[types.Object]bool
	near     int           // size of the declarations so far
	beyond   int           // size of far declarations in no library
	missing  []*graph.Decl // functions that a new library could contain
	links    []*graph.Decl
}

func (c *cutter) far(d *graph.Decl) bool {
	if !c.e.linkable(c.u, d, c.deferred) {
		return false
	}
	l := c.e.entry(d)
	if l == nil {
		c.missing = append(c.missing, d)
	}
	if c.near += d.Size; c.near <= linkBeyond && !c.u.Linked {
		return false
	}
	if l == nil {
		c.beyond += d.Size
		return false
	}
	c.links = append(c.links, d)
	return true
}

// link makes a library of functions.
func (e *Compiler) link(functions []*graph.Decl) error {
	pkg, l := types.NewPackage("main", "main"), &library{entries: map[*graph.Decl]string{}, reached: map[*graph.Decl]bool{}}
	var b strings.Builder
	b.WriteString("package main\n")
	for i, d := range functions {
		fn := d.Unit.Info.Defs[d.Node.(*ast.FuncDecl).Name].(*types.Func)
		pkg.Scope().Insert(fn)
		l.entries[d] = fmt.Sprintf("__f%d", i)
		b.WriteString(entryPoint(pkg, l.entries[d], fn))
	}
	f, err := parser.ParseFile(e.Ctx.FileSet, "", b.String(), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	defer e.Forget(f)
	info, errs := e.TypeCheck(namespace.Scope{Pkg: pkg}, f)
	if len(errs) > 0 {
		return errs[0]
	}
	u := &graph.Unit{Pkg: pkg, Info: info, Files: []*ast.File{f}, Path: "main·link", Linked: true, Vars: map[string]reflect.Value{}}
	e.Graph.Add(u)
	defer delete(e.Graph.Units, pkg)
	p, err := e.Build(u)
	if err != nil {
		return err
	}
	for _, d := range e.Graph.Reach(u.Decls, nil) {
		l.reached[d] = true
	}
	l.interp = p.Interp
	e.Libraries = append(e.Libraries, l)
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

// call is a function of type t that calls an entry point.
func (l *library) call(entry string, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		in := make([]ixgo.Value, len(args))
		for i, a := range args {
			in[i] = a.Interface()
		}
		r, err := l.interp.RunFunc(entry, in...)
		if err != nil {
			value, frames := failure.Unwrap(err)
			panic(failure.Traced{Value: value, Frames: failure.Known(frames)})
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

// linkedContext is the context of an interpreter that calls linked functions or whose
// variables have a fixed place. It belongs to one interpreter: other interpreters read their own while
// they run.
func (e *Compiler) linkedContext(p *Program) *ixgo.Context {
	placed := !p.Unit.Imported && len(p.Unit.Vars) > 0
	if len(p.links) == 0 && !placed && !e.Private {
		return e.Ctx
	}
	ctx := NewContext(ixgo.DisableAutoLoadPatchs) // it imports nothing
	ctx.FileSet, ctx.Loader = e.Ctx.FileSet, e.Loader
	e.Hook(ctx)
	for name, f := range e.Externals {
		ctx.RegisterExternal(name, f)
	}
	if placed {
		for name, v := range p.Unit.Vars {
			ctx.RegisterExternal(p.Unit.Pkg.Path()+"."+name, v.Interface())
		}
	}
	for _, d := range p.links {
		f := d.Node.(*ast.FuncDecl)
		l, t := e.entry(d), e.Types.ReflectType(d.Unit.Info.Defs[f.Name].Type())
		ctx.RegisterExternal(d.Unit.Path+"."+f.Name.Name, l.call(l.entries[d], t).Interface())
	}
	return ctx
}

// NewContext is a context of the engine library.
func NewContext(mode ixgo.Mode) *ixgo.Context {
	ctx := ixgo.NewContext(ixgo.OptionLoadAllImethod | mode)
	ctx.SetPanic(failure.Trace)
	return ctx
}

// withoutBody is the declaration of a linked function.
func withoutBody(d *graph.Decl) ast.Decl {
	f := *d.Node.(*ast.FuncDecl)
	f.Body = nil
	return &f
}

// dropLibraries drops the libraries without live functions.
func (e *Compiler) dropLibraries() {
	e.Libraries = slices.DeleteFunc(e.Libraries, func(l *library) bool {
		for d := range l.entries {
			if e.linkable(nil, d, nil) {
				return false
			}
		}
		return true
	})
}

// Unlink drops all libraries if one of them contains a function that has changed.
func (e *Compiler) Unlink(d *graph.Decl) {
	if slices.ContainsFunc(e.Libraries, func(l *library) bool { return l.reached[d] }) {
		e.Libraries = nil
	}
}
