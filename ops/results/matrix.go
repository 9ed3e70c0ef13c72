package results

import (
	"slices"
	"strings"

	"warpbook/kernel/leaf/record"
	"warpbook/ops/ladder"
)

// CheckMatrix is the correctness of one operator at several sizes: a row a rung, a
// column a size.
type CheckMatrix struct{ Checks []*Checks }

// Add adds the checks of a size, and returns the matrix.
func (m *CheckMatrix) Add(c *Checks) *CheckMatrix {
	m.Checks = append(m.Checks, c)
	return m
}

// Passed reports whether every row of every size is as it must be.
func (m *CheckMatrix) Passed() bool {
	return !slices.ContainsFunc(m.Checks, func(c *Checks) bool { return !c.Passed() })
}

// Title stands above the table.
func (m *CheckMatrix) Title() string {
	if len(m.Checks) == 0 {
		return "correctness"
	}
	c := m.Checks[0]
	return "correctness of " + c.Operator.Name + " by " + c.dims()
}

// Notes stand below the table.
func (m *CheckMatrix) Notes() []string {
	notes := []string{"in a cell: the largest error as a share of its bound; a verdict where a result is wrong, - where a variant does not take the size or the device"}
	for _, c := range m.Checks {
		for _, note := range c.Notes() {
			data := strings.HasPrefix(note, "device: ") // differs in its date alone
			if !slices.Contains(notes, note) && (c == m.Checks[0] || !data) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// Table is one row a rung.
func (m *CheckMatrix) Table() (columns []string, rows [][]string) {
	columns = []string{"variant"}
	var names []string
	for _, c := range m.Checks {
		columns = append(columns, c.Size.String())
		for _, r := range c.Rows {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	for _, name := range names {
		row := []string{name}
		for _, c := range m.Checks {
			i := slices.IndexFunc(c.Rows, func(r Check) bool { return r.Name == name })
			switch {
			case i < 0:
				row = append(row, "-")
			case c.Rows[i].Verdict != ladder.Pass:
				row = append(row, c.Rows[i].Verdict)
			default:
				row = append(row, c.Rows[i].ofBound())
			}
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// ofBound is the verdict of a right result with its error as a share of the bound.
func (r Check) ofBound() string {
	if r.Bound == 0 {
		return r.Verdict
	}
	return r.Verdict + " " + significant(r.Error/r.Bound, 2)
}

// Record is the table for programs: the rows of all sizes.
func (m *CheckMatrix) Record() any {
	if len(m.Checks) == 0 {
		return newRecord(record.Checks, m.Title(), Environment{}, nil)
	}
	var rows []map[string]any
	for _, c := range m.Checks {
		rows = append(rows, c.rows()...)
	}
	return newRecord(record.Checks, m.Title(), m.Checks[0].Environment, rows)
}
