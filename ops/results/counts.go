package results

import (
	"fmt"
	"slices"
	"warpbook/gpu"
	"warpbook/kernel/leaf/record"
	"warpbook/ops/ladder"
)

// Count is a row of Counts.
type Count struct {
	Name     string
	Verdict  string // a row that is not Pass was counted all the same
	Total    gpu.Counters
	Launches []gpu.Counters
}

// Counts is the counter table of a bench.
type Counts struct {
	Subject
	Rows    []Count
	Machine []string // in what machine code differs from PTX
}

// Passed reports whether every row is as it must be.
func (c *Counts) Passed() bool {
	for _, row := range c.Rows {
		if row.Verdict != ladder.Pass && row.Verdict != ladder.FailExpected {
			return false
		}
	}
	return true
}

// Title stands above the table.
func (c *Counts) Title() string { return c.title("counters") }

// Notes stand below the table. They say where the machine code has other
// accesses than the PTX, so that a profiler counts others.
func (c *Counts) Notes() []string { return append(slices.Clone(c.Machine), c.Environment.Notes()...) }

// counter is a column of Counts.
type counter struct {
	title   string
	value   func(gpu.Counters) float64
	percent bool
}

// counterColumns are ordered by topic: amount of work, its distribution, waiting,
// memory traffic.
var counterColumns = []counter{
	{title: "warp instructions", value: func(c gpu.Counters) float64 { return float64(c.WarpInstructions) }},
	{title: "lanes active", value: gpu.Counters.LaneEfficiency, percent: true},
	{title: "divergent branches", value: func(c gpu.Counters) float64 { return float64(c.DivergentBranches) }},
	{title: "barriers", value: func(c gpu.Counters) float64 { return float64(c.Barriers) }},
	{title: "warp syncs", value: func(c gpu.Counters) float64 { return float64(c.WarpSyncs) }},
	{title: "shuffles", value: func(c gpu.Counters) float64 { return float64(c.Shuffles) }},
	{title: "global requests", value: func(c gpu.Counters) float64 {
		return float64(c.Global().Requests)
	}},
	{title: "global sectors", value: func(c gpu.Counters) float64 {
		return float64(c.Global().Sectors)
	}},
	{title: "atomics", value: func(c gpu.Counters) float64 { return float64(c.GlobalAtomic.Requests) }},
	{title: "shared requests", value: func(c gpu.Counters) float64 {
		return float64(c.Shared().Requests)
	}},
	{title: "shared wavefronts", value: func(c gpu.Counters) float64 {
		return float64(c.Shared().Wavefronts)
	}},
	{title: "bank conflicts", value: func(c gpu.Counters) float64 {
		return float64(c.Shared().Conflicts)
	}},
}

// text is a counter as a table cell has it.
func (c counter) text(of gpu.Counters) string {
	if c.percent {
		return fmt.Sprintf("%.1f %%", 100*c.value(of))
	}
	return ladder.Grouped(c.value(of))
}

// Table is one row a rung, all its launches together.
func (c *Counts) Table() (columns []string, rows [][]string) {
	columns = []string{"variant", "launches"}
	for _, column := range counterColumns {
		columns = append(columns, column.title)
	}
	for _, r := range c.Rows {
		row := []string{r.Name, fmt.Sprint(len(r.Launches))}
		for _, column := range counterColumns {
			row = append(row, column.text(r.Total))
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// Record is the table for programs, with every counter of every launch.
func (c *Counts) Record() any {
	var rows []map[string]any
	for _, r := range c.Rows {
		rows = append(rows, map[string]any{"name": r.Name, "verdict": r.Verdict, "total": r.Total, "launches": r.Launches})
	}
	return newRecord(record.Counters, c.Title(), c.Environment, rows)
}
