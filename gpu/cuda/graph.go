package cuda

import (
	"fmt"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/capture"
	"warpbook/gpu/cuda/command"
)

// graph is captured work. A worker instantiates it at its first launch there.
type graph struct {
	dev    *Device
	handle uint32

	mu       sync.Mutex
	link     *link          // that has made it; guarded by mu
	work     []capture.Work // guarded by mu
	launches []int          // those of work; guarded by mu
	closed   bool           // guarded by mu
}

// Capture records what f submits to a stream.
func (d *Device) Capture(on gpu.Stream, f func() error) (gpu.Graph, error) {
	s, err := d.stream(on, "capture")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("cuda: capture: %w: the stream was closed", gpu.ErrClosed)
	}
	work, err := capture.Run(&s.captured, f)
	if err != nil {
		return nil, err
	}
	g := &graph{dev: d, handle: d.handle(), work: work}
	for i, w := range work {
		if w.Launch != nil {
			g.launches = append(g.launches, i)
		}
	}
	l, err := d.worker()
	if err != nil {
		return nil, asFault("capture", err)
	}
	return g, g.ensure(l)
}

// stream is one of the device's streams, which the device itself stands for
// too.
func (d *Device) stream(on gpu.Stream, what string) (*stream, error) {
	s, ok := on.(*stream)
	if on == gpu.Stream(d) {
		s, ok = &d.main, true
	}
	if !ok || s.dev != d {
		return nil, fmt.Errorf("cuda: %s: %w: the stream is not of this device", what, gpu.ErrArgument)
	}
	return s, d.usable(what)
}

// ensure makes the graph in a worker that does not have it. g.mu is held, or no
// other goroutine has g.
func (g *graph) ensure(l *link) error {
	if g.link == l {
		return g.check(l)
	}
	c := &command.Graph{Graph: g.handle}
	for i, w := range g.work {
		n, err := g.dev.node(l, w)
		if err != nil {
			return fmt.Errorf("cuda: launch graph: work %d: %w", i, err)
		}
		c.Nodes = append(c.Nodes, n)
	}
	if _, err := g.dev.do(l, c, fmt.Sprintf("make a graph of %d pieces of work", len(g.work))); err != nil {
		return err
	}
	g.link = l
	return nil
}

// check returns an error if a buffer or module that the work needs no longer exists.
func (g *graph) check(l *link) error {
	for i, w := range g.work {
		if err := g.dev.alive(l, w); err != nil {
			return fmt.Errorf("cuda: launch graph: work %d: %w", i, err)
		}
	}
	return nil
}

// alive returns an error if a worker lacks the buffers or the module of an operation.
func (d *Device) alive(l *link, w capture.Work) error {
	switch {
	case w.Zero != nil:
		return d.own(l, w.Zero)
	case w.Launch == nil:
		if _, err := d.place(l, w.Dst); err != nil {
			return err
		}
		_, err := d.place(l, w.Src)
		return err
	}
	if err := w.Launch.Entry.(*entry).module.ensure(l); err != nil {
		return err
	}
	for _, b := range gpu.Buffers(*w.Launch) {
		if err := d.own(l, b); err != nil {
			return err
		}
	}
	return nil
}

// node is an operation as a command.Node.
func (d *Device) node(l *link, w capture.Work) (n command.Node, err error) {
	for _, i := range w.After {
		n.After = append(n.After, uint32(i))
	}
	switch {
	case w.Launch != nil:
		n.Work = command.NodeLaunch
		n.Launch, err = d.encode(l, *w.Launch)
		return n, err
	case w.Zero != nil:
		n.Work = command.NodeZero
		n.Zero = w.Zero.(*buffer).span()
		return n, d.own(l, w.Zero)
	}
	n.Work = command.NodeCopy
	n.Copy, err = d.copying(l, w.Dst, w.Src)
	return n, err
}

func (g *graph) usable(what string) error {
	if g.closed {
		return fmt.Errorf("cuda: %s: %w: the graph was closed", what, gpu.ErrClosed)
	}
	return nil
}

// Launches are the launches in the graph.
func (g *graph) Launches() []gpu.Launch {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []gpu.Launch
	for _, i := range g.launches {
		list = append(list, *g.work[i].Launch)
	}
	return list
}

// Launch submits the graph.
func (g *graph) Launch(on gpu.Stream) error {
	s, err := g.dev.stream(on, "launch graph")
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.captured.Refuse("launch graph"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.usable("launch graph"); err != nil {
		return err
	}
	l, err := s.enter("launch graph")
	if err != nil {
		return err
	}
	if err := g.ensure(l); err != nil {
		return err
	}
	if len(g.launches) > 0 {
		first := g.work[g.launches[0]].Launch
		l.note(first.Entry.Name(), &command.Launch{Grid: shape(first.Grid), Block: shape(first.Block), Shared: uint32(first.Shared)})
	}
	recorded := g.record(s, l)
	if err := l.post(&command.LaunchGraph{Graph: g.handle, Stream: s.handle}); err != nil {
		return asFault("launch graph", err)
	}
	s.busy = true
	for _, w := range g.work {
		g.dev.changedBy(w, recorded)
	}
	return nil
}

// record is Device.record for the graph's launches in sequence: launches that the
// graph does not order do not depend on their order. The source of a copy may have
// changed by the time a fault is known, so a graph with other work than launches is
// not replayed.
func (g *graph) record(s *stream, l *link) bool {
	if len(g.launches) == 0 {
		return false
	}
	var launches []*gpu.Launch
	for _, i := range g.launches {
		launches = append(launches, g.work[i].Launch)
	}
	if len(launches) < len(g.work) {
		g.dev.recall.miss(s, launches, "it is in a graph that also copies or clears memory")
		return false
	}
	return g.dev.record(s, l, launches...)
}

// changedBy notes the memory that an operation may write to. For a recorded launch
// it only marks the buffers as changed: a replay of the launch writes them again.
func (d *Device) changedBy(w capture.Work, recorded bool) {
	if recorded {
		d.changed(*w.Launch)
		return
	}
	written := []gpu.Memory{w.Dst, w.Zero}
	if w.Launch != nil {
		for _, b := range gpu.Buffers(*w.Launch) {
			written = append(written, b)
		}
	}
	for _, m := range written {
		if b, ok := m.(*buffer); ok {
			b.memory.written()
		}
	}
}

// Update gives a launch other arguments.
func (g *graph) Update(i int, args ...any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.usable("update graph"); err != nil {
		return err
	}
	if i < 0 || i >= len(g.launches) {
		return fmt.Errorf("cuda: update graph: %w: launch %d, expected 0 to %d", gpu.ErrArgument, i, len(g.launches)-1)
	}
	l, err := g.dev.worker()
	if err != nil {
		return asFault("update graph", err)
	}
	old := g.work[g.launches[i]].Launch
	fresh := *old
	fresh.Args = capture.Args(args)
	c, err := g.dev.encode(l, fresh)
	if err != nil {
		return err
	}
	if g.link == l { // another worker makes the graph anew
		u := &command.UpdateGraph{Graph: g.handle, Node: uint32(g.launches[i]), Launch: c}
		if _, err := g.dev.do(l, u, "update graph: launch "+old.Entry.Name()); err != nil {
			return err
		}
	}
	*old = fresh
	return nil
}

// Close releases the graph after its last run ends.
func (g *graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("cuda: close graph: %w: it was closed before", gpu.ErrClosed)
	}
	g.closed = true
	if g.link == nil || g.link.err() != nil {
		return nil
	}
	_, err := g.dev.do(g.link, &command.CloseGraph{Graph: g.handle}, "close graph")
	return err
}
