package emu

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// twoStreams are a device with two streams, two events and a kernel for each.
type twoStreams struct {
	*job
	streams [2]gpu.Stream
	event   gpu.Event
	entries [2]gpu.Entry
	out     bytes.Buffer
}

const (
	produce = "st.global.u32 [%p1], 5;"
	consume = "ld.global.u32 %r2, [%p1]; st.global.u32 [%p0], %r2;"
)

// newTwoStreams makes kernels named first and second, of 2 blocks of 64 threads.
func newTwoStreams(t *testing.T, first, second string, checks gpu.Checks) *twoStreams {
	t.Helper()
	s := &twoStreams{job: newJob(t, "", "", 2, 64)}
	s.launch.Checks, s.launch.Counters = checks, nil
	s.device.SetOutput(&s.out)
	s.device.LimitWorkers(1) // some let both blocks write one word, which is a race of two workers
	for i, body := range []string{first, second} {
		name := []string{"first", "second"}[i]
		m, err := s.device.Load(name+".ptx", strings.Replace(kernel("", body), ".entry op(", ".entry "+name+"(", 1))
		if err == nil {
			s.entries[i], err = m.Entry(name)
		}
		if err == nil {
			s.streams[i], err = s.device.NewStream()
		}
		s.ok(err)
	}
	var err error
	s.event, err = s.device.NewEvent()
	s.ok(err)
	return s
}

func (s *twoStreams) ok(errs ...error) {
	s.Helper()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

// launchOn runs a kernel.
func (s *twoStreams) launchOn(stream gpu.Stream, kernel int, args ...any) error {
	l := s.launch
	if l.Entry = s.entries[kernel]; len(args) > 0 {
		l.Args = args
	}
	return stream.Launch(l)
}

// said is the error of a launch, or the warning that it printed.
func (s *twoStreams) said(err error) string {
	text := s.out.String()
	s.out.Reset()
	if err != nil {
		text += err.Error()
	}
	return text
}

// bothSearches runs a test with the default checks and with the search between blocks.
func bothSearches(t *testing.T, test func(t *testing.T, checks gpu.Checks)) {
	t.Run("default", func(t *testing.T) { test(t, 0) })
	t.Run("between", func(t *testing.T) { test(t, gpu.CheckDefault|gpu.CheckBlockRaces) })
}

// TestStreamRaces: launches in two streams that no event orders race on a word that one of
// them writes. The message names both kernels and instructions, the element and the remedy.
func TestStreamRaces(t *testing.T) {
	const other = "st.global.u32 [%p1], %i;"
	const readBack = "ld.global.u32 %r2, [%p1]; add.u32 %r2, %r2, 1; st.global.u32 [%p1], %r2;"
	const low = "cvt.u64.u32 %d1, %i; add.u64 %d1, %d1, %q1; st.global.u8 [%d1], 3;"
	for _, c := range []struct{ name, first, second, says string }{
		{"read after write", produce, consume, "second: ld.global.u32 at second.ptx:21: race: read-after-write hazard on element 0 (byte 0) of buffer output, argument 1, p1: first wrote it in another stream with st.global.u32 at first.ptx:21,"},
		{"write after write", produce, other, "write-after-write hazard on element 0 (byte 0) of buffer output"},
		{"write after read", "ld.global.u32 %r2, [%p1]; st.global.u32 [%p0], %r2;", produce, "write-after-read hazard on element 0"},
		{"plain and atomic", produce, "red.global.add.u32 [%p1], 1; st.global.u32 [%p0], 1;", "write-after-write hazard on element 0"},
		{"bytes", low, consume, "read-after-write hazard on element 0"},
		{"a flag without a fence", produce + " st.volatile.global.u32 [%q0], 1;", "ld.volatile.global.u32 %r3, [%q0]; " + readBack, "read-after-write hazard"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothSearches(t, func(t *testing.T, checks gpu.Checks) {
				s := newTwoStreams(t, c.first, c.second, checks)
				s.ok(s.launchOn(s.streams[0], 0))
				s.out.Reset()
				err := s.launchOn(s.streams[1], 1)
				if (err != nil) != (checks != 0) || err != nil && !errors.Is(err, gpu.ErrRace) {
					t.Errorf("%v, expected an error only of the search between blocks", err)
				}
				got := s.said(err)
				for _, part := range []string{c.says, "record an event after the launch of first, and let this stream wait for it before the launch of second"} {
					if !strings.Contains(got, part) {
						t.Errorf("%q, expected %q", got, part)
					}
				}
			})
		})
	}
}

