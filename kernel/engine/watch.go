//go:build edited

package engine

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/compile"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/stop"
)

// watchName is the function that computes an expression.
const watchName = "__watch"

// watchEnd is how long an expression may take to end after it was given up.
const watchEnd = time.Second

// watch compiles one expression. It has a flag of its own, so that it ends alone.
type watch struct {
	*Engine
	stop *stop.Stopper
	vars *graph.Unit // of the local variables, nil if there is none
}

// Watch computes an expression, or executes an assignment, with the variables of the
// session and local ones, which hide those. It runs on a goroutine of its own until ctx
// ends. The session does not change.
func (e *Engine) Watch(ctx context.Context, text string, locals []namespace.Local) (values []any, err error) {
	w := &watch{Engine: e, stop: stop.New()}
	p, err := w.prepare(text, locals)
	if err != nil {
		return nil, err
	}
	return w.run(ctx, p)
}

// Define gives the session a variable of a type, with the value that at points to. A live
// variable of the same name and type is assigned.
func (e *Engine) Define(name string, t types.Type, at reflect.Value) (err error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("engine: define %s: %v", name, v)
		}
	}()
	if !token.IsIdentifier(name) || name == "_" || strings.HasPrefix(name, "__") {
		return fmt.Errorf("%q is no name of a variable", name)
	}
	if v, ok := e.Live[name].(*types.Var); ok && types.Identical(v.Type(), t) {
		e.ValueOf(v).Set(at.Elem())
		return nil
	}
	w := &watch{Engine: e}
	if err := w.declare([]namespace.Local{{Name: name, Type: t, At: at}}); err != nil {
		return err
	}
	w.vars.Running = false
	j := &namespace.Journal{}
	e.retire(j, e.Live[name])
	namespace.Set(j, e.Live, name, w.vars.Pkg.Scope().Lookup(name))
	namespace.Delete(j, e.Versions, name)
	return nil
}

// prepare makes the program of an expression.
func (w *watch) prepare(text string, locals []namespace.Local) (p *compile.Program, err error) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fmt.Errorf("engine: %s: %v", text, v)
		}
	}()
	body, err := watchBody(text)
	if err != nil {
		return nil, err
	}
	defer w.remove(w.vars)
	if err := w.declare(locals); err != nil {
		return nil, err
	}
	u, err := w.check(body)
	if err != nil && strings.Contains(err.Error(), "used as value") { // a call without results
		u, err = w.check(text + "\nreturn")
	}
	if err != nil {
		return nil, err
	}
	defer w.remove(u)
	defer w.private()()
	w.Graph.Add(u)
	return w.Build(u)
}

// remove forgets a unit of the expression.
func (w *watch) remove(u *graph.Unit) {
	if u != nil {
		w.Graph.Remove(u)
	}
}

// watchBody is the body of the function that computes a text.
func watchBody(text string) (string, error) {
	if _, err := parser.ParseExpr(text); err == nil {
		return "return " + rewrite.RuntimeName + ".Values(" + text + ")", nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package main\nfunc _() {\n"+text+"\n}", parser.SkipObjectResolution)
	if err != nil || len(f.Decls) != 1 {
		return "", fmt.Errorf("%s: expected an expression of Go, or an assignment", text)
	}
	list := f.Decls[0].(*ast.FuncDecl).Body.List
	if len(list) == 1 {
		switch s := list[0].(type) {
		case *ast.IncDecStmt:
			return text + "\nreturn", nil
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				return text + "\nreturn", nil
			}
		}
	}
	return "", fmt.Errorf("%s: expected an expression of Go, or an assignment", text)
}

