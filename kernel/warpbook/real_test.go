//go:build !windows

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/nbformat"
)

// TestRealProgram runs Go cells in the real cells program, which is built if the cache
// lacks it.
func TestRealProgram(t *testing.T) {
	cells, err := cellbuild.Cells(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(showBuild(os.Stderr, err))
	}
	t.Run("passes", func(t *testing.T) { passesForReal(t, cells) })
	t.Run("fails", func(t *testing.T) { failsForReal(t, cells) })
	t.Run("undrawable", func(t *testing.T) { undrawableForReal(t, cells) })
	t.Run("records", func(t *testing.T) { recordsForReal(t, cells) })
	t.Run("lessons", func(t *testing.T) { lessonsForReal(t, cells) })
	t.Run("controls", func(t *testing.T) { controlsForReal(t, cells) })
	t.Run("interrupted", func(t *testing.T) { interruptedForReal(t, cells) })
}

// verdictType is a cell that declares a value with a record.
const verdictType = `type verdict string

func (v verdict) MIMEBundle() (data, metadata map[string]any) {
	row := map[string]any{"name": "sum", "verdict": string(v)}
	return map[string]any{
		"text/plain": "sum " + string(v),
		"application/vnd.warpbook.record+json": map[string]any{"kind": "checks", "title": "T", "rows": []any{row}},
	}, nil
}`

func passesForReal(t *testing.T, cells string) {
	p := newPlace(t)
	p.notebook("x.ipynb",
		"parameters|n := 3",
		"import (\n\t\"fmt\"\n\t\"os\"\n)\nfmt.Println(\"n is\", n)\nfmt.Fprintln(os.Stderr, \"to stderr\")\nn * 2",
		"raises-exception|var none []int\nnone[n]",
		verdictType,
		`verdict("PASS")`,
	)
	c := p.command("run", "x.ipynb", "--set", "n=5")
	c.Env = append(c.Env, cellbuild.Env+"="+cells)
	o := p.finish(c)
	if o.status != 0 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	for _, want := range []string{"n is 5\n", "to stderr\n", "\n10\n", "index out of range [5] with length 0", "sum PASS\n", "1 of 1 correctness rows as expected"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if r, _ := p.results("report", "x"); !r.Passed || len(r.Cells) != 6 {
		t.Errorf("results %+v", r)
	}
}

func failsForReal(t *testing.T, cells string) {
	p := newPlace(t)
	p.notebook("x.ipynb", verdictType, `verdict("FAIL")`, "x := 1\nundefined(x)", "x")
	c := p.command("run", "x.ipynb")
	c.Env = append(c.Env, cellbuild.Env+"="+cells)
	o := p.finish(c)
	for _, want := range []string{`cell 2 (verdict("FAIL")): row 1 "sum" of "T": FAIL`, "cell 3:2:1: undefined: undefined"} {
		if o.status != statusFailed || !strings.Contains(o.stderr, want) {
			t.Errorf("status %d, no %q in %q", o.status, want, o.stderr)
		}
	}
	if r, _ := p.results("report", "x.partial"); r.Passed || r.Cells[3].Executed {
		t.Errorf("results %+v, expected the last cell not to be reached", r)
	}
}

// undrawableForReal: a chart that cannot be drawn fails its cell and the run.
func undrawableForReal(t *testing.T, cells string) {
	for _, code := range []string{
		"import \"warpbook/kernel/display\"\ndisplay.LineChart{X: []float64{1}}",
		"import \"warpbook/kernel/display\"\ndisplay.Show(display.LineChart{X: []float64{1}})",
	} {
		p := newPlace(t)
		p.notebook("x.ipynb", code, "1")
		c := p.command("run", "x.ipynb")
		c.Env = append(c.Env, cellbuild.Env+"="+cells)
		o := p.finish(c)
		const want = "panic: display: line chart: 1 points of X and 0 series, expected at least 1 of each"
		if o.status != statusFailed || !strings.Contains(o.stderr, want) || strings.Count(o.stdout, "display: line chart: 1 points") < 2 {
			t.Errorf("status %d, %q, %q, expected the reason in the output and %q", o.status, o.stderr, o.stdout, want)
		}
	}
}

// controlsForReal: a run has the result of the first values of controls. Its notebook has
// the controls' states, for pages that show them, and its report only the result.
func controlsForReal(t *testing.T, cells string) {
	p := newPlace(t)
	p.notebook("x.ipynb", `import ("fmt"; "warpbook/kernel/display")
display.Interact(func(stride int) string { return fmt.Sprint("banks ", 32/stride) }, display.Slider("stride", 1, 64).At(8))`)
	c := p.command("run", "x.ipynb")
	c.Env = append(c.Env, cellbuild.Env+"="+cells)
	if o := p.finish(c); o.status != 0 || !strings.Contains(o.stdout, "banks 4") || strings.Contains(o.stdout, "pip install") {
		t.Errorf("%+v", o)
	}
	nb, err := nbformat.Read(filepath.Join(p.dir, "report", "x.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	view, _ := nb.Cells[0].Outputs[0].Data["application/vnd.jupyter.widget-view+json"].(map[string]any)
	widgets, _ := nb.Metadata["widgets"].(map[string]any)
	all, _ := widgets["application/vnd.jupyter.widget-state+json"].(map[string]any)
	states, _ := all["state"].(map[string]any)
	if box, _ := states[fmt.Sprint(view["model_id"])].(map[string]any); len(states) != 2 || box["model_name"] != "VBoxModel" {
		t.Errorf("view %v, states %v", view, widgets)
	}
	page, err := os.ReadFile(filepath.Join(p.dir, "report", "x.html"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); !strings.Contains(text, "banks 4") || !strings.Contains(text, "stride = 8") || strings.Contains(text, "jupyterlab_widgets") || strings.Contains(text, "model_id") {
		t.Errorf("the report is %s", text)
	}
}

func interruptedForReal(t *testing.T, cells string) {
	p := newPlace(t)
	p.notebook("x.ipynb", "println(\"begun\")\nfor {\n}")
	c := p.command("run", "x.ipynb")
	c.Env = append(c.Env, cellbuild.Env+"="+cells)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	waitFor(t, lines, "begun")
	c.Process.Signal(syscall.SIGINT)
	io.Copy(io.Discard, lines)
	c.Wait()
	r, _ := p.results("report", "x.partial")
	if c.ProcessState.ExitCode() != 130 || r.Cells[0].Error == nil || r.Cells[0].Error.Name != "interrupted" {
		t.Errorf("status %d, %+v", c.ProcessState.ExitCode(), r.Cells[0])
	}
	if r.Cells[0].Seconds >= patience.Seconds() {
		t.Error("the cell ended for lack of patience, not by the interrupt")
	}
}
