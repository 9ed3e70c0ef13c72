package engine

import (
	"fmt"
	"go/token"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/stop"
)

// goStart announces a goroutine and returns the cell that it will belong to.
func (e *host) goStart() uint64 {
	e.stop.Live.Add(1)
	return e.Owner()
}

// goRun begins a goroutine of a cell, in a frame. The position is that of its go
// statement.
func (e *host) goRun(fr *ixgo.Frame, cell uint64, pos int) {
	debug.SetPanicOnFault(true)
	o := &owner{cell: cell, pos: token.Pos(pos), goes: true}
	o.root.Store(fr)
	e.ours.Store(gid.Get(), o)
}

// goEnd ends a goroutine of a cell.
func (e *host) goEnd(fr *ixgo.Frame, v any) {
	defer func() {
		e.forget()
		e.stop.Live.Add(-1) // last, because a waiter for this then looks at ours
	}()
	if v, frames, ok := thrown(fr, v); ok {
		e.reportPanic("a goroutine", v, frames)
	}
}

// groupGo is wg.Go, with a goroutine as a go statement of a cell starts it.
func (e *host) groupGo(g *sync.WaitGroup, f func()) {
	cell := e.goStart()
	g.Go(func() {
		e.goRun(nil, cell, 0)
		defer func() { e.goEnd(nil, recover()) }()
		f()
	})
}

// thrown is the panic value and the frames of a cell's function that has recovered; ok
// is false if it did not panic. The engine passes a nil value as a nil frame.
func thrown(fr *ixgo.Frame, v any) (_ any, frames []failure.Place, ok bool) {
	if f, isFrame := v.(*ixgo.Frame); v == nil || isFrame && f == nil {
		return nil, nil, false
	}
	if v, frames = failure.Unwrap(v); len(frames) == 0 && fr != nil {
		if frames = failure.Callers(fr); len(frames) > 0 {
			frames = frames[1:] // without the function that recovers
		}
	}
	return v, frames, true
}

// reportPanic prints a panic that ended the goroutine or the callback that what names.
func (e *host) reportPanic(what string, v any, frames []failure.Place) {
	switch v.(type) {
	case stop.Interrupted, failure.Goexit:
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "panic in %s: %s\n", what, failure.Shorten(failure.PanicText(v), failure.MaxText))
	for _, p := range frames {
		fmt.Fprintf(&b, "    %s\n", p)
	}
	io.WriteString(e.stderr, b.String())
}

// recovered is the result of recover for the code of a cell. Interrupts and the end of a
// cell continue to panic.
func recovered(v any) any {
	v = failure.Value(v)
	switch v := v.(type) {
	case stop.Interrupted, failure.Exit, failure.Goexit:
		panic(v)
	case ixgo.RuntimeError:
		return failure.NewRuntimeError(failure.PanicText(v))
	case ixgo.PlainError:
		return failure.NewRuntimeError(string(v))
	}
	return v
}

// placeOf is the place of a position; its cell is 0 if the file has been dropped.
func (e *host) placeOf(pos token.Pos) failure.Place {
	p := e.files.Ctx.FileSet.Position(pos)
	return failure.Place{Cell: failure.CellOf(p.Filename), Line: p.Line}
}

// ourGoroutine marks a goroutine of a cell that recovers by itself.
func (e *host) ourGoroutine(cell uint64) (done func()) {
	e.mark(&owner{cell: cell})
	return e.forget
}
