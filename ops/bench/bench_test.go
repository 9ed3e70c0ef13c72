package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

func newBench(t *testing.T, device gpu.Device, o *ladder.Operator, seed uint64, size ...int) *Bench {
	t.Helper()
	b, err := New(device, o, seed, size...)
	if err != nil {
		t.Fatalf("%s of %v, seed %d: %v", o.Name, size, seed, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("%s of %v: close: %v", o.Name, size, err)
		}
	})
	return b
}

func checkAll(t *testing.T, b *Bench, what string, names ...string) *results.Checks {
	t.Helper()
	c, err := b.Check(names...)
	if err != nil {
		t.Fatalf("%s, %s, seed %d: %v", b.operator.Describe(b.site.Size), what, b.seed, err)
	}
	for _, r := range c.Rows {
		if r.Verdict != ladder.Pass && r.Verdict != ladder.FailExpected {
			t.Errorf("%s, %s, %s, seed %d: %s: %v against %v, error %.2g, bound %.2g, failed %v, expected %q %s",
				r.Name, b.operator.Describe(b.site.Size), what, b.seed, r.Verdict, r.Result, r.Reference, r.Error, r.Bound,
				r.Failed, r.Expect, r.Detail)
		}
	}
	return c
}

// An input that a rung changed is whole again for the next one, also where
// the rung ended in a fault.
func TestInputIsRestored(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, n := range []int{256 * 50, 256*50 + 1} {
			b := newBench(t, device, sample.Mistakes, 1, n)
			checkAll(t, b, "random", "sum_in_place", "sum_blocks")
		}
	})
}

// outOfBounds is the check that a read after the end of an input fails.
var outOfBounds = ladder.CheckFault + gpu.ErrOutOfBounds.Error()

// The table shows a broken copy of a rung as failed.
func TestBrokenVariants(t *testing.T) {
	const n = 1000
	for _, c := range []struct {
		what   string
		change func(*ladder.Plan)
		failed string
	}{
		{"the last launch is missing", func(p *ladder.Plan) { p.Steps = p.Steps[:1] }, ladder.CheckUnwritten},
		{"the first launch is missing", func(p *ladder.Plan) { p.Steps = p.Steps[1:] }, ladder.CheckNaN},
		{"the last block is missing", func(p *ladder.Plan) { p.Steps[0].Grid.X-- }, ladder.CheckNaN},
		{"n is one less", func(p *ladder.Plan) { p.Steps[0].Args[2] = uint32(n - 1) }, ladder.CheckBound},
		{"n is one more", func(p *ladder.Plan) { p.Steps[0].Args[2] = uint32(n + 1) }, outOfBounds},
		{"a depth that is too small", func(p *ladder.Plan) { p.Depth = 0 }, ladder.CheckBound},
		{"not the order that it claims", func(p *ladder.Plan) { p.Depth = 1 << 24 }, ladder.CheckOrder},
	} {
		o := only(t, "sum_blocks", c.change)
		o.Variants[0].Order = func(_ ladder.Stop, _ ladder.Size, _, outputs []ladder.Values) { outputs[0].([]float32)[0] = 1 }
		devicetest.Each(t, func(t *testing.T, device gpu.Device) {
			if c.failed == outOfBounds && !device.Info().Emulated {
				return // a GPU reads what lies behind
			}
			b := newBench(t, device, o, 7, n)
			checks, err := b.Check()
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			if r := checks.Rows[0]; r.Verdict != ladder.Fail || !slices.Contains(r.Failed, c.failed) {
				t.Errorf("%s: %s, failed %v, want %s: %s", c.what, r.Verdict, r.Failed, c.failed, r.Detail)
			}
			if want := "1 of 1 elements, the first y[0]; grid ("; c.failed != outOfBounds && c.failed != ladder.CheckOrder && !strings.HasPrefix(checks.Rows[0].Detail, want) {
				t.Errorf("%s: the detail is %q, expected %s", c.what, checks.Rows[0].Detail, want)
			}
			latencies, err := b.Time()
			if err != nil || len(latencies.Names()) != 0 || latencies.Rows[0].Verdict != ladder.Fail {
				t.Errorf("%s: timed as %+v, %v, want no time", c.what, latencies, err)
			}
		})
	}
}