// declare makes a unit whose variables are the local ones.
func (w *watch) declare(locals []namespace.Local) error {
	if len(locals) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("package main\n")
	pkg, vars := types.NewPackage("main", "main"), map[string]reflect.Value{}
	for i, l := range locals {
		name := fmt.Sprintf("__type%d", i)
		pkg.Scope().Insert(types.NewTypeName(token.NoPos, pkg, name, l.Type))
		fmt.Fprintf(&b, "var %s %s\n", l.Name, name)
		vars[l.Name] = l.At
	}
	f, err := parser.ParseFile(w.Ctx.FileSet, "", b.String(), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	defer w.Forget(f)
	info, errs := w.TypeCheck(namespace.Scope{Pkg: pkg}, f)
	if len(errs) > 0 {
		return errs[0]
	}
	w.vars = w.unit(pkg, info, f)
	w.vars.Vars = vars
	w.Graph.Add(w.vars)
	return nil
}

func (w *watch) unit(pkg *types.Package, info *types.Info, f *ast.File) *graph.Unit {
	w.Serial++
	return &graph.Unit{Pkg: pkg, Info: info, Files: []*ast.File{f}, Path: fmt.Sprintf("main·%d", w.Serial), Vars: map[string]reflect.Value{}, Running: true}
}

// check makes the unit of the function that computes the expression.
func (w *watch) check(body string) (*graph.Unit, error) {
	src := fmt.Sprintf("package main\nimport %s %q\nfunc %s() (__values []interface{}) {\n%s\n}\n", rewrite.RuntimeName, rewrite.RuntimePath, watchName, body)
	f, err := parser.ParseFile(w.Ctx.FileSet, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	defer w.Forget(f)
	scope, info, errs := w.keyed(f)
	if len(errs) > 0 {
		return nil, errors.New(errs[0].Msg)
	}
	r := &rewrite.Rewriter{Info: info,
		Interpreted: func(fn *types.Func) bool { return fn.Pkg() == scope.Pkg || w.Graph.Interpreted(fn) },
		Compiled:    func(p *types.Package) bool { return p != scope.Pkg && w.Graph.UnitOf(p) == nil }}
	if r.File(f); r.Rewritten() {
		scope = w.scope(f)
		if info, errs = w.TypeCheck(scope, f); len(errs) > 0 {
			return nil, errors.New(errs[0].Msg)
		}
	}
	return w.unit(scope.Pkg, info, f), nil
}

// keyed checks a file, whose literals of structs get keys, see check.AddKeys.
func (w *watch) keyed(f *ast.File) (namespace.Scope, *types.Info, []types.Error) {
	for {
		scope := w.scope(f)
		info, errs := w.TypeCheck(scope, f)
		if !check.AddKeys(f, info, errs) {
			return scope, info, errs
		}
	}
}

// scope has the local variables and the live objects that a file names.
func (w *watch) scope(f *ast.File) namespace.Scope {
	s, seen := namespace.Scope{Pkg: types.NewPackage("main", "main")}, map[string]bool{watchName: true, rewrite.RuntimeName: true}
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || seen[id.Name] {
			return true
		}
		seen[id.Name] = true
		o := w.Live[id.Name]
		if w.vars != nil {
			if v, is := w.vars.Pkg.Scope().Lookup(id.Name).(*types.Var); is {
				o = v
			}
		}
		s.Add(o)
		return true
	})
	return s
}

// private makes the next program stop by the flag of the watch, until done is called.
func (w *watch) private() (done func()) {
	c := w.Compiler
	before := *c
	c.Private = true
	c.Externals = maps.Clone(c.Externals)
	for name, f := range map[string]any{"Intr": &w.stop.Flag, "Stop": w.stop.Stop, "Kill": w.stop.Channel, "Block": w.stop.Block, "Killed": w.stop.Killed, "Ended": w.stop.Ended} {
		c.Externals[rewrite.RuntimePath+"."+name] = f
	}
	c.Externals["time.Sleep"] = w.stop.Sleep
	c.Hook = func(ctx *ixgo.Context) {
		w.hook(ctx)
		ctx.Hooks.Flag, ctx.Hooks.Stop, ctx.Hooks.Kill, ctx.Hooks.Killed = &w.stop.Flag, w.stop.Stop, w.stop.Channel, w.stop.Killed
	}
	c.Execute = func(in *ixgo.Interp) error { return w.executeUntil(in, w.stop) }
	return func() {
		c.Private, c.Externals, c.Hook, c.Execute = before.Private, before.Externals, before.Hook, before.Execute
	}
}

// computed is the outcome of an expression.
type computed struct {
	values []any
	err    error
}

// run computes the expression.
func (w *watch) run(ctx context.Context, p *compile.Program) ([]any, error) {
	ended := make(chan computed, 1)
	go func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer w.ourGoroutine(0)()
		defer w.config.Debugger.Computes()()
		r, err := p.Interp.RunFunc(watchName)
		if err != nil {
			err = errors.New("panic: " + failure.Shorten(failure.PanicText(failure.Value(err)), failure.MaxValue))
		}
		values, _ := r.([]any)
		ended <- computed{values, err}
	}()
	select {
	case c := <-ended:
		return c.values, c.err
	case <-ctx.Done():
	}
	w.stop.Begin()
	select {
	case <-ended:
		return nil, errors.New("given up: it does not end")
	case <-time.After(watchEnd):
		return nil, errors.New("given up: it does not end, and goes on in the background")
	}
}
