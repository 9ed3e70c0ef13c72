package engine

import (
	"context"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/compile"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
)

// Result is the outcome of a cell.
type Result struct {
	Values []any            // of the last expression, if it is to be shown
	Next   string           // a text offered for the next cell, if any
	Err    *cellproto.Error // nil if the cell ended well
}

// Warm imports packages, so that the first cell that imports them does not wait.
func (e *Engine) Warm(paths ...string) {
	for _, p := range paths {
		e.Mu.Lock()
		e.Importer.Import(p) // a package that is not offered fails again, with a message, in a cell
		e.Mu.Unlock()
	}
}

// Eval runs a cell on this goroutine, which the cell may end, and calls answer once.
// Owner returns the id; errors name the number. When ctx is cancelled, everything that
// runs is stopped as soon as possible; a cell that does not end is answered by another
// goroutine.
func (e *Engine) Eval(ctx context.Context, id uint64, n int, src string, answer func(Result)) {
	var c *prepared
	e.run(ctx, id, job{
		prepare: func(begin func() bool) bool { c = e.prepare(ctx, n, src, begin); return c.fail == nil },
		run:     func() outcome { return e.call(c) },
		discard: func() { e.release(c) },
	}, func(o outcome) {
		if o.discarded { // c is still being prepared
			answer(Result{Err: failure.Stopped()})
			return
		}
		answer(e.result(c, o))
	})
}

// result ends a cell and returns its outcome.
func (e *Engine) result(c *prepared, o outcome) Result {
	defer e.release(c)
	if c.fail != nil {
		return Result{Err: c.fail}
	}
	if o.failed != nil {
		return Result{Err: e.runFailure(o.failed)}
	}
	return Result{Values: o.values, Next: c.Source.Next}
}

// prepared is a cell that is ready to run, or the reason why there is none.
type prepared struct {
	*check.Cell
	program *compile.Program
	fail    *cellproto.Error
	forget  func() // see expand
	shut    func() // see openMagics
}

// prepare makes a cell ready to run, until release.
func (e *Engine) prepare(ctx context.Context, n int, src string, begin func() bool) *prepared {
	text, forget, fail := e.expand(ctx, n, src)
	if fail != nil {
		return &prepared{fail: fail}
	}
	c := &prepared{forget: forget}
	if c.Cell, c.program, c.fail = e.build(ctx, n, src, text, begin); c.fail == nil {
		c.shut = e.openMagics(c.Source)
	}
	return c
}

// release ends a cell that has run or was abandoned. The cell may be dropped if none of
// its definitions is used.
func (e *Engine) release(c *prepared) {
	if c.forget != nil {
		c.forget()
	}
	if c.program == nil {
		return
	}
	c.shut()
	e.Mu.Lock()
	defer e.Mu.Unlock()
	c.program.Unit.Running = false
}

// call runs a cell's statements, which include the initial values of its variables.
func (e *Engine) call(c *prepared) (o outcome) {
	if c.program.Unit.Idle {
		return o
	}
	r, err := c.program.Interp.RunFunc(rewrite.BodyName)
	if err != nil {
		return outcome{failed: e.failed(err)}
	}
	o.values, _ = r.([]any)
	if n := len(o.values); c.ErrLast && n > 0 { // none if the cell has recovered from a panic
		if err, ok := o.values[n-1].(error); ok && err != nil {
			return outcome{failed: failedWith(err)}
		}
		o.values = o.values[:n-1]
	}
	return o
}
