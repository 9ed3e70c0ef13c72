package tool

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
)

// metric is a count of the profiler that the emulator has, too.
type metric struct {
	name  string // of ncu, without .sum
	title string
	value func(gpu.Counters) uint64
	noisy bool // arbitration adds to it, and as much to its neighbour: their difference is exact
}

// metrics are those that must be equal, for the same PTX.
var metrics = []metric{
	{"l1tex__t_requests_pipe_lsu_mem_global_op_ld", "global load requests", func(c gpu.Counters) uint64 { return c.GlobalLoad.Requests }, false},
	{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "global load sectors", func(c gpu.Counters) uint64 { return c.GlobalLoad.Sectors }, false},
	{"l1tex__t_requests_pipe_lsu_mem_global_op_st", "global store requests", func(c gpu.Counters) uint64 { return c.GlobalStore.Requests }, false},
	{"l1tex__t_sectors_pipe_lsu_mem_global_op_st", "global store sectors", func(c gpu.Counters) uint64 { return c.GlobalStore.Sectors }, false},
	{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", "shared load wavefronts", func(c gpu.Counters) uint64 { return c.SharedLoad.Wavefronts }, true},
	{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld", "shared load conflicts", func(c gpu.Counters) uint64 { return c.SharedLoad.Conflicts }, true},
	{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st", "shared store wavefronts", func(c gpu.Counters) uint64 { return c.SharedStore.Wavefronts }, true},
	{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st", "shared store conflicts", func(c gpu.Counters) uint64 { return c.SharedStore.Conflicts }, true},
}

// profiler is ncu.
type profiler struct {
	metrics []string // beyond those that are compared
	set     string   // of sections; "" for none
}

var metricName = lazyregexp.New(`^[a-z][\w.:]*$`)

// Profile starts the profiler on the open devices: for the metrics that the
// emulator counts too, others that are named, and the sections of a set.
func Profile(others []string, set string) (*Run, error) {
	if err := checkNames(others); err != nil {
		return nil, err
	}
	return start(&profiler{others, set})
}

// checkNames rejects what cannot be a metric of ncu, and would be an option of its command line.
func checkNames(metrics []string) error {
	for _, m := range metrics {
		if !metricName().MatchString(m) {
			return fmt.Errorf("tool: ncu: metric %q: %w, expected a name such as sm__warps_active.avg", m, gpu.ErrArgument)
		}
	}
	return nil
}

func (p *profiler) name() string { return "ncu" }

func (p *profiler) command(report string) ([]string, error) {
	path, err := find("ncu", "nsight-compute")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range metrics {
		names = append(names, m.name+".sum")
	}
	command := []string{path, "--csv", "--page", "raw", "--print-units", "base", "--log-file", report,
		"--metrics", strings.Join(append(names, p.metrics...), ",")}
	if p.set != "" {
		command = append(command, "--set", p.set)
	}
	return command, nil
}

func (p *profiler) prepare(*gpu.Launch, bool) {}

func (p *profiler) every() bool { return false }

func (p *profiler) alone() string { return "" }

// profiled is ncu's report of one launch.
type profiled struct {
	entry, grid, block string
	values             map[string]string
}

// readProfile reads ncu's report: its own messages, and the table as CSV.
func readProfile(text string) (launches []profiled, units map[string]string, err error) {
	if strings.Contains(text, permission) {
		return nil, nil, errPermission
	}
	var table []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `"`) {
			table = append(table, line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(strings.Join(table, ""))).ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, nil, fmt.Errorf("tool: ncu: %d lines of results%s, expected a table", len(rows), lastMessage(text))
	}
	head := rows[0]
	units = map[string]string{}
	for i, name := range head {
		units[name] = rows[1][i]
	}
	for _, row := range rows[2:] {
		l := profiled{values: map[string]string{}}
		for i, name := range head {
			l.values[name] = row[i]
		}
		l.entry, l.grid, l.block = strings.SplitN(l.values["Kernel Name"], "(", 2)[0], l.values["Grid Size"], l.values["Block Size"]
		launches = append(launches, l)
	}
	return launches, units, nil
}

// lastMessage is the tool's last message about itself.
func lastMessage(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "==") {
			last = ": " + strings.TrimSpace(line)
		}
	}
	return last
}

// sum is a metric's value over the GPU.
func (l *profiled) sum(name string) (uint64, bool) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(l.values[name+".sum"], ",", ""), 64)
	return uint64(f), err == nil
}

// matches reports whether ncu's launch is the one that was observed.
func (l *profiled) matches(x *launch) bool {
	size := func(d gpu.Dim) string { return fmt.Sprintf("(%d, %d, %d)", d.X, d.Y, d.Z) }
	return l.entry == x.entry && l.grid == size(x.grid) && l.block == size(x.block)
}

// tables are the counters of each launch, a row each.
func (p *profiler) tables(w *watched, report string) ([]Table, error) {
	if report == "" {
		return []Table{p.emulatorsCounters(w)}, nil
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("tool: ncu: %w", err)
	}
	profiles, units, err := readProfile(string(text))
	if err != nil {
		return nil, err
	}
	t := Table{title: "ncu beside the emulator: " + w.device.Info().Name, columns: []string{"launch", "metric", "ncu", "emulator", "they are"}}
	for _, x := range w.launches {
		i := slices.IndexFunc(profiles, func(l profiled) bool { return l.matches(x) })
		if i < 0 {
			t.rows = append(t.rows, []string{x.String(), "-", "not in the report", "-", "-"})
			continue
		}
		t.rows = append(t.rows, compare(x, &profiles[i])...)
		t.rows = append(t.rows, p.others(x, &profiles[i], units)...)
	}
	t.notes = []string{"both count the same PTX; requests and sectors must be equal; arbitration adds up to 2.5 % to the profiler's wavefronts, " +
		"and as much to its conflicts, so that their difference must be equal", "no time is taken under a profiler"}
	for _, x := range w.launches {
		if x.note != "" {
			t.notes = append(t.notes, x.entry+": "+x.note)
		}
	}
	return []Table{t}, nil
}

