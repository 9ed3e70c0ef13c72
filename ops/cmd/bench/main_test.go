//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops"
	"warpbook/ops/bench/monitor"
	"warpbook/ops/ladder"
	"warpbook/ops/peers"
)

// rung is the name of an operator's rung number i: these tests work with any.
func rung(o *ops.Operator, i int) string { return o.Variants[i].Name }

// line is a command line; $HOST and $GPU are the first two rungs of Reduce.
func line(text string) []string {
	return strings.Fields(strings.NewReplacer("$HOST", rung(ops.Reduce, 0), "$GPU", rung(ops.Reduce, 1)).Replace(text))
}

// A run prints a whole line for each rung and turn, verified.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	args := line("reduce --size 1e3 --size 70 --variants $HOST,$GPU --device emu --repeats 3 --seed 5 --turns 2")
	if err := run(args, &out, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		var f peers.Figure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if f.Verdict != "PASS" || f.MedianNS <= 0 || f.Repeats != 3 || len(f.SamplesNS) != 3 || f.Method != "emulator time" || f.Environment == nil || f.Device != "emulator of NVIDIA H200" {
			t.Errorf("%+v", f)
		}
		names = append(names, fmt.Sprint(f.Name, f.Size))
	}
	want := line("$HOST[1000] $GPU[1000] $HOST[1000] $GPU[1000] $HOST[70] $GPU[70] $HOST[70] $GPU[70]")
	if !slices.Equal(names, want) {
		t.Errorf("figures of %q, expected %q", names, want)
	}
}

// A result with the documented error of its rung is a line without times.
func TestExpectedFailure(t *testing.T) {
	var out bytes.Buffer
	err := run(strings.Fields("reduce_mistakes --size 2560 --device emu --variants "+rung(ops.ReduceMistakes, 0)), &out, io.Discard, nil)
	if err != nil || !strings.Contains(out.String(), `"verdict":"FAIL (expected)"`) || strings.Contains(out.String(), "median_ns") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// A verdict that is neither PASS nor an expected failure ends with an error: here a
// right rung that was declared to be wrong.
func TestWrong(t *testing.T) {
	bench, err := ops.NewBench(device.MustOpen("emu"), ops.Reduce, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer bench.Close()
	if err := bench.Expect(rung(ops.Reduce, 1), ladder.CheckBound); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	right, err := printVariants(bench, options{operator: ops.Reduce, variants: []string{rung(ops.Reduce, 1)}}, ops.Size{1000}, 0, &out, io.Discard, &atomic.Bool{})
	if err != nil || right || strings.Contains(out.String(), "median_ns") {
		t.Errorf("right %v, %v: %s", right, err, out.String())
	}
}

// A rung that a device cannot run is reported and skipped, unless it is named.
func TestLeftOut(t *testing.T) {
	var log bytes.Buffer
	args := strings.Fields("gemm_tf32 --size 16,16,16 --device emu:t4")
	newer := rung(ops.GemmTF32, slices.IndexFunc(ops.GemmTF32.Variants, func(v ops.Variant) bool { return v.Needs == ladder.Ampere }))
	if err := run(args, io.Discard, &log, nil); err != nil || !strings.Contains(log.String(), "bench: not run: ops: "+newer+": unsupported") {
		t.Errorf("%v, log %s", err, log.String())
	}
	if err := run(append(args, "--variants", newer, "--skip"), io.Discard, io.Discard, nil); err != nil {
		t.Errorf("%v, expected it to be left out", err)
	}
	if err := run(append(args, "--variants", newer), io.Discard, io.Discard, nil); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("%v, expected %v", err, gpu.ErrUnsupported)
	}
}

func TestInterrupt(t *testing.T) {
	stopped := make(chan os.Signal, 1)
	log := &interrupts{stopped: stopped}
	err := run(line("reduce --size 1000000 --variants $GPU,$HOST --device emu --repeats 1000"), io.Discard, log, stopped)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v, expected an interrupt", err)
	}
}

// interrupts sends a signal when the first rung is announced.
type interrupts struct {
	stopped chan<- os.Signal
	told    bool
}

func (i *interrupts) Write(b []byte) (int, error) {
	if !i.told {
		i.told = true
		i.stopped <- os.Interrupt
	}
	return len(b), nil
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                    "go run ./ops/cmd/bench --help",
		"reduce":              "--size",
		"reduce --size x":     `"x" is no whole number`,
		"reduce --size 1.5e0": `"1.5e0" is no whole number, such as 1000000 or 1e6`,
		"reduce --size 1e20":  `"1e20" is too large`,
		"reduce --size 1e999": `"1e999" is too large`,
		"reduce --size 3 --device emu --peers torch_smu": "peer \"torch_smu\": not found, expected one such as torch_sum",
		"reduce --size 99999999999999999999":             `"99999999999999999999" is too large`,
		"reduce --size 3 --bogus":                        "not defined: -bogus: go run ./ops/cmd/bench --help",
		"reduce --size 3 --repeats -5":                   "--repeats -5: expected at least 1",
		"reduce --size 3 --export kept":                  "--export FOLDER: expected the name of a folder, --counters",
		"reduce --size 3 --counters units --export=":     "--export FOLDER: expected the name of a folder",
		"reduce --size 3 --variants $GPU,":               `variant ""`,
		"reduce --size 3 --size -3":                      "n = -3",
		"reduce --size 3 --clock nope":                   `"back to back"`,
		"redcue --size 3":                                "expected one such as reduce",
		"reduce --size 3 --l2 cold":                      "expected one of",
		"reduce --size 3 --variants $GPU_":               rung(ops.Reduce, 1),
		"reduce --size 3,4":                              "expected n",
		"reduce --size 3 --device nothing":               "expected one of",
		"reduce --size 3 --turns 0":                      "--turns",
		"reduce --size 3 --device emu --counters units":  "expected a GPU",
		"reduce --size 3 more":                           "--help",
		"reduce --size 3 --clock graph --l2 flushed":     "take rotated",
		"conv1d --size 9,3 --set stride=1.5":             "stride = 1.5: invalid argument, expected a whole number",
		"maxpool --size 1,9,9 --set widow=3":             "expected one such as window",
	} {
		var out bytes.Buffer // the program prints the error below what is in it
		err := run(line(args), &out, &out, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%q: %v after %q, expected a line that says %q and nothing before it", args, err, out.String(), want)
		}
	}
	// A padding of 4 fits the window of 5 and not the usual one of 3.
	if _, err := parse(line("maxpool --size 1,9,9 --set padding=4 --set window=5"), io.Discard); err != nil {
		t.Error(err)
	}
	var help bytes.Buffer
	if err := run([]string{"--help"}, io.Discard, &help, nil); err != flag.ErrHelp || !strings.Contains(help.String(), "operators: reduce") {
		t.Errorf("--help: %v, %q", err, help.String())
	}
}

