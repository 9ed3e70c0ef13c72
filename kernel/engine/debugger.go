package engine

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/rewrite"
)

// Debugger stops cells. Package trace has the one that the cells program links; without
// one, or while no client is attached, the code of cells has no checks.
type Debugger interface {
	// Instrument adds checks to the file of a cell, and reports whether it did.
	Instrument(cell int, source string, f *ast.File, info *types.Info, fset *token.FileSet) bool

	// On reports whether a client is attached.
	On() bool

	// Names are the variables that a check passes.
	Names(point int) []string

	// Foreign is called with a cell in another language.
	Foreign(cell int, source string)

	// Armed are the flags that the checks read.
	Armed() *[rewrite.Points]uint8

	// Line is what an armed check calls, in a frame and with the values of the variables in
	// scope. It returns early once cancel closes. If it reports that variables are set, the
	// result has a list for each variable: of its new value, or empty.
	Line(fr *ixgo.Frame, point int, values []any, cancel <-chan struct{}) (set [][]any, changed bool)

	// Computes is called in a goroutine that computes an expression of the debugger, which
	// does not stop until done is called.
	Computes() (done func())

	// Panicked is called in a goroutine that panics, before code of cells sees the panic. The
	// innermost frame is fr. A panic that is caught meets a deferred call that recovers it.
	Panicked(fr *ixgo.Frame, caught bool, text func() string, cancel <-chan struct{})
}

// line is the call of an armed check.
func (e *host) line(fr *ixgo.Frame, point int, values ...any) ([][]any, bool) {
	e.config.Lasting()
	set, changed := e.config.Debugger.Line(fr, point, values, e.stop.Channel())
	e.stop.Stop()
	return set, changed
}

// registerDebugger gives the code of cells the flags and the call.
func (e *host) registerDebugger() {
	if e.config.Debugger == nil {
		e.external(rewrite.RuntimePath+".Line", func(int, ...any) ([][]any, bool) { return nil, false })
		return
	}
	e.external(rewrite.RuntimePath+".Line", e.line)
	e.external(rewrite.RuntimePath+".Armed", e.config.Debugger.Armed())
}

// instrument lets the debugger add checks to a cell. The lines of a cell in another
// language are not those of its Go.
func (e *Engine) instrument(c *check.Source, f *ast.File, info *types.Info) bool {
	if e.config.Debugger == nil || c.Cell == 0 {
		return false
	}
	if source := strings.Join(e.Sources[c.Cell], "\n"); source != c.Src {
		e.config.Debugger.Foreign(c.Cell, source)
		return false
	}
	return e.config.Debugger.Instrument(c.Cell, c.Src, f, info, e.Ctx.FileSet)
}

// Globals are the live variables, by name.
func (e *Engine) Globals() (list []namespace.Global) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.Live)) {
		if g, ok := e.global(name); ok {
			list = append(list, g)
		}
	}
	return list
}

// Global is the live variable of a name.
func (e *Engine) Global(name string) (namespace.Global, bool) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.global(name)
}

func (e *Engine) global(name string) (g namespace.Global, ok bool) {
	v, ok := e.Live[name].(*types.Var)
	if !ok {
		return g, false
	}
	value := e.ValueOf(v)
	return namespace.Global{Name: name, Type: e.TypeString(v.Type()), Value: value}, value.IsValid()
}
