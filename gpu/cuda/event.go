package cuda

import (
	"fmt"
	"sync"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/capture"
	"warpbook/gpu/cuda/command"
)

// event is a point in the work of a stream; a worker makes it when it is
// recorded there.
type event struct {
	dev    *Device
	handle uint32

	mu     sync.Mutex
	link   *link // where it was recorded, nil before; guarded by mu
	closed bool  // guarded by mu

	captured capture.Event
}

// NewEvent makes an event.
func (d *Device) NewEvent() (gpu.Event, error) {
	if err := d.usable("new event"); err != nil {
		return nil, err
	}
	return &event{dev: d, handle: d.handle()}, nil
}

// event checks that an event is of this device.
func (d *Device) event(e gpu.Event, what string) (*event, error) {
	x, ok := e.(*event)
	if !ok || x.dev != d {
		return nil, fmt.Errorf("cuda: %s: %w: the event is not of this device", what, gpu.ErrArgument)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, fmt.Errorf("cuda: %s: %w: the event was closed", what, gpu.ErrClosed)
	}
	return x, nil
}

// Record submits the recording of an event.
func (s *stream) Record(e gpu.Event) error {
	x, err := s.dev.event(e, "record")
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("record")
	if err != nil || s.captured.Record(&x.captured) {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.link != l {
		if err := l.post(&command.NewEvent{Event: x.handle}); err != nil {
			return asFault("record", err)
		}
		x.link = l
	}
	s.busy = true
	return asFault("record", l.post(&command.Record{Stream: s.handle, Event: x.handle}))
}

// Wait makes later work of the stream wait for an event. One that was never
// recorded is not waited for.
func (s *stream) Wait(e gpu.Event) error {
	x, err := s.dev.event(e, "wait")
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("wait")
	if err != nil {
		return err
	}
	if done, err := s.captured.Wait(&x.captured); done {
		return err
	}
	switch on := x.on(); on {
	case nil:
		return nil
	case l:
		s.busy = true
		return asFault("wait", l.post(&command.Wait{Stream: s.handle, Event: x.handle}))
	default:
		return fmt.Errorf("cuda: wait: %w: the event was lost with its worker: %v", gpu.ErrClosed, on.err())
	}
}

// on is the worker in which the event was recorded.
func (e *event) on() *link {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.link
}

// Since waits for both events and returns the time between them.
func (e *event) Since(start gpu.Event) (time.Duration, error) {
	s, err := e.dev.event(start, "since")
	if err != nil {
		return 0, err
	}
	if _, err := e.dev.event(e, "since"); err != nil {
		return 0, err
	}
	for _, x := range []*event{s, e} {
		if err := x.captured.Recorded("since"); err != nil {
			return 0, err
		}
	}
	from, to := s.on(), e.on()
	if from == nil || to == nil {
		return 0, fmt.Errorf("cuda: since: %w: an event that was not recorded", gpu.ErrArgument)
	}
	if from != to {
		return 0, fmt.Errorf("cuda: since: %w: the event was lost with its worker: %v", gpu.ErrClosed, from.err())
	}
	a, err := e.dev.wait(to, &command.Elapsed{Start: s.handle, End: e.handle}, "since")
	if err != nil {
		return 0, err
	}
	return time.Duration(a.Values[0]), nil
}

// Close releases the event.
func (e *event) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("cuda: close event: %w: it was closed before", gpu.ErrClosed)
	}
	e.closed = true
	if e.link != nil {
		e.link.post(&command.CloseEvent{Event: e.handle}) // an error means that the worker, and so the event, is gone
	}
	return nil
}
