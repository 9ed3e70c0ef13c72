package compare

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"warpbook/kernel/leaf/verdict"
	"warpbook/kernel/runs"
)

// The verdicts of a row, on the times of B: those of verdict.ByTest, and NoVerdict.
const (
	Same      = verdict.Same
	Faster    = verdict.Faster
	Slower    = verdict.Slower
	Ambiguous = verdict.Ambiguous
	NoVerdict = "NO VERDICT" // one side is a GPU, the other an emulation
)

const (
	each    = 0.975 // confidence of a median's interval; that of a ratio of two is at least 95 %
	medians = 5     // runs a set from which on medians of runs are compared
)

// Side is the figure of one set for a row, in nanoseconds.
type Side struct {
	Median  float64 `json:"median_ns"`
	Low     float64 `json:"low_ns"` // of the median, with 97.5 % confidence
	High    float64 `json:"high_ns"`
	Samples int     `json:"samples"` // 0: the record has the interval only
	Runs    int     `json:"runs"`
	values  []float64
}

// side gathers the timings of a row. From medians runs on its samples are the
// medians of runs, which also vary from process to process; else all samples.
func side(timings []runs.Timing, useMedians bool) Side {
	s := Side{Runs: len(timings)}
	for _, t := range timings {
		if useMedians {
			s.values = append(s.values, t.Median)
		} else {
			s.values = append(s.values, t.Samples...)
		}
	}
	if s.Samples = len(s.values); s.Samples == 0 {
		t := timings[0]
		s.Median, s.Low, s.High = t.Median, t.Low, t.High
		for _, t := range timings {
			s.Low, s.High = min(s.Low, t.Low), max(s.High, t.High)
		}
		return s
	}
	summary := benchmath.AssumeNothing.Summary(sample(s.values), each)
	s.Median, s.Low, s.High = summary.Center, summary.Lo, summary.Hi
	if math.IsInf(s.Low, 0) || math.IsInf(s.High, 0) { // too few for an interval
		s.Low, s.High = slices.Min(s.values), slices.Max(s.values)
	}
	return s
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// judged is a row whose verdict depends on the other rows.
type judged struct {
	row *Row
	p   float64
}

// compareSides fills ratio, interval and p of a row.
func (r *Row) compareSides() {
	r.Ratio = r.B.Median / r.A.Median
	r.Low, r.High = r.B.Low/r.A.High, r.B.High/r.A.Low
	if len(r.A.values) > 0 && len(r.B.values) > 0 && !r.mixed {
		p := benchmath.AssumeNothing.Compare(sample(r.A.values), sample(r.B.values)).P
		r.P = &p
	}
}

// judge gives every row its verdict. P-values become those of Holm's method, so
// that equal sets show a false difference with a chance of at most verdict.Alpha.
func judge(rows []*Row, same float64) {
	var tests []judged
	for _, r := range rows {
		if r.P != nil {
			tests = append(tests, judged{r, *r.P})
		}
	}
	slices.SortStableFunc(tests, func(a, b judged) int { return cmp.Compare(a.p, b.p) })
	corrected := 0.0
	for i, t := range tests {
		corrected = max(corrected, min(1, t.p*float64(len(tests)-i)))
		p := corrected
		t.row.P = &p
	}
	for _, r := range rows {
		r.Verdict = r.verdict(same)
	}
}

// verdict is that of a row whose p-value is corrected. A row without samples is
// different if the intervals do not overlap, which no correction makes stricter.
func (r *Row) verdict(same float64) string {
	if r.mixed {
		return NoVerdict
	}
	a, b := verdict.Interval{Low: r.A.Low, High: r.A.High}, verdict.Interval{Low: r.B.Low, High: r.B.High}
	test := verdict.Test{Ratio: r.Ratio, P: math.NaN(), Of: verdict.Interval{Low: r.Low, High: r.High}, Apart: verdict.Of(a, b) != Same}
	if r.P != nil {
		test.P = *r.P
	}
	return verdict.ByTest(test, same)
}
