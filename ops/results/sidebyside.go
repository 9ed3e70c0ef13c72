package results

import (
	"fmt"
	"math"
	"slices"
)

// SideBySide is the counters of a few rungs, a column each: what a rung
// changed against the rung before. Above them stand times of a committed run, where there
// are any.
type SideBySide struct {
	Counts *Counts
	Steps  *Steps // nil for none
}

// Title stands above the table.
func (s *SideBySide) Title() string { return s.Counts.Title() }

// Notes stand below the table.
func (s *SideBySide) Notes() []string {
	rows, notes := s.Counts.Rows, s.Counts.Notes()
	if s.timed() {
		notes = append([]string{s.Steps.measured()}, notes...)
	}
	switch len(rows) {
	case 0, 1:
		return notes
	case 2:
		return append([]string{fmt.Sprintf("ratio: %s divided by %s", rows[1].Name, rows[0].Name)}, notes...)
	}
	return append([]string{"in brackets: divided by the variant to the left"}, notes...)
}

// timed reports whether the committed run has times of some of the rungs.
func (s *SideBySide) timed() bool {
	return s.Steps != nil && slices.ContainsFunc(s.Counts.Rows, func(r Count) bool { return s.Steps.us(r.Name) > 0 })
}

// timeRows are the times of the rungs, in the committed run and in the reader's own.
func (s *SideBySide) timeRows(two bool) (rows [][]string) {
	if !s.timed() {
		return nil
	}
	row := func(name string, of func(rung string) float64) {
		cells, before := []string{name}, math.NaN()
		for i, r := range s.Counts.Rows {
			us, text := of(r.Name), "-"
			if us > 0 {
				text = shortTime(us)
			}
			ratio := ""
			if us > 0 && before > 0 {
				ratio = countRatio(us, before)
			}
			switch {
			case two && i == 1:
				cells = append(cells, text, ratio)
			case ratio != "":
				cells = append(cells, text+" ("+ratio+")")
			default:
				cells = append(cells, text)
			}
			before = us
		}
		rows = append(rows, cells)
	}
	row(s.Steps.heading(), s.Steps.us)
	if s.Steps.own != nil {
		row("time here (us)", s.Steps.ownUS)
	}
	return rows
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
	rows = append(append(rows, verdicts), s.timeRows(two)...)
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
