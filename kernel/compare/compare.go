package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/leaf/verdict"
	"warpbook/kernel/runs"
)

// Options are the limits of a comparison.
type Options struct {
	Same float64 // a relative difference up to here is SAME, however sure it is
}

// Comparison is B against A.
type Comparison struct {
	A            string       `json:"a"`
	B            string       `json:"b"`
	Method       string       `json:"method"`
	Environments []Difference `json:"environment_differences"`
	Verdicts     []Changed    `json:"changed_verdicts"` // of correctness
	Rows         []Row        `json:"rows"`
	OnlyA        []runs.Key   `json:"only_in_a"`
	OnlyB        []runs.Key   `json:"only_in_b"`
}

// Row is one row in both sets. Ratio is B's median over A's.
type Row struct {
	runs.Key `json:"key"`
	A        Side     `json:"a"`
	B        Side     `json:"b"`
	Ratio    float64  `json:"ratio"`
	Low      float64  `json:"ratio_low"`
	High     float64  `json:"ratio_high"`
	P        *float64 `json:"p,omitempty"` // corrected for the number of rows
	Verdict  string   `json:"verdict"`
	Clock    string   `json:"clock"` // record.Time or record.EmulatorTime, or both of one side each

	mixed bool // one side is the time of a GPU, the other of an emulation
}

// Difference is a part of the environment that differs.
type Difference struct {
	Name string   `json:"name"`
	A    []string `json:"a"`
	B    []string `json:"b"`
}

// Changed is a correctness row whose verdict differs.
type Changed struct {
	runs.Key `json:"key"`
	A        string `json:"a"`
	B        string `json:"b"`
}

// Compare compares the rows that both sets have.
func Compare(a, b Set, o Options) *Comparison {
	c := &Comparison{A: a.Name, B: b.Name, Method: method(a, b, o)}
	c.Environments = differences(a, b)
	ta, tb := timings(a), timings(b)
	useMedians := len(a.Runs) >= medians && len(b.Runs) >= medians
	var rows []*Row
	for _, key := range keys(a) {
		switch {
		case ta[key] == nil: // a correctness row
			continue
		case tb[key] == nil:
			c.OnlyA = append(c.OnlyA, key)
			continue
		}
		r := &Row{Key: key, A: side(ta[key], useMedians), B: side(tb[key], useMedians), Clock: ta[key][0].Clock}
		if other := tb[key][0].Clock; other != r.Clock {
			r.mixed = r.Clock == record.EmulatorTime || other == record.EmulatorTime
			r.Clock += " and " + other
		}
		r.compareSides()
		rows = append(rows, r)
	}
	for _, key := range keys(b) {
		if tb[key] != nil && ta[key] == nil {
			c.OnlyB = append(c.OnlyB, key)
		}
	}
	judge(rows, o.Same)
	for _, r := range rows {
		c.Rows = append(c.Rows, *r)
	}
	c.Verdicts = changed(a, b)
	return c
}

// Judged reports whether any row has a verdict.
func (c *Comparison) Judged() bool {
	return slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Verdict != NoVerdict })
}

// SlowerThan returns the rows that are SLOWER by more than a relative limit.
func (c *Comparison) SlowerThan(limit float64) (rows []Row) {
	for _, r := range c.Rows {
		if r.Verdict == Slower && r.Ratio > 1+limit {
			rows = append(rows, r)
		}
	}
	return rows
}

func method(a, b Set, o Options) string {
	text := "Mann-Whitney U test of the samples"
	if len(a.Runs) >= medians && len(b.Runs) >= medians {
		text = fmt.Sprintf("Mann-Whitney U test of the medians of runs (%d and %d)", len(a.Runs), len(b.Runs))
	}
	text += fmt.Sprintf("; p-values corrected for the number of rows (Holm), significant below %g; a difference of at most %g %% is SAME; "+
		"AMBIGUOUS: no significant difference, and the interval is wider than %g %%; rows without samples differ where their intervals do not overlap", verdict.Alpha, o.Same*100, verdict.Ambiguity*100)
	if len(a.Runs) < medians || len(b.Runs) < medians {
		text += fmt.Sprintf("; samples of one process do not show the variation between processes: %d runs a side do", medians)
	}
	return text
}

// timings are those of each row in all runs of a set.
func timings(s Set) map[runs.Key][]runs.Timing {
	all := map[runs.Key][]runs.Timing{}
	for _, run := range s.Runs {
		for key, t := range run.Timings {
			all[key] = append(all[key], t)
		}
	}
	return all
}

// changed lists correctness rows whose verdict differs. Of several runs the worst
// verdict counts.
func changed(a, b Set) (list []Changed) {
	va, vb := verdicts(a), verdicts(b)
	for _, key := range keys(a) {
		if other, ok := vb[key]; ok && va[key] != "" && other != va[key] {
			list = append(list, Changed{key, va[key], other})
		}
	}
	return list
}

func verdicts(s Set) map[runs.Key]string {
	all := map[runs.Key]string{}
	for _, run := range s.Runs {
		for key, v := range run.Verdicts {
			if old, ok := all[key]; !ok || old == record.Pass {
				all[key] = v
			}
		}
	}
	return all
}

// differences lists the differences between the environments of the sets.
func differences(a, b Set) (list []Difference) {
	ea, eb := environment(a), environment(b)
	names := slices.Collect(maps.Keys(ea))
	for name := range eb {
		if ea[name] == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(place(x), place(y)), strings.Compare(x, y)) })
	for _, name := range names {
		if !slices.Equal(ea[name], eb[name]) {
			list = append(list, Difference{name, ea[name], eb[name]})
		}
	}
	return list
}

// place is where runs.EnvironmentOrder has a name; others come last.
func place(name string) int {
	if i := slices.Index(runs.EnvironmentOrder, name); i >= 0 {
		return i
	}
	return len(runs.EnvironmentOrder)
}

func environment(s Set) map[string][]string {
	all := map[string][]string{}
	for _, run := range s.Runs {
		for name, texts := range run.Environment {
			all[name] = append(all[name], texts...)
		}
	}
	for name, texts := range all {
		slices.Sort(texts)
		all[name] = slices.Compact(texts)
	}
	return all
}

// keys are those of all runs of a set, without repetition, in the order in which
// they come.
func keys(s Set) (list []runs.Key) {
	seen := map[runs.Key]bool{}
	for _, run := range s.Runs {
		for _, key := range run.Keys {
			if !seen[key] {
				seen[key] = true
				list = append(list, key)
			}
		}
	}
	return list
}
