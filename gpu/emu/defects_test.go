package emu

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

//go:generate go run ../nvrtc -plain -arch sm_75 -release 12.0 testdata/defects.cu testdata/mistakes.cu testdata/learners.cu testdata/users.cu testdata/workloads.cu
//go:generate go run ../nvrtc -plain -arch sm_90a -release 12.0 testdata/hopper.cu

// defect is a kernel of a corpus and the fault that must be found in it.
type defect struct {
	corpus string // "defects" for testdata/defects.cu

	Name   string
	Kind   string
	Block  int
	Thread *int // nil if several threads are at fault
	Says   []string

	N          int    // elements, or 0 for 128
	Threads    int    // a block, or 0 for 64
	Shared     int    // bytes of dynamic shared memory
	TwinShared int    // and of the corrected twin
	First      string // an entry that runs before it
	Blocks     bool   // races between blocks are looked for
	Zeroed     bool   // z is zeros
	Free       bool   // z is freed before it runs
	NoLine     bool   // the compiler emits no source line for it
	TwinRaces  bool   // threads of the corrected twin store different values in one place
	Missed     string // why it is not found; "" if it is found

	plain bool // it is launched without checks
}

// readDefects reads testdata/defects.cu, or another corpus.
func readDefects(t *testing.T, corpus string) (defects []defect, source []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + corpus + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &defects); err != nil {
		t.Fatal(err)
	}
	for i := range defects {
		defects[i].corpus = corpus
	}
	if source, err = os.ReadFile("testdata/" + corpus + ".cu"); err != nil {
		t.Fatal(err)
	}
	return defects, source
}

// corpora are the files of testdata with broken kernels.
var corpora = []string{"defects", "mistakes", "learners", "users", "hopper"}

// ptxOf is the compiled file of a corpus.
func ptxOf(corpus string) string {
	switch corpus {
	case "hopper":
		return corpus + ".sm_90a.ptx"
	case "cases":
		return corpus + ".sm_80.ptx"
	}
	return corpus + ".sm_75.ptx"
}

// TestDefects runs every kernel with its one defect, which must be found and named, and
// its corrected twin, which must be clean.
func TestDefects(t *testing.T) {
	for _, corpus := range corpora {
		t.Run(corpus, func(t *testing.T) { testDefects(t, corpus) })
	}
}

func testDefects(t *testing.T, corpus string) {
	defects, source := readDefects(t, corpus)
	text, err := os.ReadFile("testdata/" + ptxOf(corpus))
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(source)); !strings.Contains(string(text), sum) {
		t.Errorf("%s is not of today's %s.cu: run `go generate ./gpu/emu`", ptxOf(corpus), corpus)
	}
	var names []string
	for _, d := range defects {
		if names = append(names, d.Name); sampled() {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			d.check(t, d.run(t, string(text), "bad_", d.Shared), string(source))
			if err := d.run(t, string(text), "ok_", max(d.Shared, d.TwinShared)); err != nil {
				t.Errorf("the corrected twin: %v", err)
			}
		})
	}
	for _, m := range regexp.MustCompile(`(?m)^PAIR(?:_CLUSTER)?\((\w+)\)$`).FindAllSubmatch(source, -1) {
		if !slices.Contains(names, string(m[1])) {
			t.Errorf("%s is in %s.cu and not in %s.json", m[1], corpus, corpus)
		}
	}
}

// run launches one of the pair, with all checks on unless the launch is a plain one.
func (d defect) run(t *testing.T, text, prefix string, shared int) error {
	t.Helper()
	device, e := loadEntry(t, only(text, prefix+d.Name, d.First), prefix+d.Name)
	device.LimitWorkers(1) // some let both blocks write one word, which is a race of two workers
	if d.corpus == "hopper" {
		device.LimitSteps(1 << 16) // some wait for ever
	}
	n := d.N
	if n == 0 {
		n = 128
	}
	j := &job{T: t, device: device}
	index := make([]uint32, n)
	for i := range index {
		index[i] = uint32(i)
	}
	x, y := j.alloc("x", index), j.alloc("y", make([]uint32, n))
	z, err := device.Alloc(gpu.Uint32, n)
	if err != nil {
		t.Fatal(err)
	}
	launch := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: cmp.Or(d.Threads, 64)}, Shared: shared,
		Args: []any{x, y, z.Label("z"), int32(n)}, Checks: gpu.CheckAll}
	if d.Blocks {
		launch.Checks |= gpu.CheckBlockRaces
	}
	if d.plain {
		launch.Checks = gpu.CheckDefault
	}
	if d.Zeroed {
		launch.Zero = []gpu.Buffer{z}
	}
	if d.TwinRaces && prefix == "ok_" {
		launch.Checks &^= gpu.CheckThreadRaces
	}
	if d.First != "" {
		first := launch
		if first.Entry, err = launch.Entry.(*entry).module.Entry(d.First); err != nil {
			t.Fatal(err)
		}
		if err := device.Launch(first); err != nil {
			t.Fatal(err)
		}
	}
	if d.Free {
		if err := z.Free(); err != nil {
			t.Fatal(err)
		}
		launch.Args[2] = y
	}
	var warnings []*gpu.Fault
	launch.Warnings = &warnings
	err = device.Launch(launch)
	for _, f := range warnings {
		if f.Kind != gpu.ErrSameValue && (err == nil || f.Kind != gpu.ErrRace) {
			return f
		}
	}
	return err
}

