package display

import (
	"math"

	"gonum.org/v1/plot"
)

// prepare returns a copy of p that draws without the traps of gonum/plot: no
// panic on a log axis, ticks that are labelled, the house font.
func prepare(p *plot.Plot, all []series) *plot.Plot {
	q := *p
	restyle(&q)
	var xs, ys []float64
	for _, s := range all {
		xs, ys = append(xs, s.xs()...), append(ys, s.ys()...)
	}
	prepareAxis(&q.X, xs)
	prepareAxis(&q.Y, ys)
	return &q
}

// prepareAxis changes the range of a to one that its scale can draw.
func prepareAxis(a *plot.Axis, values []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	log := isLog(*a)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low > high {
		low, high = 1, 10
	}
	if math.IsNaN(a.Min) || math.IsInf(a.Min, 0) || log && a.Min <= 0 {
		a.Min = low
		if log {
			a.Min = roundBelow(low / 1.5) // so that the least bar has a length
		}
	}
	if math.IsNaN(a.Max) || math.IsInf(a.Max, 0) || log && a.Max <= 0 {
		a.Max = high
	}
	if !log {
		return
	}
	a.Scale = logScale{}
	if a.Min == a.Max {
		a.Min, a.Max = a.Min/2, a.Max*2
	}
	switch a.Tick.Marker.(type) {
	case plot.DefaultTicks, plot.LogTicks:
		a.Tick.Marker = logTicks{}
	}
}

func isLog(a plot.Axis) bool {
	switch a.Scale.(type) {
	case plot.LogScale, logScale:
		return true
	}
	return false
}

// logScale is a logarithmic scale on which zero and negative values lie at
// the low end, where gonum's panics: a bar or error bar that reaches zero
// then ends at the axis.
type logScale struct{}

func (logScale) Normalize(min, max, x float64) float64 {
	if x <= 0 || min <= 0 || max <= min {
		return 0
	}
	return (math.Log(x) - math.Log(min)) / (math.Log(max) - math.Log(min))
}
