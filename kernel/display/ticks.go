package display

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// logTicks marks a logarithmic axis at powers of ten, at 1, 2 and 5 times
// these where the range is short, and at even steps where it is shorter
// still. gonum's LogTicks may leave such an axis without labels.
type logTicks struct{}

const (
	minLabels = 3 // that an axis should have
	maxLabels = 9
	hair      = 1e-9 // tolerance at the ends of a range
)

func (logTicks) Ticks(low, high float64) []plot.Tick {
	if !(low > 0) || !(high > low) || math.IsInf(high, 0) {
		return nil
	}
	decades := math.Log10(high) - math.Log10(low) // high/low may overflow
	every := int(math.Ceil(decades / maxLabels))
	labels := multiples(low, high, max(every, 1), 1)
	if len(labels) < minLabels+1 && decades < 3 {
		labels = multiples(low, high, 1, 1, 2, 5)
	}
	if len(labels) < minLabels {
		return evenTicks(0).Ticks(low, high)
	}
	ticks := labelled(labels)
	if every <= 1 {
		for _, v := range multiples(low, high, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
			ticks = append(ticks, plot.Tick{Value: v})
		}
	}
	return ticks
}

// multiples returns each factor times each every-th power of ten within the
// range.
func multiples(low, high float64, every int, factors ...float64) []float64 {
	var out []float64
	for e := int(math.Floor(math.Log10(low))) - 1; e <= int(math.Ceil(math.Log10(high))); e++ {
		if e%every != 0 {
			continue
		}
		for _, f := range factors {
			if v := f * math.Pow10(e); v >= low*(1-hair) && v <= high*(1+hair) {
				out = append(out, v)
			}
		}
	}
	return out
}

// evenTicks marks an axis in even steps of 1, 2 or 5 times a power of ten, in
// at most this many steps; 0 for the usual number.
type evenTicks int

const usualSteps = 7

func (most evenTicks) Ticks(low, high float64) []plot.Tick {
	if !(high > low) || math.IsInf(high-low, 0) {
		return nil
	}
	if most <= 0 {
		most = usualSteps
	}
	unit := math.Pow10(int(math.Floor(math.Log10(high - low))))
	step := 10 * unit
	for _, f := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		if (high-low)/(f*unit) <= float64(most) {
			step = f * unit
			break
		}
	}
	var values []float64
	first := math.Ceil(low/step - hair)
	for i := range 2 * usualSteps { // ends also where a step is too small for a float64
		if v := (first + float64(i)) * step; v <= high+hair*step {
			values = append(values, v)
		}
	}
	return labelled(values)
}

// labelled makes ticks of values in rising order, all in one notation.
func labelled(values []float64) []plot.Tick {
	var ticks []plot.Tick
	powers := len(values) > 0 && values[len(values)-1] >= 1e8
	for _, v := range values {
		label := tickLabel(v)
		if powers && v >= 1e4 {
			label = exponent(strconv.FormatFloat(v, 'e', -1, 64))
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
	return ticks
}
