package bench

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// counted is a verified count of a rung on the inputs of a bench.
type counted struct {
	row     results.Count
	machine []string // in what its machine code differs from PTX
}

// Count verifies the named rungs, all of the device for none, and counts
// what their launches do. Counters of the same inputs are the same, so that a rung
// with a verified count is not run again. A device that cannot count returns an error
// that wraps gpu.ErrUnsupported.
func (b *Bench) Count(variants ...string) (*results.Counts, error) {
	c := &results.Counts{Subject: b.subject("each variant once, result verified; memory counters as NVIDIA's profiler has them, " +
		"the others at the level of PTX")}
	err := b.each("count", variants, &c.Environment, func(r *trial) error {
		if len(variants) == 0 && r.Variant.Host != nil {
			return nil
		}
		of, err := r.counted()
		c.Rows, c.Machine = append(c.Rows, of.row), append(c.Machine, of.machine...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// counted returns the rung's verified count on these inputs, and counts it if there is
// none. The caller may change the row.
func (r *trial) counted() (of counted, err error) {
	known := r.bench.counted[r.Variant.Name]
	if known == nil {
		if of.row, err = r.count(); err == nil {
			of.machine, err = r.machineNotes()
		}
		if err != nil || of.row.Verdict != ladder.Pass {
			return of, err
		}
		known = &counted{of.row, of.machine}
		r.bench.counted[r.Variant.Name] = known
	}
	of = *known
	of.row.Launches = slices.Clone(of.row.Launches)
	return of, nil
}

// count lets the verifying run fill the counters of each launch.
func (r *trial) count() (results.Count, error) {
	row := results.Count{Name: r.Variant.Name, Launches: make([]gpu.Counters, len(r.Launches))}
	if r.Variant.Host != nil {
		return row, fmt.Errorf("ops: %s: count: %w, it runs on the CPU", r.Variant.Name, gpu.ErrUnsupported)
	}
	for i := range r.Launches {
		r.Launches[i].Counters = &row.Launches[i]
	}
	check, _, err := r.check()
	row.Verdict = check.Verdict
	for _, c := range row.Launches {
		row.Total.Add(c)
	}
	return row, err
}

// Counted returns the counters of a rung's verified count on these inputs, and counts
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

// machineNotes name the differences between the memory accesses in a rung's PTX and in
// its machine code, which a profiler counts.
func (r *trial) machineNotes() ([]string, error) {
	if r.Variant.Own != nil {
		return nil, nil
	}
	source := r.Source()
	file, err := r.bench.operator.PTX(source, r.bench.site.Device.Info())
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	m, err := r.bench.operator.MachineCode()
	if err != nil {
		return nil, err
	}
	return m.Notes(file, entriesOf(r.Launches)), nil
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
