package display

import (
	"fmt"
	"reflect"
	"slices"

	"warpbook/kernel/leaf/record"
)

// Table is a table that a cell builds row by row. Its methods return the
// table, so that one expression can build and show it. One goroutine builds a
// table; it may be shown at any time by the same one.
type Table struct {
	title   string
	columns []string
	rows    [][]string
	notes   []string
}

// NewTable returns an empty table with these columns.
func NewTable(columns ...string) *Table { return &Table{columns: columns} }

// Row adds a row. Floating-point numbers that are not whole are written with
// four significant digits; format a value yourself where others are wanted.
func (t *Table) Row(values ...any) *Table {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = cellText(v)
	}
	t.rows = append(t.rows, row)
	return t
}

// SetTitle sets the line above the table.
func (t *Table) SetTitle(title string) *Table {
	t.title = title
	return t
}

// Note adds a line below the table.
func (t *Table) Note(line string) *Table {
	t.notes = append(t.notes, line)
	return t
}

// Table returns the columns and rows, as every value shown as a table does.
func (t *Table) Table() (columns []string, rows [][]string) { return t.columns, t.rows }

// Record returns the cells of the table as text: without it the record of a notebook
// would lack the tables that its cells build. No row is a correctness row.
func (t *Table) Record() any {
	type row struct {
		Name  string   `json:"name"`
		Cells []string `json:"cells"`
	}
	shown := t.rows
	if n := len(shown); n > maxRows { // as in what is shown
		shown = slices.Concat(shown[:maxRows/2], shown[n-maxRows/2:])
	}
	rows := make([]row, len(shown))
	for i, cells := range shown {
		rows[i].Cells = cells
		if len(cells) > 0 {
			rows[i].Name = cells[0]
		}
	}
	return map[string]any{"schema": record.Version, "kind": record.Table, "title": t.title, "columns": t.columns, "rows": rows, "notes": t.notes, "omitted": len(t.rows) - len(shown)}
}

// Title returns the line above the table, or "".
func (t *Table) Title() string { return t.title }

// Notes returns the lines below the table.
func (t *Table) Notes() []string { return t.notes }

// String returns the table as plain text.
func (t *Table) String() string { return gridOf(t).text() }

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return formatNumber(v)
	case float32:
		return formatNumber(float64(v))
	}
	r := reflect.ValueOf(v)
	if s, ok := methodText(r); ok {
		return s
	}
	if r.CanInt() || r.CanUint() {
		return groupDigits(fmt.Sprint(v))
	}
	return goText(v)
}
