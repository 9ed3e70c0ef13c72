package compare

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/runs"
)

func key(row string) runs.Key { return runs.Key{Notebook: "x", Title: "latency", Row: row} }

// of is a run with a timing for each row.
func of(rows map[string]runs.Timing) runs.Run {
	r := runs.Run{Notebook: "x", Timings: map[runs.Key]runs.Timing{}}
	for row, t := range rows {
		r.Keys, r.Timings[key(row)] = append(r.Keys, key(row)), t
	}
	return r
}

// From five runs on each side on, medians of runs are compared; below it, samples, and the
// method says so.
func TestFiveRunsCompareMedians(t *testing.T) {
	many := func(n int) Set {
		var s Set
		for range n {
			s.Runs = append(s.Runs, of(map[string]runs.Timing{"a": {Median: 7, Samples: []float64{1, 2, 3}}}))
		}
		return s
	}
	for _, c := range []struct {
		a, b    int
		medians bool
	}{{4, 5, false}, {5, 4, false}, {5, 5, true}, {6, 6, true}, {6, 4, false}, {4, 6, false}} {
		got := Compare(many(c.a), many(c.b), usual)
		r := got.Rows[0]
		wantA, wantB, median := 3*c.a, 3*c.b, 2.0
		if c.medians {
			wantA, wantB, median = c.a, c.b, 7
		}
		if r.A.Samples != wantA || r.B.Samples != wantB || r.A.Median != median || r.A.Runs != c.a {
			t.Errorf("%d and %d runs: %d and %d samples, median %g, expected %d and %d, %g", c.a, c.b, r.A.Samples, r.B.Samples, r.A.Median, wantA, wantB, median)
		}
		says := fmt.Sprintf("medians of runs (%d and %d)", c.a, c.b)
		if strings.Contains(got.Method, says) != c.medians || strings.Contains(got.Method, "samples of one process") == c.medians || !strings.Contains(got.Method, "Holm") {
			t.Errorf("%d and %d runs: method %q", c.a, c.b, got.Method)
		}
	}
}

// A row of one set alone is listed on its side, in the order of its set, once; a correctness
// row is not.
func TestRowsOfOneSide(t *testing.T) {
	one := runs.Timing{Median: 1, Low: 1, High: 1}
	a, b := of(map[string]runs.Timing{"both": one}), of(map[string]runs.Timing{"both": one})
	for _, row := range []string{"z", "y"} {
		a.Keys, a.Timings[key("a "+row)] = append(a.Keys, key("a "+row)), one
		b.Keys, b.Timings[key("b "+row)] = append(b.Keys, key("b "+row)), one
	}
	a.Keys, b.Keys = append(a.Keys, key("check a")), append(b.Keys, key("check b"))
	c := Compare(set(a, a), set(b, b), usual)
	if want := []runs.Key{key("a z"), key("a y")}; !reflect.DeepEqual(c.OnlyA, want) {
		t.Errorf("only in a: %v, expected %v", c.OnlyA, want)
	}
	if want := []runs.Key{key("b z"), key("b y")}; !reflect.DeepEqual(c.OnlyB, want) {
		t.Errorf("only in b: %v, expected %v", c.OnlyB, want)
	}
	if len(c.Rows) != 1 || c.Rows[0].Row != "both" {
		t.Errorf("rows %v, expected one", c.Rows)
	}
}

// Times of different clocks: of a GPU and an emulator no verdict, of two clocks of a GPU one.
func TestClocks(t *testing.T) {
	timing := func(clock string) runs.Timing {
		return runs.Timing{Clock: clock, Median: 2, Low: 2, High: 2, Samples: []float64{2, 2}}
	}
	for _, c := range []struct{ a, b, clock, verdict string }{
		{record.Time, record.Time, record.Time, Same},
		{record.Time, record.EmulatorTime, record.Time + " and " + record.EmulatorTime, NoVerdict},
		{record.EmulatorTime, record.Time, record.EmulatorTime + " and " + record.Time, NoVerdict},
		{record.Time, "another clock", record.Time + " and another clock", Same},
		{record.EmulatorTime, record.EmulatorTime, record.EmulatorTime, Same},
	} {
		r := Compare(set(of(map[string]runs.Timing{"a": timing(c.a)})), set(of(map[string]runs.Timing{"a": timing(c.b)})), usual).Rows[0]
		if r.Clock != c.clock || r.Verdict != c.verdict || (r.P == nil) != (c.verdict == NoVerdict) {
			t.Errorf("%s beside %s: clock %q, %s, P %v; expected %q, %s", c.a, c.b, r.Clock, r.Verdict, r.P, c.clock, c.verdict)
		}
	}
}

// Only rows that are slower by more than the limit count.
func TestSlowerThan(t *testing.T) {
	c := &Comparison{Rows: []Row{
		{Verdict: Slower, Ratio: 1.5}, {Verdict: Slower, Ratio: math.Nextafter(1.5, 2)}, {Verdict: Faster, Ratio: 3}, {Verdict: Same, Ratio: 3},
	}}
	if got := c.SlowerThan(0.5); len(got) != 1 || got[0].Ratio <= 1.5 {
		t.Errorf("%v, expected only the row above 1.5", got)
	}
}

