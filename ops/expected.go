package ops

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/lazyregexp"
)

// Expectations are what NAME_notes.md says of variants: what was expected of
// each on a GPU, what it gave there, and why.
type Expectations struct {
	Rows     []Expectation
	operator string
}

// Expectation is a row of the notes' tables.
type Expectation struct{ Name, Expected, Got, Because string }

//go:embed gemm_notes.md
var gemmNotes string

// Expected quotes gemm_notes.md on the named variants of GEMM. A variant of which
// it says nothing is an error: nothing was predicted.
func (o *Operator) Expected(variants ...string) (*Expectations, error) {
	chosen, err := o.choose(variants)
	if err != nil {
		return nil, err
	}
	all := expectations(gemmNotes)
	e := &Expectations{operator: o.Name}
	for _, v := range chosen {
		i := slices.IndexFunc(all, func(row Expectation) bool { return row.Name == v.Name })
		switch {
		case i >= 0:
			e.Rows = append(e.Rows, all[i])
		case len(variants) > 0:
			return nil, fmt.Errorf("ops: %s: expectation of %s: %w in gemm_notes.md: nothing was written down of it", o.Name, v.Name, gpu.ErrNotFound)
		}
	}
	return e, nil
}

// Note is a paragraph of a page of notes, with the table that it announces.
type Note struct{ Text, Page string }

// GemmNote quotes the paragraph of gemm_notes.md that begins with so much, and the
// table below it if it ends with a colon. An unknown one is ErrNotFound.
func GemmNote(beginning string) (Note, error) {
	paragraphs := strings.Split(gemmNotes, "\n\n")
	for i, text := range paragraphs {
		if !strings.HasPrefix(text, beginning) {
			continue
		}
		if strings.HasSuffix(text, ":") && i+1 < len(paragraphs) {
			text += "\n\n" + paragraphs[i+1]
		}
		return Note{strings.TrimSpace(text), "ops/gemm_notes.md"}, nil
	}
	return Note{}, fmt.Errorf("ops: gemm_notes.md: paragraph %q: %w", beginning, gpu.ErrNotFound)
}

// MIMEBundle is a quotation in Markdown, with its source.
func (n Note) MIMEBundle() (data, metadata map[string]any) {
	quoted := "> " + strings.ReplaceAll(n.Text, "\n", "\n> ") + "\n>\n> (from " + n.Page + ")\n"
	return map[string]any{"text/plain": n.Text + "\n(from " + n.Page + ")", "text/markdown": quoted}, map[string]any{}
}

// expectations are the rows of all tables of a page that have an expectation.
func expectations(page string) (all []Expectation) {
	var columns []string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			columns = nil
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if columns == nil {
			columns = cells
			continue
		}
		of := func(column string) string {
			i := slices.IndexFunc(columns, func(c string) bool { return strings.HasPrefix(c, column) })
			if i < 0 || i >= len(cells) {
				return ""
			}
			return cells[i]
		}
		if row := (Expectation{of("rung"), of("expected"), of("got"), of("because")}); entryName().MatchString(row.Name) && row.Expected != "" {
			all = append(all, row)
		}
	}
	return all
}

var entryName = lazyregexp.New(`^\w+$`)

// Title stands above the table.
func (e *Expectations) Title() string { return "predicted and measured: " + e.operator + " on an H200" }

// Notes stand below the table.
func (e *Expectations) Notes() []string {
	return []string{"quoted from ops/gemm_notes.md, where device, date and method stand; TFLOP/s at m = n = k = 4096 unless it says otherwise"}
}

// Table is one row a variant.
func (e *Expectations) Table() (columns []string, rows [][]string) {
	for _, r := range e.Rows {
		rows = append(rows, []string{r.Name, r.Expected, r.Got, r.Because})
	}
	return []string{"variant", "expected", "got", "because"}, rows
}
