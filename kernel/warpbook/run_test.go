//go:build !windows

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warpbook/kernel/cellproc"
	"warpbook/kernel/nbformat"
)

// notebook makes a notebook of scripts for the fake cells program. A text that begins
// with # is prose; tags come before a |.
func (p *place) notebook(name string, cells ...string) {
	p.t.Helper()
	nb := &nbformat.Notebook{Name: name, Minor: nbformat.Minor, Metadata: map[string]any{
		"kernelspec":    map[string]any{"name": kernelName, "display_name": "Go (warpbook)", "language": language},
		"language_info": map[string]any{"name": language},
	}}
	for i, text := range cells {
		c := &nbformat.Cell{Type: nbformat.Code, ID: string(rune('a' + i)), Source: text}
		if tag, source, ok := strings.Cut(text, "|"); ok {
			c.Source = source
			c.Metadata = map[string]any{"tags": []any{tag}}
		}
		if strings.HasPrefix(text, "#") {
			c.Type = nbformat.Markdown
		}
		nb.Cells = append(nb.Cells, c)
	}
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := nb.Write(p.path(name)); err != nil {
		p.t.Fatal(err)
	}
}

// results reads the files of a run, and checks that all were written.
func (p *place) results(dir, name string) (*results, *nbformat.Notebook) {
	p.t.Helper()
	if got, want := p.names(dir), name+".html "+name+".ipynb "+name+".json"; got != want {
		p.t.Errorf("%s holds %q, expected %q", dir, got, want)
	}
	if html := p.read(dir + "/" + name + ".html"); !strings.HasSuffix(strings.TrimSpace(html), "</html>") {
		p.t.Errorf("%s.html is not whole", name)
	}
	var r results
	if err := json.Unmarshal([]byte(p.read(dir+"/"+name+".json")), &r); err != nil {
		p.t.Fatal(err)
	}
	nb, err := nbformat.Read(p.path(dir + "/" + name + ".ipynb"))
	if err != nil {
		p.t.Fatal(err)
	}
	return &r, nb
}

