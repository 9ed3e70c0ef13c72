package emu

import (
	"fmt"
	"sync/atomic"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/capture"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
)

// stream is a queue in which each piece of work ends before the call that submits it
// returns.
type stream struct {
	dev    *Device
	number uint32 // 0 for the default stream
	closed atomic.Bool

	captured capture.Stream
}

func (s *stream) usable(what string) error {
	if s.closed.Load() {
		return fmt.Errorf("emu: %s: %w: the stream was closed", what, gpu.ErrClosed)
	}
	return s.dev.usable(what)
}

// Launch checks a launch, then runs it to its end.
func (s *stream) Launch(l gpu.Launch) error { return s.launch(l, s.dev.engine.Interrupts()) }

// launch runs work that was submitted when the device had been interrupted epoch times:
// a later interrupt ends it.
func (s *stream) launch(l gpu.Launch, epoch uint64) error {
	if o := s.dev.observer.Load(); o != nil {
		return (*o)(l, func(l gpu.Launch) error { return s.submit(l, epoch) })
	}
	return s.submit(l, epoch)
}

func (s *stream) submit(l gpu.Launch, epoch uint64) error {
	if err := s.usable("launch"); err != nil {
		return err
	}
	d := s.dev
	run, err := d.prepare(l)
	if err != nil {
		return err
	}
	if s.captured.Submit(capture.Work{Launch: &l}) {
		run.Release()
		return nil
	}
	return s.start(l, run, epoch)
}

// start runs prepared work.
func (s *stream) start(l gpu.Launch, run *engine.Launch, epoch uint64) error {
	defer run.Release()
	d := s.dev
	d.run.lockToWrite()
	defer d.run.Unlock()
	if err := d.usable("launch"); err != nil {
		return err
	}
	for _, b := range l.Zero {
		if err := s.zero(b); err != nil {
			return err
		}
	}
	d.streams.Order(run, d.order.launch(s.number))
	return run.Run(epoch)
}

// Zero clears a buffer.
func (s *stream) Zero(b gpu.Buffer) error {
	if err := s.usable("zero"); err != nil {
		return err
	}
	if err := s.dev.own(b); err != nil {
		return fmt.Errorf("emu: zero: %w", err)
	}
	if s.captured.Submit(capture.Work{Zero: b}) {
		return nil
	}
	s.dev.run.lockToWrite()
	defer s.dev.run.Unlock()
	return s.zero(b)
}

// zero clears a buffer; the device's run lock is held.
func (s *stream) zero(b gpu.Buffer) error {
	if err := s.dev.own(b); err != nil {
		return fmt.Errorf("emu: zero: %w", err)
	}
	x := b.(*buffer)
	data, c, err := x.bytes()
	if err != nil {
		return fmt.Errorf("emu: zero: %w", err)
	}
	s.dev.streams.Transfer(s.dev.order.launch(s.number), engine.Transfer{What: "Zero", Write: x.whole()})
	clear(data)
	c.Wrote(x.offset, len(data))
	return nil
}

// Copy copies between device and host memory.
func (s *stream) Copy(dst, src gpu.Memory) error {
	if err := s.usable("copy"); err != nil {
		return err
	}
	if err := gpu.CheckCopy(dst, src); err != nil {
		return err
	}
	if err := s.dev.copyable(dst, src); err != nil {
		return err
	}
	if s.captured.Submit(capture.Work{Dst: dst, Src: src}) {
		return nil
	}
	s.dev.run.lockToWrite()
	defer s.dev.run.Unlock()
	return s.copy(dst, src)
}

// copyable checks that both sides of a copy exist.
func (d *Device) copyable(dst, src gpu.Memory) error {
	if _, _, err := d.bytesOf(dst); err != nil {
		return fmt.Errorf("emu: copy to: %w", err)
	}
	if _, _, err := d.bytesOf(src); err != nil {
		return fmt.Errorf("emu: copy from: %w", err)
	}
	return nil
}

