package cuda

import (
	"errors"
	"fmt"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/capture"
	"warpbook/gpu/cuda/command"
)

// stream is a queue of work. It outlives workers: each makes it again when it
// is first used there.
type stream struct {
	dev    *Device
	handle uint32 // command.DefaultStream for the device's own

	mu     sync.Mutex // held while a command is queued, so that they keep their order
	link   *link      // that has made it; guarded by mu
	busy   bool       // there is work whose end Sync has not seen; guarded by mu
	failed error      // the error of work on a worker that has ended; guarded by mu
	closed bool       // guarded by mu

	captured capture.Stream
}

// NewStream makes a stream.
func (d *Device) NewStream() (gpu.Stream, error) {
	if err := d.usable("new stream"); err != nil {
		return nil, err
	}
	d.streams.Add(1)
	return &stream{dev: d, handle: d.handle()}, nil
}

// settle notes the end of a worker that still had work of the stream; s.mu is
// held.
func (s *stream) settle() {
	if s.busy && s.link.err() != nil {
		s.failed, s.busy = s.link.err(), false
		if errors.Is(s.failed, errMoved) { // which waited for the work
			s.failed = nil
		}
	}
}

// enter prepares the stream for a command and returns the worker for the command;
// s.mu is held.
func (s *stream) enter(what string) (*link, error) {
	if s.closed {
		return nil, fmt.Errorf("cuda: %s: %w: the stream was closed", what, gpu.ErrClosed)
	}
	s.settle()
	l, err := s.dev.worker()
	if err != nil {
		return nil, asFault(what, err)
	}
	if s.link != l && s.handle != command.DefaultStream {
		if err := l.post(&command.NewStream{Stream: s.handle}); err != nil {
			return nil, asFault(what, err)
		}
	}
	s.link = l
	return l, nil
}

// Launch checks a launch and submits it.
func (s *stream) Launch(launch gpu.Launch) error {
	if o := s.dev.observer.Load(); o != nil {
		return (*o)(launch, s.submit)
	}
	return s.submit(launch)
}

func (s *stream) submit(launch gpu.Launch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("launch")
	if err != nil {
		return err
	}
	c, err := s.dev.encode(l, launch)
	if err != nil {
		return err
	}
	if s.captured.Submit(capture.Work{Launch: &launch}) {
		return nil
	}
	c.Stream = s.handle
	s.dev.record(s, l, &launch)
	if err := l.launch(&c, launch.Entry.Name()); err != nil {
		return asFault("launch "+launch.Entry.Name(), err)
	}
	s.busy = true
	s.dev.changed(launch)
	return nil
}

// Copy submits a copy.
func (s *stream) Copy(dst, src gpu.Memory) error {
	if err := gpu.CheckCopy(dst, src); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("copy")
	if err != nil {
		return err
	}
	c, err := s.dev.copying(l, dst, src)
	if err != nil {
		return err
	}
	if s.captured.Submit(capture.Work{Dst: dst, Src: src}) {
		return nil
	}
	c.Stream = s.handle
	if err := l.post(&c); err != nil {
		return asFault("copy", err)
	}
	if b, ok := dst.(*buffer); ok {
		b.memory.written()
	}
	s.busy = true
	return nil
}

// copying is a copy as a command.
func (d *Device) copying(l *link, dst, src gpu.Memory) (c command.Copy, err error) {
	if c.Dst, err = d.place(l, dst); err != nil {
		return c, fmt.Errorf("cuda: copy to: %w", err)
	}
	if c.Src, err = d.place(l, src); err != nil {
		return c, fmt.Errorf("cuda: copy from: %w", err)
	}
	c.Bytes = int64(dst.Len()) * int64(dst.Type().Bytes())
	return c, nil
}

// place is where memory is, for a worker.
func (d *Device) place(l *link, m gpu.Memory) (command.Place, error) {
	switch m := m.(type) {
	case *buffer:
		return m.place(), d.own(l, m)
	case *host:
		if m.dev != d {
			return command.Place{}, fmt.Errorf("%w: host memory of another device", gpu.ErrArgument)
		}
		return command.Place{Offset: m.span.offset}, m.register(l)
	}
	return command.Place{}, fmt.Errorf("%w: %T is not memory of this device", gpu.ErrArgument, m)
}

// own checks that a buffer belongs to this device and is in a worker.
func (d *Device) own(l *link, b gpu.Buffer) error {
	x, ok := b.(*buffer)
	if !ok || x.dev != d {
		return fmt.Errorf("%w: a buffer of another device", gpu.ErrArgument)
	}
	return x.memory.usable(l)
}

// Zero submits the clearing of a buffer.
func (s *stream) Zero(b gpu.Buffer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("zero")
	if err != nil {
		return err
	}
	if err := s.dev.own(l, b); err != nil {
		return fmt.Errorf("cuda: zero: %w", err)
	}
	if s.captured.Submit(capture.Work{Zero: b}) {
		return nil
	}
	x := b.(*buffer)
	if err := l.post(&command.Zero{Stream: s.handle, Range: x.span()}); err != nil {
		return asFault("zero", err)
	}
	x.memory.written()
	s.busy = true
	return nil
}

// Sync waits for the stream's work and returns its first error.
func (s *stream) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("cuda: sync: %w: the stream was closed", gpu.ErrClosed)
	}
	if err := s.captured.Refuse("sync"); err != nil {
		return err
	}
	return s.sync(&command.Sync{Stream: s.handle})
}

// sync lets a worker execute a command that waits for the stream; s.mu is
// held.
func (s *stream) sync(c command.Command) error {
	s.settle()
	if err := s.failed; err != nil {
		s.failed = nil
		return err
	}
	if err := s.dev.usable("sync"); err != nil || !s.busy {
		return err
	}
	s.busy = false
	if _, err := s.dev.wait(s.link, c, "sync"); err != nil {
		return err
	}
	s.dev.recall.finished(s.handle)
	s.dev.mirrorAll(s.link)
	return nil
}

// Close waits for the stream's work and releases it.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("cuda: close stream: %w: it was closed before", gpu.ErrClosed)
	}
	if err := s.captured.Refuse("close stream"); err != nil {
		return err
	}
	s.closed = true
	s.dev.streams.Add(-1)
	if s.link == nil {
		return s.dev.usable("close stream")
	}
	s.busy = s.busy || s.link.err() == nil // it is there: release it
	defer s.dev.recall.forget(s.handle)
	return s.sync(&command.CloseStream{Stream: s.handle})
}
