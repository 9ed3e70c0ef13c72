package emu

import (
	"fmt"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/capture"
)

// replay is a graph: captured work. It runs in the order of the capture, in which each
// piece comes after those that it waits for.
type replay struct {
	dev *Device

	mu       sync.Mutex
	work     []capture.Work // guarded by mu
	launches []*gpu.Launch  // of work; guarded by mu
	closed   bool           // guarded by mu
}

// Capture records the work that f submits to a stream.
func (d *Device) Capture(on gpu.Stream, f func() error) (gpu.Graph, error) {
	s, err := d.stream(on, "capture")
	if err != nil {
		return nil, err
	}
	work, err := capture.Run(&s.captured, f)
	if err != nil {
		return nil, err
	}
	g := &replay{dev: d, work: work}
	for _, w := range work {
		if w.Launch != nil {
			g.launches = append(g.launches, w.Launch)
		}
	}
	return g, nil
}

// stream returns one of the device's streams, or the default stream if given the device
// itself.
func (d *Device) stream(on gpu.Stream, what string) (*stream, error) {
	s, ok := on.(*stream)
	if on == gpu.Stream(d) {
		s, ok = &d.main, true
	}
	if !ok || s.dev != d {
		return nil, fmt.Errorf("emu: %s: %w: the stream is not of this device", what, gpu.ErrArgument)
	}
	return s, s.usable(what)
}

func (g *replay) usable(what string) error {
	if g.closed {
		return fmt.Errorf("emu: %s: %w: the graph was closed", what, gpu.ErrClosed)
	}
	return g.dev.usable(what)
}

// Launches are the launches in the graph.
func (g *replay) Launches() []gpu.Launch {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []gpu.Launch
	for _, l := range g.launches {
		list = append(list, *l)
	}
	return list
}

// Launch runs the graph to its end.
func (g *replay) Launch(on gpu.Stream) error {
	epoch := g.dev.engine.Interrupts()
	s, err := g.dev.stream(on, "launch graph")
	if err != nil {
		return err
	}
	if err := s.captured.Refuse("launch graph"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.usable("launch graph"); err != nil {
		return err
	}
	for i, w := range g.work {
		if err := g.check(w); err != nil {
			return fmt.Errorf("emu: launch graph: work %d: %w", i, err)
		}
	}
	for _, w := range g.work {
		if err := g.run(s, w, epoch); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if an object that a piece of work needs no longer exists.
func (g *replay) check(w capture.Work) error {
	switch {
	case w.Launch != nil:
		run, err := g.dev.prepare(*w.Launch)
		if err == nil {
			run.Release()
		}
		return err
	case w.Zero != nil:
		return g.dev.own(w.Zero)
	}
	return g.dev.copyable(w.Dst, w.Src)
}

func (g *replay) run(s *stream, w capture.Work, epoch uint64) error {
	switch {
	case w.Launch != nil:
		return s.launch(*w.Launch, epoch)
	case w.Zero != nil:
		return s.Zero(w.Zero)
	}
	return s.Copy(w.Dst, w.Src)
}

// Update gives a launch new arguments.
func (g *replay) Update(i int, args ...any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.usable("update graph"); err != nil {
		return err
	}
	if i < 0 || i >= len(g.launches) {
		return fmt.Errorf("emu: update graph: %w: launch %d, expected 0 to %d", gpu.ErrArgument, i, len(g.launches)-1)
	}
	l := *g.launches[i]
	l.Args = args
	run, err := g.dev.prepare(l)
	if err != nil {
		return err
	}
	run.Release()
	g.launches[i].Args = capture.Args(args)
	return nil
}

// Close releases the graph.
func (g *replay) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("emu: close graph: %w: it was closed before", gpu.ErrClosed)
	}
	g.closed = true
	return nil
}