func check(verdicts ...string) string {
	rows := []map[string]any{}
	for i, v := range verdicts {
		rows = append(rows, map[string]any{"name": "row" + string(rune('A'+i)), "verdict": v, "seed": uint64(1<<64 - 1)})
	}
	data, err := json.Marshal(map[string]any{
		"text/plain": "the table\nof rows",
		"application/vnd.warpbook.record+json": map[string]any{
			"kind": "checks", "title": "Checks", "environment": map[string]any{"device": "emulator"}, "rows": rows,
		},
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestRun(t *testing.T) {
	p := newPlace(t)
	p.notebook("01-x.ipynb",
		"# The title",
		"parameters|// n := 1",
		"# Check\ntext",
		"out live\\n\nbundle "+check("PASS", "FAIL (expected)")+"\nerr warned\\n",
		"value {\"text/plain\": \"42\"}",
		"raises-exception|fail as it must",
		"show id 10%\nupdate id 50%\nupdate id 100%",
		"skip-execution|exit 1",
		"out gone\\n\nclear wait\nout kept\\n",
	)
	o := p.warpbook("run", "01-x.ipynb", "--out", "report")
	if o.status != 0 || o.stderr != "" {
		t.Errorf("status %d, stderr %q\n%s", o.status, o.stderr, o.stdout)
	}
	want := []string{
		"[1/6] The title", "[2/6] Check\nlive\nthe table\nof rows\nwarned\n", "[3/6] value {", "\n42\n",
		"panic: as it must", "100%", "[6/6] out gone",
		"01-x.ipynb: 6 of 6 cells executed, 2 of 2 correctness rows as expected (1 of the 2 failed as it must)",
		"wrote report/01-x.html, report/01-x.ipynb, report/01-x.json",
	}
	rest := o.stdout
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("no %q, in this order, in\n%s", w, o.stdout)
		}
		rest = after
	}
	r, nb := p.results("report", "01-x")
	checkResults(t, r)
	checkExecuted(t, nb)
	if !strings.Contains(p.read("report/01-x.json"), `"seed": 18446744073709551615`) {
		t.Error("a large integer of a record was rounded")
	}
}

func checkResults(t *testing.T, r *results) {
	t.Helper()
	if !r.Passed || r.Notebook != "01-x.ipynb" || r.Started.IsZero() || r.Seconds <= 0 || len(r.Failures) != 0 {
		t.Errorf("results %+v", r)
	}
	if !slices.Equal(r.Devices, []string{"emulator"}) {
		t.Errorf("devices %q, expected one", r.Devices)
	}
	if len(r.Cells) != 6 || len(r.Cells[1].Records) != 1 || r.Cells[1].Title != "Check" || r.Cells[1].Number != 2 {
		t.Fatalf("cells %+v", r.Cells)
	}
	if c := r.Cells[3]; c.Error == nil || c.Error.Value != "as it must" || !c.ErrorExpected {
		t.Errorf("cell that must fail: %+v", c)
	}
}

func checkExecuted(t *testing.T, nb *nbformat.Notebook) {
	t.Helper()
	want := map[string]string{
		"d": "stream:live\n|display_data:the table\nof rows|stream:warned\n",
		"e": "execute_result:42", "f": "error:as it must", "g": "display_data:100%", "h": "", "i": "stream:kept\n",
	}
	for _, c := range nb.Cells {
		text, ok := want[c.ID]
		if !ok {
			continue
		}
		var got []string
		for _, o := range c.Outputs {
			plain, _ := o.Data["text/plain"].(string)
			got = append(got, o.Type+":"+o.Text+plain+o.ErrorValue)
		}
		if strings.Join(got, "|") != text {
			t.Errorf("cell %s: %q, expected %q", c.ID, strings.Join(got, "|"), text)
		}
		if skipped := c.ID == "h"; (c.ExecutionCount == nil) != skipped {
			t.Errorf("cell %s: execution count %v", c.ID, c.ExecutionCount)
		}
	}
}

func TestRunFails(t *testing.T) {
	good := "bundle " + check("PASS")
	for _, test := range []struct {
		name     string
		cells    []string
		want     []string // parts of lines on stderr
		executed int
	}{
		{"row", []string{good, "bundle " + check("PASS", "FAIL", "PASS (failure expected)"), good},
			[]string{`run: x.ipynb: cell 2 (bundle {`, `row 2 "rowB" of "Checks": FAIL`, `row 3 "rowC" of "Checks": PASS (failure expected)`}, 3},
		{"row without a known verdict", []string{"bundle " + check("OK")}, []string{`verdict "OK", expected one of`}, 1},
		{"empty record", []string{"bundle " + check()}, []string{`"Checks" has no rows`}, 1},
		{"cell", []string{"# The step", "fail oh", good}, []string{"cell 1 (The step): panic: oh"}, 1},
		{"cell that must fail and does not", []string{"raises-exception|out fine", good},
			[]string{"cell 1 (out fine): did not fail, expected to: it has the tag raises-exception"}, 2},
		{"end of the program", []string{"out a", "exit 3", good}, []string{"cell 2 (exit 3): program ended: the cells program ended: exit status 3; its variables are gone"}, 2},
		{"timeout", []string{"hang", good}, []string{"cell 1 (hang): interrupted after 300ms, the limit that --timeout sets"}, 1},
		{"timeout of a cell that must fail", []string{"raises-exception|hang", good}, []string{"cell 1 (hang): interrupted after 300ms"}, 1},
		{"input", []string{"input name?"}, []string{"cell 1 (input name?): error: warpbook run asks nobody for input"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.notebook("x.ipynb", test.cells...)
			limit := "1m" // of cells that end, on a busy machine
			if strings.HasPrefix(test.name, "timeout") {
				limit = "300ms"
			}
			o := p.warpbook("run", "--timeout", limit, "x.ipynb")
			if o.status != statusFailed {
				t.Errorf("status %d, expected %d", o.status, statusFailed)
			}
			for _, want := range test.want {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("stderr %q lacks %q", o.stderr, want)
				}
			}
			name := "x"
			if slices.ContainsFunc(test.cells[test.executed:], func(c string) bool { return c == good }) {
				name = "x.partial"
			}
			r, nb := p.results("report", name)
			executed := 0
			for _, c := range r.Cells {
				if c.Executed {
					executed++
				}
			}
			if r.Passed || len(r.Failures) == 0 || executed != test.executed {
				t.Errorf("passed %v, failures %v, %d executed, expected %d", r.Passed, r.Failures, executed, test.executed)
			}
			if first := nb.Cells[len(nb.Cells)-len(r.Cells)]; len(first.Outputs) == 0 {
				t.Error("the executed notebook has no outputs")
			}
		})
	}
}