// TestStreamsInOrder: launches that an event, the host or their stream orders do not race,
// nor do those that access other bytes, store the same values, or meet at a flag.
func TestStreamsInOrder(t *testing.T) {
	const half = "cvt.u64.u32 %d1, %n; mad.wide.u32 %d1, %i, 4, %d1; add.u64 %d1, %d1, %q1; ld.global.u16 %r2, [%d1]; st.global.u16 [%d1], 7;"
	const add = "red.global.add.u32 [%p1], 1;"
	const signals = "st.global.u32 [%p1], 5; membar.gl; st.volatile.global.u32 [%q0], 1;"
	const polls = "ld.volatile.global.u32 %r3, [%q0]; ld.global.u32 %r2, [%p1]; add.u32 %r2, %r2, 1; st.global.u32 [%p1], %r2;"
	event := func(s *twoStreams) { s.ok(s.streams[0].Record(s.event), s.streams[1].Wait(s.event)) }
	for _, c := range []struct {
		name, first, second string
		between             func(s *twoStreams)
		races               bool
	}{
		{name: "event", between: event},
		{name: "event before the launch", between: func(s *twoStreams) { s.ok(s.streams[1].Record(s.event), s.streams[1].Wait(s.event)) }, races: true},
		{name: "event without a wait", between: func(s *twoStreams) { s.ok(s.streams[0].Record(s.event)) }, races: true},
		{name: "the first stream waits", between: func(s *twoStreams) { s.ok(s.streams[1].Record(s.event), s.streams[0].Wait(s.event)) }, races: true},
		{name: "sync", between: func(s *twoStreams) { s.ok(s.streams[0].Sync()) }},
		{name: "sync of the second stream", between: func(s *twoStreams) { s.ok(s.streams[1].Sync()) }, races: true},
		{name: "sync of the default stream", between: func(s *twoStreams) { s.ok(s.device.Sync()) }, races: true},
		{name: "close", between: func(s *twoStreams) { s.ok(s.streams[0].Close()) }},
		{name: "upload", between: func(s *twoStreams) { s.ok(s.p0.Upload(make([]uint32, 128))) }},
		{name: "download", between: func(s *twoStreams) { s.ok(s.p0.Download(make([]uint32, 128))) }},
		{name: "elapsed time", between: func(s *twoStreams) {
			s.ok(s.streams[0].Record(s.event))
			_, err := s.event.Since(s.event)
			s.ok(err)
		}},
		{name: "by the default stream", between: func(s *twoStreams) {
			s.ok(s.streams[0].Record(s.event), s.device.Wait(s.event), s.device.Record(s.event), s.streams[1].Wait(s.event))
		}},
		{name: "sync beside other work", between: func(s *twoStreams) {
			x := s.alloc("x", make([]uint32, 128)) // the host has waited for all work
			s.ok(s.launchOn(s.streams[0], 0, s.p0, s.p1, uint32(128)), s.launchOn(s.device, 0, s.p0, x, uint32(128)), s.streams[0].Sync())
			s.launch.Args = []any{s.p0, s.p1, uint32(128)}
		}},
		{name: "one stream", between: func(s *twoStreams) { s.streams[1] = s.streams[0] }},
		{name: "another buffer", between: func(s *twoStreams) {
			s.launch.Args = []any{s.alloc("x", make([]uint32, 128)), s.alloc("y", make([]uint32, 128)), uint32(128)}
			s.ok(s.launchOn(s.streams[0], 0)) // the uploads have ordered the first launch
			s.launch.Args = []any{s.p0, s.p1, uint32(128)}
		}},
		{name: "reads", first: consume, second: "ld.global.u32 %r2, [%p1]; st.global.u32 [%q0+1024], %r2;", between: func(s *twoStreams) {
			x := s.alloc("x", make([]uint32, 300))
			s.ok(s.launchOn(s.streams[0], 0, s.p0, s.p1, uint32(128)))
			s.launch.Args[0] = x
		}},
		{name: "equal values", second: produce},
		{name: "atomics", first: add, second: add},
		{name: "a fence and a flag", first: signals, second: polls},
		{name: "halves of words", first: half, second: half, between: func(s *twoStreams) { s.launch.Args = []any{s.p0, s.p1, uint32(2)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothSearches(t, func(t *testing.T, checks gpu.Checks) {
				s := newTwoStreams(t, cmp.Or(c.first, produce), cmp.Or(c.second, consume), checks)
				if c.first == half {
					s.launch.Args = []any{s.p0, s.p1, uint32(0)}
				}
				s.said(s.launchOn(s.streams[0], 0))
				if c.between != nil {
					c.between(s)
				}
				if got := s.said(s.launchOn(s.streams[1], 1)); strings.Contains(got, "another stream") != c.races {
					t.Errorf("%q, expected a race between the launches: %v", got, c.races)
				}
			})
		})
	}
}

// TestStreamReaders: a write that waits for one of two streams that read races with the other.
func TestStreamReaders(t *testing.T) {
	const read = "ld.global.u32 %r2, [%p1]; st.global.u32 [%p0], %r2;"
	for late := range 2 {
		s := newTwoStreams(t, read, produce, 0)
		x := s.alloc("x", make([]uint32, 128))
		s.ok(s.launchOn(s.streams[0], 0), s.launchOn(s.streams[1], 0, x, s.p1, uint32(128)))
		s.ok(s.streams[late].Record(s.event), s.device.Wait(s.event))
		s.launch.Args = []any{s.p0, s.p1, uint32(128)}
		if got := s.said(s.launchOn(s.device, 1)); !strings.Contains(got, "first read it in another stream") {
			t.Errorf("after stream %d: %q, expected a race with the other one", late, got)
		}
	}
}

// TestTransferRaces: copies and the clearing of buffers race with work in other streams, each
// way round, unless an event orders them.
func TestTransferRaces(t *testing.T) {
	const read = "ld.global.u32 %r2, [%p1]; st.global.u32 [%p0], %r2;"
	zero := func(s *twoStreams, stream gpu.Stream) error { return stream.Zero(s.p1) }
	launch := func(s *twoStreams, stream gpu.Stream) error { return s.launchOn(stream, 0) }
	var other gpu.Buffer // made before any work: an upload waits for all
	zeroed := func(s *twoStreams, stream gpu.Stream) error {
		l := s.launch
		l.Entry, l.Args, l.Zero = s.entries[1], []any{other, other, uint32(128)}, []gpu.Buffer{s.p1}
		return stream.Launch(l)
	}
	into := func(s *twoStreams, stream gpu.Stream) error { return stream.Copy(s.p1, other) }
	from := func(s *twoStreams, stream gpu.Stream) error { return stream.Copy(other, s.p1) }
	for _, c := range []struct {
		name, first   string // kernel
		before, after func(s *twoStreams, stream gpu.Stream) error
		says          string
	}{
		{"zero, launch reads", read, zero, launch, "first: ld.global.u32 at first.ptx:21: race: read-after-write hazard on element 0 (byte 0) of buffer output, argument 1, p1: Zero wrote it in another stream, and nothing orders the two, which a GPU may run at the same time: record an event after the Zero, and let this stream wait for it before the launch of first"},
		{"copy, launch reads", read, into, launch, "read-after-write hazard on element 0 (byte 0) of buffer output, argument 1, p1: Copy wrote it"},
		{"copy, launch writes", produce, into, launch, "write-after-write hazard on element 0"},
		{"copy of it, launch writes", produce, from, launch, "write-after-read hazard on element 0 (byte 0) of buffer output, argument 1, p1: Copy read it"},
		{"launch with zero, launch reads", read, zeroed, launch, "Zero wrote it"},
		{"launch reads, zero", read, launch, zero, "Zero: race: write-after-read hazard on byte 0 of buffer output: first read it in another stream with ld.global.u32 at first.ptx:21, and nothing orders the two, which a GPU may run at the same time: record an event after the launch of first, and let this stream wait for it before the Zero"},
		{"launch writes, copy of it", produce, launch, from, "Copy: race: read-after-write hazard on byte 0 of buffer output: first wrote it"},
		{"launch reads, launch with zero", read, launch, zeroed, "Zero: race: write-after-read hazard"},
		{"zero, copy of it", read, zero, from, "Copy: race: read-after-write hazard on byte 0 of buffer output: Zero wrote it in another stream, and nothing"},
		{"launch reads, copy of it", read, launch, from, ""},
		{"copy of it, launch reads", read, from, launch, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, ordered := range []bool{false, true} {
				s := newTwoStreams(t, c.first, consume, 0)
				other = s.alloc("other", make([]uint32, 128))
				s.said(c.before(s, s.streams[0]))
				if ordered {
					s.ok(s.streams[0].Record(s.event), s.streams[1].Wait(s.event))
				}
				got := s.said(c.after(s, s.streams[1]))
				if races := c.says != "" && !ordered; strings.Contains(got, "another stream") != races || !strings.Contains(got, c.says) && races {
					t.Errorf("ordered %v: %q, expected %q", ordered, got, c.says)
				}
			}
		})
	}
}

