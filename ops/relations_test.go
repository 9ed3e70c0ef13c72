package ops

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// relation is a sentence of a text that quotes committed figures, or the quotient of two.
type relation struct {
	File    string
	Says    string // with {} where a figure stands
	Figures []struct {
		figure
		Over *figure
	}
}

// figure is one of a committed run, or of a table of a notebook that was executed on a GPU.
type figure struct {
	Run    string // "histogram_equal.h200"
	Cell   string // or "h200/06-elementwise errors-table"
	Row    string
	Column string // of a table of a notebook
	Bound  string // "low" or "high" of a run's range; else the median
	At     int    // which of the sizes of a run

	Times float64 // a factor, such as the clock that makes cycles of nanoseconds; 0 is none
}

// The sentences of relations.json stand in their texts, with the figures of today's files. A
// sentence about figures that no other test holds is added there.
func TestRelationsHold(t *testing.T) {
	text, err := os.ReadFile("relations.json")
	var all []relation
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		var values []float64
		for _, f := range r.Figures {
			v, err := f.value()
			if f.Times != 0 {
				v *= f.Times
			}
			if err == nil && f.Over != nil {
				var over float64
				over, err = f.Over.value()
				v /= over
			}
			if err != nil {
				t.Fatalf("relations.json: %s: %v", r.Says, err)
			}
			values = append(values, v)
		}
		if err := quotes(prose(t, filepath.Join("..", r.File)), r.Says, values); err != nil {
			t.Errorf("%s: %v", r.File, err)
		}
	}
}

// A sentence that is not there, a figure that is not the measured one and a figure too few
// are errors.
func TestQuotes(t *testing.T) {
	const text = "It takes 1 264 us, 1.11 times less."
	for says, values := range map[string][]float64{"It takes {} us, {} times": {1263.97, 1.1104}, "": nil} {
		if err := quotes(text, says, values); err != nil {
			t.Error(err)
		}
	}
	for says, values := range map[string][]float64{"It took {} us": {1264}, "It takes {} us": {1270}, "takes {} us, {} times": {1264}} {
		if err := quotes(text, says, values); err == nil {
			t.Errorf("%q with %v passes", says, values)
		}
	}
}

// quotes is nil if a text has a sentence with figures that round the values.
func quotes(text, says string, values []float64) error {
	parts := strings.Split(says, "{}")
	if len(parts) != len(values)+1 {
		return fmt.Errorf("%q has %d places, and there are %d figures", says, len(parts)-1, len(values))
	}
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	found := regexp.MustCompile(strings.Join(parts, `(-?\d[\d ]*(?:\.\d+)?)`)).FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("it does not say %q: correct ops/relations.json", says)
	}
	for i, v := range values {
		if !rounds(strings.ReplaceAll(found[i+1], " ", ""), v) {
			return fmt.Errorf("it says %q, and the committed figure is %.6g", found[0], v)
		}
	}
	return nil
}

// prose is a file's text; of a notebook, that of its cells.
func prose(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".ipynb" {
		return string(text)
	}
	var nb struct{ Cells []struct{ Source []string } }
	if err := json.Unmarshal(text, &nb); err != nil {
		t.Fatal(name, err)
	}
	var all strings.Builder
	for _, c := range nb.Cells {
		all.WriteString(strings.Join(c.Source, "") + "\n")
	}
	return all.String()
}

func (f figure) value() (float64, error) {
	if f.Cell != "" {
		return f.ofCell()
	}
	files, err := filepath.Glob("*/measured/" + f.Run + ".json")
	if err != nil || len(files) != 1 {
		return 0, fmt.Errorf("%d files of run %s, expected one", len(files), f.Run)
	}
	text, err := os.ReadFile(files[0])
	var m struct {
		Times []struct {
			US       map[string]float64
			RangeUS  map[string][2]float64 `json:"range_us"`
			WithinUS map[string][2]float64 `json:"within_us"`
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || f.At >= len(m.Times) {
		return 0, fmt.Errorf("%s: %d sizes, %v", f.Run, len(m.Times), err)
	}
	times := m.Times[f.At]
	v, ok := times.US[f.Row]
	if bounds, ranged := times.RangeUS[f.Row]; f.Bound != "" {
		if !ranged {
			bounds, ranged = times.WithinUS[f.Row]
		}
		v, ok = bounds[map[string]int{"low": 0, "high": 1}[f.Bound]], ranged
	}
	if !ok {
		return 0, fmt.Errorf("%s has no %s %s", f.Run, f.Row, f.Bound)
	}
	return v, nil
}

// ofCell is a number of a table, or the median time of a row in ns, of an executed notebook.
func (f figure) ofCell() (float64, error) {
	file, id, _ := strings.Cut(f.Cell, " ")
	text, err := os.ReadFile("../notebooks/results/" + file + ".json")
	var run struct {
		Cells []struct {
			ID      string
			Records []struct {
				Columns []string
				Rows    []struct {
					Name  string
					Cells []string
					First struct {
						MedianNS float64 `json:"median_ns"`
					}
				}
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &run)
	}
	if err != nil {
		return 0, err
	}
	for _, c := range run.Cells {
		for _, record := range c.Records {
			for _, row := range record.Rows {
				if c.ID != id || row.Name != f.Row {
					continue
				}
				if f.Column == "" {
					return row.First.MedianNS, nil
				}
				if i := slices.Index(record.Columns, f.Column); i >= 0 && i < len(row.Cells) {
					number, _, _ := strings.Cut(row.Cells[i], " of ")
					return strconv.ParseFloat(strings.ReplaceAll(number, " ", ""), 64)
				}
			}
		}
	}
	return 0, fmt.Errorf("%s has no %s %s", f.Cell, f.Row, f.Column)
}
