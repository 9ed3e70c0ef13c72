package ladder

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestBound(t *testing.T) {
	for _, c := range []struct {
		depth int
		want  float64
	}{
		{0, 0},
		{1, 1.0 / (1<<24 - 1)},
		{1 << 23, 1},
		{1 << 24, math.Inf(1)},
		{25_600_000, math.Inf(1)},
	} {
		if got := Bound(c.depth); got != c.want {
			t.Errorf("Bound(%d) = %v, want %v", c.depth, got, c.want)
		}
	}
	if Bound(16_000) > Tolerance || Bound(17_000) < Tolerance {
		t.Error("the bound should pass the tolerance near a depth of 16777")
	}
}

// compareFloats judges one output of float32.
func compareFloats(got []float32, want Expected, p Plan) Comparison {
	return Compare(nil, []Tensor{{Name: "y", Len: len(got)}}, []Values{got}, []Expected{want}, p)
}

func TestCompare(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	const deep = 1 << 24 // no bound
	for _, c := range []struct {
		what            string
		got             float32
		want, magnitude float64
		depth           int
		failed          string
	}{
		{"equal", 3, 3, 7, 0, ""},
		{"within the bound", 1 + 0x1p-23, 1, 1, 3, ""},
		{"beyond the bound", 1 + 0x1p-21, 1, 1, 3, "bound"},
		{"beyond both", 1.1, 1, 1, 3, "bound tolerance"},
		{"zero is no sum", 0, 1, 1, 3, "bound tolerance"},
		{"depth 0 allows nothing", 1 + 0x1p-23, 1, 1, 0, "bound"},
		{"loose bound, tolerance holds", 1.0005, 1, 1, deep, ""},
		{"loose bound, tolerance fails", 1.002, 1, 1, deep, "tolerance"},
		{"all terms 0", 1e-45, 0, 0, 9, "bound tolerance"},
		{"minus zero", float32(math.Copysign(0, -1)), 0, 0, 9, ""},
		{"NaN for a number", nan, 1, 1, deep, "nan"},
		{"Inf for a number", inf, 1, 1, deep, "nan"},
		{"number for NaN", 1, math.NaN(), 1, deep, "nan"},
		{"NaN for NaN", nan, math.NaN(), 1, 1, ""},
		{"Inf for Inf", inf, math.Inf(1), 1, 1, ""},
		{"-Inf for Inf", -inf, math.Inf(1), 1, 1, "nan"},
		{"NaN for Inf", nan, math.Inf(1), 1, 1, "nan"},
		{"NaN for Inf, finite terms overflow", nan, math.Inf(1), 1e39, 1, ""},
		{"number for Inf", 1, math.Inf(1), 1, 1, "nan"},
		{"overflow", inf, 1e39, 1e39, 1, ""},
		{"overflow in some order", -inf, 0, 1e39, 1, ""},
		{"no overflow, far off", 0, 3e38, 1e39, 1, "bound tolerance"},
		{"unwritten", Poison, 1, 1, deep, "unwritten"},
		{"unwritten for NaN", Poison, math.NaN(), 1, deep, "unwritten"},
	} {
		cmp := compareFloats([]float32{c.got}, Expected{Value: []float64{c.want}, Magnitude: []float64{c.magnitude}}, Plan{Depth: c.depth})
		if got := strings.Join(cmp.Failed, " "); got != c.failed {
			t.Errorf("%s: %v against %v of magnitude %v at depth %d fails %q, want %q",
				c.what, c.got, c.want, c.magnitude, c.depth, got, c.failed)
		}
	}
}

// Atomics in global memory make subnormals 0, and may lose no more than that.
func TestCompareAtomics(t *testing.T) {
	e := Expected{Value: []float64{0x1p-127}, Magnitude: []float64{0x1p-127}}
	if c := compareFloats([]float32{0}, e, Plan{Depth: 1}); len(c.Failed) == 0 {
		t.Error("a subnormal lost without atomics passes")
	}
	if c := compareFloats([]float32{0}, e, Plan{Depth: 1, Atomics: 1}); len(c.Failed) != 0 {
		t.Errorf("a subnormal lost to an atomic fails %v", c.Failed)
	}
	if c := compareFloats([]float32{0x1p-120}, e, Plan{Depth: 1, Atomics: 1}); len(c.Failed) == 0 {
		t.Error("an error beyond what atomics lose passes")
	}
}

// The row shows the worst of several elements; a missing one fails.
func TestCompareWorst(t *testing.T) {
	e := Expected{Value: []float64{1, 2, 3}, Magnitude: []float64{1, 2, 3}}
	c := compareFloats([]float32{1, 2.5, 3.1}, e, Plan{Depth: 1})
	if c.Index != 1 || c.Got != 2.5 || c.Want != 2 || c.Error != 0.25 {
		t.Errorf("worst element is %+v, want index 1", c)
	}
	c = compareFloats([]float32{1, 2, float32(math.NaN())}, e, Plan{Depth: 1})
	if c.Index != 2 || !slices.Equal(c.Failed, []string{CheckNaN}) {
		t.Errorf("worst element is %+v, want the NaN at index 2", c)
	}
	if c = compareFloats([]float32{1, 2}, e, Plan{Depth: 1}); !slices.Equal(c.Failed, []string{CheckLength}) {
		t.Errorf("two of three outputs fail %v, want length", c.Failed)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		failed []string
		expect string
		want   string
	}{
		{nil, "", Pass},
		{[]string{CheckBound}, "", Fail},
		{[]string{CheckBound, CheckTolerance}, CheckTolerance, FailExpected},
		{[]string{CheckBound}, CheckTolerance, Fail},
		{nil, CheckTolerance, PassExpected},
		{[]string{CheckNaN}, Either(CheckBound, CheckNaN), FailExpected},
		{[]string{CheckCount}, Either(CheckBound, CheckNaN), Fail},
		{nil, Either(CheckBound, CheckNaN), PassExpected},
		{nil, CheckUndefined + "bound, nan", Pass},
		{[]string{CheckNaN}, CheckUndefined + "bound, nan", FailExpected},
		{[]string{CheckNaN, CheckBound}, CheckUndefined + "bound, nan", FailExpected},
		{[]string{CheckNaN, CheckUnwritten}, CheckUndefined + "bound, nan", Fail},
	} {
		if got := Verdict(c.failed, c.expect); got != c.want {
			t.Errorf("failed %v, expected %q: %s, want %s", c.failed, c.expect, got, c.want)
		}
	}
}
