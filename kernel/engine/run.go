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

// outcome is the result of a run.
type outcome struct {
	values    []any
	failed    *runError
	discarded bool // it was interrupted before it began
}

// Protect calls f, which may call methods of cells, as if f were the cell of that id: it
// can be interrupted, and a panic becomes an error. It calls answer once, as Eval does;
// if f is abandoned, it may still run after that.
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

// job is a task of an engine goroutine.
type job struct {
	// prepare reports whether there is something to run. It cannot be stopped, and calls
	// begin before it changes anything that is visible outside: false means that the
	// caller has abandoned the job.
	prepare func(begin func() bool) bool
	run     func() outcome
	discard func() // called for a prepared job that does not begin
}

// run does a job on this goroutine and calls answer once: when the job ends, or, on
// another goroutine, when an interrupt has ended it or when it is abandoned. An
// interrupt abandons a job that is still being prepared.
func (e *Engine) run(ctx context.Context, id uint64, j job, answer func(outcome)) {
	ended, prepared, decided := make(chan outcome, 1), make(chan struct{}), &atomic.Bool{} // whether it begins or is discarded
	begin := sync.OnceValue(func() bool { return decided.CompareAndSwap(false, true) })
	notStopped := context.AfterFunc(ctx, func() {
		defer e.ourGoroutine(id)() // magics print to the cell at its end
		answer(e.interrupt(id, ended, prepared, decided))
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

// interrupt ends the job of a cell, or abandons it, and returns its outcome.
func (e *Engine) interrupt(id uint64, ended <-chan outcome, prepared <-chan struct{}, decided *atomic.Bool) outcome {
	if decided.CompareAndSwap(false, true) {
		return outcome{discarded: true}
	}
	<-prepared
	first := e.stop.Begin()
	defer e.endStop()
	if first { // for a device, one stop of several cells counts once
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
			return outcome{failed: &runError{name: failure.Interrupted, text: failure.AbandonedText, frames: e.whereBlocked(id)}}
		}
	}
}
