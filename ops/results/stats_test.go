package results

import (
	"math"
	"slices"
	"testing"
	"time"
)

// The ranks are those of the sign test's tables for 95 %.
func TestConfidence(t *testing.T) {
	for n, want := range map[int]int{1: 0, 3: 0, 5: 0, 6: 0, 8: 0, 9: 1, 12: 2, 20: 5, 50: 17} {
		if got := confidence(n); got != want {
			t.Errorf("confidence(%d) leaves out %d at each end, want %d", n, got, want)
		}
	}
}

func TestSummarize(t *testing.T) {
	s := Summarize([]time.Duration{30, 10, 20, 1000})
	if s.Median != 25 || s.Low != 10 || s.High != 1000 || s.Repeats != 4 || !slices.Equal(s.Times, []time.Duration{30, 10, 20, 1000}) {
		t.Errorf("Summarize(30, 10, 20, 1000) = %+v", s)
	}
	s = Summarize([]time.Duration{10, 20, 30})
	if s.Median != 20 || math.Abs(s.CV-0.5) > 1e-12 {
		t.Errorf("Summarize(10, 20, 30) = %+v, want median 20 and CV 0.5", s)
	}
	if s = Summarize([]time.Duration{7}); s.Median != 7 || s.Low != 7 || s.High != 7 || s.Repeats != 1 || s.CV != 0 {
		t.Errorf("Summarize(7) = %+v", s)
	}
}

func TestVerdictOfSamples(t *testing.T) {
	at := func(median, low, high time.Duration) Sample { return Sample{Median: median, Low: low, High: high} }
	for _, c := range []struct {
		a, b Sample
		want string
	}{
		{at(20, 19, 21), at(30, 28, 31), Faster},
		{at(30, 28, 31), at(20, 19, 21), Slower},
		{at(20, 18, 22), at(21, 19, 23), Same},
		{at(20, 19, 24), at(25, 23, 26), Same},
		{at(20, 19, 21), at(22, 21, 23), Same},
		{at(20, 20, 20), at(20, 20, 20), Same},
	} {
		if got := c.a.versus(c.b); got != c.want {
			t.Errorf("%v beside %v: %s, expected %s", c.a, c.b, got, c.want)
		}
	}
}
