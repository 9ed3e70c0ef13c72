package program

import (
	"fmt"
	"slices"

	"warpbook/gpu"
)

// Kernel is what a kernel of a program counted.
type Kernel struct {
	Name        string // as the source has it
	Launches    int
	Grid, Block gpu.Dim      // of the first launch
	Counters    gpu.Counters // of all launches
	Profile     gpu.Profile  // of the first launch, if Settings.Profiles is set
}

// Kernels are those of a run. They are shown as a table.
type Kernels []Kernel

// Title is the title of the table.
func (k Kernels) Title() string { return "What each kernel counted, in all its launches" }

// Notes say what the least is.
func (k Kernels) Notes() []string {
	return []string{"4 sectors per request are the least for 32 lanes of 4 bytes; 1 pass per shared access is the least"}
}

// Table has a row for each kernel. A request is one of a warp; the counts are those of
// NVIDIA's profiler for the same PTX.
func (k Kernels) Table() (columns []string, rows [][]string) {
	columns = []string{"kernel", "launches", "grid", "block", "warp instructions", "lanes in use", "sectors per global load", "sectors per global store", "passes per shared access", "bank conflicts", "divergent branches"}
	ratio := func(a, b uint64) string {
		if b == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", float64(a)/float64(b))
	}
	for _, k := range k {
		n, shared := k.Counters, k.Counters.Shared()
		rows = append(rows, []string{k.Name, fmt.Sprint(k.Launches), k.Grid.String(), k.Block.String(), fmt.Sprint(n.WarpInstructions), fmt.Sprintf("%.0f %%", 100*n.LaneEfficiency()),
			ratio(n.GlobalLoad.Sectors, n.GlobalLoad.Requests), ratio(n.GlobalStore.Sectors, n.GlobalStore.Requests), ratio(shared.Wavefronts, shared.Requests), fmt.Sprint(shared.Conflicts), fmt.Sprint(n.DivergentBranches)})
	}
	return columns, rows
}

// counting counts the launches of a run.
type counting struct {
	into     *Kernels // nil counts nothing
	profiles bool
}

// of is the launch with counters, and what adds them once it has run.
func (c counting) of(name string, l gpu.Launch) (gpu.Launch, func()) {
	if c.into == nil {
		return l, func() {}
	}
	i := slices.IndexFunc(*c.into, func(k Kernel) bool { return k.Name == name })
	counters, profile := new(gpu.Counters), new(gpu.Profile)
	l.Counters = counters
	if i < 0 && c.profiles {
		l.Profile = profile
	}
	return l, func() {
		if i < 0 {
			i, profile.Entry = len(*c.into), name
			*c.into = append(*c.into, Kernel{Name: name, Grid: l.Grid, Block: l.Block, Profile: *profile})
		}
		(*c.into)[i].Launches++
		(*c.into)[i].Counters.Add(*counters)
	}
}