// only is the sample with one rung, its plan changed.
func only(t *testing.T, name string, change func(*ladder.Plan)) *ladder.Operator {
	t.Helper()
	v, err := sample.Operator.Variant(name)
	if err != nil {
		t.Fatal(err)
	}
	plan := v.Plan
	v.Plan = func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		p := plan(entry, size, info)
		change(&p)
		return p
	}
	o := *sample.Operator
	o.Variants = []ladder.Variant{v}
	return &o
}

// What an earlier run left in a module's variables is no result.
func TestStaticsArePoisoned(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, device, only(t, "sum_static", func(p *ladder.Plan) { p.Steps = p.Steps[1:] }), 1, 1000)
		c, err := b.Check()
		if err != nil || !slices.Contains(c.Rows[0].Failed, ladder.CheckNaN) {
			t.Errorf("%+v, %v, want NaN without the first pass", c, err)
		}
	})
}

// A result that is wrong after the timing gets no time.
func TestVerifiedAfterTiming(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, forgetful{device}, sample.Operator, 1, 1000)
		l, err := b.Time("sum_blocks")
		if err != nil || l.Rows[0].Verdict != ladder.Fail || len(l.Names()) != 0 {
			t.Errorf("%+v, %v, want no time", l, err)
		}
	})
}

// forgetful is a device whose timed runs lose their result.
type forgetful struct{ gpu.Device }

func (f forgetful) Time(timing gpu.Timing, launches ...gpu.Launch) ([]time.Duration, error) {
	times, err := f.Device.Time(timing, launches...)
	return times, errors.Join(err, f.Device.Zero(launches[len(launches)-1].Args[1].(gpu.Buffer)))
}

// A rung that is timed again must write its result again: what the run before left is
// no result.
func TestTimedAgainIsVerified(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		d := &idle{Device: device}
		b := newBench(t, d, sample.Operator, 1, 1000)
		for _, want := range []string{ladder.Pass, ladder.Pass, ladder.Fail, ladder.Fail} {
			d.idle = want == ladder.Fail
			l, err := b.Time("sum_blocks")
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Rows[0].Verdict; got != want {
				t.Errorf("idle %v: verdict %s, want %s", d.idle, got, want)
			}
		}
	})
}

// idle is a device that drops launches while idle is set.
type idle struct {
	gpu.Device
	idle bool
}

func (d *idle) Launch(l gpu.Launch) error {
	if d.idle {
		return nil
	}
	return d.Device.Launch(l)
}

func (d *idle) Time(timing gpu.Timing, launches ...gpu.Launch) ([]time.Duration, error) {
	if d.idle {
		return make([]time.Duration, timing.Repeats), nil
	}
	return d.Device.Time(timing, launches...)
}

// Atomics on many blocks have a loose bound; they must then add integers
// exactly. (Here the integers are replaced, to see the check fail.)
func TestOrderOfAtomics(t *testing.T) {
	const n = 32 * 17_000
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, device, sample.Operator, 3, n)
		if c := checkAll(t, b, "random", "sum_atomic"); c.Rows[0].Bound != ladder.Tolerance {
			t.Errorf("bound %v, expected one above the tolerance", c.Rows[0].Bound)
		}
		o := only(t, "sum_atomic", func(*ladder.Plan) {})
		o.Exact = func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values { // a sum that rounds
			return []ladder.Values{ladder.Uniform(stop, s[0], ladder.NewRandom(seed))}
		}
		c, err := newBench(t, device, o, 3, n).Check()
		if err != nil || !slices.Contains(c.Rows[0].Failed, ladder.CheckOrder) {
			t.Errorf("%+v, %v, want the order check to fail on a sum that is not exact", c, err)
		}
	})
}

