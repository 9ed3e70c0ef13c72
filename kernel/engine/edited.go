//go:build edited

package engine

import (
	"strings"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/engine/bytecode"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/stop"
)

const edited = ixgo.Edited

// hook makes interpreted functions of packages stop as those of cells do, which are
// rewritten for that.
func (e *host) hook(ctx *ixgo.Context) {
	ctx.Hooks = &ixgo.Hooks{
		Applies: ofPackage,
		Flag:    &e.stop.Flag, Stop: e.stop.Stop,
		Kill: e.stop.Channel, Killed: e.stop.Killed,
		Go:        e.startGoroutine,
		Recovered: func(v any) { recovered(v) },
	}
}

// startGoroutine starts the goroutine of a go statement of a package.
func (e *host) startGoroutine(run func()) {
	cell := e.goStart()
	go func() {
		e.goRun(cell, 0)
		defer func() { e.goEnd(nil, recover()) }()
		run()
	}()
}

// executing is set by tests before they start an engine.
var executing struct {
	interpretOnly bool // the engine library executes all code
	eager         bool // bytecode executes everything that it can
}

// execute makes bytecode execute the functions of an interpreter.
func (e *host) execute(in *ixgo.Interp) error {
	if executing.interpretOnly {
		return nil
	}
	return bytecode.Install(in, bytecode.Host{
		FlagName: rewrite.RuntimePath + ".Intr", Enter: rewrite.RuntimePath + ".Enter", Cell: rewrite.BodyName,
		Flag: &e.stop.Flag, Polls: ofPackage, Stop: e.stop.Stop,
		Overflow: stop.ErrOverflow, Eager: executing.eager,
	})
}

// ofPackage reports whether a function belongs to an imported package.
func ofPackage(fn *ssa.Function) bool {
	if fn.Pkg == nil && fn.Origin() != nil {
		fn = fn.Origin()
	}
	if fn.Pkg == nil { // a wrapper
		return false
	}
	path := fn.Pkg.Pkg.Path()
	return path != rewrite.RuntimePath && path != "main" && !strings.HasPrefix(path, "main·")
}
