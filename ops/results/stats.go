package results

import (
	"math"
	"slices"
	"time"

	"warpbook/kernel/leaf/verdict"
)

// Sample is a set of repeated timings.
type Sample struct {
	Median, Low, High time.Duration // Low and High: see confidence
	CV                float64       // standard deviation / mean, 0 for a single timing
	Repeats           int
	Times             []time.Duration // all of them, in their order; nil for a library's
}

// Summarize sorts the timings, which must not be empty, and sums them up.
func Summarize(times []time.Duration) Sample {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	n := len(sorted)
	k := confidence(n)
	s := Sample{Low: sorted[k], High: sorted[n-1-k], Repeats: n, Times: times}
	s.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	var mean, square float64
	for _, t := range sorted {
		mean += float64(t) / float64(n)
	}
	for _, t := range sorted {
		square += (float64(t) - mean) * (float64(t) - mean)
	}
	if n > 1 && mean > 0 {
		s.CV = math.Sqrt(square/float64(n-1)) / mean
	}
	return s
}

// confidence is how many timings may be left out at each end so that those
// that stay still span the true median with at least 95 % probability, for any
// distribution: the median misses them when a fair coin falls the same way for
// all but k of n throws. Below six timings even all of them span it less
// surely, and none is left out.
func confidence(n int) int {
	k, tail, term := 0, 0.0, math.Pow(0.5, float64(n)) // term is C(n, k) / 2^n
	for {
		tail += term // P(at most k of n)
		if 2*tail > 0.05 {
			return max(0, k-1)
		}
		k++
		term *= float64(n-k+1) / float64(k)
	}
}

// duration is a time in ns that was not measured as one.
func duration(ns float64) time.Duration { return time.Duration(math.Round(ns)) }

// The verdicts on two times: verdict.Of makes them of intervals.
const (
	Faster = verdict.Faster
	Slower = verdict.Slower
	Same   = verdict.Same
)

// versus judges a time beside another by their intervals.
func (s Sample) versus(o Sample) string { return verdict.Of(s.interval(), o.interval()) }

func (s Sample) interval() verdict.Interval {
	return verdict.Interval{Low: float64(s.Low), High: float64(s.High)}
}