func TestBenchErrors(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, size := range [][]int{{}, {1, 2}, {-1}, {math.MaxInt32 + 1}} {
			if _, err := New(device, sample.Operator, 1, size...); !errors.Is(err, gpu.ErrArgument) {
				t.Errorf("size %v: %v, want an invalid argument", size, err)
			}
		}
		b := newBench(t, device, sample.Operator, 1, 10)
		_, err := b.Check("sum_block")
		if !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "sum_blocks") {
			t.Errorf("unknown variant: %v, want the nearest names", err)
		}
		if _, err := b.Count("sum_host"); !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("counting the CPU: %v, want unsupported", err)
		}
		if err := b.SetInput("x", make([]float32, 9)); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("short input: %v", err)
		}
		if err := b.SetInput("z", nil); !errors.Is(err, gpu.ErrNotFound) || !strings.HasSuffix(err.Error(), "expected one such as x") {
			t.Errorf("unknown input: %v", err)
		}
		if err := b.Expect("nothing", ladder.CheckBound); !errors.Is(err, gpu.ErrNotFound) {
			t.Errorf("expectation of an unknown variant: %v", err)
		}
		if err := b.Expect("sum_blocks", "bounds"); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "expected one such as bound") {
			t.Errorf("expectation of an unknown check: %v", err)
		}
		for _, start := range []int{-1, math.MaxInt} {
			if err := b.Place("x", start); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), fmt.Sprint("place x at element ", start)) {
				t.Errorf("x at element %d: %v", start, err)
			}
		}
		if err := b.Place("x", ladder.MostElements); !errors.Is(err, gpu.ErrMemory) || b.starts["x"] != 0 {
			t.Errorf("x at element 2^38: %v, placed at %d", err, b.starts["x"])
		}
		closed, err := New(device, sample.Operator, 1, 10)
		if err != nil || closed.Close() != nil {
			t.Fatalf("open and close: %v", err)
		}
		if _, err := closed.Check(); !errors.Is(err, gpu.ErrClosed) {
			t.Errorf("closed bench: %v", err)
		}
		if err := closed.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

// The caller's slice stays the caller's.
func TestSetInputCopies(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, device, sample.Operator, 1, 3)
		x := []float32{1, 2, 4}
		if err := b.SetInput("x", x); err != nil {
			t.Fatal(err)
		}
		x[0] = 100
		if c := checkAll(t, b, "own"); c.Rows[1].Result != 7 || c.Environment.Data != "given by the caller" {
			t.Errorf("%v of data %q, want 7", c.Rows[1].Result, c.Environment.Data)
		}
	})
}

// An interrupt ends a check, a timing and a count with an error, soon.
func TestInterrupt(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		if !device.Info().Emulated {
			t.Skip("a GPU is done before it can be interrupted")
		}
		n := 1 << 21 // tenths of a second
		if testing.Short() {
			n >>= 3 // with the race detector, too
		}
		b := newBench(t, device, sample.Operator, 1, n)
		ended := make(chan struct{})
		b.Progress = interrupter{device, ended}
		start := time.Now()
		if _, err := b.Check("sum_serial"); !errors.Is(err, gpu.ErrInterrupted) {
			t.Errorf("%v after %v, want interrupted", err, time.Since(start))
		}
		ended <- struct{}{} // no interrupt comes later
		b.Progress = nil
		checkAll(t, b, "after the interrupt", "sum_ticket")
	})
}

// interrupter interrupts from when a rung is announced until the test ends,
// because before its launch there is nothing to end.
type interrupter struct {
	device gpu.Device
	ended  chan struct{}
}

func (i interrupter) Step(done, total int, what string) {
	go func() {
		for {
			select {
			case <-i.ended:
				return
			case <-time.After(20 * time.Millisecond):
				i.device.Interrupt()
			}
		}
	}()
}

// steps records the reports of a bench.
type steps struct{ lines []string }

func (s *steps) Step(done, total int, what string) {
	s.lines = append(s.lines, fmt.Sprintf("%d/%d %s", done, total, what))
}

