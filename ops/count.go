package ops

import (
	"fmt"
	"slices"

	"warpbook/gpu"
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
	Rows        []Count
	Environment Environment
	title       string
	machine     []string // in what machine code differs from PTX
}

// Count verifies the named variants, all of the device for none, and counts
// what their launches do. A device that cannot count returns an error that
// wraps gpu.ErrUnsupported.
func (b *Bench) Count(variants ...string) (*Counts, error) {
	c := &Counts{Environment: b.environment("each variant once, result verified; memory counters as NVIDIA's profiler has them, " +
		"the others at the level of PTX"), title: b.title("counters")}
	err := b.each("count", variants, &c.Environment, func(r *run) error {
		if len(variants) == 0 && r.variant.Host != nil {
			return nil
		}
		row, err := r.count()
		c.Rows = append(c.Rows, row)
		if err != nil {
			return err
		}
		notes, err := r.machineNotes()
		c.machine = append(c.machine, notes...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// count lets the verifying run fill the counters of each launch.
func (r *run) count() (Count, error) {
	row := Count{Name: r.variant.Name, Launches: make([]gpu.Counters, len(r.launches))}
	if r.variant.Host != nil {
		return row, fmt.Errorf("ops: %s: count: %w, it runs on the CPU", r.variant.Name, gpu.ErrUnsupported)
	}
	for i := range r.launches {
		r.launches[i].Counters = &row.Launches[i]
	}
	check, _, err := r.check()
	row.Verdict = check.Verdict
	for _, c := range row.Launches {
		row.Total.Add(c)
	}
	return row, err
}

// Passed reports whether every row is as it must be.
func (c *Counts) Passed() bool {
	for _, row := range c.Rows {
		if row.Verdict != Pass && row.Verdict != FailExpected {
			return false
		}
	}
	return true
}

// Title stands above the table.
func (c *Counts) Title() string { return c.title }

// Notes stand below the table. They say where the machine code has other
// accesses than the PTX, so that a profiler counts others.
func (c *Counts) Notes() []string { return append(slices.Clone(c.machine), c.Environment.Notes()...) }

// counter is a column of Counts.
type counter struct {
	title   string
	value   func(gpu.Counters) float64
	percent bool
}

// counterColumns stand in the order in which a reader asks of a rung: how much
// work, how evenly, how much waiting, how much traffic.
var counterColumns = []counter{
	{title: "warp instructions", value: func(c gpu.Counters) float64 { return float64(c.WarpInstructions) }},
	{title: "lanes active", value: gpu.Counters.LaneEfficiency, percent: true},
	{title: "divergent branches", value: func(c gpu.Counters) float64 { return float64(c.DivergentBranches) }},
	{title: "barriers", value: func(c gpu.Counters) float64 { return float64(c.Barriers) }},
	{title: "warp syncs", value: func(c gpu.Counters) float64 { return float64(c.WarpSyncs) }},
	{title: "shuffles", value: func(c gpu.Counters) float64 { return float64(c.Shuffles) }},
	{title: "global requests", value: func(c gpu.Counters) float64 {
		return float64(c.GlobalLoad.Requests + c.GlobalStore.Requests)
	}},
	{title: "global sectors", value: func(c gpu.Counters) float64 {
		return float64(c.GlobalLoad.Sectors + c.GlobalStore.Sectors)
	}},
	{title: "atomics", value: func(c gpu.Counters) float64 { return float64(c.GlobalAtomic.Requests) }},
	{title: "shared wavefronts", value: func(c gpu.Counters) float64 {
		return float64(c.SharedLoad.Wavefronts + c.SharedStore.Wavefronts)
	}},
	{title: "bank conflicts", value: func(c gpu.Counters) float64 {
		return float64(c.SharedLoad.Conflicts + c.SharedStore.Conflicts)
	}},
}

// text is a counter as a table cell has it.
func (c counter) text(of gpu.Counters) string {
	if c.percent {
		return fmt.Sprintf("%.1f %%", 100*c.value(of))
	}
	return grouped(c.value(of))
}

// Table is one row a variant, all its launches together.
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
	return record("counters", c.title, c.Environment, rows)
}
