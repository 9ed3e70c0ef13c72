//go:build !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputIsKept: no format of a report replaces its notebook, under any name of it and
// whatever is forced.
func TestInputIsKept(t *testing.T) {
	p := newPlace(t)
	p.notebook("n.ipynb", "# title", "out hello")
	want := p.read("n.ipynb")
	if err := os.Symlink("n.ipynb", p.path("link.ipynb")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--md"}, {"--pdf"}, {"--html", "--force"}} {
		for _, out := range []string{"n.ipynb", "./n.ipynb", "link.ipynb"} {
			p.warpbook(append([]string{"report", "n.ipynb", "--out", out}, args...)...).refused(t, 1, "it is the input n.ipynb, expected another name")
		}
	}
	if got := p.read("n.ipynb"); got != want {
		t.Errorf("the notebook is now %q", got)
	}
}

// TestForeignFilesAreKept: what warpbook has written is replaced, another file only with
// --force.
func TestForeignFilesAreKept(t *testing.T) {
	p := newPlace(t)
	p.notebook("n.ipynb", "# title", "out hello")
	timed, err := filepath.Abs("../../notebooks/results/h200/01-reduce.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", "n.ipynb", "--out", "n.html"}, {"report", "n.ipynb", "--out", "n.md"}, {"report", "n.ipynb", "--pdf"},
		{"run", "n.ipynb", "--out", "report"}, {"history", "export", "all.csv"}, {"history", "export", "all"},
		{"compare", timed, timed, "--html", "c.html", "--md", "c.md", "--json", "c.json"},
	} {
		for range 2 {
			if got := p.warpbook(args...); got.status != 0 {
				t.Errorf("%q: status %d, %s", args, got.status, got.stderr)
			}
		}
	}
	const foreign = "written by hand, {\"schema\": 1} and warpbook"
	for name, args := range map[string][]string{
		"n.html": {"report", "n.ipynb"}, "n.md": {"report", "n.ipynb", "--html", "--md", "--out", "."}, "n.pdf": {"report", "n.ipynb", "--out", "n.pdf"},
		"report/n.html": {"run", "n.ipynb"}, "report/n.json": {"run", "n.ipynb"}, "all.csv": {"history", "export", "all.csv"},
		"c.md": {"compare", timed, timed, "--md", "c.md"},
	} {
		own := p.read(name)
		p.write(name, foreign)
		p.warpbook(args...).refused(t, 1, "warpbook has not written this file, expected another name; --force replaces it")
		if p.read(name) != foreign {
			t.Errorf("%s was replaced", name)
		}
		if got := p.warpbook(append(args, "--force")...); got.status != 0 || p.read(name) == foreign {
			t.Errorf("%q with --force: status %d, %s", args, got.status, got.stderr)
		}
		p.write(name, own)
	}

	// A notebook is a result only beside the record of its run.
	p.write("report/n.json", "")
	p.warpbook("run", "n.ipynb").refused(t, 1, "report/n.ipynb: warpbook has not written this file")
}

// TestNotebookIsAFileOrAPipe: a device may have no end.
func TestNotebookIsAFileOrAPipe(t *testing.T) {
	p := newPlace(t)
	for _, command := range []string{"run", "report"} {
		p.warpbook(command, "/dev/zero").refused(t, 1, "/dev/zero: it is a device, expected a file or a pipe")
	}
	p.notebook("n.ipynb", "# title", "out hello")
	c := p.command("report", "/dev/stdin", "--out", "n.html")
	cat := exec.Command("cat", p.path("n.ipynb"))
	pipe, err := cat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdin = pipe
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	if got := p.finish(c); got.status != 0 {
		t.Errorf("from a pipe: status %d, %s", got.status, got.stderr)
	}
	cat.Wait()
}

// TestForeignTablesAreKept: of a folder of tables and plots warpbook replaces what it has
// written there, and another file of the same name only with --force.
func TestForeignTablesAreKept(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "# The title", `bundle {"text/html": "<table><tr><th>rung</th><th>ns</th></tr><tr><td>v0</td><td>1 000</td></tr></table>", "text/plain": "t"}`)
	if o := p.warpbook("run", "x.ipynb", "--out", "ran"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	for folder, args := range map[string][]string{
		"parts":       {"report", "ran/x.ipynb", "--html", "--files", "parts"},
		"all/x_csv":   {"report", "ran/x.ipynb", "--csv", "--out", "all"},
		"all/x_files": {"report", "ran/x.ipynb", "--md", "--out", "all"},
	} {
		for range 2 {
			if o := p.warpbook(args...); o.status != 0 {
				t.Errorf("%q: status %d, %s", args, o.status, o.stderr)
			}
		}
		table := folder + "/" + strings.Fields(p.names(folder))[0]
		own := p.read(table)
		if err := os.Remove(p.path(folder + "/" + listName)); err != nil { // a folder of somebody else's
			t.Fatal(err)
		}
		p.write(table, "by hand")
		p.warpbook(args...).refused(t, 1, "warpbook has not written this file, expected another name; --force replaces it")
		if p.read(table) != "by hand" {
			t.Errorf("%s was replaced", table)
		}
		if o := p.warpbook(append(args, "--force")...); o.status != 0 || p.read(table) != own {
			t.Errorf("%q with --force: status %d, %s", args, o.status, o.stderr)
		}
	}
}
