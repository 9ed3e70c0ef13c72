//go:build cuda

package main

import (
	"bytes"
	"errors"
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// queued bounds the operations that wait for the gate: a device queues
// about a thousand, and submitting more would wait for the gate to open.
const queued = 256

// timing is one measurement.
type timing struct {
	worker *worker
	stop   *atomic.Uint32 // counts interrupts
	before uint32         // its count when the measurement was asked for
	stream *stream
	runs   []ready
	graph  *graph // of the runs, if they are replayed
	flush  *sweep
	starts []cu.Event
	ends   []cu.Event
	warm   bool
}

// time measures launches. Each batch of runs is submitted while a gate holds
// the stream, so that the device never waits for the host between two events.
func (w *worker) time(c *command.Time) ([]int64, error) {
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return nil, err
	}
	word, err := w.host(c.StopAt, 4)
	if err != nil {
		return nil, err
	}
	t := &timing{worker: w, stream: s, warm: c.Warmup > 0, stop: (*atomic.Uint32)(unsafe.Pointer(&word[0])), before: c.Interrupts}
	defer t.close()
	if err := t.prepare(c); err != nil {
		return nil, err
	}
	for range c.Warmup {
		if err := t.warmUp(); err != nil {
			return nil, err
		}
	}
	if err := w.sync(command.AllStreams); err != nil {
		return nil, t.blame(err)
	}
	var times []int64
	for left := int(c.Repeats); left > 0; {
		n := min(left, t.batch())
		if times, err = t.measure(n, times); err != nil {
			return nil, err
		}
		left -= n
	}
	return times, nil
}

func (t *timing) prepare(c *command.Time) error {
	for i := range c.Launches {
		var r ready
		if err := t.worker.prepare(&c.Launches[i], &r); err != nil {
			return err
		}
		r.params = bytes.Clone(r.params)
		t.runs = append(t.runs, r)
	}
	if c.Flush {
		var err error
		if t.flush, err = t.worker.sweeper(); err != nil {
			return err
		}
	}
	if !c.Graph {
		return nil
	}
	g, err := capture(t.stream.stream, t.submit)
	if err == nil {
		t.graph = &g
	}
	return err
}

func (t *timing) submit() error {
	for i := range t.runs {
		if err := t.runs[i].submit(t.stream.stream); err != nil {
			return err
		}
	}
	return nil
}

// warmUp runs once. Without a graph it marks the launches, so that a fault is
// attributed to one of them.
func (t *timing) warmUp() error {
	if err := t.sweep(); err != nil {
		return err
	}
	if t.graph != nil {
		return errors.Join(t.graph.launch(t.stream.stream), t.interrupted())
	}
	for i := range t.runs {
		if err := t.worker.mark(t.stream, group{launch: t.runs[i].describe()}); err != nil {
			return err
		}
		if err := t.runs[i].submit(t.stream.stream); err != nil {
			return err
		}
	}
	return t.interrupted()
}

func (t *timing) interrupted() error {
	if t.stop.Load() != t.before {
		return errInterrupted
	}
	return nil
}

// batch is the number of runs that can wait for the gate.
func (t *timing) batch() int {
	operations := 3 // events and sweep
	for _, r := range t.runs {
		operations += 1 + len(r.zero)
	}
	return max(1, queued/operations)
}

// measure submits n runs that wait for the gate, opens it and takes their times.
func (t *timing) measure(n int, times []int64) ([]int64, error) {
	if err := t.events(n); err != nil {
		return nil, err
	}
	open, err := t.closeGate(n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		if err = t.run(i); err != nil {
			break
		}
	}
	open()
	if e := t.stream.stream.Synchronize(); e != nil {
		return nil, t.blame(wrap(e, "sync"))
	}
	if err != nil {
		return nil, err
	}
	for i := range n {
		ms, err := t.starts[i].Elapsed(t.ends[i])
		if err != nil {
			return nil, wrap(err, "elapsed")
		}
		times = append(times, command.Nanoseconds(ms))
	}
	return times, t.interrupted()
}

// events makes enough events for n runs.
func (t *timing) events(n int) error {
	for len(t.ends) < n {
		for _, list := range []*[]cu.Event{&t.starts, &t.ends} {
			e, err := cu.MakeEvent(cu.DefaultEvent)
			if err != nil {
				return wrap(err, "event")
			}
			*list = append(*list, e)
		}
	}
	return nil
}

// closeGate holds the stream until open is called. A single run is not held,
// because it may have more operations than the device queues. A run without warm-up
// is not held, because the driver may wait for the device when it prepares a
// function.
func (t *timing) closeGate(n int) (open func(), err error) {
	if n == 1 || !t.warm {
		return func() {}, nil
	}
	const reached = 0 // CU_STREAM_WAIT_VALUE_GEQ
	gate, at := t.worker.word(0)
	gate.Store(0)
	if err := t.stream.stream.WaitOnValue32(at, 1, reached); err != nil {
		return nil, wrap(err, "gate")
	}
	return func() { gate.Store(1) }, nil
}

// run submits one timed run.
func (t *timing) run(i int) error {
	s := t.stream.stream
	if err := t.sweep(); err != nil {
		return err
	}
	if err := t.starts[i].Record(s); err != nil {
		return wrap(err, "record")
	}
	var err error
	if t.graph != nil {
		err = t.graph.launch(s)
	} else {
		err = t.submit()
	}
	if err != nil {
		return err
	}
	return wrap(t.ends[i].Record(s), "record")
}

// sweep removes the launches' data from L2, if the timing asks for it.
func (t *timing) sweep() error {
	if t.flush == nil {
		return nil
	}
	return t.flush.submit(t.stream.stream)
}

// blame attributes an error to the launches of the measurement, if the progress
// words do not name one.
func (t *timing) blame(err error) error {
	var f *failure
	if errors.As(err, &f) && len(t.worker.suspects()) == 0 {
		for i := range t.runs {
			f.launches = append(f.launches, t.runs[i].describe())
		}
	}
	return err
}

func (t *timing) close() {
	if t.graph != nil {
		t.graph.close()
	}
	for _, list := range [][]cu.Event{t.starts, t.ends} {
		for i := range list {
			cu.DestroyEvent(&list[i])
		}
	}
}
