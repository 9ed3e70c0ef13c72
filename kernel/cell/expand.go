package cell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"warpbook/gpu/compile"
	"warpbook/kernel/cell/magic"
	"warpbook/kernel/cell/split"
	"warpbook/kernel/frame"
)

// compilePath is the package of the variables that a cell in another language
// declares, and compileName its name in the Go that stands for the cell.
const (
	compilePath = "warpbook/gpu/compile"
	compileName = "__compile"
)

// expand returns the Go that stands for a cell: the cell itself, or, for one in
// another language such as %%cuda, the declarations of what it was compiled to.
// It compiles while e.mu is free, and ctx ends it. What was compiled is kept
// until forget.
func (e *Engine) expand(ctx context.Context, n int, src string) (text string, forget func(), failure *frame.Error) {
	c, at := declares(src)
	if c == nil {
		return src, func() {}, nil
	}
	body := at + c.BodyAt
	c.Number, c.BodyRow, c.Out = n, strings.Count(src[:body], "\n")+1, e.stdout
	entries, err := c.Declare(ctx, c)
	if errors.Is(err, magic.ErrInterrupted) {
		return "", nil, stopped()
	}
	if err != nil {
		return "", nil, e.foreignFailure(n, src, at, err)
	}
	id := int(lastCall.Add(1))
	e.calls.Store(id, entries)
	var b strings.Builder
	fmt.Fprintf(&b, "import %s %q\n", compileName, compilePath)
	for i, entry := range entries {
		fmt.Fprintf(&b, "var %s = %s.Declared(%d, %d).(*%s.Entry)\n", entry.Name(), runtimeName, id, i, compileName)
	}
	return b.String(), func() { e.calls.Delete(id) }, nil
}

// declares is the call of a magic that declares what its cell holds, and where
// it begins in the cell; nil if there is none. What is wrong with a call is
// found again when the cell is checked.
func declares(src string) (c *magic.Call, at int) {
	magics, _ := split.Magics(src)
	if len(magics) == 0 || !strings.HasPrefix(src[magics[0].Start:], "%%") {
		return nil, 0
	}
	c, err := magic.Parse(src[magics[0].Start:magics[0].End])
	if err != nil || c.Declare == nil || c.Help {
		return nil, 0
	}
	return c, magics[0].Start
}

// declared is a value that a cell was compiled to.
func (e *Engine) declared(id, i int) any {
	entries, ok := e.calls.Load(id)
	if !ok { // the cell was given up
		panic(interrupted{})
	}
	return entries.([]*compile.Entry)[i]
}

// foreignFailure reports what is wrong with a cell that is not Go.
func (e *Engine) foreignFailure(n int, src string, at int, err error) *frame.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sources[n] = strings.Split(src, "\n")
	e.remember(n, src)
	wrong := (*compile.Error)(nil)
	if !errors.As(err, &wrong) {
		s := &source{cell: n, src: src}
		return e.compileFailure([]diagnostic{s.magicDiagnostic(at, err)})
	}
	var diags []diagnostic
	for _, d := range wrong.Diagnostics {
		diags = append(diags, diagnostic{cell: n, line: d.Line, col: d.Col, msg: d.Text})
	}
	return e.compileFailure(diags)
}