func TestResults(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, device, sample.Operator, 42, 1000)
		var told steps
		b.Progress = &told
		checks, err := b.Check("sum_host", "sum_blocks")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"0/2 check sum_host", "1/2 check sum_blocks", "2/2 check"}
		if !slices.Equal(told.lines, want) {
			t.Errorf("progress %q, want %q", told.lines, want)
		}
		latencies, err := b.Time("sum_host", "sum_blocks", "sum_static")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(latencies.Names()); n != 3 || len(latencies.Medians()) != n || len(latencies.Lows()) != n ||
			len(latencies.Highs()) != n || len(latencies.PublishedTimes()) != n {
			t.Errorf("slices for plots do not fit %v", latencies.Names())
		}
		if p := latencies.PublishedTimes(); p[0] != 100e6 || !math.IsNaN(p[1]) {
			t.Errorf("published times %v, want 100 ms, and none where it is an image", p)
		}
		if device.Info().Emulated != (latencies.Clock() == "emulator time") {
			t.Errorf("clock %q on %v", latencies.Clock(), device.Info())
		}
		counts, err := b.Count()
		if err != nil && !errors.Is(err, gpu.ErrUnsupported) {
			t.Fatal(err)
		}
		for _, result := range []result{checks, latencies, counts} {
			if !reflect.ValueOf(result).IsNil() {
				checkResult(t, result)
			}
		}
	})
}

type result interface {
	Title() string
	Table() ([]string, [][]string)
	Notes() []string
	Record() any
}

// checkResult holds a table against the contract with the display: full rows,
// an environment with seed and PTX, the date outside the table.
func checkResult(t *testing.T, r result) {
	t.Helper()
	columns, rows := r.Table()
	for _, row := range rows {
		if len(row) != len(columns) {
			t.Errorf("%s: row %q has %d cells for %d columns", r.Title(), row, len(row), len(columns))
		}
		if slices.Contains(row, "") && row[len(row)-1] != "" {
			t.Errorf("%s: row %q has an empty cell", r.Title(), row)
		}
	}
	if len(rows) == 0 || !strings.Contains(r.Title(), "n = 1000") {
		t.Errorf("%q has %d rows", r.Title(), len(rows))
	}
	notes := strings.Join(r.Notes(), "\n")
	for _, part := range []string{"seed 42", "sample.sm_", "date: " + time.Now().Format("2006"), "device: "} {
		if !strings.Contains(notes, part) {
			t.Errorf("%s: notes lack %q:\n%s", r.Title(), part, notes)
		}
	}
	if table := fmt.Sprint(columns, rows); strings.Contains(table, time.Now().Format("2006-01")) {
		t.Errorf("%s: a date in the table", r.Title())
	}
	record := r.Record().(map[string]any)
	if kind := record["kind"]; kind != "checks" && kind != "figures" && kind != "counters" {
		t.Errorf("%s: record of kind %v", r.Title(), kind)
	}
	if _, err := json.Marshal(record); err != nil {
		t.Errorf("%s: record: %v", r.Title(), err)
	}
}

// The short table keeps the columns that a reader compares, and the record of the whole one.
func TestShortLatencies(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	rated := *sample.Operator
	rated.Work = func(s ladder.Size) ladder.Work {
		return ladder.Work{Operations: float64(s[0]), Roof: ladder.Arithmetic}
	}
	l, err := newBench(t, dev, &rated, 42, 1000).Time("sum_serial", "sum_atomic")
	if err != nil {
		t.Fatal(err)
	}
	short := l.Short()
	columns, rows := short.Table()
	if got := strings.Join(columns, "|"); got != "variant|total, emulator time (us)|GFLOP/s|low|high" {
		t.Errorf("columns %s", got)
	}
	whole, all := l.Table()
	for i, row := range rows {
		if len(row) != len(columns) || row[0] != all[i][0] || row[1] != all[i][1] || row[3] != all[i][slices.Index(whole, "low")] {
			t.Errorf("%q of %q", row, all[i])
		}
	}
	if fmt.Sprint(short.Record()) != fmt.Sprint(l.Record()) || short.Title() != l.Title() {
		t.Error("the short table has another title or record")
	}
}