func TestRunOptions(t *testing.T) {
	p := newPlace(t)
	p.notebook("sub/x.ipynb", "env WARPBOOK_DEVICE\ndir", "out loud\\n")
	o := p.warpbook("run", "--quiet", "--device=t4", "sub/x.ipynb", "--out", "a/b")
	if o.status != 0 || strings.Contains(o.stdout, "\nloud") || !strings.Contains(o.stdout, "[2/2] out loud") {
		t.Errorf("%+v", o)
	}
	_, nb := p.results("a/b", "x")
	if got, want := nb.Cells[0].Outputs[0].Text, "t4\n"+p.path("sub")+"\n"; got != want {
		t.Errorf("device and folder %q, expected %q", got, want)
	}
}

// TestRunFromClean runs a notebook with outputs of an earlier run: the old outputs of
// cells that are not reached are removed.
func TestRunFromClean(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "out a\\n", "fail once", "out b\\n")
	text := p.read("x.ipynb")
	p.write("x.ipynb", strings.ReplaceAll(text, `"outputs": []`,
		`"outputs": [{"output_type": "stream", "name": "stdout", "text": "old"}]`))
	p.warpbook("run", "x.ipynb")
	if text := p.read("report/x.partial.ipynb"); strings.Contains(text, "old") || !strings.Contains(text, "once") {
		t.Errorf("the executed notebook is\n%s", text)
	}
}

func TestRunParameters(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "parameters|n := 1")
	o := p.warpbook("run", "x.ipynb", "--set", "n=25_600_000", "--out", "out")
	if o.status != statusFailed { // the fake program runs no Go
		t.Errorf("%+v", o)
	}
	r, nb := p.results("out", "x.partial")
	if r.Parameters["n"] != (parameter{"25_600_000", "int"}) || len(nb.Cells) != 2 || nb.Cells[1].Source != "n = 25_600_000" {
		t.Errorf("parameters %v, %d cells", r.Parameters, len(nb.Cells))
	}
	p.warpbook("run", "x.ipynb", "--set", "m=1", "--out", "other").refused(t, statusFailed, "the notebook does not declare m")
	if got := p.names("other"); got != "" {
		t.Errorf("a refused run wrote %q", got)
	}
}

func TestRunRefuses(t *testing.T) {
	p := newPlace(t)
	p.write("text.ipynb", "hello")
	p.write("v3.ipynb", `{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}`)
	p.write("python.ipynb", `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}, "cells": []}`)
	p.notebook("good.ipynb", "out a")
	p.notebook("parameters.ipynb", "parameters|n := 1")
	p.write("file", "")
	before := p.read("good.ipynb")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"none.ipynb"}, "no such file"},
		{[]string{"text.ipynb"}, "text.ipynb:1:1: not JSON"},
		{[]string{"v3.ipynb"}, "v3.ipynb: nbformat 3, expected 4"},
		{[]string{"python.ipynb"}, `kernel "python3"`},
		{[]string{"."}, ".: it is a directory, expected a Jupyter notebook (.ipynb)"},
		{[]string{"good"}, "there is good.ipynb"},
		{[]string{"parameters.ipynb", "--set", "n=1,2"}, "warpbook sweep runs a notebook at several values"},
		{[]string{"good.ipynb", "--out", "."}, "good.ipynb would be overwritten, expected another folder"},
		{[]string{"good.ipynb", "--out", "file/x"}, "run: --out: mkdir"},
	} {
		args := append([]string{"run", "--out", "report"}, test.args...)
		p.warpbook(args...).refused(t, statusFailed, test.want)
	}
	if got := p.names("report"); got != "" {
		t.Errorf("refused runs wrote %q", got)
	}
	if p.read("good.ipynb") != before {
		t.Error("good.ipynb was changed")
	}
	c := p.command("run", "good.ipynb")
	c.Env = append(c.Env, "WARPBOOK_CELLS=cells")
	p.finish(c).refused(t, statusFailed, "a relative path, expected an absolute one")
	if got := p.names("report"); got != "" {
		t.Errorf("a run without a cells program wrote %q", got)
	}
}

