package results

import (
	"cmp"
	"fmt"
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
	Audit     Audit         // of a kernel of the caller's; zero where none was asked for
}

// Audit is what was seen of code that is not ours, beside its result and its time.
type Audit struct {
	Rejected string   // why the time is not that of the work, "" if it is
	Reported []string // what a reader of the time should know
}

// Rejected is the verdict on code whose time an audit rejects.
const Rejected = "REJECTED"

// Note is the audit in one line.
func (a Audit) Note() string {
	parts := a.Reported
	if a.Rejected != "" {
		parts = append([]string{a.Rejected}, parts...)
	}
	return strings.Join(parts, "; ")
}

// Latencies is the latency table of a bench.
type Latencies struct {
	Subject
	Method Method
	Rows   []Latency
	peers  *Peers // of Beside
}

// Title stands above the table.
func (l *Latencies) Title() string { return l.title("latency") }

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

// oneTurn is the note on peers that were timed after the ladder, and not alternately with
// it: clocks and temperatures of the two times differ.
func (l *Latencies) oneTurn() []string {
	if l.peers == nil || len(l.peers.Figures) == 0 {
		return nil
	}
	return []string{"one repetition: the peers were timed once, after the ladder, so differences from them under 1 % are not established"}
}

// severalLaunches reports whether a rung needs more than one launch.
func (l *Latencies) severalLaunches() bool {
	return slices.ContainsFunc(l.all(), func(r Latency) bool { return r.Launches > 1 })
}

// Table is one row a rung. Times are in microseconds. It has published figures and
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
	columns = []string{"variant", "total, " + l.Clock() + " (us)", "published", "first launch (us)", "low", "high", "CV",
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
		if l.Clock() == record.Time {
			cells = append(cells, r.State.String())
		}
		rows = append(rows, cells)
	}
	if l.Clock() == record.Time {
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

// Table is one row a rung. Times are in microseconds.
func (s ShortLatencies) Table() (columns []string, rows [][]string) {
	columns, rows = s.table(true)
	return withoutColumns(columns, rows, []string{"published", "first launch (us)", "CV", "repeats", "launches"})
}

// rated are the operations whose rate is shown: 0 where memory binds the operator.
func (l *Latencies) rated() float64 {
	if l.work().Roof == ladder.Memory {
		return 0
	}
	return l.work().Operations
}

// rateUnit is that of rates.
func (l *Latencies) rateUnit() string {
	if l.work().Roof == ladder.Memory {
		return "GB/s"
	}
	return "G" + cmp.Or(l.work().Unit, "FLOP") + "/s"
}

// withRates puts a rate beside each time: GFLOP/s of an operator bound by arithmetic,
// and of one bound by memory GB/s with their share of what reading alone gives, where
// that was measured. Times of the emulation give no rate of memory.
func (l *Latencies) withRates(columns []string, rows [][]string) ([]string, [][]string) {
	if l.rated() == 0 && l.Clock() != record.Time {
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
	if l.work().Roof == ladder.Memory {
		return l.work().Bytes
	}
	return l.work().Operations
}

// readLimit is the time of the fastest kernel that moves the bytes of a memory-bound
// operator and does nothing else, in ns; 0 where none was measured.
func (l *Latencies) readLimit() float64 {
	if l.peers == nil || l.work().Roof != ladder.Memory {
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

// Record is the table for programs.
func (l *Latencies) Record() any {
	var rows []map[string]any
	for _, r := range l.all() {
		row := map[string]any{"name": r.Name, "verdict": r.Verdict, "clock": l.Clock(), "launches": r.Launches,
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
			if l.Clock() == record.Time && r.Total.Median > 0 {
				row["gbps"] = l.work().Bytes / float64(r.Total.Median)
			}
			if l.rated() > 0 && r.Total.Median > 0 {
				row["gflops"] = l.rated() / float64(r.Total.Median)
			}
		}
		rows = append(rows, row)
	}
	return newRecord(record.Figures, l.Title(), l.Environment, rows)
}

func (s Sample) record() map[string]any {
	return map[string]any{"median_ns": s.Median.Nanoseconds(), "low_ns": s.Low.Nanoseconds(),
		"high_ns": s.High.Nanoseconds(), "cv": s.CV, "repeats": s.Repeats, "samples_ns": append([]time.Duration{}, s.Times...)}
}
