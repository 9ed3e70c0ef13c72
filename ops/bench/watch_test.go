package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench/monitor"
	"warpbook/ops/bench/sample"
	"warpbook/ops/results"
)

// asGPU is an emulator that claims to be a GPU.
type asGPU struct{ gpu.Device }

func (d asGPU) Info() gpu.Info {
	info := d.Device.Info()
	info.Emulated, info.Checks, info.UUID = false, gpu.CheckUninitialized, "GPU-3b"
	return info
}

// smi puts a script in the place of nvidia-smi.
func smi(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "smi")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	before := monitor.Program
	monitor.Program = []string{path}
	t.Cleanup(func() { monitor.Program = before })
}

// processes is nvidia-smi beside one other process.
func processes(kind, busy, samples string) string {
	return `case "$*" in
*"-i GPU-3b"*) ;;
*) echo not asked about the device; exit 1;;
esac
case "$*" in
*query-compute-apps*) echo 1;;
*pmon*) echo '# gpu pid type sm command'; echo '0 1 ` + kind + ` ` + busy + ` other';;
*) ` + samples + `;;
esac
`
}

const calm = "while echo 1980, 300, 50, 0x0; do sleep 0.02; done"

// What disturbs a time is an error or keeps the row's time back; the power cap
// and a display do not.
func TestDisturbed(t *testing.T) {
	b := newBench(t, asGPU{device.MustOpen("emu")}, sample.Operator, 1, 1000)
	b.Repeats = 3
	const rung = "sum_blocks"
	for _, c := range []struct{ what, script, note, refused string }{
		{"calm", processes("C", "0", calm), "idle: other (process 1)", ""},
		{"display", processes("C+G", "40", calm), "warning: other (process 1) draws", ""},
		{"capped", processes("C", "-", "while echo 1500, 700, 60, 0x4; do sleep 0.02; done"), "idle", ""},
		{"hot", processes("C", "-", "while echo 1200, 700, 90, 0x40; do sleep 0.02; done"), "idle", "hardware thermal slow-down at 1200 MHz"},
		{"no tool", "exit 9", "are not known: monitor: nvidia-smi: exit status 9", ""},
	} {
		smi(t, c.script)
		l, err := b.Time(rung)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if notes := strings.Join(l.Notes(), "\n"); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, expected %q", c.what, notes, c.note)
		}
		r := l.Rows[0]
		if (c.refused == "") != (r.Refused == "") || !strings.Contains(r.Refused, c.refused) || len(l.Names()) != 1 == (c.refused == "") {
			t.Errorf("%s: refused %q, expected %q", c.what, r.Refused, c.refused)
		}
		if f := l.Figures()[0]; (f.MedianNS == 0) != (c.refused != "") {
			t.Errorf("%s: figure %+v", c.what, f)
		}
		if _, rows := l.Table(); c.what == "capped" && !strings.Contains(rows[0][len(rows[0])-1], "1500 MHz, 700 W, software power cap") {
			t.Errorf("row %q, expected clocks and power", rows[0])
		}
	}
	smi(t, processes("C", "97", calm))
	if _, err := b.Time(rung); !errors.Is(err, ErrDisturbed) || !strings.Contains(err.Error(), "other (process 1) keeps 97 % of the GPU busy") {
		t.Errorf("%v, expected an error that names the process", err)
	}
	t.Setenv("CUDA_INJECTION64_PATH", "/tool.so")
	if _, err := b.Time(rung); !errors.Is(err, ErrDisturbed) || !strings.Contains(err.Error(), "CUDA_INJECTION64_PATH") {
		t.Errorf("%v, expected an error that names the profiler", err)
	}
}