// TestGraphRaces: two branches of a graph race, unless one waits for the other; the graph
// races with work in another stream, but not with itself and later work of its stream.
func TestGraphRaces(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		s := newTwoStreams(t, produce, consume, 0)
		late, err := s.device.NewEvent()
		s.ok(err)
		g, err := s.device.Capture(s.streams[0], func() error {
			record := func() { s.ok(s.streams[0].Record(s.event), s.streams[1].Wait(s.event)) }
			if !ordered {
				record()
			}
			s.ok(s.launchOn(s.streams[0], 0))
			if ordered {
				record()
			}
			s.ok(s.launchOn(s.streams[1], 1), s.streams[1].Record(late), s.streams[0].Wait(late))
			return nil
		})
		s.ok(err)
		for range 2 {
			got := s.said(g.Launch(s.streams[0]))
			if strings.Contains(got, "another stream") == ordered {
				t.Errorf("ordered %v: %q", ordered, got)
			}
			s.ok(s.streams[0].Sync())
		}
		s.ok(g.Launch(s.streams[0]))
		s.out.Reset()
		if got := s.said(s.launchOn(s.streams[0], 1)); got != "" {
			t.Errorf("after the graph in its stream: %q", got)
		}
		if got := s.said(s.launchOn(s.streams[1], 1)); ordered && !strings.Contains(got, "another stream") { // else it was said
			t.Errorf("after the graph in another stream: %q, expected a race", got)
		}
		s.ok(g.Close())
	}
}

