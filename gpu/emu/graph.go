package emu

import (
	"fmt"
	"slices"
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
	branches []uint32       // streams of the pieces of work, nil if each waits for the one before; guarded by mu
	last     event          // after the last launch of the graph, whose launches a GPU runs one after the other; guarded by mu
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
	if branches(work) {
		for range work {
			g.branches = append(g.branches, d.order.newStream())
		}
	}
	return g, nil
}

// branches reports whether some work does not wait for the work before.
func branches(work []capture.Work) bool {
	for i, w := range work {
		if i > 0 && !slices.Equal(w.After, []int{i - 1}) {
			return true
		}
	}
	return false
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
	g.dev.order.wait(s.number, &g.last)
	defer func() {
		g.dev.order.join(s.number, g.branches...)
		g.dev.order.record(s.number, &g.last)
	}()
	for i, w := range g.work {
		if err := g.run(g.branch(s, i), w, epoch); err != nil {
			return err
		}
	}
	return nil
}

// branch is the stream of a piece of work in a graph that runs on a stream.
func (g *replay) branch(s *stream, i int) *stream {
	if g.branches == nil {
		return s
	}
	after := []uint32{s.number}
	for _, before := range g.work[i].After {
		after = append(after, g.branches[before])
	}
	g.dev.order.fork(g.branches[i], after...)
	return &stream{dev: s.dev, number: g.branches[i]}
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
	g.dev.order.drop(g.branches...)
	return nil
}
