package bench

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
	Rows        []Count
	Environment Environment
	title       string
	machine     []string // in what machine code differs from PTX
}

// counted is a verified count of a variant on the inputs of a bench.
type counted struct {
	row     Count
	machine []string // in what its machine code differs from PTX
}

// Count verifies the named variants, all of the device for none, and counts
// what their launches do. Counters of the same inputs are the same, so that a variant
// with a verified count is not run again. A device that cannot count returns an error
// that wraps gpu.ErrUnsupported.
func (b *Bench) Count(variants ...string) (*Counts, error) {
	c := &Counts{Environment: b.environment("each variant once, result verified; memory counters as NVIDIA's profiler has them, " +
		"the others at the level of PTX"), title: b.title("counters")}
	err := b.each("count", variants, &c.Environment, func(r *run) error {
		if len(variants) == 0 && r.variant.Host != nil {
			return nil
		}
		of, err := r.counted()
		c.Rows, c.machine = append(c.Rows, of.row), append(c.machine, of.machine...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// counted returns the variant's verified count on these inputs, and counts it if there is
// none. The caller may change the row.
func (r *run) counted() (of counted, err error) {
	known := r.bench.counted[r.variant.Name]
	if known == nil {
		if of.row, err = r.count(); err == nil {
			of.machine, err = r.machineNotes()
		}
		if err != nil || of.row.Verdict != ladder.Pass {
			return of, err
		}
		known = &counted{of.row, of.machine}
		r.bench.counted[r.variant.Name] = known
	}
	of = *known
	of.row.Launches = slices.Clone(of.row.Launches)
	return of, nil
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

// Counted returns the counters of a variant's verified count on these inputs, and counts
// it if there is none. It is for statements in notebooks, where an error and a
// wrong result end the cell.
func (b *Bench) Counted(variant string) *gpu.Counters {
	if c := b.counted[variant]; c != nil {
		return &c.row.Total
	}
	if _, err := b.Count(variant); err != nil {
		panic(err)
	}
	c := b.counted[variant]
	if c == nil {
		panic(fmt.Errorf("ops: %s: its result is wrong, expected a verified one before its counters are used", variant))
	}
	return &c.row.Total
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
	return newRecord(record.Counters, c.title, c.Environment, rows)
}

// machineNotes name the differences between the memory accesses in a variant's PTX and in
// its machine code, which a profiler counts.
func (r *run) machineNotes() ([]string, error) {
	if r.variant.Own != nil {
		return nil, nil
	}
	source := r.source()
	file, err := r.bench.operator.PTX(source, r.bench.device.Info())
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	m, err := r.bench.operator.MachineCode()
	if err != nil {
		return nil, err
	}
	return m.Notes(file, entriesOf(r.launches)), nil
}

// entriesOf are the entries that rows of counters launched.
func entriesOf(launches []gpu.Launch) (names []string) {
	for _, l := range launches {
		if name := l.Entry.Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