// copy copies between memories; the run lock is held.
func (s *stream) copy(dst, src gpu.Memory) error {
	d := s.dev
	if err := d.copyable(dst, src); err != nil { // freed in the meantime
		return err
	}
	to, toContents, _ := d.bytesOf(dst)
	from, fromContents, _ := d.bytesOf(src)
	t := engine.Transfer{What: "Copy"}
	if b, ok := dst.(*buffer); ok {
		t.Write = b.whole()
	}
	if b, ok := src.(*buffer); ok {
		t.Read = b.whole()
	}
	d.streams.Transfer(d.order.launch(s.number), t)
	copy(to, from)
	if b, ok := dst.(*buffer); ok {
		if a, ok := src.(*buffer); ok {
			toContents.Inherit(b.offset, fromContents, a.offset, len(to))
		} else {
			toContents.Wrote(b.offset, len(to))
		}
	}
	return nil
}

// bytesOf is the memory behind a buffer or host memory.
func (d *Device) bytesOf(m gpu.Memory) ([]byte, *mem.Contents, error) {
	switch m := m.(type) {
	case *buffer:
		if err := d.own(m); err != nil {
			return nil, nil, err
		}
		return m.bytes()
	case *host:
		if m.dev != d {
			return nil, nil, fmt.Errorf("%w: host memory of another device", gpu.ErrArgument)
		}
		data, err := m.bytes()
		return data, nil, err
	}
	return nil, nil, fmt.Errorf("%w: %T is not memory of this device", gpu.ErrArgument, m)
}

// Record notes the time.
func (s *stream) Record(e gpu.Event) error {
	x, err := s.event(e, "record")
	if err != nil {
		return err
	}
	if s.captured.Record(&x.captured) {
		return nil
	}
	s.dev.order.record(s.number, x)
	x.at.Store(time.Now().UnixNano())
	return nil
}

// Wait returns at once: all submitted work has run. It orders launches for the search for
// races.
func (s *stream) Wait(e gpu.Event) error {
	x, err := s.event(e, "wait")
	if err != nil {
		return err
	}
	captured, err := s.captured.Wait(&x.captured)
	if !captured && err == nil {
		s.dev.order.wait(s.number, x)
	}
	return err
}

func (s *stream) event(e gpu.Event, what string) (*event, error) {
	if err := s.usable(what); err != nil {
		return nil, err
	}
	x, ok := e.(*event)
	if !ok || x.dev != s.dev {
		return nil, fmt.Errorf("emu: %s: %w: the event is not of this device", what, gpu.ErrArgument)
	}
	if x.closed.Load() {
		return nil, fmt.Errorf("emu: %s: %w: the event was closed", what, gpu.ErrClosed)
	}
	return x, nil
}

// Sync returns at once: submitted work has run, and its error was returned by
// the call that submitted it.
func (s *stream) Sync() error {
	if err := s.usable("sync"); err != nil {
		return err
	}
	if err := s.captured.Refuse("sync"); err != nil {
		return err
	}
	s.dev.order.sync(s.number)
	return nil
}

// AllocAsync is Alloc: there is nothing to wait for.
func (s *stream) AllocAsync(t gpu.Type, n int) (gpu.Buffer, error) {
	if err := s.asynchronous("alloc async"); err != nil {
		return nil, err
	}
	return s.dev.Alloc(t, n)
}

// FreeAsync is Free: the work on the stream has run.
func (s *stream) FreeAsync(b gpu.Buffer) error {
	if err := s.asynchronous("free async"); err != nil {
		return err
	}
	if err := s.dev.own(b); err != nil {
		return fmt.Errorf("emu: free async: %w", err)
	}
	return b.Free()
}

func (s *stream) asynchronous(what string) error {
	if err := s.usable(what); err != nil {
		return err
	}
	return s.captured.Refuse(what)
}

// Close releases the stream.
func (s *stream) Close() error {
	if err := s.captured.Refuse("close stream"); err != nil {
		return err
	}
	if s.closed.Swap(true) {
		return fmt.Errorf("emu: close stream: %w: it was closed before", gpu.ErrClosed)
	}
	s.dev.order.closed(s.number)
	return nil
}
