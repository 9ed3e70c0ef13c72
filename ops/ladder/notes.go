package ladder

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
)

// Expectations are the rows of an operator's notes.md about rungs: the expected and
// the measured result of each on a GPU, and the reason.
type Expectations struct {
	Rows     []Expectation
	operator string
	page     string
}

// Expectation is a row of the notes' tables: the expected result of a rung, the
// measured result, and the reason.
type Expectation struct {
	Name, Expected, Got, Because string

	// Predicted is where the expectation was committed before the rung ran, as the
	// notes quote it: "predicted in 9ea3869: ...". "" is an expectation that was written
	// beside its result: it explains, and predicts nothing.
	Predicted string
}

// notMeasured begins a result that no run has given yet.
const notMeasured = "not measured yet"

// how reports whether an expectation was there before its result.
func (e Expectation) how() string {
	switch {
	case strings.HasPrefix(e.Got, notMeasured):
		return "predicted"
	case e.Predicted != "":
		return "predicted in " + e.Predicted
	}
	return "explained"
}

// page is the operator's notes.md, "" where it has none.
func (o *Operator) page() (string, error) {
	text, err := fs.ReadFile(o.Files, "notes.md")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ops: %s: notes: %w", o.Name, err)
	}
	return string(text), nil
}

// pageName is the path of the page.
func (o *Operator) pageName() string { return o.Folder + "/notes.md" }

// Expected quotes the expectations in the notes of the named rungs, all for none. A
// named rung without a row there is an error.
func (o *Operator) Expected(variants ...string) (*Expectations, error) {
	chosen, err := o.Choose(variants)
	if err != nil {
		return nil, err
	}
	page, err := o.page()
	if err != nil {
		return nil, err
	}
	all := expectations(page)
	e := &Expectations{operator: o.Name, page: o.pageName()}
	for _, v := range chosen {
		i := slices.IndexFunc(all, func(row Expectation) bool { return row.Name == v.Name })
		switch {
		case i >= 0:
			e.Rows = append(e.Rows, all[i])
		case len(variants) > 0:
			return nil, fmt.Errorf("ops: %s: expectation of %s: %w in %s: its row is missing", o.Name, v.Name, gpu.ErrNotFound, o.pageName())
		}
	}
	return e, nil
}

// Note is a paragraph of a page of notes, with the table that it announces.
type Note struct{ Text, Page string }

// Note quotes the paragraph of the operator's notes with this beginning, and the table
// below it if the paragraph ends with a colon. An unknown beginning is ErrNotFound.
func (o *Operator) Note(beginning string) (Note, error) {
	page, err := o.page()
	if err != nil {
		return Note{}, err
	}
	paragraphs := strings.Split(page, "\n\n")
	for i, text := range paragraphs {
		if !strings.HasPrefix(text, beginning) {
			continue
		}
		if strings.HasSuffix(text, ":") && i+1 < len(paragraphs) {
			text += "\n\n" + paragraphs[i+1]
		}
		return Note{strings.TrimSpace(text), o.pageName()}, nil
	}
	return Note{}, fmt.Errorf("ops: %s: paragraph %q: %w", o.pageName(), beginning, gpu.ErrNotFound)
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
		row := Expectation{Name: of("rung"), Expected: of("expected"), Got: of("got"), Because: of("because")}
		if after, found := strings.CutPrefix(row.Expected, "predicted in "); found {
			row.Predicted, row.Expected, _ = strings.Cut(after, ": ")
		}
		if entryName().MatchString(row.Name) && row.Expected != "" {
			all = append(all, row)
		}
	}
	return all
}

var entryName = lazyregexp.New(`^\w+$`)

// Title stands above the table.
func (e *Expectations) Title() string { return "expected and measured: " + e.operator + " on an H200" }

// Notes stand below the table.
func (e *Expectations) Notes() []string {
	return []string{"predicted: committed before the variant ran; explained: written beside its result",
		"quoted from " + e.page + ", where device, date and method stand; TFLOP/s at m = n = k = 4096 unless it says otherwise"}
}

// Table is one row a rung.
func (e *Expectations) Table() (columns []string, rows [][]string) {
	for _, r := range e.Rows {
		rows = append(rows, []string{r.Name, r.how(), r.Expected, r.Got, r.Because})
	}
	return []string{"variant", "how", "expected", "got", "because"}, rows
}