// compare is a row for each metric that one of the two has counted.
func compare(x *launch, l *profiled) (rows [][]string) {
	for i, m := range metrics {
		got, ok := l.sum(m.name)
		want := m.value(x.counters)
		if !ok || got == 0 && want == 0 {
			continue
		}
		emulator, verdict := "-", "-"
		if x.counted {
			emulator, verdict = fmt.Sprint(want), judge(got, want)
			if neighbour := metrics[i^1]; m.noisy && got != want {
				other, _ := l.sum(neighbour.name)
				verdict = judge(got-other, want-neighbour.value(x.counters))
				if verdict == "equal" {
					verdict = "equal but for arbitration"
				}
			}
		}
		rows = append(rows, []string{x.String(), m.title, fmt.Sprint(got), emulator, verdict})
	}
	return rows
}

func judge(got, want uint64) string {
	if got == want {
		return "equal"
	}
	return "DIFFERENT"
}

// measured matches what a set of sections adds about a launch, leaving out the
// device's own attributes, the smallest and largest of its units, and rates.
var measured = lazyregexp.New(`^(?:dram|fbpa|gpc|gpu|idc|l1tex|launch|lts|sm|smsp|thread_inst|inst)__\w+(?:\.avg|\.sum|\.avg\.pct\w*|\.avg\.per_cycle\w*|\.ratio|)$`)

// others are the rows of the other requested metrics.
func (p *profiler) others(x *launch, l *profiled, units map[string]string) (rows [][]string) {
	names := p.metrics
	if p.set != "" {
		names = nil
		for name := range l.values {
			if measured().MatchString(name) && !strings.Contains(name, "time_duration") && !slices.ContainsFunc(metrics, func(m metric) bool { return strings.HasPrefix(name, m.name+".") }) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	for _, name := range names {
		value, ok := l.values[name]
		if !ok {
			value = "not measured on this GPU"
		}
		rows = append(rows, []string{x.String(), name, strings.TrimSpace(value + " " + units[name]), "-", "-"})
	}
	return rows
}

// emulatorsCounters is the table where there is no GPU.
func (p *profiler) emulatorsCounters(w *watched) Table {
	t := Table{title: "counters of the emulator: " + w.device.Info().Name, columns: []string{"launch", "metric", "emulator", "ideal", "ratio"}}
	for _, x := range w.launches {
		row := func(metric, value string) { t.rows = append(t.rows, []string{x.String(), metric, value, "-", "-"}) }
		if !x.counted {
			for _, f := range x.faults {
				row("fault", f.err.Error())
			}
			continue
		}
		for _, m := range metrics {
			if v := m.value(x.counters); v > 0 {
				t.rows = append(t.rows, append([]string{x.String(), m.title, fmt.Sprint(v)}, m.beside(x.counters)...))
			}
		}
		row("warp instructions (PTX)", fmt.Sprint(x.counters.WarpInstructions))
		t.rows = append(t.rows, []string{x.String(), "lanes active", fmt.Sprintf("%.1f %%", 100*x.counters.LaneEfficiency()), "100.0 %", "-"})
		for _, name := range p.metrics {
			row(name, counted(name, x.counters))
		}
	}
	t.notes = []string{"no GPU: ncu did not run; these are the emulator's counters, which for memory equal the profiler's on the same PTX",
		"ideal: as many sectors of 32 bytes, and wavefronts of 128, as the bytes asked for fill, and at least one per request; lanes that ask for the same bytes need fewer; Explain of an entry shows the lines that need more"}
	if p.set != "" {
		t.notes = append(t.notes, "--set "+p.set+": its metrics are ncu's alone, and need a GPU")
	}
	return t
}

// beside is the count if every moved byte is used, and the ratio of the count to it.
func (m metric) beside(c gpu.Counters) []string {
	var bytes, requests, unit uint64
	switch m.title {
	case "global load sectors":
		bytes, requests, unit = c.GlobalLoad.Bytes, c.GlobalLoad.Requests, 32
	case "global store sectors":
		bytes, requests, unit = c.GlobalStore.Bytes, c.GlobalStore.Requests, 32
	case "shared load wavefronts":
		bytes, requests, unit = c.SharedLoad.Bytes, c.SharedLoad.Requests, 128
	case "shared store wavefronts":
		bytes, requests, unit = c.SharedStore.Bytes, c.SharedStore.Requests, 128
	case "shared load conflicts", "shared store conflicts":
		return []string{"0", "-"}
	default:
		return []string{"-", "-"}
	}
	ideal := max(1, requests, (bytes+unit-1)/unit)
	return []string{fmt.Sprint(ideal), fmt.Sprintf("%.2f", float64(m.value(c))/float64(ideal))}
}

// counted is a metric that was asked for, if the emulator counts it.
func counted(name string, c gpu.Counters) string {
	for _, m := range metrics {
		if name == m.name || name == m.name+".sum" {
			return fmt.Sprint(m.value(c))
		}
	}
	return "not counted: ncu alone measures it, on a GPU"
}
