package results

import "fmt"

// SideBySide is the counters of a few rungs, a column each: what a rung
// changed against the rung before.
type SideBySide struct{ Counts *Counts }

// Title stands above the table.
func (s *SideBySide) Title() string { return s.Counts.Title() }

// Notes stand below the table.
func (s *SideBySide) Notes() []string {
	rows := s.Counts.Rows
	switch len(rows) {
	case 0, 1:
		return s.Counts.Notes()
	case 2:
		return append([]string{fmt.Sprintf("ratio: %s divided by %s", rows[1].Name, rows[0].Name)}, s.Counts.Notes()...)
	}
	return append([]string{"in brackets: divided by the variant to the left"}, s.Counts.Notes()...)
}

// Record is that of the counters.
func (s *SideBySide) Record() any { return s.Counts.Record() }

// Table is one row a counter. Counters that are 0 for every rung are left
// out. Each rung is compared with the one before it: of two in a last column, of
// more in brackets.
func (s *SideBySide) Table() (columns []string, rows [][]string) {
	columns = []string{"counter"}
	verdicts := []string{"result"}
	for _, r := range s.Counts.Rows {
		columns = append(columns, r.Name)
		verdicts = append(verdicts, r.Verdict)
	}
	two := len(s.Counts.Rows) == 2
	if two {
		columns, verdicts = append(columns, "ratio"), append(verdicts, "")
	}
	rows = append(rows, verdicts)
	for _, counter := range counterColumns {
		row, counted, before := []string{counter.title}, false, 0.0
		for i, r := range s.Counts.Rows {
			value := counter.value(r.Total)
			text, ratio := counter.text(r.Total), countRatio(value, before)
			switch {
			case two && i == 1:
				row = append(row, text, ratio)
			case i > 0 && ratio != "-":
				row = append(row, text+" ("+ratio+")")
			default:
				row = append(row, text)
			}
			counted, before = counted || value != 0, value
		}
		if counted {
			rows = append(rows, row)
		}
	}
	return columns, rows
}
