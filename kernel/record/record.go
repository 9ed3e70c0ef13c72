// Package record reads what an output says for programs beside what it shows
// to people: checks with their verdicts, figures, counters, and the environment
// they come from. It shows nothing and decides no exit status.
package record

import (
	"encoding/json"
	"fmt"
)

// MIME is the type of a record in a MIME bundle.
const MIME = "application/vnd.warpbook.record+json"

// Checks is the kind of a record whose every row is a correctness row. Rows of
// other kinds are, if they have a verdict.
const Checks = "checks"

// The verdicts of a correctness row.
const (
	Pass           = "PASS"
	Fail           = "FAIL"
	FailExpected   = "FAIL (expected)" // counts as passed
	PassUnexpected = "PASS (failure expected)"
)

// Record is one record, as far as this package understands it.
type Record struct {
	Kind        string         `json:"kind"` // "checks", "figures", "counters", "environment"
	Title       string         `json:"title"`
	Environment map[string]any `json:"environment"`
	Rows        []Row          `json:"rows"`
}

// Row is one row of a record.
type Row struct {
	Name    string  `json:"name"`
	Verdict *string `json:"verdict"` // nil: none
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
	case r.Kind == Checks && len(r.Rows) == 0:
		return r, fmt.Errorf("record: %q has no rows, expected what was checked", r.Title)
	}
	return r, nil
}

// Tally counts correctness rows.
type Tally struct {
	Total    int `json:"total"`
	Passed   int `json:"passed"`
	Expected int `json:"failed_as_expected"` // of those passed
}

// Add counts the correctness rows of r and calls failed for each that did not
// pass. A verdict that is none of the four did not.
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