// A run that ended midway is resumed row by row: what its lines have is left out, and a
// line that was cut off is printed again.
func TestResume(t *testing.T) {
	args := line("reduce --size 1000 --size 70 --variants $HOST,$GPU --device emu --repeats 3 --turns 2")
	var whole bytes.Buffer
	if err := run(args, &whole, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(whole.String(), "\n")
	for cut := range len(lines) {
		path := t.TempDir() + "/lines"
		before := strings.Join(lines[:cut], "")
		if cut < len(lines)-1 {
			before += lines[cut][:20]
		}
		if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		var rest bytes.Buffer
		if err := run(append(slices.Clone(args), "--resume", path), &rest, io.Discard, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := names(t, rest.String()), names(t, strings.Join(lines[cut:], "")); got != want {
			t.Errorf("after %d lines: %s, want %s", cut, got, want)
		}
	}
	if err := run(append(args, "--resume", "nothing"), io.Discard, io.Discard, nil); err == nil || !strings.Contains(err.Error(), "expected the lines of a run") {
		t.Errorf("%v", err)
	}
}

// names are those of figures, with their sizes.
func names(t *testing.T, lines string) string {
	var all []string
	for line := range strings.Lines(lines) {
		var f peers.Figure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, fmt.Sprint(f.Name, f.Size))
	}
	return strings.Join(all, " ")
}

// Parameters and data sets of the operator are arguments, for any operator; peers that
// cannot be timed so are a note, and ours are timed.
func TestAnyOperator(t *testing.T) {
	var out, log bytes.Buffer
	args := strings.Split("gemm|--size|8,8,8|--set|alpha=2|--variants|"+rung(ops.Gemm, 1)+"|--device|emu|--clock|back to back|--turns|3|--data|uniform", "|")
	if err := run(args, &out, &log, nil); err != nil || strings.Count(out.String(), "\n") != 3 || !strings.Contains(log.String(), "not run: peers") {
		t.Errorf("%v, %s, log %s", err, out.String(), log.String())
	}
	if n := strings.Count(out.String(), `"settings":"alpha = 2"`); n != 3 {
		t.Errorf("%d of 3 lines name alpha = 2: %s", n, out.String())
	}
	for args, want := range map[string]string{"reduce --size 3 --set alpha=2": `parameter "alpha"`, "reduce --size 3 --set alpha": "no NAME=NUMBER", "reduce --size 3 --data zipf": `data set "zipf"`} {
		if err := run(strings.Fields(args), io.Discard, io.Discard, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected a line that says %q", args, err, want)
		}
	}
}

// asGPU is an emulator that claims to be a GPU.
type asGPU struct{ gpu.Device }

func (d asGPU) Info() gpu.Info {
	info := d.Device.Info()
	info.Emulated, info.Checks, info.UUID = false, gpu.CheckUninitialized, "GPU-3b"
	return info
}

// A time that is refused because another program keeps the GPU busy is tried again, and
// then a line that says so.
func TestRefusalIsALine(t *testing.T) {
	smi := filepath.Join(t.TempDir(), "smi")
	script := "#!/bin/sh\ncase \"$*\" in\n*query-compute-apps*) echo 1;;\n*pmon*) echo '# gpu pid type sm command'; echo '0 1 C 97 other';;\nesac\n"
	if err := os.WriteFile(smi, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	program, wait := monitor.Program, pause
	monitor.Program, pause = []string{smi}, time.Millisecond
	t.Cleanup(func() { monitor.Program, pause = program, wait })
	bench, err := ops.NewBench(asGPU{device.MustOpen("emu")}, ops.Reduce, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer bench.Close()
	var out, log bytes.Buffer
	right, err := printVariants(bench, options{operator: ops.Reduce, variants: []string{rung(ops.Reduce, 1)}}, ops.Size{1000}, 0, &out, &log, &atomic.Bool{})
	if err != nil || right || strings.Count(log.String(), "tried again") != tries-1 ||
		!strings.Contains(out.String(), `"verdict":"NOT TIMED"`) || !strings.Contains(out.String(), "keeps 97 % of the GPU busy") {
		t.Errorf("right %v, %v, log %s: %s", right, err, log.String(), out.String())
	}
}

// units stands for its metrics, beside others that are named.
func TestCounters(t *testing.T) {
	o, err := parse(strings.Fields("reduce --size 3 --counters sm__warps_active.avg,units"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if want := append([]string{"sm__warps_active.avg"}, units...); !slices.Equal(o.counters, want) {
		t.Errorf("metrics are %v, expected %v", o.counters, want)
	}
}