// TestGraphInTwoStreams: a GPU runs the launches of one graph one after the other, in
// whichever streams they are, so these do not race.
func TestGraphInTwoStreams(t *testing.T) {
	const add = "ld.global.u32 %r2, [%p1]; add.u32 %r2, %r2, 1; st.global.u32 [%p1], %r2;"
	for _, branches := range []bool{false, true} {
		s := newTwoStreams(t, add, consume, 0)
		late, err := s.device.NewEvent()
		s.ok(err)
		g, err := s.device.Capture(s.streams[0], func() error {
			s.ok(s.launchOn(s.streams[0], 0))
			if branches {
				s.ok(s.streams[0].Record(s.event), s.streams[1].Wait(s.event))
				s.ok(s.launchOn(s.streams[0], 1), s.launchOn(s.streams[1], 1), s.streams[1].Record(late), s.streams[0].Wait(late))
			}
			return nil
		})
		s.ok(err, g.Launch(s.streams[0]))
		s.out.Reset()
		if got := s.said(g.Launch(s.streams[1])); got != "" {
			t.Errorf("branches %v: %q, expected no race of the graph with itself", branches, got)
		}
		if got := s.said(s.launchOn(s.streams[1], 0)); got != "" {
			t.Errorf("branches %v: %q, expected no race after the graph", branches, got)
		}
		if got := s.said(s.launchOn(s.streams[0], 0)); !strings.Contains(got, "another stream") {
			t.Errorf("branches %v: %q, expected a race with the graph in the other stream", branches, got)
		}
	}
}

// TestTransfersOfParts: copies of one part of a buffer do not race with launches on another
// part, also where both have bytes of one word.
func TestTransfersOfParts(t *testing.T) {
	const last = "st.global.u8 [%q1+3], 3;"
	for _, first := range []bool{false, true} {
		for _, at := range []int{0, 1} {
			s := newTwoStreams(t, last, consume, 0)
			whole, err := s.device.Alloc(gpu.Uint8, 16)
			s.ok(err)
			other, err := s.device.Alloc(gpu.Uint8, 3)
			s.ok(err)
			part, err := whole.View(at, 3)
			s.ok(err)
			work := []func() error{
				func() error { return s.streams[0].Copy(part, other) },
				func() error { return s.launchOn(s.streams[1], 0, s.p0, whole, uint32(1)) },
			}
			if !first {
				work[0], work[1] = work[1], work[0]
			}
			s.out.Reset()
			got := s.said(work[0]()) + s.said(work[1]())
			if strings.Contains(got, "another stream") != (at == 1) {
				t.Errorf("copy first %v, bytes %d to %d: %q", first, at, at+2, got)
			}
		}
	}
}

// TestLargeLaunchesOfStreams: also launches of more threads than a small one are compared with
// those in other streams, and so are launches that only read or use atomics, some of each
// kernel: each of them costs milliseconds.
func TestLargeLaunchesOfStreams(t *testing.T) {
	s := newTwoStreams(t, "setp.eq.u32 %a0, %i, 0; @%a0 st.global.u32 [%p1], 5;", "setp.eq.u32 %a0, %i, 0; @%a0 ld.global.u32 %r2, [%p1]; @%a0 red.global.add.u32 [%p0], %r2;", 0)
	s.launch.Grid = gpu.Dim{X: 100}
	races := 0
	for range 40 {
		s.ok(s.p1.Upload(make([]uint32, 128))) // the host waits for all
		s.said(s.launchOn(s.streams[0], 0))
		if strings.Contains(s.said(s.launchOn(s.streams[1], 1)), "another stream") {
			races++
		}
	}
	if races == 0 || races > 16 {
		t.Errorf("%d races of 40 pairs of launches, expected at most 16", races)
	}
}
