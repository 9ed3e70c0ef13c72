package display

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// labels are the labels of ticks, and the number of ticks without one.
func labels(ticks []plot.Tick) string {
	var names []string
	bare := 0
	for _, tick := range ticks {
		if tick.Label == "" {
			bare++
		} else {
			names = append(names, tick.Label)
		}
	}
	return fmt.Sprintf("%s; %d", strings.Join(names, " "), bare)
}

// The ticks of a logarithmic axis, by the length of its range: even steps, 1 2 5, powers of
// ten, every second power. Ends of a range that are powers of ten have a tick.
func TestTicksOfLogAxis(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{1, 1, "; 0"}, {2, 1, "; 0"}, {0, 1, "; 0"}, {-1, 1, "; 0"}, {1, math.Inf(1), "; 0"}, {math.NaN(), 1, "; 0"},
		{1, 1.5, "1 1.1 1.2 1.3 1.4 1.5; 0"},
		{1.1, 4.9, "2 3 4; 0"}, // of 1, 2 and 5 there is only 2
		{1, 5, "1 2 5; 4"},
		{1, 10, "1 2 5 10; 8"},
		{1, 100, "1 2 5 10 20 50 100; 16"},
		{2, 999, "2 5 10 20 50 100 200 500; 24"},
		{1, 999, "1 2 5 10 20 50 100 200 500; 24"},
		{1, 999.9999999999, "1 10 100 1000; 24"}, // 1000 is within the tolerance
		{2, 2000, "10 100 1000; 25"},             // three decades
		{1.5, 1600, "10 100 1000; 24"},
		{1, 1000, "1 10 100 1000; 24"},
		{10, 1e10, "10 100 1000 1e4 1e5 1e6 1e7 1e8 1e9 1e10; 72"},
		{1, 1e9, "1 10 100 1000 1e4 1e5 1e6 1e7 1e8 1e9; 72"},
		{1, 1.1e9, "1 100 1e4 1e6 1e8; 0"},
		{1, 1e18, "1 100 1e4 1e6 1e8 1e10 1e12 1e14 1e16 1e18; 0"},
		{1, 1e19, "1 1000 1e6 1e9 1e12 1e15 1e18; 0"},
	} {
		if got := labels(logTicks{}.Ticks(c.low, c.high)); got != c.want {
			t.Errorf("%g to %g: %q, expected %q", c.low, c.high, got, c.want)
		}
	}
}

// Ticks without a label stand at the other digits of each power of ten.
func TestTicksBetweenPowers(t *testing.T) {
	var values []float64
	for _, tick := range (logTicks{}).Ticks(1, 1000) {
		if tick.Label == "" {
			values = append(values, tick.Value)
		}
	}
	var want []float64
	for _, power := range []float64{1, 10, 100} {
		for digit := 2.0; digit < 10; digit++ {
			want = append(want, digit*power)
		}
	}
	if !slices.Equal(values, want) {
		t.Errorf("%v, expected %v", values, want)
	}
}

// The ticks of an even axis: at most the wanted number of steps, of 1, 2 or 5 times a power
// of ten, from the first multiple within the range to the last.
func TestTicksOfEvenAxis(t *testing.T) {
	for _, c := range []struct {
		most      int
		low, high float64
		want      string
	}{
		{0, 1, 1, "; 0"}, {0, 2, 1, "; 0"}, {0, math.Inf(-1), 0, "; 0"}, {0, 0, math.NaN(), "; 0"},
		{0, 0, 7, "0 1 2 3 4 5 6 7; 0"},
		{0, 0, 7.5, "0 2 4 6; 0"},
		{7, 0, 7, "0 1 2 3 4 5 6 7; 0"},
		{6, 0, 7, "0 2 4 6; 0"},
		{1, 0, 7, "0; 0"},
		{1, 0, 10, "0 10; 0"},
		{2, 0, 10, "0 5 10; 0"},
		{0, -1, 1, "-1 -0.5 0 0.5 1; 0"},
		{0, 0.5, 6.5, "1 2 3 4 5 6; 0"},
		{0, 1e8, 3e8, "1e8 1.5e8 2e8 2.5e8 3e8; 0"},
		{0, 0, 2e4, "0 5000 10 000 15 000 20 000; 0"},
		{0, -1e308, 1.7e308, "; 0"}, // their difference is infinite
		{1, -100, -0.5, "-100; 0"}, {1, -5, -0.5, "-5; 0"}, {1, 0.5, 4.4, "; 0"},
		{0, 0, 7e-10, "0 1e-10 2e-10 3e-10 4e-10 5e-10 6e-10 7e-10; 0"},
		{0, 0, 0.3, "0 0.05 0.1 0.15 0.2 0.25 0.3; 0"},
		{0, 0, 1e8, "0 2e7 4e7 6e7 8e7 1e8; 0"},
	} {
		if got := labels(evenTicks(c.most).Ticks(c.low, c.high)); got != c.want {
			t.Errorf("%d steps, %g to %g: %q, expected %q", c.most, c.low, c.high, got, c.want)
		}
	}
}
