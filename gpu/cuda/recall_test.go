package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

// replaying runs a test on devices that replay faults.
func replaying(t *testing.T, test func(*bench)) {
	both(t, func(b *bench) {
		b.device.config.Emulator = emu.OpenAs
		test(b)
	})
}

// cause runs a launch that must fault, and returns the emulator's fault.
func (b *bench) cause(l gpu.Launch) *gpu.Fault {
	b.Helper()
	err := b.run(l)
	b.Log(err)
	var f *gpu.Fault
	if !errors.As(err, &f) {
		b.Fatalf("%v, expected a fault", err)
	}
	return f
}

// TestReplay checks that a fault names its thread, line and buffer.
func TestReplay(t *testing.T) {
	replaying(t, func(b *bench) {
		for name := range b.faulty(b.zeros(4)) {
			x := b.zeros(4).Label("input")
			f := b.cause(b.faulty(x)[name].launch)
			if f.Cause == nil || !errors.Is(f.Cause, f.Kind) || f.Cause.Line == 0 || f.Cause.Thread == nil {
				b.Errorf("%s: %v, expected a cause with its line and thread", name, f)
			}
			b.works(name)
		}
	})
}

// TestReplayAddress checks that the replay runs the launch itself: its
// view, the contents that launches before it left, and that of a variable.
func TestReplayAddress(t *testing.T) {
	replaying(t, func(b *bench) {
		x := b.zeros(8).Label("table")
		view, err := x.View(3, 2)
		b.ok(err)
		many := b.launch("nothing")
		many.Grid.X, many.Block.X = light/1024, 1024
		b.ok(b.device.Launch(many)) // so that a copy is for few
		for range together + 3 {    // each adds 1 to the index that the last one follows
			b.ok(b.device.Launch(b.launch("add", view)))
		}
		for range 3 * longest { // with fewer threads, for many; the first areas are used again
			b.ok(b.device.Launch(b.launch("nothing")))
		}
		f := b.cause(b.launch("follow", view))
		if f.Cause == nil {
			b.Fatal("no cause")
		}
		for _, word := range []string{"st.global.u32 at faults.ptx:", "past buffer table (32 bytes)", "block (0,0,0) thread (0,0,0)"} {
			if !strings.Contains(f.Error(), word) {
				b.Errorf("%q, expected it to say %q", f, word)
			}
		}
		// x[3] = 67 then: the address is 67 << 28 and the 12 bytes of the view after x.
		if want := "end 17985175536 bytes past buffer table"; !strings.Contains(f.Error(), want) {
			b.Errorf("%q, expected it to say %q", f, want)
		}
	})
}

// TestReplayOldest checks that the cause is found as far back as the host can be
// ahead of the device.
func TestReplayOldest(t *testing.T) {
	replaying(t, func(b *bench) {
		x := b.zeros(4)
		b.ok(x.Upload([]uint32{3, 0, 0, 0}))
		b.ok(b.device.Launch(b.launch("follow", x)))
		for range 2*longest + longest/2 {
			b.ok(b.device.Launch(b.launch("nothing")))
		}
		f := b.cause(b.launch("nothing"))
		if f.Cause == nil || !strings.Contains(f.Cause.Detail, "end 805306356 bytes past") {
			b.Errorf("%v, expected a cause with the index 3", f)
		}
	})
}

// TestReplayAfterUpload checks that a change between two launches is seen.
func TestReplayAfterUpload(t *testing.T) {
	replaying(t, func(b *bench) {
		x := b.zeros(4)
		b.ok(b.device.Launch(b.launch("add", x)))
		b.ok(x.Upload([]uint32{9, 0, 0, 0}))
		b.ok(b.device.Launch(b.launch("add", x)))
		f := b.cause(b.launch("follow", x)) // x[0] is 10
		if f.Cause == nil || !strings.Contains(f.Cause.Detail, "end 2684354548 bytes past") {
			b.Errorf("%v, expected a cause with the index 10", f)
		}
	})
}

// TestReplayIsLeftOut checks that a fault gives the reason if its cause is not known.
func TestReplayIsLeftOut(t *testing.T) {
	replaying(t, func(b *bench) {
		large := b.zeros(recalled/4 + 1)
		f := b.cause(b.launch("outside", large, uint64(1<<46)))
		if want := "was given 67108872 bytes, at most 67108864 are copied"; f.Cause != nil || !strings.Contains(f.Detail, want) {
			b.Errorf("%v, expected it to say %q", f, want)
		}
		l := b.launch("outside", b.zeros(4), uint64(1<<46))
		l.Checks = gpu.CheckNone
		if f = b.cause(l); f.Cause != nil || !strings.Contains(f.Detail, "launched with gpu.CheckNone") {
			b.Errorf("%v, expected it to name gpu.CheckNone", f)
		}
		_, err := b.device.Time(gpu.Timing{Repeats: 1}, b.launch("outside", b.zeros(4), uint64(1<<46)))
		b.Log(err)
		if !errors.As(err, &f) || f.Cause != nil || !strings.Contains(f.Detail, "not copied before it ran, as in a timed loop") {
			b.Errorf("%v, expected a fault of a timed launch without a cause", err)
		}
	})
}