// A kept watch starts nvidia-smi for the first call of Time only, and still refuses slow
// clocks. (It starts three times: for the processes, their load, and the clocks.)
func TestKeptWatch(t *testing.T) {
	b := newBench(t, asGPU{device.MustOpen("emu")}, sample.Operator, 1, 1000)
	b.Repeats = 3
	b.KeepWatch()
	starts := filepath.Join(t.TempDir(), "starts")
	smi(t, "echo $$ >>"+starts+"\n"+processes("C", "0", "while echo 1200, 700, 90, 0x40; do sleep 0.02; done"))
	for range 3 {
		l, err := b.Time("sum_blocks")
		if err != nil {
			t.Fatal(err)
		}
		if r := l.Rows[0]; !strings.Contains(r.Refused, "thermal") {
			t.Errorf("refused %q, expected the thermal slow-down", r.Refused)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(starts)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(strings.Fields(string(text))); got != 3 {
		t.Errorf("nvidia-smi started %d times, expected 3", got)
	}
}

// recorder is a GPU that records the launches it times; each run takes 1 us.
type recorder struct {
	asGPU
	timing   *gpu.Timing
	launches *[]gpu.Launch
}

func (r recorder) Time(timing gpu.Timing, launches ...gpu.Launch) ([]time.Duration, error) {
	*r.timing, *r.launches = timing, launches
	if _, err := r.asGPU.Time(gpu.Timing{Repeats: 1}, launches[0]); err != nil {
		return nil, err
	}
	times := make([]time.Duration, timing.Repeats)
	for i := range times {
		times[i] = time.Duration(len(launches)) * time.Microsecond
	}
	return times, nil
}

func TestMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: its one goroutine waits a minute for the emulator")
	}
	smi(t, "exit 9")
	var timing gpu.Timing
	var launches []gpu.Launch
	const n = 1 << 21 // 8 MiB: a turn is 15 copies, 120 MiB or a little more
	b := newBench(t, recorder{asGPU{device.MustOpen("emu")}, &timing, &launches}, sample.Operator, 1, n)
	b.Repeats = 4
	for _, c := range []struct {
		clock, cache string
		flush, graph bool
		buffers      int
	}{
		{"events", "warm", false, false, 1},
		{"events", "flushed", true, false, 1},
		{"back to back", "warm", false, false, 1},
		{"back to back", "rotated", false, false, 15},
		{"graph", "warm", false, true, 1},
		{"graph", "rotated", false, true, 15},
	} {
		var err error
		if b.Method, err = results.ParseMethod(c.clock, c.cache); err != nil {
			t.Fatal(err)
		}
		l, err := b.Time("sum_atomic")
		if err != nil {
			t.Fatal(err)
		}
		inputs := map[gpu.Buffer]int{}
		for _, launch := range launches {
			inputs[launch.Args[0].(gpu.Buffer)]++
		}
		if timing.Flush != c.flush || timing.Graph != c.graph || len(inputs) != c.buffers {
			t.Errorf("%s, %s: %+v on %d inputs, expected %+v", c.clock, c.cache, timing, len(inputs), c)
		}
		if c.clock == "events" && len(launches) != 1 || len(launches)%c.buffers != 0 {
			t.Errorf("%s, %s: %d launches", c.clock, c.cache, len(launches))
		}
		if m := l.Rows[0].Total.Median; m != time.Microsecond {
			t.Errorf("%s, %s: %v a run, expected 1 us", c.clock, c.cache, m)
		}
		if f := l.Figures()[0]; f.Method != c.clock || f.L2 != c.cache {
			t.Errorf("figure %+v, expected %s, %s", f, c.clock, c.cache)
		}
	}
	for _, m := range []results.Method{
		{Clock: results.BackToBack, Cache: results.Flushed}, {Clock: results.Graph, Cache: results.Flushed}, {Clock: results.Events, Cache: results.Rotated},
		{Clock: "ticks", Cache: results.Warm}, {Clock: results.Events, Cache: "cold"},
	} {
		if b.Method = m; !errors.Is(second(b.Time()), gpu.ErrArgument) {
			t.Errorf("%+v is timed", m)
		}
		if _, err := results.ParseMethod(m.Clock.String(), m.Cache.String()); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("%+v is parsed", m)
		}
	}
}

// Short runs are timed in rows.
func TestRunsInRow(t *testing.T) {
	for took, want := range map[time.Duration]int{
		0: mostInRow, time.Microsecond: mostInRow, 30 * time.Microsecond: 66, time.Millisecond: 2, time.Second: 1,
	} {
		if got := runsInRow(took); got != want {
			t.Errorf("%d runs of %v in a row, expected %d", got, took, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
