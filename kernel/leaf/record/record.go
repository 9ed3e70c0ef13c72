// Package record is the vocabulary of the machine-readable part of an output: the names
// of its kinds, verdicts and clocks, and the type Record, which reads it. Packages ladder,
// bench and explain write records in these words; display, report, runs and the warpbook
// command read them. It shows nothing, decides no exit status, and imports none of its
// users.
//
// record.schema.json defines a record, run.schema.json the file of a run; records of
// older versions stay readable.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MIME is the type of a record in a MIME bundle.
const MIME = "application/vnd.warpbook.record+json"

// Controls is a key of an output's metadata: the values of the controls with which
// display.Interact made the output, as text.
const Controls = "warpbook_controls"

// The kinds of records. Every row of Checks is a correctness row; rows of other kinds
// are correctness rows if they have a verdict.
const (
	Checks      = "checks"
	Figures     = "figures"
	Counters    = "counters"
	Peers       = "peers"
	Explanation = "explanation"
	Table       = "table" // of a cell's own
)

// The clocks of figures.
const (
	Time         = "time"          // of a GPU
	EmulatorTime = "emulator time" // of the emulation: not a GPU's
)

// The verdicts of a correctness row.
const (
	Pass           = "PASS"
	Fail           = "FAIL"
	FailExpected   = "FAIL (expected)" // counts as passed
	PassUnexpected = "PASS (failure expected)"
)

// Version is the version of the records and run files that this program writes; it
// reads every version up to this one. Records without a version have version 0.
const Version = 1

// Record is one record, with the fields that this package knows.
type Record struct {
	Schema      int            `json:"schema"`
	Kind        string         `json:"kind"`
	Title       string         `json:"title"`
	Environment map[string]any `json:"environment"`
	Rows        []Row          `json:"rows"`
}

// Row is one row of a record.
type Row struct {
	Name    string  `json:"name"`
	Verdict *string `json:"verdict"` // nil: none
	Clock   string  `json:"clock"`
	Library string  `json:"library"` // that a peer is of, NoLibrary for a limit; "" for ours
	Total   *Total  `json:"total"`
}

// Total is the time of all launches of a row of Figures, and their counters in one of Counters.
type Total struct {
	Interval
	Counted
}

// Counted are the counters that order rungs: part of gpu.Counters, with its names.
type Counted struct {
	WarpInstructions                      int64
	GlobalLoad, GlobalStore, GlobalAtomic struct{ Sectors int64 }
	SharedLoad, SharedStore, SharedAtomic struct{ Wavefronts int64 }
}

// Sectors are those of global memory, of 32 bytes each.
func (c *Counted) Sectors() int64 {
	return c.GlobalLoad.Sectors + c.GlobalStore.Sectors + c.GlobalAtomic.Sectors
}

// Wavefronts are those of shared memory.
func (c *Counted) Wavefronts() int64 {
	return c.SharedLoad.Wavefronts + c.SharedStore.Wavefronts + c.SharedAtomic.Wavefronts
}

// NoLibrary is the library of a peer that computes nothing, such as a kernel that only reads.
const NoLibrary = "-"

// Interval is a median with the interval that holds it.
type Interval struct {
	MedianNS float64 `json:"median_ns"`
	LowNS    float64 `json:"low_ns"`
	HighNS   float64 `json:"high_ns"`
}

// Parse reads the value of a bundle.
func Parse(value any) (Record, error) {
	var r Record
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("record: %w, expected an object with kind, title and rows", err)
	case r.Schema > Version:
		return r, fmt.Errorf("record: %q is of version %d, expected at most %d: use the warpbook that wrote it, or a newer one", r.Title, r.Schema, Version)
	case r.Kind == Checks && len(r.Rows) == 0:
		return r, fmt.Errorf("record: %q has no rows, expected one for each check", r.Title)
	}
	return r, nil
}

// Measurements tells the tables of one measurement apart from measurements: latencies
// that are shown in two tables are one record of the same run.
type Measurements struct{ seen map[string]bool }

// First reports whether a record is not that of a measurement seen before. Only records
// of figures can be: two checks of one rung are two checks.
func (m *Measurements) First(value any) bool {
	text, err := json.Marshal(value)
	if err != nil || !bytes.Contains(text, []byte(`"kind":"`+Figures+`"`)) {
		return true
	}
	if m.seen[string(text)] {
		return false
	}
	if m.seen == nil {
		m.seen = map[string]bool{}
	}
	m.seen[string(text)] = true
	return true
}

// Must is how many of the correctness rows failed as they must, in words.
func Must(failed, of int) string {
	if failed == 1 {
		return fmt.Sprintf("1 of the %d failed as it must", of)
	}
	return fmt.Sprintf("%d of the %d failed as they must", failed, of)
}

// Tally counts correctness rows.
type Tally struct {
	Total    int `json:"total"`
	Passed   int `json:"passed"`
	Expected int `json:"failed_as_expected"` // of those passed
}

// Add counts the correctness rows of r and calls failed for each that did not pass. An
// unknown verdict does not pass.
func (t *Tally) Add(r Record, failed func(row, reason string)) {
	for i, row := range r.Rows {
		if row.Verdict == nil && r.Kind != Checks {
			continue
		}
		t.Total++
		where := fmt.Sprintf("row %d %q of %q", i+1, row.Name, r.Title)
		switch {
		case row.Verdict == nil:
			failed(where, "no verdict")
		case *row.Verdict == Pass:
			t.Passed++
		case *row.Verdict == FailExpected:
			t.Passed++
			t.Expected++
		case *row.Verdict == Fail, *row.Verdict == PassUnexpected:
			failed(where, *row.Verdict)
		default:
			failed(where, fmt.Sprintf("verdict %q, expected one of %s, %s, %s, %s", *row.Verdict, Pass, Fail, FailExpected, PassUnexpected))
		}
	}
}
