// Package capture records the work that is submitted to streams as a graph. It
// is the part of gpu.Device.Capture that every device shares: Run decides which
// Work belongs to a capture, the dependencies of that work, and which calls are
// errors during a capture. gpu/emu and gpu/cuda call it.
//
// It checks no launch and runs nothing: a device checks work before it submits
// the work here, and runs the recorded work itself. It imports no device.
package capture

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"warpbook/gpu"
)

// Work is one operation: a launch, a copy or the clearing of a buffer.
type Work struct {
	Launch   *gpu.Launch
	Dst, Src gpu.Memory
	Zero     gpu.Buffer
	After    []int // indices of the work that it waits for, all recorded earlier
}

// Stream is the capture state of a device's stream; its zero value is a stream
// that takes part in no capture.
type Stream struct{ branch atomic.Pointer[branch] }

// Event is the capture state of a device's event.
type Event struct{ point atomic.Pointer[point] }

// capture is a capture that is running or has ended.
type capture struct {
	mu      sync.Mutex
	work    []Work    // guarded by mu
	streams []*Stream // that take part; guarded by mu
	err     error     // the first, after which there is no graph; guarded by mu
	ended   bool      // guarded by mu
}

// branch is a stream's part in a capture.
type branch struct {
	capture *capture
	last    []int // the work that its next work waits for; guarded by capture.mu
}

// point is the place in a capture where an event was recorded.
type point struct {
	capture *capture
	last    []int
}

// Run records the work that f submits to the stream and to the streams that join
// its capture. An error of f is returned unchanged.
func Run(s *Stream, f func() error) ([]Work, error) {
	c := &capture{streams: []*Stream{s}}
	b := &branch{capture: c}
	if !s.branch.CompareAndSwap(nil, b) {
		return nil, fmt.Errorf("gpu: capture: %w: the stream is captured already", gpu.ErrArgument)
	}
	defer c.abandon() // when f fails or panics
	if err := f(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end() // before the lock is released: work that is submitted later runs
	if c.err != nil {
		return nil, c.err
	}
	if left := c.unjoined(b.last); left > 0 {
		return nil, fmt.Errorf("gpu: capture: %w: %d pieces of work on other streams are not joined: record an event after them and let the captured stream wait for it",
			gpu.ErrArgument, left)
	}
	return c.work, nil
}

// end lets the streams run their work again; c.mu is held.
func (c *capture) end() {
	c.ended = true
	for _, s := range c.streams {
		s.branch.Store(nil)
	}
}

// abandon ends a capture that has not ended.
func (c *capture) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.end()
	}
}

// unjoined is the number of operations that the stream does not wait for at the
// end of the capture; c.mu is held.
func (c *capture) unjoined(last []int) int {
	joined := make([]bool, len(c.work))
	for _, i := range last {
		joined[i] = true
	}
	left := 0
	for i, w := range slices.Backward(c.work) {
		if !joined[i] {
			left++
			continue
		}
		for _, before := range w.After {
			joined[before] = true
		}
	}
	return left
}

// fail notes an error after which the capture gives no graph; c.mu is held.
func (c *capture) fail(err error) error {
	if c.err == nil {
		c.err = err
	}
	return err
}

// enter locks the capture that the stream takes part in; nil if there is none.
func (s *Stream) enter() *branch {
	b := s.branch.Load()
	if b == nil {
		return nil
	}
	b.capture.mu.Lock()
	if b.capture.ended {
		b.capture.mu.Unlock()
		return nil
	}
	return b
}

// Submit records work if the stream is captured, and reports whether it is.
func (s *Stream) Submit(w Work) (captured bool) {
	b := s.enter()
	if b == nil {
		return false
	}
	defer b.capture.mu.Unlock()
	if w.Launch != nil {
		w.Launch = own(*w.Launch)
	}
	w.After = b.last
	b.last = []int{len(b.capture.work)}
	b.capture.work = append(b.capture.work, w)
	return true
}

// own copies the fields that a caller may change afterwards.
func own(l gpu.Launch) *gpu.Launch {
	l.Args, l.Zero = Args(l.Args), slices.Clone(l.Zero)
	return &l
}

// Args copies arguments, with the bytes of those that are bytes.
func Args(args []any) []any {
	args = slices.Clone(args)
	for i, a := range args {
		if raw, ok := a.([]byte); ok {
			args[i] = slices.Clone(raw)
		}
	}
	return args
}

// Refuse is the error of an operation that a captured stream cannot do, nil if
// the stream is not captured. It ends the capture.
func (s *Stream) Refuse(what string) error {
	b := s.enter()
	if b == nil {
		return nil
	}
	defer b.capture.mu.Unlock()
	return b.capture.fail(fmt.Errorf("gpu: %s: %w: the stream is captured: its work does not run, leave this call out of the capture", what, gpu.ErrArgument))
}

// Record records an event, in a capture if the stream is captured, and reports
// whether it is.
func (s *Stream) Record(e *Event) (captured bool) {
	b := s.enter()
	if b == nil {
		e.point.Store(nil)
		return false
	}
	defer b.capture.mu.Unlock()
	e.point.Store(&point{b.capture, b.last})
	return true
}

// Wait makes later work wait for an event, if either is in a capture, and
// reports whether it is. A stream that waits for an event of a capture takes
// part in it from then on.
func (s *Stream) Wait(e *Event) (captured bool, err error) {
	p := e.point.Load()
	b := s.enter()
	switch {
	case b == nil && p == nil:
		return false, nil
	case b == nil:
		return true, s.join(p)
	}
	c := b.capture
	defer c.mu.Unlock()
	if p == nil || p.capture != c {
		return true, c.fail(fmt.Errorf("gpu: wait: %w: the stream is captured and the event was not recorded in that capture", gpu.ErrArgument))
	}
	b.last = slices.Clone(b.last)
	for _, i := range p.last {
		if !slices.Contains(b.last, i) {
			b.last = append(b.last, i)
		}
	}
	return true, nil
}

// join makes a stream take part in a capture.
func (s *Stream) join(p *point) error {
	c := p.capture
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return notRun("wait")
	}
	if !s.branch.CompareAndSwap(nil, &branch{c, p.last}) {
		return c.fail(fmt.Errorf("gpu: wait: %w: the stream is captured by another capture", gpu.ErrArgument))
	}
	c.streams = append(c.streams, s)
	return nil
}

// Recorded is the error of asking for the time of an event that was recorded
// in a capture.
func (e *Event) Recorded(what string) error {
	if e.point.Load() == nil {
		return nil
	}
	return notRun(what)
}

func notRun(what string) error {
	return fmt.Errorf("gpu: %s: %w: the event was recorded in a capture, which runs no work: record it again", what, gpu.ErrArgument)
}