// check compares a fault with the expected one.
func (d defect) check(t *testing.T, err error, source string) {
	t.Helper()
	if d.Missed != "" {
		if err != nil {
			t.Errorf("%v, expected it missed: %s", err, d.Missed)
		}
		return
	}
	var f *gpu.Fault
	if !errors.As(err, &f) || f.Kind.Error() != d.Kind {
		t.Fatalf("%v, expected %s", err, d.Kind)
	}
	if *f.Block != (gpu.Dim{X: d.Block}) {
		t.Errorf("block %v, expected %d: %v", *f.Block, d.Block, err)
	}
	if d.Thread != nil && (f.Thread == nil || *f.Thread != gpu.Dim{X: *d.Thread}) {
		t.Errorf("thread %v, expected %d: %v", f.Thread, *d.Thread, err)
	}
	for _, words := range d.Says {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected it to say %q", err, words)
		}
	}
	if d.NoLine != (f.Source == "") || !d.NoLine && !strings.Contains(d.markOf(source, f.Source), "defect") {
		t.Errorf("%v, expected a line marked as the defect", err)
	}
	if d.Kind != gpu.ErrRace.Error() {
		return
	}
	if d.corpus == "hopper" && f.Other == nil { // of a copy alone
		return
	}
	if f.Other == nil || f.Thread == nil || f.Other.Thread == *f.Thread && !d.Blocks && d.corpus != "hopper" || !strings.Contains(d.markOf(source, f.Other.Source), "earlier") {
		t.Errorf("%v, expected another thread at a line marked as the earlier one", err)
	}
}

// markOf is the comment that ends a line, given as "defects.cu:41".
func (d defect) markOf(source, at string) string {
	var n int
	if _, err := fmt.Sscanf(at, d.corpus+".cu:%d", &n); err != nil {
		return ""
	}
	lines := strings.Split(source, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	_, mark, _ := strings.Cut(lines[n-1], " // ")
	return mark
}

const (
	atomicsExempt   = "racecheck leaves atomics out, against plain accesses, too"
	sharedUnwatched = "initcheck looks at global memory alone"
)

// unseen are the mistakes that no tool of compute-sanitizer reports on a GPU,
// and why.
var unseen = map[string]string{
	"histogram_before_zero": atomicsExempt, "histogram_zeroed_late": atomicsExempt, "histogram_merged_early": atomicsExempt,
	"maximum_behind_fence": atomicsExempt, "compaction_counter": atomicsExempt, "lock_before_zero": atomicsExempt,
	"warp_sums_unset": sharedUnwatched, "return_before_tile": sharedUnwatched, "halo_unset": sharedUnwatched,
	"stride_one_too_far": "the word behind x is the first of another buffer",
	"signed_bin":         "what lies before the array is memory that CUDA keeps of each block",
	"scan_shuffle_in_if": "synccheck looks at no masks of shuffles",
}

// TestSanitizer compares two of the corpora with compute-sanitizer's reports on a GPU:
// each report must be marked in the source, and be of the kind that must be found here.
// Defects that it misses have no verdict there.
func TestSanitizer(t *testing.T) {
	for _, corpus := range []string{"defects", "mistakes"} {
		t.Run(corpus, func(t *testing.T) { testSanitizer(t, corpus) })
	}
}

func testSanitizer(t *testing.T, corpus string) {
	defects, source := readDefects(t, corpus)
	text, err := os.ReadFile("testdata/" + corpus + ".sanitizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Hash     string `json:"ptx_sha256"`
		Verdicts map[string]map[string]struct {
			Says  string
			Lines []int
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	compiled, err := os.ReadFile("testdata/" + corpus + ".sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(compiled)); sum != report.Hash {
		t.Errorf("the verdicts are of another %s.sm_75.ptx: take them again on a GPU", corpus)
	}
	tools := map[string]string{gpu.ErrRace.Error(): "racecheck", gpu.ErrUninitialized.Error(): "initcheck",
		gpu.ErrBarrier.Error(): "synccheck", gpu.ErrMask.Error(): "synccheck"}
	for _, d := range defects {
		verdicts, taken := report.Verdicts[d.Name]
		if !taken {
			t.Errorf("%s: no verdict", d.Name)
		}
		if reason := unseen[d.Name]; corpus == "mistakes" && (reason == "") != (len(verdicts) > 0) {
			t.Errorf("%s: %d tools report it, unseen gives the reason %q", d.Name, len(verdicts), reason)
		}
		for tool, v := range verdicts {
			for _, line := range v.Lines {
				if d.markOf(string(source), fmt.Sprintf("%s.cu:%d", corpus, line)) == "" {
					t.Errorf("%s: %s says %q of line %d, which is not marked", d.Name, tool, v.Says, line)
				}
			}
			own := cmp.Or(tools[d.Kind], "memcheck")
			if own == "memcheck" && tool == "initcheck" {
				continue // another buffer follows, which was not written
			}
			if len(v.Lines) > 0 && tool != own {
				t.Errorf("%s: found by %s as %q, expected only %s for %s", d.Name, tool, v.Says, own, d.Kind)
			}
		}
	}
}

// TestCorpusOfDefects counts the broken kernels and those that are found.
func TestCorpusOfDefects(t *testing.T) {
	pairs, found := 0, 0
	for _, corpus := range corpora {
		defects, _ := readDefects(t, corpus)
		for _, d := range defects {
			if pairs++; d.Missed == "" {
				found++
			}
		}
	}
	if pairs < 200 || found < 190 {
		t.Errorf("%d of %d mistakes are found, expected at least 190 of 200", found, pairs)
	}
	t.Logf("%d of %d mistakes are found", found, pairs)
}
