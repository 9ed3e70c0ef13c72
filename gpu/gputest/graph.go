package gputest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// captured captures f on a stream and closes the graph with the test.
func (s *suite) captured(on gpu.Stream, f func()) gpu.Graph {
	s.Helper()
	g, err := s.device.Capture(on, func() error { f(); return nil })
	s.ok(err)
	return g
}

// pair makes two streams.
func (s *suite) pair() (a, b gpu.Stream) {
	s.Helper()
	a, err := s.device.NewStream()
	s.ok(err)
	b, err = s.device.NewStream()
	s.ok(err)
	return a, b
}

// expect checks that all elements of a buffer are a value.
func (s *suite) expect(b gpu.Buffer, want float32, what string) {
	s.Helper()
	got := make([]float32, b.Len())
	s.ok(b.Download(got))
	if i := slices.IndexFunc(got, func(v float32) bool { return v != want }); i >= 0 {
		s.Errorf("%s: element %d is %v, expected %v", what, i, got[i], want)
	}
}

func fill(n int, v float32) []float32 { return slices.Repeat([]float32{v}, n) }

// testGraph captures launches, copies and zeros, in order on one stream, and
// runs them several times with other arguments.
func testGraph(t *testing.T, s *suite) {
	const n = 1000
	x, y, z := s.alloc(gpu.Float32, n, fill(n, 1)), s.alloc(gpu.Float32, n, fill(n, 0)), s.alloc(gpu.Float32, n, fill(n, 9))
	host, err := s.device.AllocHost(gpu.Float32, n)
	s.ok(err)
	stream, other := s.pair()
	g := s.captured(stream, func() {
		s.ok(stream.Launch(s.scale(x, y, 3, n)))
		s.ok(stream.Launch(s.scale(y, x, 2, n)))
		s.ok(stream.Zero(z))
		s.ok(stream.Copy(host, x))
	})
	s.expect(x, 1, "after the capture, in which nothing runs")
	if l := g.Launches(); len(l) != 2 || l[0].Entry.Name() != "scale" || l[1].Args[2] != float32(2) {
		t.Errorf("launches of the graph: %+v", l)
	}
	for i, want := range []float32{6, 36, 216} {
		on := []gpu.Stream{stream, other, s.device}[i]
		s.ok(g.Launch(on))
		s.ok(on.Sync())
		s.expect(x, want, "x of the graph")
		s.expect(z, 0, "z of the graph")
		if got := host.Slice().([]float32); got[0] != want || got[n-1] != want {
			t.Errorf("host memory has %v, expected %v", got[0], want)
		}
	}
	s.ok(x.Upload(fill(n, 1)))
	s.ok(g.Update(0, x, y, float32(5), uint32(n)))
	s.ok(g.Launch(stream))
	s.ok(g.Update(1, y, z, float32(7), uint32(n)))
	s.ok(g.Launch(stream))
	s.ok(stream.Sync())
	s.expect(x, 10, "x after an update")
	s.expect(y, 50, "y after an update")
	s.is(g.Update(2, x), gpu.ErrArgument, "update of a launch that is not there")
	s.is(g.Update(0, x, y, 5, uint32(n)), gpu.ErrArgument, "update with an int")
	s.is(g.Update(0, x, y), gpu.ErrArgument, "update with too few arguments")
	s.ok(g.Close())
	s.is(g.Launch(stream), gpu.ErrClosed, "launch of a closed graph")
	s.is(g.Update(0, x, y, float32(5), uint32(n)), gpu.ErrClosed, "update of a closed graph")
	s.is(g.Close(), gpu.ErrClosed, "second close of a graph")
}

// testGraphZero checks that what a launch sets to 0 is part of the graph, and
// that an empty graph runs.
func testGraphZero(t *testing.T, s *suite) {
	const n = 100
	x, y := s.alloc(gpu.Float32, n, fill(n, 1)), s.alloc(gpu.Float32, n, fill(n, 5))
	l := s.scale(x, x, 2, n)
	l.Zero = []gpu.Buffer{y}
	g := s.captured(s.device, func() {
		s.ok(s.device.Launch(l))
		l.Args[2], l.Zero[0] = float32(100), x // not the graph's any more
	})
	s.ok(g.Launch(s.device))
	s.ok(s.device.Sync())
	s.expect(x, 2, "x")
	s.expect(y, 0, "y")
	empty := s.captured(s.device, func() {})
	s.ok(empty.Launch(s.device))
	s.ok(s.device.Sync())
	s.ok(empty.Close())
	s.ok(g.Close())
}