// TestReplayGraph checks that a launch in a graph has its cause found, after
// launches before it in the graph and on the stream, or says why not.
func TestReplayGraph(t *testing.T) {
	replaying(t, func(b *bench) {
		x := b.zeros(4).Label("table")
		launch := func(entry string) func() error {
			return func() error { return b.device.Launch(b.launch(entry, x)) }
		}
		ok := func(work ...func() error) gpu.Graph {
			g, err := b.device.Capture(b.device, func() error {
				var errs []error
				for _, w := range work {
					errs = append(errs, w())
				}
				return errors.Join(errs...)
			})
			b.ok(err)
			return g
		}
		adds, faults := ok(launch("add"), launch("add")), ok(launch("add"), launch("follow"))
		b.ok(b.device.Launch(b.launch("add", x)))
		b.ok(adds.Launch(b.device))
		b.ok(adds.Launch(b.device))
		b.ok(faults.Launch(b.device))
		err := b.device.Sync() // x[0] is 6
		b.Log(err)
		var f *gpu.Fault
		if !errors.As(err, &f) || f.Cause == nil || !strings.Contains(f.Cause.Detail, "end 1610612724 bytes past buffer table") {
			b.Errorf("%v, expected a cause with the index 6", err)
		}
		x = b.zeros(4)
		mixed := ok(func() error { return b.device.Zero(x) }, launch("add"), launch("follow"))
		b.ok(mixed.Launch(b.device))
		err = b.device.Sync()
		b.Log(err)
		if !errors.As(err, &f) || f.Cause != nil || !strings.Contains(f.Detail, "a graph that also copies or clears memory") {
			b.Errorf("%v, expected it to say why there is no cause", err)
		}
	})
}

// TestReplayOnStreams checks that each stream has its own launches, and that
// what another one changes is copied again.
func TestReplayOnStreams(t *testing.T) {
	replaying(t, func(b *bench) {
		var streams []gpu.Stream
		for range 2 {
			s, err := b.device.NewStream()
			b.ok(err)
			streams = append(streams, s)
		}
		x, y := b.zeros(4), b.zeros(4)
		for range 3 {
			b.ok(streams[0].Launch(b.launch("add", x)))
			b.ok(streams[1].Launch(b.launch("add", y)))
		}
		b.ok(streams[1].Sync())
		b.ok(streams[0].Launch(b.launch("add", y)))
		b.ok(streams[0].Sync())
		b.ok(streams[1].Launch(b.launch("follow", y))) // y[0] is 4
		err := streams[1].Sync()
		b.Log(err)
		var f *gpu.Fault
		if !errors.As(err, &f) || f.Cause == nil || !strings.Contains(f.Cause.Detail, "end 1073741812 bytes past") {
			b.Errorf("%v, expected a cause with the index 4", err)
		}
		for _, s := range streams {
			b.ok(s.Close())
		}
	})
}

// TestReplayEnds checks that an interrupt ends a replay that takes long.
func TestReplayEnds(t *testing.T) {
	replaying(t, func(b *bench) {
		var text string
		for try := range tries { // on a busy machine the interrupt may come before the replay, or the end late
			slow := b.launch("slow", b.zeros(1), uint32(600_000_000)) // some seconds
			stopped := make(chan time.Time, 1)
			timer := time.AfterFunc(time.Duration(500+1500*try)*time.Millisecond, func() {
				stopped <- time.Now()
				b.device.Interrupt()
			})
			err := b.run(slow)
			end := time.Now()
			b.Log(err)
			var f *gpu.Fault
			if !timer.Stop() && errors.As(err, &f) && f.Cause == nil && strings.Contains(f.Detail, "interrupted") && end.Sub(<-stopped) < replayTime/2 {
				return
			}
			text += fmt.Sprintf("%v\n", err)
			b.works("replay")
		}
		b.Errorf("%s, expected no cause, soon after an interrupt", text)
	})
}

// TestReplayFreesCopies checks that the memory of copies is freed.
func TestReplayFreesCopies(t *testing.T) {
	replaying(t, func(b *bench) {
		b.works("first") // makes what stays
		b.device.recall.forget(b.device.main.handle)
		before := b.freeHost()
		for range 3 {
			x := b.zeros(1 << 20)
			for range 4 * longest {
				b.ok(b.device.Launch(b.launch("add", x)))
			}
			b.cause(b.launch("outside", x, uint64(1<<46)))
		}
		if after := b.freeHost(); after != before {
			b.Errorf("%d bytes of the arena free, %d before", after, before)
		}
	})
}

// BenchmarkReplay compares launches whose memory is copied first, for a replay,
// with launches that are not: 1000 in a row, and each with a Sync.
func BenchmarkReplay(b *testing.B) {
	d, m := openBench(b)
	e, err := m.Entry("add")
	if err != nil {
		b.Fatal(err)
	}
	d.config.Emulator = emu.OpenAs
	for _, bytes := range []int{4, 1 << 20, 64<<20 - 4} {
		x, err := d.Alloc(gpu.Uint32, bytes/4)
		if err != nil {
			b.Fatal(err)
		}
		if err := x.Upload(make([]uint32, bytes/4)); err != nil {
			b.Fatal(err)
		}
		for name, checks := range map[string]gpu.Checks{"on": 0, "off": gpu.CheckNone} {
			l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{x}, Checks: checks}
			for _, inRow := range []int{1, 1000} {
				b.Run(fmt.Sprintf("%dB/%d/%s", bytes, inRow, name), func(b *testing.B) {
					for b.Loop() {
						for range inRow {
							if err := d.Launch(l); err != nil {
								b.Fatal(err)
							}
						}
						if err := d.Sync(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*inRow), "ns/launch")
				})
			}
		}
		if err := x.Free(); err != nil {
			b.Fatal(err)
		}
	}
}
