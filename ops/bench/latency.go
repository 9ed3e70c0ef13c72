package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/leaf/record"
	"warpbook/ops/bench/monitor"
	"warpbook/ops/ladder"
)

// Latency is a row of Latencies.
type Latency struct {
	Name      string
	Verdict   string // a row that is not Pass has no times
	Launches  int    // 0 for compiled Go
	Total     Sample // all launches
	First     Sample // the first launch alone, which the notes time
	Published []ladder.Figure
	State     monitor.State // of the GPU meanwhile; zero on the emulator
	Refused   string        // why a right result has no times, "" if it has
	Library   string        // of a peer; its First is not known
}

// Latencies is the latency table of a bench.
type Latencies struct {
	Rows        []Latency
	Environment Environment
	title       string
	clock       string // record.Time or record.EmulatorTime
	method      Method
	operator    string
	device      string
	size        ladder.Size
	peers       *Peers // of Beside
	work        ladder.Work
}

// Time verifies and times the named variants, all for none, by the bench's
// Method. A variant whose result is wrong gets a row without numbers, and so
// does one during which the GPU was slowed down. Under a profiler, or beside a
// process that keeps the GPU busy, the error wraps ErrDisturbed.
func (b *Bench) Time(variants ...string) (*Latencies, error) {
	if err := b.Method.check(); err != nil {
		return nil, err
	}
	watch, err := b.watched(context.Background())
	if err != nil {
		return nil, err
	}
	defer b.unwatch(watch)
	l := &Latencies{title: b.title("latency"), clock: record.Time, work: b.operator.Work(b.size),
		method: b.Method, operator: b.operator.Name, device: b.device.Info().Label(), size: b.size}
	if b.device.Info().Emulated {
		l.clock = record.EmulatorTime
	}
	l.Environment = b.environment(b.Method.describe(b.device.Info()) + "; each result verified before and after; median, and an interval that holds " +
		"it with 95 % confidence (fewer than 6 repeats: smallest to largest)")
	l.Environment.Beside = watch.notes
	err = b.each("time", variants, &l.Environment, func(r *run) error {
		start := time.Now()
		row, err := r.time()
		if err == nil && row.Verdict == ladder.Pass && r.variant.Host == nil {
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
		Published: r.variant.PublishedNear(r.bench.size)}
	var took time.Duration
	var err error
	if row.Verdict, took, err = r.rightBefore(); err != nil || row.Verdict != ladder.Pass {
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
	outputs, err := r.download()
	if err != nil {
		return row, fmt.Errorf("ops: %s: %w", r.variant.Name, err)
	}
	if len(r.compare(outputs).Failed) > 0 {
		delete(r.bench.verified, r.variant.Name)
		return Latency{Name: row.Name, Launches: row.Launches, Published: row.Published, Verdict: ladder.Fail}, nil
	}
	if len(r.launches) > 1 {
		row.First, err = r.timeLaunches(r.launches[:1], took, repeats)
	}
	return row, err
}

// rightBefore is the verdict on the variant before it is timed, and how long a run
// takes. A variant whose result for these inputs was right before only runs: time
// compares the result after the timing.
func (r *run) rightBefore() (verdict string, took time.Duration, err error) {
	if r.bench.verified[r.variant.Name] {
		took, err = r.again()
		return ladder.Pass, took, err
	}
	check, took, err := r.check()
	return check.Verdict, took, err
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
// times when it is slow, once when a single run takes a second, or on the emulator
// a fifth of one.
func (b *Bench) repeats(took time.Duration) int {
	if b.Repeats > 0 {
		return b.Repeats
	}
	if took > b.slow() {
		return 1
	}
	return int(min(50, max(3, b.slow()/max(took, time.Microsecond))))
}

// Title stands above the table.
func (l *Latencies) Title() string { return l.title }

// Notes stand below the table.
func (l *Latencies) Notes() []string {
	var notes []string
	if l.published() {
		notes = append(notes, "published: the figures of the founding notes, contradictory where the notes are"+l.publishedAt())
	}
	if l.severalLaunches() {
		notes = append(notes, "first launch: the first launch of a rung alone; the total has all launches")
	}
	return append(notes, append(l.oneTurn(), l.Environment.Notes()...)...)
}

// oneTurn is the note on peers that were timed after the ladder, and not in turns with
// it: clocks and temperatures of the two times differ.
func (l *Latencies) oneTurn() []string {
	if l.peers == nil || len(l.peers.Figures) == 0 {
		return nil
	}
	return []string{"one turn: the peers were timed once, after the ladder, so differences from them under 1 % are not established"}
}

// published reports whether a row has figures of the founding notes.
func (l *Latencies) published() bool {
	return slices.ContainsFunc(l.all(), func(r Latency) bool { return len(l.comparable(r)) > 0 })
}

// nearSize is the factor within which a published size is near that of this run.
const nearSize = 4

// comparable are the published figures of a row that may stand beside its time: those
// of a size near this one, and times whose size the notes do not say.
func (l *Latencies) comparable(r Latency) (near []ladder.Figure) {
	for _, f := range r.Published {
		far := len(f.Size) == 0 && f.Unit == ""
		for i, n := range f.Size {
			ratio := float64(n) / float64(max(1, l.size[i]))
			far = far || ratio > nearSize || ratio < 1./nearSize
		}
		if !far {
			near = append(near, f)
		}
	}
	return near
}

// severalLaunches reports whether a rung needs more than one launch.
func (l *Latencies) severalLaunches() bool {
	return slices.ContainsFunc(l.all(), func(r Latency) bool { return r.Launches > 1 })
}

// publishedAt says for which sizes and devices figures were published: where most
// were, and of which variants elsewhere.
func (l *Latencies) publishedAt() string {
	var places []string
	names := map[string][]string{}
	for _, r := range l.Rows {
		published := l.comparable(r)
		if len(published) == 0 {
			continue
		}
		_, at := figures(published)
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

// Table is one row a variant. Times are in microseconds. It has published figures and
// first launches where there are any.
func (l *Latencies) Table() (columns []string, rows [][]string) {
	columns, rows = l.table(false)
	var without []string
	if !l.published() {
		without = append(without, "published")
	}
	if !l.severalLaunches() {
		without = append(without, "first launch (us)")
	}
	return withoutColumns(columns, rows, without)
}

// withoutColumns removes the columns of some names.
func withoutColumns(columns []string, rows [][]string, names []string) ([]string, [][]string) {
	for i := len(columns) - 1; i >= 0; i-- {
		if !slices.Contains(names, columns[i]) {
			continue
		}
		columns = slices.Delete(columns, i, i+1)
		for j := range rows {
			rows[j] = slices.Delete(rows[j], i, i+1)
		}
	}
	return columns, rows
}

// table has columns with the speed of peers where these are wanted.
func (l *Latencies) table(ratios bool) (columns []string, rows [][]string) {
	columns = []string{"variant", "total, " + l.clock + " (us)", "published", "first launch (us)", "low", "high", "CV",
		"repeats", "launches"}
	for _, r := range l.all() {
		published, _ := figures(l.comparable(r))
		cells := []string{r.Name, "-", published, "-", "-", "-", "-", "-", "-"}
		switch {
		case r.Refused != "":
			cells[1] = "no time: " + r.Refused
		case r.Verdict != ladder.Pass:
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
		if l.clock == record.Time {
			cells = append(cells, r.State.String())
		}
		rows = append(rows, cells)
	}
	if l.clock == record.Time {
		columns = append(columns, "lowest clock, highest power")
	}
	return l.withRates(columns, rows)
}

// ShortLatencies is the latency table of a comparison: times, rates and the speed
// as a multiple of each peer's.
type ShortLatencies struct{ *Latencies }

// Short is the table without published figures, first launches and repeats, and
// with a column for each peer of Beside.
func (l *Latencies) Short() ShortLatencies { return ShortLatencies{l} }

// Notes stand below the table.
func (s ShortLatencies) Notes() []string { return append(s.oneTurn(), s.Environment.Notes()...) }

// Table is one row a variant. Times are in microseconds.
func (s ShortLatencies) Table() (columns []string, rows [][]string) {
	columns, rows = s.table(true)
	return withoutColumns(columns, rows, []string{"published", "first launch (us)", "CV", "repeats", "launches"})
}

// rated are the operations whose rate is shown: 0 where memory binds the operator.
func (l *Latencies) rated() float64 {
	if l.work.Roof == ladder.Memory {
		return 0
	}
	return l.work.Operations
}

// rateUnit is that of rates.
func (l *Latencies) rateUnit() string {
	if l.work.Roof == ladder.Memory {
		return "GB/s"
	}
	return "G" + cmp.Or(l.work.Unit, "FLOP") + "/s"
}

// withRates puts a rate beside each time: GFLOP/s of an operator bound by arithmetic,
// and of one bound by memory GB/s with their share of what reading alone gives, where
// that was measured. Times of the emulation give no rate of memory.
func (l *Latencies) withRates(columns []string, rows [][]string) ([]string, [][]string) {
	if l.rated() == 0 && l.clock != record.Time {
		return columns, rows
	}
	names := []string{l.rateUnit()}
	limit := l.readLimit()
	if limit > 0 {
		names = append(names, "of the limit")
	}
	for i, r := range l.all() {
		cells := slices.Repeat([]string{"-"}, len(names))
		if ns := float64(r.Total.Median); r.timed() && ns > 0 {
			cells[0] = significant(l.amount()/ns, 4)
			if limit > 0 {
				cells[1] = percent(limit / ns)
			}
		}
		rows[i] = slices.Insert(rows[i], 2, cells...)
	}
	return slices.Insert(columns, 2, names...), rows
}

// amount is the work that a rate counts.
func (l *Latencies) amount() float64 {
	if l.work.Roof == ladder.Memory {
		return l.work.Bytes
	}
	return l.work.Operations
}

// readLimit is the time of the fastest kernel that moves the bytes of a memory-bound
// operator and does nothing else, in ns; 0 where none was measured.
func (l *Latencies) readLimit() float64 {
	if l.peers == nil || l.work.Roof != ladder.Memory {
		return 0
	}
	if f := l.peers.Find(limit + "read"); f != nil {
		return f.MedianNS
	}
	return 0
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
		return ladder.Grouped(us)
	}
	return significant(us, 4)
}

// figures joins the published figures of a variant, with their sizes and devices.
func figures(published []ladder.Figure) (values, at string) {
	var v, a []string
	for _, f := range published {
		if text := f.String(); !slices.Contains(v, text) { // the notes print some at two places
			v = append(v, text)
		}
		place := f.At() + ", " + f.On()
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
			if l.clock == record.Time && r.Total.Median > 0 {
				row["gbps"] = l.work.Bytes / float64(r.Total.Median)
			}
			if l.rated() > 0 && r.Total.Median > 0 {
				row["gflops"] = l.rated() / float64(r.Total.Median)
			}
		}
		rows = append(rows, row)
	}
	return newRecord(record.Figures, l.title, l.Environment, rows)
}

func (s Sample) record() map[string]any {
	return map[string]any{"median_ns": s.Median.Nanoseconds(), "low_ns": s.Low.Nanoseconds(),
		"high_ns": s.High.Nanoseconds(), "cv": s.CV, "repeats": s.Repeats, "samples_ns": append([]time.Duration{}, s.Times...)}
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

// Peers are those of Names that stand below the ladder: kernels of libraries, and limits.
func (l *Latencies) Peers() []string {
	var names []string
	for _, r := range l.timed() {
		if r.Library != "" {
			names = append(names, r.Name)
		}
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
	return l.pick(func(r Latency) float64 { return l.rated() / float64(r.Total.Median) })
}

// PublishedTimes are the first published times in ns, NaN where there is none or
// where the notes do not say the size.
func (l *Latencies) PublishedTimes() []float64 {
	return l.pick(func(r Latency) float64 {
		for _, f := range r.Published {
			if f.Unit == "ms" && len(f.Size) > 0 {
				return f.Value * 1e6
			}
		}
		return math.NaN()
	})
}

// timed reports whether the row has times.
func (r Latency) timed() bool { return r.Verdict == ladder.Pass && r.Refused == "" }

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