// testGraphFork captures two streams that part and meet again.
func testGraphFork(t *testing.T, s *suite) {
	const n = 1000
	x, y, z := s.alloc(gpu.Float32, n, fill(n, 1)), s.alloc(gpu.Float32, n, nil), s.alloc(gpu.Float32, n, nil)
	a, b := s.pair()
	fork, err := s.device.NewEvent()
	s.ok(err)
	join, err := s.device.NewEvent()
	s.ok(err)
	g := s.captured(a, func() {
		s.ok(a.Launch(s.scale(x, x, 2, n)))
		s.ok(a.Record(fork))
		s.ok(b.Wait(fork))
		s.ok(b.Launch(s.scale(x, y, 3, n)))
		s.ok(a.Launch(s.scale(x, z, 5, n)))
		s.ok(b.Record(join))
		s.ok(a.Wait(join))
		s.ok(a.Launch(s.scale(y, y, 7, n)))
	})
	for _, want := range []float32{2, 4} {
		s.ok(g.Launch(a))
		s.ok(a.Sync())
		s.expect(y, want*21, "y, of both branches")
		s.expect(z, want*5, "z, of the first branch")
	}
	s.ok(b.Launch(s.scale(x, x, 1, n))) // runs again: the capture has ended
	s.ok(b.Sync())
	_, err = join.Since(fork)
	s.is(err, gpu.ErrArgument, "time between events of a capture")
	s.is(b.Wait(fork), gpu.ErrArgument, "wait for an event of a capture that has ended")
	s.ok(a.Record(fork))
	s.ok(b.Wait(fork))
	s.ok(b.Sync())
	s.ok(g.Close())
}

// testGraphErrors checks the calls that are errors during a capture, and that the streams work
// afterwards.
func testGraphErrors(t *testing.T, s *suite) {
	const n = 100
	x, y := s.alloc(gpu.Float32, n, fill(n, 1)), s.alloc(gpu.Float32, n, nil)
	a, b := s.pair()
	for _, c := range s.refusedInCapture(a, b, s.scale(x, y, 1, n)) {
		g, err := s.device.Capture(a, c.f)
		s.is(err, c.kind, c.name)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, expected it to say %q", c.name, err, c.says)
		}
		if err == nil {
			s.ok(g.Close())
		}
		s.ok(a.Launch(s.scale(x, y, 4, n)))
		s.ok(a.Sync())
		s.ok(b.Sync())
		s.expect(y, 4, "a launch after "+c.name)
	}
	_, err := s.device.Capture(s.device, func() error {
		s.device.Time(gpu.Timing{Repeats: 1}, s.scale(x, y, 1, n))
		return nil
	})
	s.is(err, gpu.ErrArgument, "time in a capture")
}

// inCapture lists the calls that are errors during a capture.
type inCapture struct {
	name string
	f    func() error
	kind error
	says string
}

func (s *suite) refusedInCapture(a, b gpu.Stream, l gpu.Launch) []inCapture {
	s.Helper()
	outside, err := s.device.NewEvent()
	s.ok(err)
	s.ok(b.Record(outside))
	inside, err := s.device.NewEvent()
	s.ok(err)
	mine := errors.New("my own")
	fork := func() error { return errors.Join(a.Record(inside), b.Wait(inside), b.Launch(l)) }
	short := l
	short.Args = l.Args[:3]
	return []inCapture{
		{"sync", func() error { a.Sync(); return nil }, gpu.ErrArgument, "sync"},
		{"close", func() error { a.Close(); return nil }, gpu.ErrArgument, "captured"},
		{"an event from outside", func() error { a.Wait(outside); return nil }, gpu.ErrArgument, "not recorded in that capture"},
		{"a branch that is not joined", fork, gpu.ErrArgument, "not joined"},
		{"sync of a branch", func() error { fork(); b.Sync(); return nil }, gpu.ErrArgument, "sync"},
		{"a capture in a capture", func() error { _, err := s.device.Capture(a, func() error { return nil }); return err }, gpu.ErrArgument, "captured already"},
		{"asynchronous allocation", func() error { a.AllocAsync(gpu.Float32, 1); return nil }, gpu.ErrArgument, "alloc async"},
		{"an error of its own", func() error { return mine }, mine, "my own"},
		{"a launch that is refused", func() error { return a.Launch(short) }, gpu.ErrArgument, "3 arguments"},
	}
}

