package reduce

import (
	"math"
	"slices"
	"testing"

	"warpbook/ops/ladder"
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

// Integers are exact: every order, and float64, give the same sum.
func TestIntegers(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 1 << 20, 1<<24 + 9} {
		x := ladder.Integers(nil, n, ladder.NewRandom(1))
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
