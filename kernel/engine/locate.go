package engine

import (
	"context"
	"fmt"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
	"warpbook/kernel/engine/split"
)

// mostTried is the number of pieces of a cell that are tried after an internal error.
const mostTried = 100

// locate names the cell and the line of an internal error: the line of the piece with
// which the cell begins to fail. The session is as it was before the cell.
func (e *Engine) locate(ctx context.Context, n int, text string, fail **cellproto.Error) {
	if *fail == nil || (*fail).Name != failure.Internal {
		return
	}
	where := cellproto.CellName(n)
	pieces, _ := split.Cell(text)
	for _, p := range pieces[:min(len(pieces), mostTried)] {
		if e.breaksOn(ctx, n, text[:p.End]) {
			where += fmt.Sprintf(", line %d", p.Line)
			break
		}
	}
	*fail = failure.Bug(fmt.Errorf("%s: %s", where, (*fail).Value))
}

// breaksOn reports whether a cell ends with an internal error before it begins, or would if
// it ran something.
func (e *Engine) breaksOn(ctx context.Context, n int, text string) (breaks bool) {
	onStage, j := e.OnStage, &namespace.Journal{}
	e.OnStage = nil
	defer func() {
		e.OnStage = onStage
		breaks = breaks || recover() != nil
		j.Undo()
	}()
	c, diags := e.Check(ctx, j, n, text)
	if c == nil || len(diags) > 0 {
		return false
	}
	_, _, err := e.compile(j, c, n, false)
	return err != nil
}
