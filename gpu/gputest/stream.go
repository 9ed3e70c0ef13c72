package gputest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"warpbook/gpu"
)

// testStreams passes a value back and forth between two streams.
func testStreams(t *testing.T, s *suite) {
	a, err := s.device.NewStream()
	s.ok(err)
	b, err := s.device.NewStream()
	s.ok(err)
	x := s.alloc(gpu.Float32, 1000, s.floats(1000))
	y := s.alloc(gpu.Float32, 1000, nil)
	before := make([]float32, 1000)
	s.ok(x.Download(before))
	const rounds = 10
	for range rounds {
		s.pass(a, b, s.scale(x, y, 2, 1000))
		s.pass(b, a, s.scale(y, x, 1, 1000))
	}
	s.ok(a.Sync())
	s.ok(b.Sync())
	got := make([]float32, 1000)
	s.ok(x.Download(got))
	for i, v := range before {
		if want := v * (1 << rounds); got[i] != want {
			t.Fatalf("x[%d] = %v, expected %v: the events do not order the streams (seed %d)", i, got[i], want, seed)
		}
	}
	s.ok(a.Close())
	s.is(a.Launch(s.scale(x, y, 1, 1)), gpu.ErrClosed, "launch on a closed stream")
	s.is(a.Close(), gpu.ErrClosed, "second close of a stream")
	s.ok(b.Close())
}

// pass launches on one stream and lets another wait for it.
func (s *suite) pass(from, to gpu.Stream, l gpu.Launch) {
	s.Helper()
	e, err := s.device.NewEvent()
	s.ok(err)
	s.ok(from.Launch(l))
	s.ok(from.Record(e))
	s.ok(to.Wait(e))
	s.ok(e.Close())
}

func testEvents(t *testing.T, s *suite) {
	start, err := s.device.NewEvent()
	s.ok(err)
	end, err := s.device.NewEvent()
	s.ok(err)
	_, err = end.Since(start)
	s.is(err, gpu.ErrArgument, "time between events that were not recorded")
	x := s.alloc(gpu.Float32, 1000, s.floats(1000))
	s.ok(s.device.Record(start))
	s.ok(s.device.Launch(s.scale(x, x, 1, 1000)))
	s.ok(s.device.Record(end))
	s.ok(s.device.Sync())
	d, err := end.Since(start)
	s.ok(err)
	if d < 0 {
		t.Errorf("%v between two events, expected no negative time", d)
	}
	s.ok(start.Close())
	s.is(s.device.Record(start), gpu.ErrClosed, "record of a closed event")
	s.is(start.Close(), gpu.ErrClosed, "second close of an event")
}

func testTime(t *testing.T, s *suite) {
	x := s.alloc(gpu.Float32, 1000, s.floats(1000))
	before := make([]float32, 1000)
	s.ok(x.Download(before))
	times, err := s.device.Time(gpu.Timing{Warmup: 2, Repeats: 3}, s.scale(x, x, 2, 1000), s.scale(x, x, 2, 1000))
	s.ok(err)
	if len(times) != 3 {
		t.Errorf("%d times, expected 3", len(times))
	}
	for _, d := range times {
		if d <= 0 {
			t.Errorf("a run took %v", d)
		}
	}
	got := make([]float32, 1000)
	s.ok(x.Download(got))
	for i := range before {
		before[i] *= 1 << 10
	}
	if !slices.Equal(got, before) {
		t.Errorf("the launches did not run 2 + 3 times each (seed %d)", seed)
	}
	_, err = s.device.Time(gpu.Timing{}, s.scale(x, x, 2, 1000))
	s.is(err, gpu.ErrArgument, "no timed runs")
	_, err = s.device.Time(gpu.Timing{Repeats: 1, Warmup: -1}, s.scale(x, x, 2, 1000))
	s.is(err, gpu.ErrArgument, "negative untimed runs")
	_, err = s.device.Time(gpu.Timing{Repeats: 1})
	s.is(err, gpu.ErrArgument, "no launches")
}

// testCounters checks one launch by hand, on devices that count.
func testCounters(t *testing.T, s *suite) {
	x, y := s.alloc(gpu.Float32, 256, s.floats(256)), s.alloc(gpu.Float32, 256, nil)
	l := s.scale(x, y, 1, 200)
	l.Counters = &gpu.Counters{}
	err := s.run(l)
	if errors.Is(err, gpu.ErrUnsupported) {
		t.Skip("the device does not count:", err)
	}
	s.ok(err)
	// 200 of 256 threads in 8 warps: 6 whole warps, one of 8 threads, one of
	// none. A whole warp's request of 128 bytes is 4 sectors, 8 threads' is 1.
	want := gpu.GlobalAccess{Requests: 7, Sectors: 25, Lines: 7, Bytes: 800}
	if l.Counters.GlobalLoad != want || l.Counters.GlobalStore != want {
		t.Errorf("loads %+v, stores %+v, expected %+v", l.Counters.GlobalLoad, l.Counters.GlobalStore, want)
	}
	if l.Counters.Branches < 8 || l.Counters.DivergentBranches != 1 {
		t.Errorf("%d branches of which %d divergent, expected at least 8 and 1", l.Counters.Branches, l.Counters.DivergentBranches)
	}
	first := *l.Counters
	s.ok(s.run(l))
	if *l.Counters != first {
		t.Errorf("a second launch counts %+v, the first %+v", *l.Counters, first)
	}
}

func testGoroutines(t *testing.T, s *suite) {
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	e := s.entry("scale")
	for g := range 8 {
		wg.Go(func() { errs <- worker(s.device, e, float32(g+1)) })
	}
	wg.Wait()
	for range 8 {
		s.ok(<-errs)
	}
}

// worker uses the device from a goroutine of its own.
func worker(d gpu.Device, e gpu.Entry, a float32) error {
	for n := 1; n < 200; n += 37 {
		x, err := d.Alloc(gpu.Float32, n)
		if err != nil {
			return err
		}
		in := make([]float32, n)
		for i := range in {
			in[i] = float32(i)
		}
		if err := x.Upload(in); err != nil {
			return err
		}
		err = d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: n}, Block: gpu.Dim{X: 32}, Args: []any{x, x, a, uint32(n)}})
		if err != nil {
			return err
		}
		out := make([]float32, n)
		if err := x.Download(out); err != nil {
			return err
		}
		for i := range in {
			if out[i] != a*in[i] {
				return errors.New("another goroutine's result")
			}
		}
		if err := x.Free(); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long an endless launch may run before it is interrupted.
const patience = 20 * time.Millisecond