// Holm's correction by hand: the least p-value counts as often as there are rows, the next
// once less, and none becomes less than the one before, or more than 1.
func TestHolm(t *testing.T) {
	var rows []*Row
	for _, p := range []float64{0.03, 0.01, 0.8, 0.04, 0.9} {
		rows = append(rows, &Row{P: &p})
	}
	rows = append(rows, &Row{})
	judge(rows, 0)
	for i, want := range []float64{4 * 0.03, 5 * 0.01, 1, 3 * 0.04, 1} {
		if got := *rows[i].P; math.Abs(got-want) > 1e-12 {
			t.Errorf("row %d: %g, expected %g", i, got, want)
		}
	}
	if rows[5].P != nil {
		t.Errorf("a row without samples has p = %g", *rows[5].P)
	}
}

// A side without samples has the interval that holds those of all its runs.
func TestSideOfIntervals(t *testing.T) {
	s := side([]runs.Timing{{Median: 5, Low: 4, High: 6}, {Median: 9, Low: 3, High: 10}, {Median: 5, Low: 5, High: 5}}, false)
	if s.Median != 5 || s.Low != 3 || s.High != 10 || s.Samples != 0 || s.Runs != 3 {
		t.Errorf("%+v, expected the median of the first and 3 to 10", s)
	}
	for _, samples := range [][]float64{{3, 1, 2}, {4}} { // too few for an interval of 97.5 %
		s := side([]runs.Timing{{Samples: samples}}, false)
		if s.Low != slices.Min(samples) || s.High != slices.Max(samples) {
			t.Errorf("%v: %g to %g, expected all of them", samples, s.Low, s.High)
		}
	}
	r := &Row{A: side([]runs.Timing{{Median: 4, Low: 2, High: 8}}, false), B: side([]runs.Timing{{Samples: []float64{1, 1}}}, false)}
	if r.compareSides(); r.P != nil || r.Ratio != 0.25 || r.Low != 0.125 || r.High != 0.5 {
		t.Errorf("samples on one side: p %v, ratio %g, %g to %g", r.P, r.Ratio, r.Low, r.High)
	}
	r.A, r.B = r.B, r.A
	if r.compareSides(); r.P != nil {
		t.Errorf("samples on the other side: p %g, expected none", *r.P)
	}
	r.A.values, r.B.values = []float64{1}, []float64{1}
	if r.compareSides(); r.P == nil {
		t.Error("one sample on each side has no p-value")
	}
}

// The worst verdict of several runs counts, and rows without a verdict on one side do not.
func TestChangedVerdicts(t *testing.T) {
	checked := func(verdicts ...string) runs.Run {
		r := runs.Run{Verdicts: map[runs.Key]string{}}
		for i, v := range verdicts {
			k := key(fmt.Sprint(i))
			r.Keys = append(r.Keys, k)
			if v != "" {
				r.Verdicts[k] = v
			}
		}
		return r
	}
	pass, fail := record.Pass, record.Fail
	for _, c := range []struct {
		a, b []runs.Run
		want string // the verdict of b
	}{
		{[]runs.Run{checked(pass)}, []runs.Run{checked(pass)}, ""},
		{[]runs.Run{checked(pass)}, []runs.Run{checked(fail)}, fail},
		{[]runs.Run{checked(pass)}, []runs.Run{checked(pass), checked(fail)}, fail},
		{[]runs.Run{checked(pass)}, []runs.Run{checked(fail), checked(pass)}, fail},
		{[]runs.Run{checked(fail)}, []runs.Run{checked(pass)}, pass},
		{[]runs.Run{checked("")}, []runs.Run{checked(fail)}, ""},
		{[]runs.Run{checked(fail)}, []runs.Run{checked("")}, ""},
	} {
		got := changed(set(c.a...), set(c.b...))
		if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || got[0].B != c.want) {
			t.Errorf("%v and %v: %v, expected %q", c.a, c.b, got, c.want)
		}
	}
}

// Differences of the environment: in their order, those of one side included, each text once
// however the runs are ordered.
func TestEnvironmentDifferences(t *testing.T) {
	with := func(e map[string][]string) runs.Run { return runs.Run{Environment: e} }
	first, last := runs.EnvironmentOrder[0], runs.EnvironmentOrder[len(runs.EnvironmentOrder)-1]
	a := set(with(map[string][]string{last: {"1"}, "zz": {"1"}, "same": {"y"}}), with(map[string][]string{"same": {"x"}}))
	b := set(with(map[string][]string{first: {"2"}, last: {"2"}, "aa": {"2"}, "same": {"x"}}), with(map[string][]string{"same": {"y", "x"}}))
	var names []string
	for _, d := range differences(a, b) {
		names = append(names, d.Name)
	}
	if want := []string{first, last, "aa", "zz"}; !slices.Equal(names, want) {
		t.Errorf("%q differ, expected %q", names, want)
	}
}
