package ops

import (
	"fmt"
	"strconv"
)

// SideBySide is the counters of a few variants, a column each: what a rung
// changed against the rung before.
type SideBySide struct{ Counts *Counts }

// Compare is Count for a few variants, shown side by side.
func (b *Bench) Compare(variants ...string) (*SideBySide, error) {
	counts, err := b.Count(variants...)
	if err != nil {
		return nil, err
	}
	return &SideBySide{counts}, nil
}

// Title stands above the table.
func (s *SideBySide) Title() string { return s.Counts.Title() }

// Notes stand below the table.
func (s *SideBySide) Notes() []string {
	rows := s.Counts.Rows
	if len(rows) < 2 {
		return s.Counts.Notes()
	}
	last, before := rows[len(rows)-1].Name, rows[len(rows)-2].Name
	return append([]string{fmt.Sprintf("ratio: %s divided by %s", last, before)}, s.Counts.Notes()...)
}

// Record is that of the counters.
func (s *SideBySide) Record() any { return s.Counts.Record() }

// Table is one row a counter. Counters that are 0 for every variant are left
// out; the last column divides the last variant by the one before it.
func (s *SideBySide) Table() (columns []string, rows [][]string) {
	columns = []string{"counter"}
	verdicts := []string{"result"}
	for _, r := range s.Counts.Rows {
		columns = append(columns, r.Name)
		verdicts = append(verdicts, r.Verdict)
	}
	ratios := len(s.Counts.Rows) > 1
	if ratios {
		columns, verdicts = append(columns, "ratio"), append(verdicts, "")
	}
	rows = append(rows, verdicts)
	for _, counter := range counterColumns {
		row, values, counted := []string{counter.title}, []float64{}, false
		for _, r := range s.Counts.Rows {
			row = append(row, counter.text(r.Total))
			values = append(values, counter.value(r.Total))
			counted = counted || counter.value(r.Total) != 0
		}
		if !counted {
			continue
		}
		if ratios {
			row = append(row, ratio(values[len(values)-1], values[len(values)-2]))
		}
		rows = append(rows, row)
	}
	return columns, rows
}

func ratio(now, before float64) string {
	if before == 0 {
		return "-"
	}
	return strconv.FormatFloat(now/before, 'f', 2, 64) + "x"
}
