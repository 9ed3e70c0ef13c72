package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"warpbook/kernel/nbformat"
	"warpbook/kernel/record"
)

// results are what the outputs of a notebook say for programs, summed up.
type results struct {
	records     []record.Record
	rows        record.Tally
	unreadable  int // records
	failedCells int
}

// resultsOf goes through the outputs as `warpbook run` does for its exit
// status, so that a page never says better things than the run that made it.
func resultsOf(nb *nbformat.Notebook) results {
	var r results
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
			r.rows.Add(rec, func(row, reason string) {})
		}
	}
	return r
}

// cellFailed reports whether a cell ended in an error that it must not raise,
// or was executed without the one that it must.
func cellFailed(c *nbformat.Cell) bool {
	raised := slices.ContainsFunc(c.Outputs, func(o *nbformat.Output) bool { return o.Type == nbformat.Error })
	if c.HasTag(nbformat.TagRaisesException) {
		return !raised && c.ExecutionCount != nil
	}
	return raised
}

// badge is a line at the top that sums up what the page shows.
type badge struct{ Class, Text string }

func (r results) badges() []badge {
	var list []badge
	if r.failedCells > 0 {
		list = append(list, badge{"fail", count(r.failedCells, "cell") + " failed"})
	}
	if r.unreadable > 0 {
		list = append(list, badge{"fail", count(r.unreadable, "record") + " cannot be read"})
	}
	n := r.rows
	switch {
	case n.Passed < n.Total:
		list = append(list, badge{"fail", fmt.Sprintf("%d of %s failed", n.Total-n.Passed, count(n.Total, "check"))})
	case n.Total > 0:
		list = append(list, badge{"pass", count(n.Total, "check") + " passed"})
	}
	if n.Expected > 0 {
		list = append(list, badge{"expected", fmt.Sprintf("%d failed as expected", n.Expected)})
	}
	return list
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// setting is one line of an environment.
type setting struct{ Name, Value string }

// environments returns every environment that a record names, each once.
func environments(records []record.Record) [][]setting {
	var list [][]setting
	for _, r := range records {
		var settings []setting
		for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
			if value := r.Environment[name]; value != nil && value != "" {
				settings = append(settings, setting{name, settingText(value)})
			}
		}
		same := func(other []setting) bool { return reflect.DeepEqual(other, settings) }
		if len(settings) > 0 && !slices.ContainsFunc(list, same) {
			list = append(list, settings)
		}
	}
	return list
}

func settingText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case map[string]any, []any:
		data, _ := json.Marshal(value) // came from JSON, so it goes back
		return string(data)
	}
	return fmt.Sprint(value)
}
