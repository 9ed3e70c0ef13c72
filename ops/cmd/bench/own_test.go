//go:build !windows

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
	"warpbook/gpu/ptxfile"
	"warpbook/ops"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/peers"
)

// mine is a file with the kernel mine: that of a rung of Reduce under another name.
func mine(t *testing.T, change ...string) (path, like string) {
	t.Helper()
	like = rung(ops.Reduce, 4)
	text, err := ptxfile.ReadFile("../../reduce/reduce.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "mine.ptx")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(append(change, like, "mine")...).Replace(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, like
}

// A kernel of a file is a rung, with the counters of the emulator beside it, also as CSV.
func TestWith(t *testing.T) {
	path, like := mine(t)
	var out, log bytes.Buffer
	args := []string{"reduce", "--size", "1e3", "--size", "70", "--device", "emu", "--variants", like, "--with", path + ":mine", "--like", like, "--repeats", "3", "--csv"}
	if err := run(args, &out, &log, nil); err != nil {
		t.Fatalf("%v, log %s", err, log.String())
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%v, %v, expected a header and four rows", rows, err)
	}
	at := func(name string) int { return slices.Index(rows[0], name) }
	for i, row := range rows[1:] {
		if want := []string{like, "mine"}[i%2]; row[at("name")] != want || row[at("verdict")] != ops.Pass || row[at("method")] != "emulator time" || row[at("n")] != []string{"1000", "70"}[i/2] {
			t.Errorf("row %v, expected %s", row, want)
		}
		if mine := rows[1+i/2*2]; row[at("warp_instructions")] == "" || row[at("warp_instructions")] != mine[at("warp_instructions")] {
			t.Errorf("row %v, expected the counters of %v", row, mine)
		}
	}
}

// A kernel whose result is wrong is a line that says which check it fails.
func TestWithWrong(t *testing.T) {
	path, like := mine(t, "\tadd.f32", "\tsub.f32")
	var out bytes.Buffer
	err := run([]string{"reduce", "--size", "1000", "--device", "emu", "--variants", like, "--with", path + ":mine", "--like", like, "--repeats", "3"}, &out, io.Discard, nil)
	if err == nil || !strings.Contains(out.String(), `"note":"fails bound`) || strings.Count(out.String(), "median_ns") != 1 {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestWithUsage(t *testing.T) {
	path, like := mine(t)
	two := filepath.Join(t.TempDir(), "two.cu")
	for args, want := range map[string]string{
		"--with mine.py --like " + like:                                  `"mine.py": expected FILE.cu:KERNEL or FILE.ptx:ENTRY`,
		"--with " + path + ":mine":                                       "--with 1 kernels and 0 rungs of --like: expected one of --like for all",
		"--like " + like:                                                 "--like without --with",
		"--with " + path + ":mine --like " + like + "_":                  "expected one such as " + like,
		"--with " + path + ":mien --like " + like:                        "mine",
		"--with " + path + " --like " + like:                             "kernels, expected one of them by name",
		"--with " + two + ":f --like " + like:                            "no such file",
		"--with " + path + ":" + rung(ops.Reduce, 3) + " --like " + like: "give the kernel another",
		"--csv --resume lines":                                           "--csv with --counters or --resume",
		"--peer x --clock graph":                                         "--peer with --clock graph --l2 warm: expected events",
	} {
		var out bytes.Buffer
		err := run(append(strings.Fields("reduce --size 3 --device emu"), strings.Fields(args)...), &out, io.Discard, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%q: %v after %q, expected a line that says %q and nothing before it", args, err, out.String(), want)
		}
	}
}

// A program that cannot go on is named once, the rungs are timed, and the exit status is 1.
func TestPeerFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone.sh")
	if err := os.WriteFile(path, []byte("echo gone >&2; exit 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	args := append(line("reduce --size 70 --device emu --variants $HOST --repeats 3 --turns 2 --peer"), "sh "+path)
	err := run(args, &out, &log, nil)
	if err == nil || strings.Count(log.String(), "not run: peer gone: exit status 3: gone") != 1 || strings.Count(out.String(), "median_ns") != 2 {
		t.Errorf("%v, log %s: %s", err, log.String(), out.String())
	}
}

// On a GPU a kernel is audited on the emulator, too, at a small size; a kernel that is
// rejected there has no times.
func TestSmallSize(t *testing.T) {
	for _, o := range ops.Operators() {
		size := (&options{operator: o}).smallSize()
		if size == nil {
			t.Logf("%s is audited on the GPU alone", o.Name)
			continue
		}
		if err := o.CheckSize(size); err != nil {
			t.Error(err)
		}
	}
	d, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := bench.New(d, ops.Reduce, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	o := options{operator: ops.Reduce, with: []kernel{{name: "mine", seen: "on the emulator, n = 1000: does less"}}}
	f, err := o.judged(b, peers.Figure{Name: "mine", Verdict: ops.Pass, MedianNS: 5, SamplesNS: []float64{5}})
	if err != nil || f.Verdict != "REJECTED" || f.MedianNS != 0 || f.SamplesNS != nil || !strings.Contains(f.Note, "does less") {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestWithRungs: the kernel of a rung under another name is not rejected, whatever its
// operator computes. The seed chooses a rung of some operators, and of all with WARPBOOK_LONG.
func TestWithRungs(t *testing.T) {
	seed, few := uint64(time.Now().UnixNano()), os.Getenv("WARPBOOK_LONG") == ""
	if n, err := strconv.ParseUint(os.Getenv("WARPBOOK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("seed %d", seed)
	d, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, o := range ops.Operators() {
		if few && random.IntN(6) > 0 || strings.HasSuffix(o.Name, "_mistakes") {
			continue
		}
		for _, v := range o.Variants {
			if random.IntN(len(o.Variants)) > 0 || v.Host != nil || v.Picks || v.Expect != nil {
				continue
			}
			if row, ok := renamed(t, d, o, v); ok && row.Verdict != ladder.Pass {
				t.Errorf("%s under another name: %s %s, expected PASS", v.Name, row.Verdict, row.Audit.Note())
			}
		}
	}
}

// renamed times the kernel of a rung as one of the caller's, at the smallest size that the
// emulator runs. ok is false where the rung does not take that size or device.
func renamed(t *testing.T, d gpu.Device, o *ops.Operator, v ops.Variant) (row ops.Latency, ok bool) {
	t.Helper()
	size := (&options{operator: o}).smallSize()
	file, err := o.PTX(o.ModuleOf(v), d.Info())
	if err != nil || size == nil || len(file.Text) > 1<<20 { // larger than --with takes
		return row, false
	}
	text := regexp.MustCompile(`\b`+v.Name).ReplaceAllString(file.Text, "own_"+v.Name)
	m, err := compile.PTX(file.Name, text, 1)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := m.Entry("own_" + v.Name)
	if err != nil {
		return row, false
	}
	with, err := o.With(ops.Rung{Entry: entry, Like: v.Name})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ops.NewBench(d, with, 1, size...)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Audits, b.Repeats = true, 2
	times, err := b.Time(entry.Name())
	if errors.Is(err, gpu.ErrUnsupported) {
		return row, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return times.Rows[0], true
}