// TestRunSignals sends signals while a cell runs: the first interrupts the cell; if the
// cell ignores it, the second kills the cell.
func TestRunSignals(t *testing.T) {
	for _, test := range []struct {
		name    string
		cell    string
		signals []syscall.Signal
		status  int
		ename   string
	}{
		{"one", "out begun\\n\nhang", []syscall.Signal{syscall.SIGINT}, 130, "interrupted"},
		{"two", "out begun\\n\ndeaf", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 130, "killed"},
		{"terminate", "out begun\\n\nhang", []syscall.Signal{syscall.SIGTERM}, 143, "interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.notebook("x.ipynb", test.cell, "out not reached")
			c := p.command("run", "x.ipynb")
			stdout, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr, err := c.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stdout)
			waitFor(t, lines, "begun")
			errors := bufio.NewReader(stderr)
			for i, s := range test.signals {
				c.Process.Signal(s)
				if i == 0 {
					waitFor(t, errors, "once more to kill")
				}
			}
			go io.Copy(io.Discard, lines)
			io.Copy(io.Discard, errors)
			c.Wait()
			if got := c.ProcessState.ExitCode(); got != test.status {
				t.Errorf("status %d, expected %d", got, test.status)
			}
			r, nb := p.results("report", "x.partial")
			if r.Passed || r.Cells[1].Executed || r.Cells[0].Error == nil || r.Cells[0].Error.Name != test.ename {
				t.Errorf("results %+v, expected the first cell to be %s", r, test.ename)
			}
			if r.Cells[0].Seconds >= patience.Seconds() {
				t.Error("the cell ended for lack of patience, not by the second signal")
			}
			if out := nb.Cells[0].Outputs; len(out) != 2 || out[0].Text != "begun\n" {
				t.Errorf("%d outputs of the first cell, expected what it printed and the error", len(out))
			}
		})
	}
}

func waitFor(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("%v before %q", err, text)
		}
	}
}

