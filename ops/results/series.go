package results

import (
	"math"
	"warpbook/kernel/leaf/record"
	"warpbook/ops/ladder"
)

func (l *Latencies) work() ladder.Work { return l.Operator.Work(l.Size) }

// Clock labels a plot's axis: "time", or "emulator time".
func (l *Latencies) Clock() string {
	if l.Device.Emulated {
		return record.EmulatorTime
	}
	return record.Time
}

// Names are the rungs that have times, in order, and the peers beside them;
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

func (l *Latencies) pick(f func(Latency) float64) []float64 {
	var values []float64
	for _, r := range l.timed() {
		values = append(values, f(r))
	}
	return values
}

func (l *Latencies) timed() []Latency {
	var timed []Latency
	for _, r := range l.all() {
		if r.timed() {
			timed = append(timed, r)
		}
	}
	return timed
}
