package results

import (
	"slices"
	"strings"
	"warpbook/kernel/leaf/record"
	"warpbook/ops/ladder"
)

// Check is a row of Checks.
type Check struct {
	Name      string
	Verdict   string // Pass, Fail, FailExpected or PassExpected
	Failed    []string
	Expect    string  // the check that had to fail, "" for none
	Detail    string  // of a fault; else which elements are wrong, and the launch
	Result    float64 // the worst element; one of more than 53 bits is rounded
	Reference float64
	Error     float64 // of it, as the note below the table says
	Bound     float64 // the largest Error that is allowed
	Note      string  // what Error means

	Ran           bool   // there is a result
	ResultText    string // whole
	ReferenceText string // whole, "" for a float64
}

// Checks is the correctness table of a bench.
type Checks struct {
	Subject
	Rows []Check
}

// Passed reports whether every row is as it must be: right, or wrong in the
// way that was expected.
func (c *Checks) Passed() bool {
	for _, row := range c.Rows {
		if row.Verdict != ladder.Pass && row.Verdict != ladder.FailExpected {
			return false
		}
	}
	return true
}

// Title stands above the table.
func (c *Checks) Title() string { return c.title("correctness") }

// Notes stand below the table.
func (c *Checks) Notes() []string {
	var notes []string
	for _, r := range c.Rows {
		if r.Note != "" && !slices.Contains(notes, r.Note) {
			notes = append(notes, r.Note)
		}
	}
	return append(notes, c.Environment.Notes()...)
}

// Table is one row a rung.
func (c *Checks) Table() (columns []string, rows [][]string) {
	for _, r := range c.Rows {
		result, reference, share, bound := "-", "-", "-", "-"
		if r.Ran {
			result, reference = r.texts()
			share, bound = significant(r.Error, 2), significant(r.Bound, 2)
		}
		failed := strings.Join(r.Failed, ", ")
		if r.Detail != "" {
			failed += " (" + r.Detail + ")"
		}
		rows = append(rows, []string{r.Name, c.Size.String(), result, reference, share, bound, r.Verdict, failed})
	}
	return []string{"variant", c.dims(), "result", "reference", "error", "bound", "verdict", "failed checks"}, rows
}

// texts are the result and the reference as a table shows them.
func (r Check) texts() (result, reference string) {
	if r.ReferenceText == "" { // the reference is more exact than the result
		return plain(float32(r.Result)), significant(r.Reference, 9)
	}
	return r.ResultText, r.ReferenceText
}

// Record is the table for programs.
func (c *Checks) Record() any {
	return newRecord(record.Checks, c.Title(), c.Environment, c.rows())
}

// dims heads the column of the size.
func (c *Checks) dims() string { return strings.Join(c.Operator.Dims, " x ") }

func (c *Checks) rows() (rows []map[string]any) {
	for _, r := range c.Rows {
		row := map[string]any{"name": r.Name, "size": c.Size, "verdict": r.Verdict, "failed": r.Failed,
			"expect": r.Expect, "detail": r.Detail}
		if r.Ran {
			row["result"], row["reference"] = jsonNumber(r.Result), jsonNumber(r.Reference)
			row["error"], row["bound"] = jsonNumber(r.Error), jsonNumber(r.Bound)
		}
		rows = append(rows, row)
	}
	return rows
}
