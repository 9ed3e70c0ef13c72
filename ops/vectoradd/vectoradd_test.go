package vectoradd

import (
	"math"
	"testing"

	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

// The reference against sums worked by hand: a tie goes to the even neighbour, a sum
// beyond the largest float is infinite, and infinities of two signs give NaN.
func TestReference(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{1, 0x1p24, 0x1p24, math.MaxFloat32, inf, -0x1p-149}
	y := []float32{2, 1, 3, math.MaxFloat32, -inf, 0x1p-149}
	want := []float32{3, 0x1p24, 0x1p24 + 4, inf, float32(math.NaN()), 0}
	got := reference(nil, ladder.Size{len(x)}, ladder.All(x, y))[0].Exact
	if !ladder.SameBits(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}
