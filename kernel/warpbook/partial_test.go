//go:build !windows

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpbook/kernel/nbformat"
)

// TestRunStoppedBeforeACell: a run that a signal stops between cells executes no
// further cell, and does not pass.
func TestRunStoppedBeforeACell(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "out a", "out b", "out c")
	nb, err := nbformat.Read(p.path("x.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGTERM})
	e := newExecution(nb, &screen{w: io.Discard}, 0, nil)
	if err := e.run(ctx, p.path("cells"), os.Environ()); err != nil {
		t.Fatal(err)
	}
	r := e.results(nil)
	if r.Passed || r.Complete || len(r.Failures) != 1 || r.Failures[0].String() != "cell 1 (out a): not executed: stopped by a signal: terminated" {
		t.Errorf("passed %v, complete %v, failures %v", r.Passed, r.Complete, r.Failures)
	}
}

// TestPartialRunKeepsTheWholeReport: the report of a run that did not execute every
// cell has another name and states that it is partial.
func TestPartialRunKeepsTheWholeReport(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "bundle "+check("PASS"), "out b", "out c")
	if o := p.warpbook("run", "x.ipynb"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	var whole []string
	for _, name := range []string{"x.html", "x.ipynb", "x.json"} {
		whole = append(whole, p.read("report/"+name))
	}
	if strings.Contains(whole[0], "cells executed") {
		t.Error("the whole report says that cells were not executed")
	}
	p.notebook("x.ipynb", "bundle "+check("PASS"), "fail now", "out c")
	o := p.warpbook("run", "x.ipynb")
	if o.status != statusFailed || !strings.Contains(o.stdout, "wrote report/x.partial.html, report/x.partial.ipynb, report/x.partial.json in ") {
		t.Errorf("%+v", o)
	}
	if got, want := p.names("report"), "x.html x.ipynb x.json x.partial.html x.partial.ipynb x.partial.json"; got != want {
		t.Errorf("report holds %q, expected %q", got, want)
	}
	for i, name := range []string{"x.html", "x.ipynb", "x.json"} {
		if p.read("report/"+name) != whole[i] {
			t.Errorf("%s was changed by a run that did not execute every cell", name)
		}
	}
	if html := p.read("report/x.partial.html"); !strings.Contains(html, `<span class="badge fail">2 of 3 cells executed</span>`) {
		t.Error("the report of a partial run does not say how many cells were executed")
	}
	var r results
	if err := json.Unmarshal([]byte(p.read("report/x.partial.json")), &r); err != nil || r.Complete || r.Passed {
		t.Errorf("%v, complete %v, passed %v", err, r.Complete, r.Passed)
	}
}

// TestInterruptedLastCellIsNotExecuted: a run whose last cell was interrupted is not
// complete.
func TestInterruptedLastCellIsNotExecuted(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "out a", "out b")
	p.warpbook("run", "x.ipynb")
	whole := p.read("report/x.ipynb")
	p.notebook("x.ipynb", "out a", "hang")
	o := p.warpbook("run", "x.ipynb", "--timeout", "5s") // a busy machine takes 1 s for the first cell
	if o.status != statusFailed || !strings.Contains(o.stdout, "1 of 2 cells executed") || p.read("report/x.ipynb") != whole {
		t.Errorf("%+v, expected the whole report to stay", o)
	}
	if !strings.Contains(p.read("report/x.partial.html"), "1 of 2 cells executed") {
		t.Error("the report does not say that a cell was interrupted")
	}
}

// TestRunIntoAClosedPipe: `warpbook run ... | head -1` writes its report and passes.
func TestRunIntoAClosedPipe(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "out first\\n\nsleep 100", "lines 1000", "out c")
	c := p.command("run", "x.ipynb")
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, bufio.NewReader(stdout), "first")
	stdout.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("%v, expected a run that passes", err)
	}
	if !strings.Contains(stderr.String(), "wrote report/x.html") {
		t.Errorf("stderr %q, expected it to name what was written", stderr.String())
	}
	if r, _ := p.results("report", "x"); !r.Passed {
		t.Errorf("results %+v", r)
	}
}

// maxWait is how long a test waits for an expected event.
const maxWait = 2 * time.Minute

// TestRunWithBlockedOutput: a reader that stops reading delays neither the cells nor
// the end of the run.
func TestRunWithBlockedOutput(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "fill 300000\ntouch begun\nhang", "out b")
	c := p.command("run", "x.ipynb")
	blocked, pipe, err := os.Pipe() // like less, which shows both
	if err != nil {
		t.Fatal(err)
	}
	defer blocked.Close()
	c.Stdout, c.Stderr = pipe, pipe
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	defer c.Process.Kill()
	for deadline := time.Now().Add(maxWait); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(p.path("begun")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the cell does not go on while its output is not read")
		}
	}
	c.Process.Signal(syscall.SIGINT)
	ended := make(chan struct{})
	go func() { c.Process.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(maxWait):
		t.Fatal("the run does not end while its output is not read")
	}
	if r, _ := p.results("report", "x.partial"); r.Cells[0].Error == nil || r.Cells[0].Error.Name != "interrupted" {
		t.Errorf("results %+v, expected an interrupted cell", r.Cells)
	}
}

// TestRunThatCannotWriteItsReport: if a folder cannot take all files it gets none, and
// no result of the run is lost.
func TestRunThatCannotWriteItsReport(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "mkdir report/x.html", "out b")
	c := p.command("run", "x.ipynb")
	c.Env = append(c.Env, "TMPDIR="+p.dir)
	o := p.finish(c)
	kept, err := filepath.Glob(p.path("warpbook-x-*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v, expected one folder; %+v", kept, err, o)
	}
	if o.status != statusFailed || !strings.Contains(o.stderr, "x.html: it is a directory, expected a file or nothing: this run's files are in "+kept[0]) {
		t.Errorf("status %d, stderr %q", o.status, o.stderr)
	}
	if got := p.names("report"); got != "x.html" {
		t.Errorf("report holds %q, expected no file of this run", got)
	}
	if r, _ := p.results(filepath.Base(kept[0]), "x"); !r.Passed {
		t.Errorf("results %+v", r)
	}
	p.warpbook("run", "x.ipynb").refused(t, statusFailed, "x.html: it is a directory, expected a file or nothing")
}

// guarded fails a test if a write happens without the execution's lock.
type guarded struct {
	t *testing.T
	e *execution
}

func (g guarded) Write(data []byte) (int, error) {
	if g.e.mu.TryLock() {
		g.e.mu.Unlock()
		g.t.Errorf("%q was written without the lock", data)
	}
	return len(data), nil
}

// TestScreenIsLocked: output of ended cells may arrive at any time.
func TestScreenIsLocked(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "out a", "value {\"text/plain\": \"42\"}", "fail b")
	nb, err := nbformat.Read(p.path("x.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	e := newExecution(nb, nil, 0, nil)
	e.screen = &screen{w: guarded{t, e}}
	if err := e.run(t.Context(), p.path("cells"), os.Environ()); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.runs, func(r *cellRun) bool { return r.failure == "panic: b" }) {
		t.Error("the cells were not executed")
	}
}
