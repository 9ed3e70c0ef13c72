//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/record"
	"warpbook/kernel/nbformat"
)

// results is the content of report/NAME.json: every figure with its environment, and
// every verdict.
type results struct {
	Schema     int                  `json:"schema"` // see kernel/leaf/record/run.schema.json
	Notebook   string               `json:"notebook"`
	Parameters map[string]parameter `json:"parameters"` // set by --set
	Devices    []string             `json:"devices"`    // that records name; each has its whole environment
	Started    time.Time            `json:"started"`
	Seconds    float64              `json:"elapsed_s"`
	Passed     bool                 `json:"passed"`
	Complete   bool                 `json:"complete"` // every cell was executed
	Rows       record.Tally         `json:"correctness_rows"`
	Cells      []cellResults        `json:"cells"`
	Failures   []failure            `json:"failures"`

	measured record.Measurements
}

type parameter struct {
	Value string `json:"value"` // a Go expression
	Type  string `json:"type"`  // the variable's type, "" if its declaration does not show it
}

type cellResults struct {
	Number        int              `json:"number"`
	ID            string           `json:"id"`
	Title         string           `json:"title"`
	Executed      bool             `json:"executed"`
	Interrupted   bool             `json:"interrupted,omitempty"` // before its end
	Seconds       float64          `json:"elapsed_s"`
	Error         *cellproto.Error `json:"error,omitempty"`
	ErrorExpected bool             `json:"error_expected,omitempty"`
	Records       []any            `json:"records"`
}

// failure is one reason why a run did not pass.
type failure struct {
	Cell   int    `json:"cell"`
	Title  string `json:"title"`
	Row    string `json:"row,omitempty"` // of a record; "": the failure is the cell's
	Reason string `json:"reason"`
}

func (f failure) String() string {
	where := fmt.Sprintf("cell %d (%s)", f.Cell, f.Title)
	if f.Row != "" {
		where += ": " + f.Row
	}
	return where + ": " + f.Reason
}

// results sums up an execution that has ended.
func (e *execution) results(parameters []nbformat.Parameter) *results {
	r := &results{
		Schema:     record.Version,
		Notebook:   filepath.Base(e.nb.Name),
		Parameters: map[string]parameter{},
		Devices:    []string{},
		Started:    e.started.UTC(),
		Seconds:    e.elapsed.Seconds(),
		Cells:      []cellResults{},
		Failures:   []failure{},
	}
	for _, p := range parameters {
		r.Parameters[p.Name] = parameter{p.Value, p.Type}
	}
	for _, run := range e.runs {
		r.add(run)
	}
	if n := r.executed(); n < len(r.Cells) && len(r.Failures) == 0 {
		reason := "not executed"
		if e.stopped != nil {
			reason += ": " + e.stopped.Error()
		}
		r.Failures = append(r.Failures, failure{Cell: r.Cells[n].Number, Title: r.Cells[n].Title, Reason: reason})
	}
	r.Complete = r.executed() == len(r.Cells)
	r.Passed = r.Complete && len(r.Failures) == 0
	return r
}

// executed counts the cells that were executed to their end; these are the first cells.
func (r *results) executed() (n int) {
	for _, c := range r.Cells {
		if c.Executed && !c.Interrupted {
			n++
		}
	}
	return n
}

func (r *results) add(run *cellRun) {
	c := cellResults{
		Number: run.number, ID: run.cell.ID, Title: run.title,
		Executed: run.started, Interrupted: run.cut, Seconds: run.elapsed.Seconds(),
		ErrorExpected: run.cell.HasTag(nbformat.TagRaisesException),
		Records:       []any{},
	}
	fail := func(row, reason string) {
		r.Failures = append(r.Failures, failure{Cell: run.number, Title: run.title, Row: row, Reason: reason})
	}
	if run.failure != "" {
		fail("", run.failure)
	}
	for _, o := range run.cell.Outputs {
		if o.Type == nbformat.Error {
			c.Error = &cellproto.Error{Name: o.ErrorName, Value: o.ErrorValue, Traceback: o.Traceback}
		}
		value, ok := o.Data[record.MIME]
		if !ok {
			continue
		}
		c.Records = append(c.Records, value)
		rec, err := record.Parse(value)
		if err != nil {
			fail("", err.Error())
			continue
		}
		if device, ok := rec.Environment["device"].(string); ok && !slices.Contains(r.Devices, device) {
			r.Devices = append(r.Devices, device)
		}
		if r.measured.First(value) {
			r.Rows.Add(rec, fail)
		}
	}
	r.Cells = append(r.Cells, c)
}

func (r *results) summary() string {
	text := fmt.Sprintf("%d of %d cells executed", r.executed(), len(r.Cells))
	if r.Rows.Total > 0 {
		text += fmt.Sprintf(", %d of %d correctness rows as expected", r.Rows.Passed, r.Rows.Total)
	}
	if r.Rows.Expected > 0 {
		text += fmt.Sprintf(" (%s)", record.Must(r.Rows.Expected, r.Rows.Total))
	}
	return text + fmt.Sprintf(", %.1f s", r.Seconds)
}

func (r *results) write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
