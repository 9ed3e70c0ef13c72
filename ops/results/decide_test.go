package results

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Ratios at the values where their form changes.
func TestSpeedRatioForms(t *testing.T) {
	for r, want := range map[float64]string{
		math.Inf(1): "-", math.NaN(): "-", 0: "-", -1: "-",
		0.1: "0.10x", 0.0999: "1/10", 0.00005: "1/20 000",
		1: "1.00x", 1.004: "1.004x", 1.0000001: "1.000000x", 0.9999: "0.9999x",
		99.994: "99.99x", 100: "100x", 100.6: "101x", 12345: "12 345x",
	} {
		if got := speedRatio(r); got != want {
			t.Errorf("%g: %q, expected %q", r, got, want)
		}
	}
	for _, c := range []struct {
		now, before float64
		want        string
	}{{0, 0, "same"}, {5, 5, "same"}, {1, 0, "-"}, {0, 1, "none"}, {1, 2, "0.50x"}, {1, 4, "0.25x"}, {3, 1, "3.00x"}} {
		if got := countRatio(c.now, c.before); got != c.want {
			t.Errorf("%g after %g: %q, expected %q", c.now, c.before, got, c.want)
		}
	}
	for share, want := range map[float64]string{0.000042: "0.0042 %", 0.0099: "0.99 %", 0.01: "1.0 %", 0.976: "97.6 %", 1: "100.0 %"} {
		if got := percent(share); got != want {
			t.Errorf("%g: %q, expected %q", share, got, want)
		}
	}
}

// Timings in any order, the interval without the outermost, and the deviation by hand.
func TestSummaries(t *testing.T) {
	for _, c := range []struct {
		times             []time.Duration
		median, low, high time.Duration
		cv                float64
	}{
		{[]time.Duration{7}, 7, 7, 7, 0},
		{[]time.Duration{0}, 0, 0, 0, 0},
		{[]time.Duration{0, 0}, 0, 0, 0, 0},
		{[]time.Duration{3, 1}, 2, 1, 3, math.Sqrt(2) / 2}, // squares 1 + 1, divided by n - 1
		{[]time.Duration{6, 2, 4}, 4, 2, 6, 0.5},           // squares 4 + 0 + 4, divided by 2
		{[]time.Duration{9, 1, 8, 2, 7, 3, 6, 4, 5}, 5, 2, 8, math.Sqrt(60.0/8) / 5},
		{[]time.Duration{0, 1}, 0, 0, 1, math.Sqrt(0.5) / 0.5},
	} {
		given := slices.Clone(c.times)
		s := Summarize(c.times)
		if s.Median != c.median || s.Low != c.low || s.High != c.high || !(math.Abs(s.CV-c.cv) <= 1e-12) || s.Repeats != len(given) {
			t.Errorf("%v: median %d, %d to %d, deviation %g of %d; expected %d, %d to %d, %g", given, s.Median, s.Low, s.High, s.CV, s.Repeats, c.median, c.low, c.high, c.cv)
		}
		if !slices.Equal(s.Times, given) {
			t.Errorf("%v: the times are %v, expected those given in their order", given, s.Times)
		}
	}
}
