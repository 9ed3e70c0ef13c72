//go:build cells && edited && !js

package main

import (
	"context"
	"go/types"
	"os"
	"reflect"

	"github.com/goplus/ixgo"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/debug"
	"warpbook/kernel/engine"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/trace"
)

// debugging is the debugger of the cells of this program.
type debugging struct {
	session *debug.Session
	tracer  *trace.Tracer
	kernels *kernels
}

// debuggerVariable is the environment variable that leaves the debugger out with "off": the
// speed command compares cells with such a program.
const debuggerVariable = "WARPBOOK_DEBUGGER"

func newDebugging(p *program) debugging {
	if os.Getenv(debuggerVariable) == "off" {
		return debugging{}
	}
	d := debugging{session: debug.NewSession(debug.NewSources(), func(event string) {
		p.emit(cellproto.Event{Type: cellproto.Debugged, Text: event})
	})}
	d.tracer = trace.New(d.session, late{p})
	d.kernels = &kernels{session: d.session, tracer: d.tracer, readOn: p.readOn, paths: map[string]string{}, cells: map[int]string{}}
	d.session.Attach(d.tracer, d.kernels)
	return d
}

func (d debugging) debugger() engine.Debugger {
	if d.session == nil {
		return nil
	}
	return cellsAndKernels{d.tracer, d.kernels}
}

// cellsAndKernels gives cells of other languages to the debuggee of kernels.
type cellsAndKernels struct {
	*trace.Tracer
	kernels *kernels
}

func (d cellsAndKernels) Foreign(cell int, source string) { d.kernels.ran(cell, source) }

func (d debugging) magics() []*magic.Magic {
	if d.session == nil {
		return nil
	}
	return []*magic.Magic{debugMagic(d.kernels)}
}

// answer answers a request of the Debug Adapter Protocol.
func (d debugging) answer(request string) string {
	if d.session == nil {
		return ""
	}
	return d.session.Handle(request)
}

// idle is called when the last cell that ran has ended.
func (d debugging) idle() {
	if d.session != nil {
		d.session.Idle()
	}
}

// late is the program's engine, which is made after the debugger.
type late struct{ *program }

func (l late) Globals() []namespace.Global { return l.engine.Globals() }

func (l late) Global(name string) (namespace.Global, bool) { return l.engine.Global(name) }

func (l late) Stack(fr *ixgo.Frame, most int) []*ixgo.Frame { return l.engine.Stack(fr, most) }

func (l late) Place(t types.Type) (reflect.Value, error) { return l.engine.Place(t) }

func (l late) Define(name string, t types.Type, at reflect.Value) error {
	return l.engine.Define(name, t, at)
}

func (l late) Watch(ctx context.Context, text string, locals []namespace.Local) ([]any, error) {
	return l.engine.Watch(ctx, text, locals)
}
