package engine

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/compile"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rtypes"
)

// build checks and compiles the Go of a cell, and commits the cell once it is ready to
// begin. If the cell does not begin, the session is unchanged except for the text of the
// cell, which errors quote.
func (e *Engine) build(ctx context.Context, n int, src, text string, begin func() bool) (c *check.Cell, p *compile.Program, fail *cellproto.Error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	j, committed := &namespace.Journal{}, false
	defer func() { e.locate(ctx, n, text, &fail) }()
	defer failure.Rescue("compile", &fail)
	defer func() {
		if !committed {
			p = nil
			j.Undo()
		}
	}()
	if ctx.Err() != nil {
		return nil, nil, failure.Stopped()
	}
	e.Sources[n] = strings.Split(src, "\n")
	e.remember(n, src)
	b, fail := e.ready(ctx, j, n, text)
	c, p = b.cell, b.program
	if fail != nil {
		return c, nil, fail
	}
	e.AnalyseNil(c, p.SSA, p.Main)
	e.Stage("begin")
	if ctx.Err() != nil || !begin() {
		return c, nil, failure.Stopped()
	}
	e.commit(j, c, b.unit, b.imported)
	committed = true
	e.tidy(c, b.unit)
	return c, p, nil
}

// built is a cell that is checked and compiled.
type built struct {
	cell     *check.Cell
	unit     *graph.Unit
	program  *compile.Program
	imported map[string]types.Object
}

// ready checks and compiles a cell, a second time if the program was not ready the first.
func (e *Engine) ready(ctx context.Context, j *namespace.Journal, n int, text string) (b built, fail *cellproto.Error) {
	for again := true; ; again = false {
		c, diags := e.Check(ctx, j, n, text)
		if len(diags) > 0 {
			e.keepImports(text)
			return b, e.CompileFailure(diags)
		}
		if c == nil {
			return b, failure.Stopped()
		}
		b.cell = c
		if rtypes.Full() {
			return b, e.CompileFailure([]failure.Diagnostic{{Msg: "no room for the methods of more types: restart the session"}})
		}
		var err error
		b.imported = c.Imports() // the compiler clears what the package imports
		if b.unit, b.program, err = e.compile(j, c, n, c.Idle()); err == nil {
			return b, nil
		}
		if !again || !errors.As(err, new(compile.Unready)) {
			return b, failure.Bug(err)
		}
		j.Undo()
	}
}

// compile makes the program of a checked cell. From here on, replaced functions and
// methods have their new bodies, because the program is compiled with them. That of an idle
// cell is never run.
func (e *Engine) compile(j *namespace.Journal, c *check.Cell, n int, idle bool) (u *graph.Unit, p *compile.Program, err error) {
	e.Stage("replace methods")
	e.replaceMethods(j, c)
	e.Serial++
	u = &graph.Unit{Pkg: c.Pkg, Info: c.Info, Files: c.Files(), Path: fmt.Sprintf("main·%d", e.Serial), Cell: n, Vars: map[string]reflect.Value{}, File: c.Temporary(), Running: true, Idle: idle}
	known := e.KnownTypes()
	j.Note(func() {
		e.Graph.Remove(u)
		e.ForgetTypes(known)
	})
	e.Graph.Add(u)
	e.Stage("replace functions")
	e.replaceFuncs(j, c)
	e.moveVars(c, u)
	p, err = e.Build(u)
	return u, p, err
}
