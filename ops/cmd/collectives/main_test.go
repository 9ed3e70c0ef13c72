package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/ops/triangles"
)

// lines runs the command on emulators and reads its figures.
func lines(t *testing.T, args ...string) (all []line, err error) {
	t.Helper()
	var out, log bytes.Buffer
	err = run(append([]string{"--device", "emu"}, args...), &out, &log)
	t.Logf("%s\n%s", log.String(), out.String())
	if strings.Contains(log.String(), "<nil>") {
		t.Error("the log has <nil>, expected that a part is done")
	}
	for text := range strings.Lines(out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, l)
	}
	return all, err
}

// Every part prints its figures, verified and with times, on one device and on three.
func TestParts(t *testing.T) {
	all, err := lines(t, "--ranks", "3", "--bytes", "1200,24", "--turns", "2", "--repeats", "2", "--n", "10007", "--size", "65", "--scale", "7")
	if err != nil {
		t.Fatal(err)
	}
	passed, ratios := map[string]int{}, map[string]int{}
	for _, l := range all {
		if !strings.Contains(l.Device, "emulator") {
			t.Errorf("%+v, expected it to name the emulator", l)
		}
		if l.Ratio > 0 {
			ratios[l.Part]++
			continue
		}
		if l.Verdict != "PASS" || l.NS <= 0 || l.Kind != "collective" || !strings.HasPrefix(l.Transport, "the host's memory") {
			t.Errorf("%+v, expected a figure that passed", l)
		}
		passed[l.Part]++
		if l.Part == "collectives" && (l.BusGBps <= 0 || l.Devices != 3) {
			t.Errorf("%+v, expected a bandwidth of 3 devices", l)
		}
	}
	for part, want := range map[string]int{"collectives": 2 * 2 * 5, "sum": 2 + 3, "gemm": 2, "triangles": 3 + 2*3} {
		if expected := map[string]int{"sum": 1, "gemm": 1, "triangles": 3}[part]; passed[part] != want || ratios[part] != expected {
			t.Errorf("%s: %d figures and %d ratios, expected %d and %d", part, passed[part], ratios[part], want, expected)
		}
	}
}

// A part that fails is a line, and the next one runs: it is refused before the memory of the
// host is full, which would end the program.
func TestPartThatFails(t *testing.T) {
	if _, known := gpu.HostFree(); !known {
		t.Skip("the host does not tell its free memory")
	}
	for part, args := range map[string][]string{"gemm": {"--size", "2000000000"}, "collectives": {"--bytes", "8000000000000000"}} {
		all, err := lines(t, append(args, "--parts", part+",triangles", "--scale", "5")...)
		if !errors.Is(err, gpu.ErrMemory) || !strings.HasPrefix(err.Error(), part+": ") || !strings.HasSuffix(err.Error(), "left: take a smaller "+args[0]) {
			t.Errorf("%v, expected the error of %s", err, part)
		}
		if len(all) != 11 || all[0].Name != "error" || !strings.Contains(all[0].Note, "of the host's memory") || all[10].Ratio == 0 {
			t.Errorf("%+v, expected an error and ten figures of triangles", all)
		}
	}
	if err := guarded(func(*session) error { panic("a part") }, nil); err == nil || err.Error() != "panic: a part" {
		t.Errorf("a panic of a part: %v", err)
	}
	if _, err := lines(t, "--parts", "collectives", "--ranks", "3", "--bytes", "8"); err == nil || !strings.Contains(err.Error(), "--bytes 8: expected at least 12") {
		t.Errorf("no element for each rank: %v", err)
	}
}

// Bytes that leave a rank without an element are an error before anything runs.
func TestFewBytes(t *testing.T) {
	all, err := lines(t, "--parts", "collectives", "--ranks", "3", "--bytes", "1200,8")
	if err == nil || !strings.Contains(err.Error(), "--bytes 8: expected at least 12, an element for each of 3 ranks") || len(all) != 1 || all[0].Name != "error" {
		t.Errorf("%+v, %v, expected one line with the error", all, err)
	}
}

// A wrong collective is found.
func TestWrongResult(t *testing.T) {
	s := &session{options: options{kind: "emu", deadline: 1e12}, log: io.Discard}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	outs := make([]gpu.Buffer, 2)
	for i, d := range s.devices {
		b, err := d.Alloc(gpu.Float32, 6)
		if err != nil {
			t.Fatal(err)
		}
		outs[i] = b
	}
	right, err := s.verify(collective.Broadcast, 6, outs, func(r int) collective.Call { // from the wrong root
		return collective.Call{Kind: collective.Broadcast, In: outs[r], Out: outs[r], Root: 0}
	})
	if err != nil || right {
		t.Errorf("%v, %v, expected a wrong result", right, err)
	}
}

func TestArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"--parts nothing: expected some of collectives": {"--parts", "nothing"},
		"--bytes 7": {"--bytes", "7"}, "--turns 0: expected 1 to": {"--turns", "0"}, `"more": expected flags only`: {"more"},
		"--scale 64: expected 1 to 26": {"--scale", "64"}, "--n -1: expected 1 to": {"--n", "-1"}, "--deadline -1s": {"--deadline", "-1s"},
		"not defined: -part: go run ./ops/cmd/collectives --help": {"--part", "sum"},
	} {
		var log bytes.Buffer
		if _, err := parse(args, &log); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || log.Len() > 0 {
			t.Errorf("%v: %v, %q, expected one line with %q", args, err, log.String(), want)
		}
	}
	var help bytes.Buffer
	if _, err := parse([]string{"--help"}, &help); err != flag.ErrHelp || !strings.Contains(help.String(), "-parts") {
		t.Errorf("--help: %v, %q", err, help.String())
	}
}

// A part that took longer than its work gets less of it.
func TestCutAgain(t *testing.T) {
	g, err := triangles.FromEdges(1000, triangles.RMAT(1000, 8000, 1))
	if err != nil {
		t.Fatal(err)
	}
	work := g.Packed()
	bounds := g.Cut(3, work)
	for _, c := range []struct{ ns []float64 }{{[]float64{9e5, 9e5, 9e5}}, {[]float64{2000, 1000, 1000}}, {[]float64{0, 1, 1}}} {
		again := g.Cut(3, timed(work, bounds, c.ns))
		t.Log(c.ns, bounds, again)
		switch slower, equal := again[1] < bounds[1], c.ns[0] == c.ns[2]; {
		case !slices.IsSorted(again) || again[0] != 0 || again[3] != g.Vertices():
			t.Errorf("%v: bounds %v", c.ns, again)
		case equal && !slices.Equal(again, bounds):
			t.Errorf("equal times: %v, expected %v", again, bounds)
		case c.ns[0] > c.ns[2] && !slower, c.ns[0] < c.ns[2] && slower:
			t.Errorf("%v: %v from %v, expected less of the slower part", c.ns, again, bounds)
		}
	}
}
