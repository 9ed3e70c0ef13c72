package report

import (
	"cmp"
	"fmt"
	"slices"

	"warpbook/kernel/leaf/record"
)

// counted is an operator at a size whose rungs were counted in one table or several.
type counted struct {
	first record.Record // of the tables
	rungs []record.Row  // that passed, at least two, each once; they differ in a counter
}

// countedOf are the counted operators and sizes, in the order of the records.
func countedOf(records []record.Record) (all []counted) {
	for _, r := range records {
		if r.Kind != record.Counters {
			continue
		}
		at := slices.IndexFunc(all, func(c counted) bool { return c.first.Title == r.Title })
		if at < 0 {
			at, all = len(all), append(all, counted{first: r})
		}
		for _, row := range r.Rows {
			named := func(o record.Row) bool { return o.Name == row.Name }
			if row.Total != nil && row.Verdict != nil && *row.Verdict == record.Pass && !slices.ContainsFunc(all[at].rungs, named) {
				all[at].rungs = append(all[at].rungs, row)
			}
		}
	}
	return slices.DeleteFunc(all, func(c counted) bool {
		return len(c.rungs) < 2 || byCounters(c.best(), c.worst()) == 0
	})
}

func (c *counted) best() record.Row  { return slices.MinFunc(c.rungs, byCounters) }
func (c *counted) worst() record.Row { return slices.MaxFunc(c.rungs, byCounters) }

// byCounters orders rungs by sectors of global memory, of equal ones by wavefronts of shared
// memory, then by warp instructions.
func byCounters(a, b record.Row) int {
	return cmp.Or(cmp.Compare(a.Total.Sectors(), b.Total.Sectors()), cmp.Compare(a.Total.Wavefronts(), b.Total.Wavefronts()),
		cmp.Compare(a.Total.WarpInstructions, b.Total.WarpInstructions))
}

// spaced is a count with its digits in groups of three from five on, as tables have it.
func spaced(n int64) string {
	digits := fmt.Sprint(n)
	if n < 10000 {
		return digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}
