package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// debuggerNotebook are the code cells of notebook 18 by their ids, in order.
func debuggerNotebook(t *testing.T) (ids []string, code map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../notebooks/18-debugger.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	notebook := decode[struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			ID     string
			Source []string
		}
	}](t, json.RawMessage(text))
	code = map[string]string{}
	for _, c := range notebook.Cells {
		if c.Type == "code" {
			ids, code[c.ID] = append(ids, c.ID), strings.Join(c.Source, "")
		}
	}
	return ids, code
}

// Notebook 18 runs without a compiler, from its committed debug builds; each cell prints
// what the text says, and each cause is found in at most five actions.
func TestDebuggerNotebook(t *testing.T) {
	t.Setenv(clang.FolderVariable, t.TempDir())
	t.Setenv(compiler.Variable, filepath.Join(t.TempDir(), "none"))
	d := attach(t)
	dir, err := filepath.Abs("../../notebooks")
	if err != nil {
		t.Fatal(err)
	}
	d.value(fmt.Sprintf("import \"os\"\nos.Chdir(%q);", dir))
	ids, code := debuggerNotebook(t)
	wants := map[string][]string{
		"nan-run":       {"the mean of the deviations is NaN"},
		"nan-debug":     {"makes the first NaN, in block (0,0,0), lane 5 of warp 1", "thread (37,0,0)", "deviation at spread.cu:11: return sqrtf(variance);", "variance = -4.6253206e-07", "mean = 1.7000002", "row[0] = 1.7"},
		"scratch-run":   {"the elements from 0 to 3 minus 63 are [0 0 -61 -60]"},
		"scratch-debug": {"s[1] = 63", "thread (32,0,0) writes s[1]", "below at below.cu:12", "most = 63"},
		"scratch-watch": {"word 1 was written last by thread (32,0,0) at line 12"},
		"barrier-run":   {"divergent barrier: 36 threads wait at it, and 28 threads (36-63) have gone past it"},
		"barrier-debug": {"thread (36,0,0)", "thread (32,0,0)", "lane 0: 96", "lane 3: 99", "lanes 4-31: exited"},
		"index-run":     {"out of bounds", "8589934496 bytes past", "thread (40,0,0)"},
		"index-debug":   {"pad[row] = 2147483647", "thread (5,0,0) writes pad[row]", "centre at centre.cu:6", "width[tid] = 9\n"},
		"sum-run":       {"[32 1056 33824]"},
		"sum-debug":     {"tiles at tiles.cu:7", "sum = 32", "tiles at tiles.cu:9", "tile = 0"},
		"go-run":        {"[[0 33] [0 33 66]]", "the plans share their memory: true"},
		"debug-off":     {"no longer kept"},
	}
	pictures := 0
	for _, id := range ids {
		if actions := strings.Count(code[id], "%debug "); actions > 5 {
			t.Errorf("%s has %d actions, at most 5", id, actions)
		}
		if id == "go-run" {
			d.stopInPlan(code[id])
		}
		printed := d.printed(code[id])
		for len(d.shown) > 0 {
			e := <-d.shown
			if e.Data["image/svg+xml"] != nil {
				pictures++
			}
			printed += fmt.Sprintln(e.Data["text/plain"])
		}
		for _, want := range wants[id] {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: %q is not in %s", id, want, printed)
			}
		}
		delete(wants, id)
	}
	if len(wants) > 0 {
		t.Errorf("the notebook lacks the cells %v", wants)
	}
	if pictures != 1 {
		t.Errorf("%d pictures, want that of a warp", pictures)
	}
}

// stopInPlan does what the text says about the cell of Go: it stops at a condition, and one
// step changes the first plan.
func (d *debugged) stopInPlan(code string) {
	d.t.Helper()
	d.breaks(code, `{"line":6,"condition":"gpus == 3"}`)
	s, done := d.next(code)
	d.expect("before the line", d.evaluate(s, "plans[0][1]"), "50")
	d.breaks(code)
	s = d.step("next", s)
	d.expect("after the line", d.evaluate(s, "plans[0][1]"), "33")
	if e := d.ends(s, done); e.Error != nil {
		d.t.Error(e.Error)
	}
	d.out.take()
}
