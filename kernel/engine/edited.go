//go:build edited

package engine

import (
	"go/types"
	"reflect"
	"strings"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"
	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/engine/bytecode"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/stop"
)

const edited = ixgo.Edited

// hook makes interpreted functions of packages stop as those of cells do, which are
// rewritten for that.
func (e *host) hook(ctx *ixgo.Context) {
	ixgo.LimitStack(stop.MaxStack, stop.ErrOverflow)
	if e.config.Debugger != nil {
		ctx.SetPanic(e.panicking)
	}
	ctx.Hooks = &ixgo.Hooks{
		Applies: ofPackage,
		Flag:    &e.stop.Flag, Stop: e.stop.Stop,
		Kill: e.stop.Channel, Killed: e.stop.Killed,
		Go:        e.startGoroutine,
		Methods:   e.methods,
		Begin:     e.begin,
		Enter:     e.enter,
		Innermost: e.innermost,
		Compiled:  e.compiled,
		Call:      e.callFromPackage,
		Unwinds:   e.unwinds,
		Passes:    passes,
		Recovered: func(v any) { recovered(v) },
	}
}

// reached are the types behind interfaces of the program that a context loads next.
func reached(ctx *ixgo.Context, list []types.Type) { ctx.Reached = list }

// panicking is called when interpreted code panics.
func (e *host) panicking(info *ixgo.PanicInfo) {
	e.faulted(info.Frame, info.Error)
	failure.Trace(info)
}

// passes reports whether a panic goes on through the recover of a function: runtime.Goexit
// is none for the code of cells and of packages, but ends where a goroutine of a cell does.
func passes(fn *ssa.Function, v any) bool {
	for {
		switch p := v.(type) {
		case ixgo.PanicError:
			v = p.Value
		case ixgo.FatalError:
			v = p.Value
		case failure.Traced:
			v = p.Value
		case failure.Goexit:
			return fn == nil || recovers(fn)
		default:
			return false
		}
	}
}

// captured are the variables, as pointers, and the values that a function value captures.
func captured(f reflect.Value) []any { return ixgo.Captured(f) }

// unwinds is called when a panic has come to a frame with deferred calls. The first such
// frame notes the calls of its interpreter, so that an endless recursion with deferred
// calls does not note them at each depth.
func (e *host) unwinds(fr *ixgo.Frame, v any) any {
	if _, noted := v.(failure.Traced); noted || !e.debugged() {
		return v
	}
	return e.traced(fr, v)
}

// begin notes the frame above those of a call into an interpreter, unless the goroutine is
// in another one, which knows where that is.
func (e *host) begin(fr *ixgo.Frame) (end func()) {
	o := e.ownerOf(gid.Get())
	if o == nil {
		return func() {}
	}
	if root := o.root.Load(); root == nil || !root.Active() {
		o.root.Store(fr)
	} else {
		return o.inside(fr)
	}
	return func() {}
}

// innermost is the frame of the innermost call of this goroutine, nil if there is none.
func (e *host) innermost() *ixgo.Frame {
	for _, fr := range e.Stack(nil, 1) {
		return fr
	}
	return nil
}

// blocked are the places of cells where a goroutine is, the innermost first.
func (e *host) blocked(o *owner) (places []failure.Place) {
	root := o.root.Load()
	if root == nil {
		return nil
	}
	for _, pos := range root.Blocked() {
		if p := e.placeOf(pos); p.Cell > 0 {
			places = append(places, p)
		}
	}
	return places
}

// startGoroutine starts the goroutine of a go statement of a package.
func (e *host) startGoroutine(root *ixgo.Frame, run func()) {
	cell := e.goStart()
	go func() {
		e.goRun(root, cell, 0)
		e.ownerOf(gid.Get()).ofPackage = true
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
func (e *host) execute(in *ixgo.Interp) error { return e.executeUntil(in, e.stop) }

// executeUntil is execute for an interpreter that another flag stops.
func (e *host) executeUntil(in *ixgo.Interp, s *stop.Stopper) error {
	if executing.interpretOnly {
		return nil
	}
	var probes *bytecode.Probes
	if d := e.config.Debugger; d != nil && d.On() {
		probes = &bytecode.Probes{Call: rewrite.RuntimePath + ".Line", Flags: d.Armed(), Names: d.Names}
	}
	return bytecode.Install(in, bytecode.Host{
		FlagName: rewrite.RuntimePath + ".Intr", Enter: rewrite.RuntimePath + ".Enter", KillName: rewrite.RuntimePath + ".Kill", RecvNames: []string{rewrite.RuntimePath + ".Recv", rewrite.RuntimePath + ".Recv2"}, Cell: rewrite.BodyName, Methods: e.methods, Recovered: rewrite.RuntimePath + ".Recovered",
		Flag: &s.Flag, Polls: ofPackage, Stop: s.Stop, Kill: s.Channel,
		Overflow: stop.ErrOverflow, Deep: ixgo.CheckStack, Eager: executing.eager, Is: ixgo.Is, Probes: probes, Debugged: e.debugged,
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
