package ops

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The reference, against sums worked by hand.
func TestSum(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		x                []float32
		value, magnitude float64
	}{
		{nil, 0, 0},
		{[]float32{1.5}, 1.5, 1.5},
		{[]float32{1, -2, 4}, 3, 7},
		{[]float32{1, 1e30, 1, -1e30}, 2, 2*float64(float32(1e30)) + 2}, // plain float64 gives 0
		{[]float32{16777216, 1, 1}, 16777218, 16777218},                 // float32 gives 16777216
		{[]float32{0x1p-149, 0x1p127}, 0x1p127, 0x1p127},                // below float64's last bit
		{[]float32{inf, 1, -3}, math.Inf(1), 4},
		{[]float32{-inf, 1}, math.Inf(-1), 1},
		{[]float32{inf, -inf, 1}, math.NaN(), 1},
		{[]float32{1, nan, 2}, math.NaN(), 3},
		{[]float32{math.MaxFloat32, math.MaxFloat32}, 2 * math.MaxFloat32, 2 * math.MaxFloat32},
	} {
		value, magnitude := sum(nil, c.x)
		if value != c.value && !(math.IsNaN(value) && math.IsNaN(c.value)) || magnitude != c.magnitude {
			t.Errorf("sum(%v) = %v, %v, want %v, %v", c.x, value, magnitude, c.value, c.magnitude)
		}
	}
}

// A sum of 25.6 million ones stops at 2^24 in float32, one after the other.
func TestSumSerial(t *testing.T) {
	ones := slices.Repeat([]float32{1}, 1<<24+100)
	if got := sumSerial(nil, ones); got != 1<<24 {
		t.Errorf("serial float32 sum of %d ones is %v, want %d", len(ones), got, 1<<24)
	}
	if got := sumSerial(nil, []float32{1, 0x1p-24, 0x1p-24}); got != 1 {
		t.Errorf("1 + 2^-24 + 2^-24 is %v, want 1: each half bit is rounded to even", got)
	}
}

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
		{"unwritten", poison, 1, 1, deep, "unwritten"},
		{"unwritten for NaN", poison, math.NaN(), 1, deep, "unwritten"},
	} {
		cmp := compare(nil, [][]float32{{c.got}}, []Expected{{[]float64{c.want}, []float64{c.magnitude}}}, Plan{Depth: c.depth})
		if got := strings.Join(cmp.Failed, " "); got != c.failed {
			t.Errorf("%s: %v against %v of magnitude %v at depth %d fails %q, want %q",
				c.what, c.got, c.want, c.magnitude, c.depth, got, c.failed)
		}
	}
}

// Atomics in global memory make subnormals 0, and may lose no more than that.
func TestCompareAtomics(t *testing.T) {
	e := []Expected{{[]float64{0x1p-127}, []float64{0x1p-127}}}
	if c := compare(nil, [][]float32{{0}}, e, Plan{Depth: 1}); len(c.Failed) == 0 {
		t.Error("a subnormal lost without atomics passes")
	}
	if c := compare(nil, [][]float32{{0}}, e, Plan{Depth: 1, Atomics: 1}); len(c.Failed) != 0 {
		t.Errorf("a subnormal lost to an atomic fails %v", c.Failed)
	}
	if c := compare(nil, [][]float32{{0x1p-120}}, e, Plan{Depth: 1, Atomics: 1}); len(c.Failed) == 0 {
		t.Error("an error beyond what atomics lose passes")
	}
}

// The row shows the worst of several elements; a missing one fails.
func TestCompareWorst(t *testing.T) {
	e := []Expected{{[]float64{1, 2, 3}, []float64{1, 2, 3}}}
	c := compare(nil, [][]float32{{1, 2.5, 3.1}}, e, Plan{Depth: 1})
	if c.Index != 1 || c.Got != 2.5 || c.Want != 2 || c.Error != 0.25 {
		t.Errorf("worst element is %+v, want index 1", c)
	}
	c = compare(nil, [][]float32{{1, 2, float32(math.NaN())}}, e, Plan{Depth: 1})
	if c.Index != 2 || !slices.Equal(c.Failed, []string{CheckNaN}) {
		t.Errorf("worst element is %+v, want the NaN at index 2", c)
	}
	if c = compare(nil, [][]float32{{1, 2}}, e, Plan{Depth: 1}); !slices.Equal(c.Failed, []string{CheckLength}) {
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
		{nil, CheckUndefined + "bound, nan", Pass},
		{[]string{CheckNaN}, CheckUndefined + "bound, nan", FailExpected},
		{[]string{CheckNaN, CheckBound}, CheckUndefined + "bound, nan", FailExpected},
		{[]string{CheckNaN, CheckUnwritten}, CheckUndefined + "bound, nan", Fail},
	} {
		if got := verdict(c.failed, c.expect); got != c.want {
			t.Errorf("failed %v, expected %q: %s, want %s", c.failed, c.expect, got, c.want)
		}
	}
}

// Integers are exact: every order, and float64, give the same sum.
func TestIntegers(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 1 << 20, 1<<24 + 9} {
		x := integers(nil, n, newRandom(1))
		value, magnitude := sum(nil, x)
		if magnitude > 1<<24 || n >= 1000 && magnitude < 1000 {
			t.Errorf("n = %d: the sum of |x| is %v, want between 1000 and 2^24", n, magnitude)
		}
		if got := sumSerial(nil, x); float64(got) != value {
			t.Errorf("n = %d: float32 gives %v, float64 %v", n, got, value)
		}
		slices.Reverse(x)
		if got := sumSerial(nil, x); float64(got) != value {
			t.Errorf("n = %d: backwards float32 gives %v, float64 %v", n, got, value)
		}
	}
}
