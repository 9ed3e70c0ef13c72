package ops

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warpbook/ops/monitor"
)

// Latency is a row of Latencies.
type Latency struct {
	Name      string
	Verdict   string // a row that is not Pass has no times
	Launches  int    // 0 for compiled Go
	Total     Sample // all launches
	First     Sample // the first launch alone, which the notes time
	Published []Figure
	State     monitor.State // of the GPU meanwhile; zero on the emulator
	Refused   string        // why a right result has no times, "" if it has
	Library   string        // of a peer; its First is not known
}

// Latencies is the latency table of a bench.
type Latencies struct {
	Rows        []Latency
	Environment Environment
	title       string
	clock       string // "time" or "emulator time"
	method      Method
	operator    string
	device      string
	size        Size
	peers       *Peers // of Beside
	bytes       float64
	flops       float64 // 0 where the operator is bound by memory
}

// Time verifies and times the named variants, all for none, by the bench's
// Method. A variant whose result is wrong gets a row without numbers, and so
// does one during which the GPU was slowed down. Under a profiler, or beside a
// process that keeps the GPU busy, the error wraps ErrDisturbed.
func (b *Bench) Time(variants ...string) (*Latencies, error) {
	if err := b.Method.check(); err != nil {
		return nil, err
	}
	watch, err := b.watch(context.Background())
	if err != nil {
		return nil, err
	}
	defer watch.close()
	l := &Latencies{title: b.title("latency"), clock: "time", bytes: b.operator.Bytes(b.size),
		method: b.Method, operator: b.operator.Name, device: b.device.Info().Name, size: b.size}
	if b.operator.ComputeBound {
		l.flops = b.operator.Flops(b.size)
	}
	if b.device.Info().Emulated {
		l.clock = "emulator time"
	}
	l.Environment = b.environment(b.Method.describe(b.device.Info()) + "; each result verified before and after; median, and an interval that holds " +
		"it with 95 % confidence (fewer than 6 repeats: smallest to largest)")
	l.Environment.Beside = watch.notes
	err = b.each("time", variants, &l.Environment, func(r *run) error {
		start := time.Now()
		row, err := r.time()
		if err == nil && row.Verdict == Pass && r.variant.Host == nil {
			row.State, row.Refused = watch.since(start)
		}
		l.Rows = append(l.Rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// time verifies the variant, times it, and verifies what the last of the timed
// runs left.
func (r *run) time() (Latency, error) {
	row := Latency{Name: r.variant.Name, Launches: len(r.launches),
		Published: r.variant.publishedNear(r.bench.size)}
	check, took, err := r.check()
	row.Verdict = check.Verdict
	if err != nil || check.Verdict != Pass {
		return row, err
	}
	repeats := r.bench.repeats(took)
	if r.variant.Host != nil {
		row.Total = r.timeHost(repeats)
		row.First = row.Total
		return row, nil
	}
	if row.Total, err = r.timeLaunches(r.launches, took, repeats); err != nil {
		return row, err
	}
	row.First = row.Total
	outputs := r.newOutputs()
	if err := r.download(outputs); err != nil {
		return row, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	if len(compare(r.bench.stopped, outputs, r.bench.expected, r.plan).Failed) > 0 {
		return Latency{Name: row.Name, Launches: row.Launches, Published: row.Published, Verdict: Fail}, nil
	}
	if len(r.launches) > 1 {
		row.First, err = r.timeLaunches(r.launches[:1], took, repeats)
	}
	return row, err
}

func (r *run) timeHost(repeats int) Sample {
	outputs := r.newOutputs()
	times := make([]time.Duration, repeats)
	for i := range times {
		start := time.Now()
		r.variant.Host(r.bench.stopped, r.bench.size, r.bench.inputs, outputs)
		times[i] = time.Since(start)
	}
	return summarize(times)
}

// repeats is how often a run that took so long is timed: up to 50 times, three
// times when it is slow, once when a single run takes a second.
func (b *Bench) repeats(took time.Duration) int {
	if b.Repeats > 0 {
		return b.Repeats
	}
	if took > time.Second {
		return 1
	}
	return int(min(50, max(3, b.slow()/max(took, time.Microsecond))))
}

// Title stands above the table.
func (l *Latencies) Title() string { return l.title }

// Notes stand below the table.
func (l *Latencies) Notes() []string {
	return append([]string{
		"published: the figures of the founding notes, contradictory where the notes are" + l.publishedAt(),
		"first launch: what the notes time; the total adds the launches that finish the sum",
	}, l.Environment.Notes()...)
}

// publishedAt says for which sizes and devices figures were published: where most
// were, and of which variants elsewhere.
func (l *Latencies) publishedAt() string {
	var places []string
	names := map[string][]string{}
	for _, r := range l.Rows {
		if len(r.Published) == 0 {
			continue
		}
		_, at := figures(r.Published)
		if names[at] == nil {
			places = append(places, at)
		}
		names[at] = append(names[at], r.Name)
	}
	slices.SortStableFunc(places, func(a, b string) int { return len(names[b]) - len(names[a]) })
	text := ""
	for i, at := range places {
		if text += "; "; i > 0 {
			text += strings.Join(names[at], ", ") + ": "
		}
		text += "for " + at
	}
	return text
}

// Table is one row a variant. Times are in microseconds.
func (l *Latencies) Table() (columns []string, rows [][]string) { return l.table(false) }

// table has columns with the speed of peers where these are wanted.
func (l *Latencies) table(ratios bool) (columns []string, rows [][]string) {
	columns = []string{"variant", "total, " + l.clock + " (us)", "published", "first launch (us)", "low", "high", "CV",
		"repeats", "launches"}
	for _, r := range l.all() {
		published, _ := figures(r.Published)
		cells := []string{r.Name, "-", published, "-", "-", "-", "-", "-", "-"}
		switch {
		case r.Refused != "":
			cells[1] = "no time: " + r.Refused
		case r.Verdict != Pass:
			cells[1] = r.Verdict + ": no time"
		default:
			cells = []string{r.Name, micro(r.Total.Median), published, micro(r.First.Median), micro(r.Total.Low),
				micro(r.Total.High), fmt.Sprintf("%.1f %%", 100*r.Total.CV), fmt.Sprint(r.Total.Repeats),
				launches(r.Launches)}
			if r.Library != "" {
				cells[3], cells[8] = "-", r.Library
			}
		}
		if ratios {
			names, speeds := l.besidePeers(r)
			if cells = append(cells, speeds...); len(rows) == 0 {
				columns = append(columns, names...)
			}
		}
		if l.clock == "time" {
			cells = append(cells, r.State.String())
		}
		rows = append(rows, cells)
	}
	if l.clock == "time" {
		columns = append(columns, "lowest clock, highest power")
	}
	return l.withRates(columns, rows)
}

// ShortLatencies is the latency table of a comparison: times, rates and the speed
// as a multiple of each peer's.
type ShortLatencies struct{ *Latencies }

// Short is the table without what is published, first launches and repeats, and
// with a column for each peer of Beside.
func (l *Latencies) Short() ShortLatencies { return ShortLatencies{l} }

// Notes stand below the table.
func (s ShortLatencies) Notes() []string { return s.Environment.Notes() }

// Table is one row a variant. Times are in microseconds.
func (s ShortLatencies) Table() (columns []string, rows [][]string) {
	columns, rows = s.table(true)
	left := []string{"published", "first launch (us)", "CV", "repeats", "launches"}
	for i := len(columns) - 1; i >= 0; i-- {
		if !slices.Contains(left, columns[i]) {
			continue
		}
		columns = slices.Delete(columns, i, i+1)
		for j := range rows {
			rows[j] = slices.Delete(rows[j], i, i+1)
		}
	}
	return columns, rows
}

// withRates puts GFLOP/s beside the time of an operator bound by arithmetic.
func (l *Latencies) withRates(columns []string, rows [][]string) ([]string, [][]string) {
	if l.flops == 0 {
		return columns, rows
	}
	for i, r := range l.all() {
		rate := "-"
		if r.timed() && r.Total.Median > 0 {
			rate = significant(l.flops/float64(r.Total.Median), 4)
		}
		rows[i] = slices.Insert(rows[i], 2, rate)
	}
	return slices.Insert(columns, 2, "GFLOP/s"), rows
}

func launches(n int) string {
	if n == 0 {
		return "CPU"
	}
	return fmt.Sprint(n)
}

// micro is a time in microseconds with four significant digits.
func micro(d time.Duration) string {
	us := float64(d) / 1e3
	if us >= 1000 {
		return grouped(us)
	}
	return significant(us, 4)
}

// figures joins what was published of a variant: the figures, and the sizes and
// devices that they were measured at.
func figures(published []Figure) (values, at string) {
	var v, a []string
	for _, f := range published {
		v = append(v, f.String())
		place := f.Size.String() + ", " + f.device()
		if len(a) == 0 || a[len(a)-1] != place {
			a = append(a, place)
		}
	}
	if len(v) == 0 {
		return "-", "-"
	}
	return strings.Join(v, " or "), strings.Join(a, "; ")
}

// Record is the table for programs.
func (l *Latencies) Record() any {
	var rows []map[string]any
	for _, r := range l.all() {
		row := map[string]any{"name": r.Name, "verdict": r.Verdict, "clock": l.clock, "launches": r.Launches,
			"published": r.Published}
		if r.Library != "" {
			row["library"] = r.Library
		}
		if r.Refused != "" {
			row["refused"] = r.Refused
		}
		if r.State.ClockMHz > 0 {
			row["gpu"] = r.State
		}
		if r.timed() {
			if row["total"] = r.Total.record(); r.Library == "" {
				row["first"] = r.First.record()
			}
			if l.clock == "time" && r.Total.Median > 0 {
				row["gbps"] = l.bytes / float64(r.Total.Median)
			}
			if l.flops > 0 && r.Total.Median > 0 {
				row["gflops"] = l.flops / float64(r.Total.Median)
			}
		}
		rows = append(rows, row)
	}
	return record("figures", l.title, l.Environment, rows)
}

func (s Sample) record() map[string]any {
	return map[string]any{"median_ns": s.Median.Nanoseconds(), "low_ns": s.Low.Nanoseconds(),
		"high_ns": s.High.Nanoseconds(), "cv": s.CV, "repeats": s.Repeats}
}

// Clock labels a plot's axis: "time", or "emulator time".
func (l *Latencies) Clock() string { return l.clock }

// Names are the variants that have times, in order, and the peers beside them;
// the slices of the methods below belong to them one by one.
func (l *Latencies) Names() []string {
	var names []string
	for _, r := range l.timed() {
		names = append(names, r.Name)
	}
	return names
}

// Medians are the medians of all launches in ns.
func (l *Latencies) Medians() []float64 {
	return l.pick(func(r Latency) float64 { return float64(r.Total.Median) })
}

// Lows are the lower ends of the intervals in ns.
func (l *Latencies) Lows() []float64 {
	return l.pick(func(r Latency) float64 { return float64(r.Total.Low) })
}

// Highs are the upper ends of the intervals in ns.
func (l *Latencies) Highs() []float64 {
	return l.pick(func(r Latency) float64 { return float64(r.Total.High) })
}

// Rates are GFLOP/s by the medians, 0 where the operator is bound by memory.
func (l *Latencies) Rates() []float64 {
	return l.pick(func(r Latency) float64 { return l.flops / float64(r.Total.Median) })
}

// PublishedTimes are the first published times in ns, NaN where there is none.
func (l *Latencies) PublishedTimes() []float64 {
	return l.pick(func(r Latency) float64 {
		for _, f := range r.Published {
			if f.Unit == "ms" {
				return f.Value * 1e6
			}
		}
		return math.NaN()
	})
}

// timed says whether the row has times.
func (r Latency) timed() bool { return r.Verdict == Pass && r.Refused == "" }

func (l *Latencies) timed() []Latency {
	var timed []Latency
	for _, r := range l.all() {
		if r.timed() {
			timed = append(timed, r)
		}
	}
	return timed
}

func (l *Latencies) pick(f func(Latency) float64) []float64 {
	var values []float64
	for _, r := range l.timed() {
		values = append(values, f(r))
	}
	return values
}
