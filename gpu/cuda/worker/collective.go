//go:build cuda

package main

/*
#include <cuda.h>
#include <sched.h>

static CUresult query(CUstream s) { return cuStreamQuery(s); }
static CUresult elapsed(float *ms, CUevent from, CUevent to) { return cuEventElapsedTime(ms, from, to); }
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"warpbook/gpu/cuda/command"
)

// window is how many collectives of a member are in the stream. NCCL's kernels look for an
// abort once in 10 000 polls, one kernel after the other.
const window = 32

// These limit a poll, so that the worker can execute other commands. While collectives are
// put into the stream, the device would be idle during a pause between two polls.
const (
	pollTime  = 500 * time.Microsecond
	queueTime = 5 * time.Millisecond
)

// leaveTime is how long leaveGroup waits for other work than the member's before it lets the
// client ask again.
const leaveTime = 100 * time.Millisecond

// collect begins collectives, and ends them if that takes no longer than a poll.
func (w *worker) collect(c *command.Collect) ([]int64, error) {
	m, err := find(w.members, c.Group, "group")
	if err != nil {
		return nil, err
	}
	if m.stopped != nil || m.phase != idle {
		return nil, &failure{code: command.CodeProtocol, text: fmt.Sprintf("a collective of a group in phase %d: %v", m.phase, m.stopped)}
	}
	for _, r := range c.Runs {
		for _, of := range []command.Range{r.In, r.Out} {
			if _, err := w.part(of); err != nil {
				return nil, err
			}
		}
	}
	if err := w.earlier(); err != nil {
		return nil, err
	}
	m.run, m.times, m.took, m.phase = *c, 0, 0, queueing
	m.run.Runs = slices.Clone(c.Runs) // the next command gets the memory of c
	return w.poll(m)
}

// earlier is the error of a command before, which the next one that waits for the default
// stream returns.
func (w *worker) earlier() error {
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return err
	}
	err, s.err = s.err, nil
	return err
}

// cause is the fault of the default stream's work that a failure of NCCL comes from, or the
// failure where there is none.
func (w *worker) cause(err error) error {
	s := w.streams[command.DefaultStream]
	if s == nil {
		return err
	}
	if r := C.query(streamHandle(s.stream)); r != C.CUDA_SUCCESS && r != C.CUDA_ERROR_NOT_READY {
		return failed(r, "collective")
	}
	return err
}

func (w *worker) pollGroup(number uint32) ([]int64, error) {
	m, err := find(w.members, number, "group")
	if err != nil {
		return nil, err
	}
	return w.poll(m)
}

// poll waits a short time for the end of what a member does.
func (w *worker) poll(m *member) ([]int64, error) {
	for began := time.Now(); ; C.sched_yield() { // a sleep of Go may take a millisecond
		if err := w.advance(m); err != nil {
			return nil, w.cause(err)
		}
		past := time.Since(began)
		switch {
		case m.phase == idle:
			return []int64{command.GroupIdle, m.took}, nil
		case m.phase == queueing && past > queueTime:
			return []int64{command.GroupQueueing, 0}, nil
		case m.phase != queueing && past > pollTime:
			return []int64{command.GroupBusy, 0}, nil
		}
	}
}

// advance goes on with the member's command as far as it can without waiting.
func (w *worker) advance(m *member) error {
	if m.stopped != nil {
		return m.stopped
	}
	if m.stop.Load() != 0 {
		w.end(m, &failure{code: command.CodeInterrupted, text: "the collective was stopped"})
		return m.stopped
	}
	if m.phase == joining {
		select {
		case err := <-m.joined:
			if err != nil {
				return err
			}
			return w.joined(m)
		default:
			return nil
		}
	}
	if err := m.state(); err != nil {
		return err
	}
	switch m.phase {
	case queueing:
		return w.queue(m)
	case running:
		done, err := ended(m.events[lastEvent])
		if !done {
			return err
		}
		var ms C.float
		if err := failed(C.elapsed(&ms, m.events[firstEvent], m.events[lastEvent]), "elapsed"); err != nil {
			return err
		}
		m.took, m.begun, m.phase = command.Nanoseconds(float64(ms)), false, idle
	}
	return nil
}

// ended reports whether the work before an event is done.
func ended(e C.CUevent) (bool, error) {
	switch r := C.cuEventQuery(e); r {
	case C.CUDA_ERROR_NOT_READY:
		return false, nil
	case C.CUDA_SUCCESS:
		return true, nil
	default:
		return false, failed(r, "collective")
	}
}

// queue puts runs of the collective into the stream while it has room, and the events
// around them. Up to a window of them have no other work between, so that their time is
// that of a program that calls NCCL in a loop.
func (w *worker) queue(m *member) error {
	runs := uint32(len(m.run.Runs))
	all := (m.run.Warmup + m.run.Repeats) * runs
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return err
	}
	stream := streamHandle(s.stream)
	for ; m.times < all && m.stop.Load() == 0; m.times++ {
		if m.times >= window && m.times%(window/2) == 0 {
			if done, err := ended(m.events[markEvents+m.times/(window/2)%2]); !done {
				return err
			}
		}
		if m.times == 0 && m.run.Warmup > 0 {
			if err := failed(C.cuEventRecord(m.events[warmupEvent], stream), "record"); err != nil {
				return err
			}
		}
		if m.times == m.run.Warmup*runs {
			if err := failed(C.cuEventRecord(m.events[firstEvent], stream), "record"); err != nil {
				return err
			}
		}
		c := &m.run.Runs[m.times%runs]
		in, err1 := w.part(c.In)
		out, err2 := w.part(c.Out)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		m.begun = true
		m.calling.Store(time.Now().UnixNano())
		code := m.put(c, C.CUdeviceptr(in), C.CUdeviceptr(out), stream)
		m.calling.Store(0)
		if m.stop.Load() != 0 {
			return nil // advance ends it; the code may come from that
		}
		if err := ncclError(code, m, "collective"); err != nil {
			return err
		}
		if number := m.times + 1; all > window && number%(window/2) == 0 {
			if err := failed(C.cuEventRecord(m.events[markEvents+(number/(window/2)-1)%2], stream), "record"); err != nil {
				return err
			}
		}
	}
	if m.times < all {
		return nil // advance ends it
	}
	m.phase = running
	return failed(C.cuEventRecord(m.events[lastEvent], stream), "record")
}

// end begins to end a member for a reason.
func (w *worker) end(m *member, why error) {
	if m.stopped != nil {
		return
	}
	if m.phase == queueing || m.phase == running {
		m.pending = min(m.times, window)
	}
	m.stopped, m.phase = why, idle
	m.abort()
}

// leaveGroup ends a member and waits for that. It answers the milliseconds that this took,
// and 1 if the abort has not returned: the buffers can be used when the device is idle, and
// the memory of the communicator is left behind. While the device is busy with other work it
// answers that alone, and is asked again: the work ends by itself, or an interrupt ends the
// worker. A group whose joinGroup has failed answers nothing: it has no member.
func (w *worker) leaveGroup(number uint32) ([]int64, error) {
	m := w.members[number]
	if m == nil {
		return nil, nil
	}
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return nil, err
	}
	w.end(m, errInterrupted)
	began := time.Now()
	var behind int64
	for waits := true; waits; {
		select {
		case <-m.aborted:
			waits = false
		case <-time.After(10 * time.Millisecond):
			past, busy := time.Since(began), C.query(streamHandle(s.stream)) == C.CUDA_ERROR_NOT_READY
			switch {
			case past > leaveTime && busy && m.waits():
				return []int64{command.GroupBusy}, nil
			case past > command.AbortTime && busy:
				return nil, &failure{code: command.CodeNCCL, text: fmt.Sprintf("NCCL did not stop within %v: ncclCommAbort has not returned, and the device is busy with up to %d collectives", command.AbortTime, m.pending)}
			case past > idleTime && !busy:
				behind, waits = 1, false
			}
		}
	}
	delete(w.members, number)
	close(m.left)
	if err := m.destroyEvents(allEvents); err != nil {
		return nil, err
	}
	return []int64{time.Since(began).Milliseconds(), behind}, nil
}

// waits reports whether a device that is busy has none of the member's collectives, or has
// not come to the first of them.
func (m *member) waits() bool {
	before := firstEvent
	if m.run.Warmup > 0 {
		before = warmupEvent
	}
	come := false
	if m.begun {
		come, _ = ended(m.events[before]) // an error ends all work: the device is not busy then
	}
	return !come
}

// settle waits for the collectives on the device, and ends those that are stopped: a wait
// for a stream would not end for a stop.
func (w *worker) settle() {
	for _, m := range w.members {
		for m.phase == queueing || m.phase == running {
			if w.advance(m) != nil {
				break // the next poll returns it, or that the group was stopped
			}
			C.sched_yield()
		}
	}
}