// TestReportFormats: each flag writes its format, several at once into one folder, and
// the extension of --out chooses the format without a flag.
func TestReportFormats(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "# The title", `bundle {"text/html": "<table><tr><th>rung</th><th>ns</th></tr><tr><td>v0</td><td>1 000</td></tr></table>", "text/plain": "t"}`)
	p.notebook("plain.ipynb", "# No table")
	if o := p.warpbook("run", "x.ipynb", "--out", "ran"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	if err := os.Mkdir(p.path("all"), 0o700); err != nil {
		t.Fatal(err)
	}
	if o := p.warpbook("report", "ran/x.ipynb", "--html", "--pdf", "--md", "--csv", "--out", "all"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	if got := p.names("all"); got != "x.html x.md x.pdf x_csv x_files" {
		t.Errorf("several formats: %s", got)
	}
	if got := p.read("all/x_csv/" + p.names("all/x_csv")); got != "rung,ns\nv0,1000\n" {
		t.Errorf("the table is %q, expected CSV", got)
	}
	for range 2 { // into a new folder, and into one that is there
		if o := p.warpbook("report", "ran/x.ipynb", "--csv", "--out", "new/tables"); o.status != 0 || p.names("new/tables") != "x_csv" || p.names("new/tables/x_csv") != p.names("all/x_csv") {
			t.Errorf("%+v: %s, expected the tables", o, p.names("new/tables"))
		}
	}
	if o := p.warpbook("report", "ran/x.ipynb", "--out", "report-1.5"); o.status != 0 || p.names("report-1.5") != "x.html" {
		t.Errorf("%+v, expected a page in report-1.5", o)
	}
	for name, begin := range map[string]string{"y.pdf": "%PDF-", "y.md": "# The title", "y.html": "<!DOCTYPE html>"} {
		if o := p.warpbook("report", "ran/x.ipynb", "--out", name); o.status != 0 || !strings.HasPrefix(p.read(name), begin) {
			t.Errorf("--out %s: %+v, expected a file that begins with %s", name, o, begin)
		}
	}
	if o := p.warpbook("report", "plain.ipynb", "--md"); o.status != 0 || p.names("plain_files") != "" || !strings.HasPrefix(p.read("plain.md"), "# No table") {
		t.Errorf("%+v, expected no folder for no files", o)
	}
	if _, err := os.Stat(p.path("plain_files")); !os.IsNotExist(err) {
		t.Error("plain_files was made for no files")
	}
}

func TestReport(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "# The title", "exit 1")
	o := p.warpbook("report", "x.ipynb")
	if o.status != 0 || o.stdout != "wrote x.html\n" || !strings.Contains(p.read("x.html"), "The title") {
		t.Errorf("%+v", o)
	}
	if o := p.warpbook("report", "x.ipynb", "--out", "y.html"); o.status != 0 || p.read("y.html") != p.read("x.html") {
		t.Errorf("%+v", o)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if o := p.warpbook("report", "x.ipynb", "--out", "folder"); o.status != 0 || p.read("folder/x.html") != p.read("x.html") {
		t.Errorf("into a folder: %+v", o)
	}
	if o := p.warpbook("report", "x.ipynb", "--out", "z.md", "--files", "parts"); o.status != 0 || !strings.Contains(p.read("z.md"), "```go\nexit 1\n```") || o.stdout != "wrote z.md\nwrote 0 files into parts\n" {
		t.Errorf("Markdown and files: %+v", o)
	}
	p.warpbook("report", "none.ipynb").refused(t, statusFailed, "no such file")
	p.warpbook("report", "x").refused(t, statusFailed, "expected a Jupyter notebook: there is x.ipynb")
	p.warpbook("report", "folder").refused(t, statusFailed, "folder: it is a directory, expected a Jupyter notebook (.ipynb)")
	p.warpbook("report", "x.ipynb", "--out", "none/y.html").refused(t, statusFailed, "write none/y.html: open none: no such file or directory")
	p.warpbook("report", "x.ipynb", "--out", "y.html", "--html", "--pdf").refused(t, statusUsage, "--out y.html: expected a folder, for 2 formats")
	p.warpbook("report", "x.ipynb", "--out", "y.html", "--pdf").refused(t, statusUsage, "--out y.html: expected a folder or a name that ends in .pdf")
	p.warpbook("report", "x.ipynb", "--out", "y.docx", "--pdf").refused(t, statusUsage, "--out y.docx: expected a folder or a name that ends in .pdf")
	p.warpbook("report", "x.ipynb", "--out", "y.docx").refused(t, statusUsage, "--out y.docx: expected a folder or a name that ends in .html, .pdf or .md")
	p.warpbook("report", "x.ipynb", "--out", "y.html", "--csv").refused(t, statusUsage, "--out y.html: expected a folder, for tables")
	p.warpbook("report", "x.ipynb", "--out", "/dev/null", "--md").refused(t, statusUsage, "--out /dev/null: expected a folder or a name that ends in .md")
	p.warpbook("run", "x.ipynb", "--out", "new.html").refused(t, statusUsage, "--out new.html: expected a folder; a new one of this name is new.html/")
	p.write("bad.ipynb", "{")
	p.warpbook("report", "bad.ipynb").refused(t, statusFailed, "not JSON")
	if _, err := os.Stat(p.path("bad.html")); !os.IsNotExist(err) {
		t.Errorf("bad.html: %v, expected none", err)
	}
}

func TestRunLimitsOutput(t *testing.T) {
	p := newPlace(t)
	p.notebook("n.ipynb", "# title", "out 123456789\\n")
	c := p.command("run", "n.ipynb")
	c.Env = append(c.Env, cellproc.OutputEnv+"=4", "TMPDIR="+p.dir)
	got := p.finish(c)
	if got.status != 0 || !strings.Contains(got.stdout, "1234") || strings.Contains(got.stdout, "56789") || !strings.Contains(got.stdout, "the rest is in "+p.dir) {
		t.Errorf("status %d, stdout %q", got.status, got.stdout)
	}
	p.notebook("n.ipynb", "# title", "lines 20000\nout last\\n")
	if got := p.warpbook("run", "n.ipynb"); got.status != 0 || !strings.Contains(got.stdout, "last") || strings.Contains(got.stdout, "the rest is in") {
		t.Errorf("status %d, stdout of %d bytes, expected every line", got.status, len(got.stdout))
	}
	c = p.command("run", "n.ipynb")
	c.Env = append(c.Env, cellproc.LinesEnv+"=2", "TMPDIR="+p.dir)
	if got := p.finish(c); got.status != 0 || strings.Contains(got.stdout, "last") || !strings.Contains(got.stdout, "wrote more than 2 lines; the rest is in "+p.dir) {
		t.Errorf("status %d, stdout of %d bytes", got.status, len(got.stdout))
	}
	c = p.command("run", "n.ipynb")
	c.Env = append(c.Env, cellproc.OutputEnv+"=many")
	p.finish(c).refused(t, 1, "WARPBOOK_OUTPUT_BYTES=many: expected a number of bytes")
}