// testGraphGone checks graphs whose buffer was freed or stream closed.
func testGraphGone(t *testing.T, s *suite) {
	const n = 100
	x, y := s.alloc(gpu.Float32, n, fill(n, 1)), s.alloc(gpu.Float32, n, fill(n, 4))
	a, _ := s.pair()
	g := s.captured(a, func() { s.ok(a.Launch(s.scale(x, y, 2, n))) })
	s.ok(x.Free())
	s.is(g.Launch(a), gpu.ErrClosed, "launch of a graph with a freed buffer")
	s.ok(a.Sync())
	s.expect(y, 4, "after a graph that was refused")
	s.ok(g.Update(0, y, y, float32(3), uint32(n)))
	s.ok(g.Launch(a))
	s.ok(a.Sync())
	s.expect(y, 12, "the graph with a live buffer again")
	s.ok(a.Close())
	s.is(g.Launch(a), gpu.ErrClosed, "launch of a graph on a closed stream")
	_, err := s.device.Capture(a, func() error { return nil })
	s.is(err, gpu.ErrClosed, "capture of a closed stream")
	s.ok(g.Launch(s.device))
	s.ok(s.module.Close())
	s.is(g.Launch(s.device), gpu.ErrClosed, "launch of a graph of a closed module")
}

// testGraphCooperative checks that a cooperative launch is one in a graph too.
func testGraphCooperative(t *testing.T, s *suite) {
	const n = 1000
	x, y := s.alloc(gpu.Uint32, n, make([]uint32, n)), s.alloc(gpu.Uint32, n, nil)
	l := gpu.Launch{Entry: s.compiled("rotate"), Grid: gpu.Dim{X: 4}, Block: gpu.Dim{X: 64}, Args: []any{x, y, uint32(n), uint32(2)}, Cooperative: true}
	g := s.captured(s.device, func() { s.ok(s.device.Launch(l)) })
	for range 2 {
		s.ok(g.Launch(s.device))
	}
	s.ok(s.device.Sync())
	got := make([]uint32, n)
	s.ok(x.Download(got))
	if slices.Min(got) != 4 || slices.Max(got) != 4 {
		t.Errorf("elements from %d to %d, expected 4: rounds overlap", slices.Min(got), slices.Max(got))
	}
	s.ok(g.Close())
}

// testAsync allocates and frees in the order of a stream.
func testAsync(t *testing.T, s *suite) {
	const n = 1000
	a, _ := s.pair()
	x := s.alloc(gpu.Float32, n, fill(n, 1))
	out := s.alloc(gpu.Float32, n, nil)
	for i := range 5 {
		y, err := a.AllocAsync(gpu.Float32, n)
		s.ok(err)
		s.ok(a.Launch(s.scale(x, y, float32(i), n)))
		s.ok(a.Copy(out, y))
		s.ok(a.FreeAsync(y))
		s.is(a.Launch(s.scale(x, y, 1, n)), gpu.ErrClosed, "launch with a freed buffer")
		s.is(a.FreeAsync(y), gpu.ErrClosed, "second free")
		s.is(y.Free(), gpu.ErrClosed, "second free")
		s.ok(a.Sync())
		s.expect(out, float32(i), "copy of an asynchronous buffer")
	}
	y, err := s.device.AllocAsync(gpu.Float32, n)
	s.ok(err)
	s.ok(s.device.Launch(s.scale(x, y, 2, n)))
	s.ok(s.device.Sync())
	s.ok(y.Free()) // either way
	s.ok(s.device.Launch(s.scale(x, x, 2, n)))
	s.ok(s.device.FreeAsync(x))
	s.ok(s.device.Sync())
	v, err := out.View(0, 1)
	s.ok(err)
	s.is(a.FreeAsync(v), gpu.ErrArgument, "free of a view")
	_, err = a.AllocAsync(gpu.Float32, -1)
	s.is(err, gpu.ErrArgument, "alloc of -1")
	_, err = a.AllocAsync(gpu.Float64, int(s.device.Info().GlobalBytes/8)+1)
	s.is(err, gpu.ErrMemory, "alloc of more than there is")
	s.ok(a.Close())
	_, err = a.AllocAsync(gpu.Float32, 1)
	s.is(err, gpu.ErrClosed, "alloc on a closed stream")
}

// testKeep checks that a buffer that is kept has its contents after a fault.
func testKeep(t *testing.T, s *suite) {
	x := s.alloc(gpu.Float32, 100, fill(100, 2))
	s.ok(x.Keep())
	s.ok(x.Keep())
	s.ok(s.run(s.scale(x, x, 3, 100)))
	s.is(s.run(gpu.Launch{Entry: s.entry("traps"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}}), gpu.ErrTrap, "a trap")
	s.expect(x, 6, "a buffer that was kept")
	s.ok(s.run(s.scale(x, x, 2, 100)))
	s.expect(x, 12, "a buffer that was kept")
	s.ok(x.Free())
	s.is(x.Keep(), gpu.ErrClosed, "keep of a freed buffer")
	v, err := s.module.Global("count")
	s.ok(err)
	s.is(v.Keep(), gpu.ErrArgument, "keep of a variable")
}
