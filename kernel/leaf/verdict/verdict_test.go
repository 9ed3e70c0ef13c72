package verdict

import (
	"math"
	"testing"
)

// Each verdict at its boundary: intervals that share one point are the same, and the next
// float apart they are not.
func TestOf(t *testing.T) {
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	for _, c := range []struct {
		ours, theirs Interval
		want         string
	}{
		{Interval{1, 2}, Interval{2, 3}, Same},
		{Interval{1, 2}, Interval{up(2), 3}, Faster},
		{Interval{2, 3}, Interval{1, 2}, Same},
		{Interval{up(2), 3}, Interval{1, 2}, Slower},
		{Interval{1, 4}, Interval{2, 3}, Same},
		{Interval{2, 3}, Interval{1, 4}, Same},
		{Interval{2, 2}, Interval{2, 2}, Same},
		{Interval{1, 3}, Interval{2, 5}, Same}, // overlap, and each median outside of the other
	} {
		if got := Of(c.ours, c.theirs); got != c.want {
			t.Errorf("%v beside %v: %s, expected %s", c.ours, c.theirs, got, c.want)
		}
	}
}

// One run that says otherwise makes several the same, wherever it stands.
func TestOfRuns(t *testing.T) {
	fast, slow, mid := Interval{1, 2}, Interval{7, 8}, Interval{4, 5}
	for _, c := range []struct {
		ours []Interval
		want string
	}{
		{nil, ""},
		{[]Interval{fast}, Faster},
		{[]Interval{fast, fast, fast}, Faster},
		{[]Interval{slow, slow, slow}, Slower},
		{[]Interval{fast, fast, mid}, Same},
		{[]Interval{mid, fast, fast}, Same},
		{[]Interval{slow, mid, slow}, Same},
		{[]Interval{fast, slow, fast}, Same},
	} {
		theirs := make([]Interval, len(c.ours))
		for i := range theirs {
			theirs[i] = mid
		}
		if got := OfRuns(c.ours, theirs); got != c.want {
			t.Errorf("%v: %s, expected %s", c.ours, got, c.want)
		}
	}
}

func TestByTest(t *testing.T) {
	whole, none := Interval{0.99, 1.01}, math.NaN()
	below := func(x float64) float64 { return math.Nextafter(x, 0) }
	for _, c := range []struct {
		test Test
		want string
	}{
		{Test{1.5, below(Alpha), whole, false}, Slower},
		{Test{0.5, below(Alpha), whole, false}, Faster},
		{Test{1.5, Alpha, whole, true}, Same}, // not significant, and P counts before Apart
		{Test{1.5, none, whole, true}, Slower},
		{Test{1.5, none, whole, false}, Same},
		{Test{1.25, 0, whole, false}, Same}, // a difference of the limit itself
		{Test{math.Nextafter(1.25, 2), 0, whole, false}, Slower},
		{Test{0.75, 0, whole, false}, Same},
		{Test{below(0.75), 0, whole, false}, Faster},
		{Test{1, 1, Interval{1 / (1 + Ambiguity), 1 + Ambiguity}, false}, Same},
		{Test{1, 1, Interval{below(1 / (1 + Ambiguity)), 1}, false}, Ambiguous},
		{Test{1, 1, Interval{1, math.Nextafter(1+Ambiguity, 2)}, false}, Ambiguous},
	} {
		if got := ByTest(c.test, 0.25); got != c.want {
			t.Errorf("%+v: %s, expected %s", c.test, got, c.want)
		}
	}
}

func TestJoin(t *testing.T) {
	if got := (Interval{2, 3}).Join(Interval{1, 5}); got != (Interval{1, 5}) {
		t.Errorf("%v, expected 1 to 5", got)
	}
}
