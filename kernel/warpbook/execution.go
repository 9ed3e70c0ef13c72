//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
	"warpbook/kernel/nbformat"
)

// patience is how long an interrupted cell may take to end before its program is
// killed.
const patience = 10 * time.Second

// execution is one run of a notebook from clean.
type execution struct {
	nb      *nbformat.Notebook
	screen  *screen
	notices io.Writer       // for output that belongs to no cell
	timeout time.Duration   // of a cell; 0: none
	kill    <-chan struct{} // closed when the user wants the program killed
	session *cellproc.Client
	started time.Time
	elapsed time.Duration
	stopped error // why the cells after the last one did not begin; nil: a cell failed, or none is left

	mu   sync.Mutex // held while the notebook or the screen changes: an ended cell may still print
	runs []*cellRun // in order; the numbers of the cells are 1, 2, ...
	last *cellRun   // the last that has begun; nil before the first
}

// cellRun is one code cell and its outcome.
type cellRun struct {
	cell    *nbformat.Cell
	number  int
	title   string
	started bool
	elapsed time.Duration
	cut     bool   // interrupted before its end
	failure string // why the cell did not succeed; "" if it did
}

func newExecution(nb *nbformat.Notebook, screen *screen, timeout time.Duration, kill <-chan struct{}) *execution {
	return &execution{nb: nb, screen: screen, notices: os.Stderr, timeout: timeout, kill: kill, runs: plan(nb)}
}

// plan lists the cells that will run.
func plan(nb *nbformat.Notebook) []*cellRun {
	var runs []*cellRun
	heading := ""
	for _, c := range nb.Cells {
		switch {
		case c.Type == nbformat.Markdown:
			if h := lastHeading(c.Source); h != "" {
				heading = h
			}
		case c.Type != nbformat.Code, c.HasTag(nbformat.TagSkipExecution), strings.TrimSpace(c.Source) == "":
		default:
			title := heading
			if title == "" {
				title = firstLine(c.Source)
			}
			runs = append(runs, &cellRun{cell: c, number: len(runs) + 1, title: title})
			heading = "" // a heading names one cell only
		}
	}
	return runs
}

// lastHeading returns the text of the last line that begins with # outside of
// fenced code, or "".
func lastHeading(markdown string) string {
	heading, fenced := "", false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if text := strings.TrimLeft(line, "#"); !fenced && text != line && strings.HasPrefix(text, " ") {
			heading = strings.TrimSpace(text)
		}
	}
	return heading
}

// firstLine names a cell by the beginning of its code, preferably a comment.
func firstLine(code string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
	if strings.HasPrefix(line, "import ") {
		return "imports"
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "//"))
}

// run executes the cells in order until an unexpected failure, and stops when ctx is
// cancelled. It returns an error only if the program could not be started; runs holds
// the outcomes of the cells.
func (e *execution) run(ctx context.Context, program string, env []string) error {
	dir, err := filepath.Abs(filepath.Dir(e.nb.Name))
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	limit, err := cellproc.OutputLimit(cellproc.Limit{})
	if err != nil {
		return err
	}
	e.session, err = cellproc.Start(cellproc.Config{Program: program, Dir: dir, Env: env, Output: limit, KeepFiles: true, Late: e.late})
	if err != nil {
		return err
	}
	defer e.session.Close()
	e.started = time.Now()
	defer func() { e.elapsed = time.Since(e.started) }()
	for _, r := range e.runs {
		if ctx.Err() != nil {
			e.stopped = context.Cause(ctx)
			break
		}
		e.begin(r)
		fatal, err := e.runCell(ctx, r)
		if err != nil {
			return err
		}
		e.end(r)
		if fatal {
			break
		}
	}
	return nil
}

func (e *execution) begin(r *cellRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.begin(r, len(e.runs))
	r.cell.Start(r.number)
	r.started = true
	e.last = r
}

func (e *execution) end(r *cellRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen.end(r.elapsed)
}

// runCell executes one cell and reports whether the run ends with it.
func (e *execution) runCell(ctx context.Context, r *cellRun) (fatal bool, err error) {
	limited, cancel := ctx, func() {}
	if e.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, e.timeout)
	}
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go e.killWhenLate(limited, ended)

	start := time.Now()
	done, err := e.session.Execute(limited, r.cell.Source, r.number, func(ev cellproto.Event) { e.receive(r, ev) })
	r.elapsed = time.Since(start)
	if err != nil {
		return true, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer(r, done)
	r.cut = limited.Err() != nil
	switch {
	case ctx.Err() != nil:
		r.failure = "interrupted"
		return true, nil
	case limited.Err() != nil:
		r.failure = fmt.Sprintf("interrupted after %v, the limit that --timeout sets", e.timeout)
		return true, nil
	}
	return r.judge(done.Error), nil
}

// killWhenLate kills the program when a cell does not end after ctx.
func (e *execution) killWhenLate(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-ended:
		return
	}
	select {
	case <-e.kill:
	case <-time.After(patience):
	case <-ended:
		return
	}
	e.session.Kill()
}

// judge returns why a cell did not succeed, and whether the run ends.
func (r *cellRun) judge(err *cellproto.Error) (fatal bool) {
	expected := r.cell.HasTag(nbformat.TagRaisesException)
	switch {
	case err != nil && !expected:
		r.failure = err.Error()
		return true
	case err == nil && expected:
		r.failure = "did not fail, expected to: it has the tag " + nbformat.TagRaisesException
	}
	return false
}

// receive handles an event of a cell.
func (e *execution) receive(r *cellRun, ev cellproto.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record(r, ev)
}

// record is receive with mu held.
func (e *execution) record(r *cellRun, ev cellproto.Event) {
	switch ev.Type {
	case cellproto.Stream:
		r.cell.AddStream(ev.Name, ev.Text)
		e.screen.text(ev.Text)
	case cellproto.Display:
		if ev.Update {
			e.nb.UpdateDisplay(ev.Display, ev.Data, ev.Metadata)
		} else {
			r.cell.AddDisplay(ev.Display, ev.Data, ev.Metadata)
		}
		if !nbformat.IsWidget(ev.Data) {
			e.screen.display(ev.Display, plainText(ev.Data))
		}
	case cellproto.CommMessage:
		e.openWidgets(ev.Comms)
	case cellproto.Clear:
		r.cell.Clear(ev.Wait)
	case cellproto.Input:
		e.session.Refuse(ev.ID, "warpbook run asks nobody for input")
	}
}

// openWidgets keeps the states of controls that a cell has opened. Nobody moves them.
func (e *execution) openWidgets(comms []cellproto.Comm) {
	for _, c := range comms {
		var data struct {
			State map[string]any `json:"state"`
		}
		if c.Type == "comm_open" && json.Unmarshal(c.Data, &data) == nil {
			e.nb.AddWidget(c.ID, data.State)
		}
	}
}

// late handles an event of a cell that has ended: it counts as the last cell's, as in a
// Jupyter kernel. Output of the program before its first cell is a notice.
func (e *execution) late(_ int, ev cellproto.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		fmt.Fprint(e.notices, ev.Text)
		return
	}
	e.record(e.last, ev)
}

// answer records how a cell ended.
func (e *execution) answer(r *cellRun, done cellproto.Event) {
	if done.Data != nil {
		r.cell.AddResult(done.Data, done.Metadata)
		e.screen.display("", plainText(done.Data))
	}
	if err := done.Error; err != nil {
		r.cell.AddError(err.Name, err.Value, err.Traceback)
		e.screen.text(strings.Join(err.Traceback, "\n") + "\n")
	}
}
