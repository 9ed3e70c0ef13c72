package report

import (
	"slices"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/nbformat"
)

// results summarises the records in the outputs of a notebook.
type results struct {
	records     []record.Record
	rows        record.Tally
	unreadable  int // records that could not be read
	failedCells int
}

// resultsOf evaluates the outputs as `warpbook run` does for its exit status, so that a
// page never shows a better result than its run.
func resultsOf(nb *nbformat.Notebook) results {
	var r results
	var measured record.Measurements
	for _, c := range nb.Cells {
		if cellFailed(c) {
			r.failedCells++
		}
		for _, o := range c.Outputs {
			value, ok := o.Data[record.MIME]
			if !ok {
				continue
			}
			rec, err := record.Parse(value)
			if err != nil {
				r.unreadable++
				continue
			}
			r.records = append(r.records, rec)
			if measured.First(value) {
				r.rows.Add(rec, func(row, reason string) {})
			}
		}
	}
	return r
}

// cellFailed reports whether a cell ended in an unexpected error, or was executed
// without its expected error.
func cellFailed(c *nbformat.Cell) bool {
	raised := slices.ContainsFunc(c.Outputs, func(o *nbformat.Output) bool { return o.Type == nbformat.Error })
	if c.HasTag(nbformat.TagRaisesException) {
		return !raised && c.ExecutionCount != nil
	}
	return raised
}

// badge is a line at the top that summarises the page's results.
type badge struct{ Class, Text string }

func (r results) badges(from Origin, in *phrases) []badge {
	var list []badge
	if from.Executed < from.Cells {
		list = append(list, badge{"fail", in.executed(from.Executed, from.Cells)})
	}
	if r.failedCells > 0 {
		list = append(list, badge{"fail", in.failedCells(r.failedCells)})
	}
	if r.unreadable > 0 {
		list = append(list, badge{"fail", in.unreadable(r.unreadable)})
	}
	n := r.rows
	switch {
	case n.Passed < n.Total:
		list = append(list, badge{"fail", in.failedChecks(n.Total-n.Passed, n.Total)})
	case n.Total > 0 && from.Ran:
		list = append(list, badge{"pass", in.passed(n.Total)})
	case n.Total > 0:
		list = append(list, badge{"recorded", in.recordedPassed(n.Total)})
	}
	if n.Expected > 0 {
		list = append(list, badge{"expected", in.expectedRows(n.Expected, n.Total)})
	}
	return list
}
