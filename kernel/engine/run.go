package engine

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goplus/ixgo"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/stop"
)

// outcome is how a run ended.
type outcome struct {
	values    []any
	failed    *runError
	discarded bool // it was interrupted before it began
}

// Protect calls f, which may call methods of cells, as if it were the cell of
// that id: it can be interrupted, and a panic becomes an error. It calls answer
// once, as Eval does; when f is given up it may still run then.
func (e *Engine) Protect(ctx context.Context, id uint64, f func(), answer func(*cellproto.Error)) {
	e.run(ctx, id, job{prepare: func(func() bool) bool { return true }, discard: func() {}, run: func() (o outcome) {
		defer func() {
			if v := recover(); v != nil {
				o.failed = e.failed(ixgo.PanicError{Value: v})
			}
		}()
		f()
		return o
	}}, func(o outcome) {
		switch {
		case o.discarded:
			answer(failure.Stopped())
		case o.failed != nil:
			answer(e.runFailure(o.failed))
		default:
			answer(nil)
		}
	})
}

// job is what a goroutine of the engine does.
type job struct {
	// prepare reports whether there is something to run. It cannot be stopped, and
	// asks begin before it changes anything that others see: false means that
	// the caller has given the job up.
	prepare func(begin func() bool) bool
	run     func() outcome
	discard func() // what was prepared and does not begin
}

// run does a job on this goroutine and calls answer once: when the job ends, or,
// on another goroutine, when an interrupt has ended it or has given it up. An
// interrupt gives up a job that is still being prepared.
func (e *Engine) run(ctx context.Context, id uint64, j job, answer func(outcome)) {
	ended, prepared, decided := make(chan outcome, 1), make(chan struct{}), &atomic.Bool{} // whether it begins or is discarded
	begin := sync.OnceValue(func() bool { return decided.CompareAndSwap(false, true) })
	notStopped := context.AfterFunc(ctx, func() {
		defer e.ourGoroutine(id)() // what magics say at the end is the cell's
		answer(e.interrupt(ended, prepared, decided))
	})
	defer e.stop.Watched(e.config.Lasting)()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer e.ourGoroutine(id)()
	o := outcome{failed: e.failed(failure.ErrGoexit)}
	defer func() {
		if ended <- o; notStopped() {
			answer(o)
		}
	}()
	ready := j.prepare(begin)
	if !begin() {
		j.discard()
		return
	}
	close(prepared)
	if !ready {
		o = outcome{}
		return
	}
	e.stop.Enter(ctx)
	defer e.stop.Leave()
	o = j.run()
}

// interrupt ends a job of run, or gives it up, and says how it ended.
func (e *Engine) interrupt(ended <-chan outcome, prepared <-chan struct{}, decided *atomic.Bool) outcome {
	if decided.CompareAndSwap(false, true) {
		return outcome{discarded: true}
	}
	<-prepared
	first := e.stop.Begin()
	defer e.stop.End()
	if first { // one stop of several cells is one for a device
		for _, f := range e.config.Interrupt {
			f()
		}
	}
	for wait := e.config.AbandonAfter; ; wait = stop.SettleTime {
		select {
		case o := <-ended:
			return outcome{failed: stoppedBy(o.failed)}
		case <-time.After(wait):
		}
		if e.config.Ending == nil || !e.config.Ending() {
			return outcome{failed: &runError{name: failure.Interrupted, text: failure.AbandonedText}}
		}
	}
}
