// Package verdict holds the rules by which two times are judged, for notebooks, README's
// figures, their notes and warpbook compare.
//
// Of answers which of two measurements is faster, where each is an interval: of the
// timings of a run, or the range over repetitions and runs. ByTest answers another
// question: whether two sets of samples differ by more than chance, corrected for the
// number of rows that were compared.
//
// Packages ops/results and kernel/compare call it. It knows neither clocks nor devices, and
// imports nothing of the module.
package verdict

import "math"

// The verdicts on a time beside another.
const (
	Faster    = "FASTER"
	Slower    = "SLOWER"
	Same      = "SAME"
	Ambiguous = "AMBIGUOUS" // of ByTest alone: the samples do not tell
)

// LeastRepetitions is the number of alternating repetitions from which on the ranges of two
// medians decide a verdict.
const LeastRepetitions = 5

// LeastRuns is the number of runs, on different days or machines, behind a headline.
const LeastRuns = 3

// Interval holds a time, in any unit.
type Interval struct{ Low, High float64 }

// Join is the interval that holds both.
func (i Interval) Join(o Interval) Interval {
	return Interval{min(i.Low, o.Low), max(i.High, o.High)}
}

// Of judges a time beside another: Faster or Slower where the intervals lie apart, Same
// where they share a point.
func Of(ours, theirs Interval) string {
	switch {
	case ours.High < theirs.Low:
		return Faster
	case ours.Low > theirs.High:
		return Slower
	}
	return Same
}

// OfRuns judges by several runs: Faster or Slower only where each run says so, else Same.
// It is "" without a run. Both lists have an interval for each run.
func OfRuns(ours, theirs []Interval) (all string) {
	for i := range ours {
		switch one := Of(ours[i], theirs[i]); all {
		case "", one:
			all = one
		default:
			return Same
		}
	}
	return all
}

// The limits of ByTest.
const (
	Alpha     = 0.05 // the chance of a false difference in any row of equal sets
	Ambiguity = 0.05 // a relative difference that an interval must exclude for Same
)

// Test is a comparison of two sets of samples: the ratio of the medians, an interval of the
// ratio, and the p-value of equal distributions, corrected for the number of rows. Without
// samples P is NaN, and Apart says whether the intervals of the medians lie apart.
type Test struct {
	Ratio, P float64
	Of       Interval
	Apart    bool
}

// ByTest judges a test. A difference of at most same, relative to the first set, is Same,
// however sure it is. Without a significant difference it is Same where the interval
// excludes a difference of Ambiguity, else Ambiguous.
func ByTest(t Test, same float64) string {
	differ := t.Apart
	if !math.IsNaN(t.P) {
		differ = t.P < Alpha
	}
	switch {
	case differ && math.Abs(t.Ratio-1) <= same:
		return Same
	case differ && t.Ratio > 1:
		return Slower
	case differ:
		return Faster
	case t.Of.Low < 1/(1+Ambiguity) || t.Of.High > 1+Ambiguity:
		return Ambiguous
	}
	return Same
}
