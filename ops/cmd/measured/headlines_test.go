package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/kernel/leaf/verdict"
	"warpbook/ops/peers"
)

// The table of figures.md and the copies of its rows in both READMEs are those of all
// committed runs.
func TestFiguresAreGenerated(t *testing.T) {
	pages, err := headlinePages("../..", "h200")
	if err != nil || len(pages) != 3 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for path, want := range pages {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s: %v, another table than its runs give: go run ./ops/cmd/measured --headlines h200", path, err)
		}
	}
}

// reduceLine is a line of the bench for a headline of reduce.
func reduceLine(name, commit string, ns int) string {
	environment := ""
	if commit != "" {
		environment = fmt.Sprintf(`,"environment":{"device":"NVIDIA H200 (sm_90, driver 1.2)","commit":%q}`, commit)
	}
	return fmt.Sprintf(`{"operator":"reduce","name":%q,"size":[25600000],"method":"graph","verdict":"PASS","median_ns":%d,"samples_ns":[1,2],"device":"NVIDIA H200"%s}`+"\n", name, ns, environment)
}

// Kept lines lose their single timings alone, and are read again. Figures of sources with
// changes, of an unknown commit and of an emulator are refused, and nothing is kept.
func TestKeepRun(t *testing.T) {
	const commit = "commit 0123456789ab"
	dir, lines := t.TempDir(), ""
	for i := range verdict.LeastRepetitions {
		lines += reduceLine("reduce_last_block", commit, 25_000+100*i) + reduceLine("triton", "", 26_000+100*i)
		lines += reduceLine("reduce_removed", commit, 24_000+100*i) // a rung that the operator no longer has is no library
	}
	lines += reduceLine("cub_device_reduce", "", 20_000) // too few repetitions
	if err := keepRun(strings.NewReader(lines), dir, "h200", "a"); err != nil {
		t.Fatal(err)
	}
	text, err := peers.ReadKept(filepath.Join(dir, "headlines", "h200", "a.jsonl.gz"))
	if err != nil || strings.Contains(text, "samples") || !strings.Contains(text, commit) || strings.Count(text, "\n") != 16 {
		t.Errorf("%v, kept\n%s", err, text)
	}
	run, err := readRun(text)
	got := run[1]
	if want := (timed{25.2, verdict.Interval{Low: 25, High: 25.4}}); err != nil || len(run) != 1 || got.ours["reduce_last_block"] != want || len(got.theirs) != 1 || got.theirs["triton"].median != 26.2 {
		t.Errorf("%v, %+v, expected one headline with %v and one library", err, run, want)
	}
	for commit, want := range map[string]string{
		"commit 0123456789ab with changes": "expected a commit without changes", "sources sha256 0123": "expected a commit without changes",
	} {
		if err := keepRun(strings.NewReader(reduceLine("reduce_last_block", commit, 1)), dir, "h200", "b"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", commit, err, want)
		}
	}
	for _, name := range []string{"../b", "x/b", ".", ""} {
		if err := keepRun(strings.NewReader(lines), dir, "h200", name); err == nil || !strings.Contains(err.Error(), "expected the name of a run") {
			t.Errorf("%q: %v, expected that it names no run", name, err)
		}
	}
	emulated := strings.ReplaceAll(reduceLine("reduce_last_block", commit, 1), "NVIDIA H200", "emulator of NVIDIA H200")
	if err := keepRun(strings.NewReader(emulated), dir, "h200", "b"); err == nil || !strings.Contains(err.Error(), "emulated") {
		t.Errorf("%v, expected that emulated figures are refused", err)
	}
	if err := keepRun(strings.NewReader(""), dir, "h200", "b"); err == nil {
		t.Error("a run without a figure is kept")
	}
	if _, err := os.Stat(filepath.Join(dir, "headlines", "h200", "b.jsonl.gz")); err == nil {
		t.Error("a refused run was kept")
	}
}

// Figures of sources with changes do not become a committed file.
func TestChangedSourcesRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gemm", "measured", "gemm_run.json")
	for name, text := range map[string]string{path: `{"title": "a run"}`, filepath.Join(dir, "gemm", "notes.md"): "<!-- gemm_run -->\n\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	changed := strings.ReplaceAll(figures, "commit 0123456789ab", "commit 0123456789ab with changes")
	if err := run(strings.NewReader(changed), dir, "gemm_run", 0); err == nil || !strings.Contains(err.Error(), "commit the sources") {
		t.Errorf("%v, expected that changed sources are refused", err)
	}
	if text, _ := os.ReadFile(path); string(text) != `{"title": "a run"}` {
		t.Errorf("the file became %s", text)
	}
}

// A row has the range over all runs that timed the fastest library, and a verdict only
// where all of them agree.
func TestHeadlineRow(t *testing.T) {
	h := headline{title: "sum", operator: "reduce", size: []int{8}, rung: "ours"}
	at := func(low, high float64) timed { return timed{(low + high) / 2, verdict.Interval{Low: low, High: high}} }
	of := func(ours timed, theirs map[string]timed) headlineRun {
		return headlineRun{map[string]timed{"ours": ours}, theirs}
	}
	fast := of(at(10, 12), map[string]timed{"cub_x": at(20, 22), "torch": at(30, 31)})
	faster := of(at(9, 11), map[string]timed{"cub_x": at(19, 21), "torch": at(30, 31)})
	touches := of(at(10, 12), map[string]timed{"cub_x": at(12, 14)})
	weaker := of(at(1, 2), map[string]timed{"torch": at(30, 31)})
	beaten := of(at(10, 12), map[string]timed{"cub_x": at(20, 22), "triton": at(5, 6)})
	for _, c := range []struct {
		runs []headlineRun
		want string
	}{
		{[]headlineRun{fast}, "| sum | 10.0 to 12.0 us `ours` | CUB 20.0 to 22.0 us | 1.91 FASTER | 1 |"},
		{[]headlineRun{fast, faster, fast}, "| sum | 9.0 to 12.0 us `ours` | CUB 19.0 to 22.0 us | 1.91 to 2.00 FASTER | 3 |"},
		{[]headlineRun{fast, touches, faster}, "| sum | 9.0 to 12.0 us `ours` | CUB 12.0 to 22.0 us | SAME | 3 |"},
		{[]headlineRun{weaker, fast}, "| sum | 10.0 to 12.0 us `ours` | CUB 20.0 to 22.0 us | 1.91 FASTER | 1 |"},
		{[]headlineRun{beaten, fast}, "| sum | 10.0 to 12.0 us `ours` | CUB 20.0 to 22.0 us | SAME | 2 |"},
		{[]headlineRun{fast, beaten}, "| sum | 10.0 to 12.0 us `ours` | Triton 5.0 to 6.0 us | 0.50 SLOWER | 1 |"},
	} {
		if got, _ := h.row(c.runs); got != c.want {
			t.Errorf("%s, expected %s", got, c.want)
		}
	}
}
