package sort

import (
	"math"
	"slices"
	"testing"

	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T)         { optest.Run(t, Operator) }
func TestConformanceInt32(t *testing.T)    { optest.Run(t, Int32) }
func TestConformanceFloat32(t *testing.T)  { optest.Run(t, Float32) }
func TestConformanceUint64(t *testing.T)   { optest.Run(t, Uint64) }
func TestConformancePairs(t *testing.T)    { optest.Run(t, Pairs) }
func TestConformanceMistakes(t *testing.T) { optest.Run(t, Mistakes) }

// The reference against answers worked by hand: equal keys keep their order, and floats
// have the total order.
func TestReference(t *testing.T) {
	inf, zero := float32(math.Inf(1)), float32(0)
	nan := math.Float32frombits(0x7fc00000)
	minusNaN, minusZero := math.Float32frombits(0xffc00000), float32(math.Copysign(0, -1))
	for _, c := range []struct {
		keys ladder.Values
		want []int
	}{
		{[]uint32{7, 0, math.MaxUint32, 7, 0}, []int{1, 4, 0, 3, 2}},
		{[]int32{1, -1, math.MinInt32, math.MaxInt32, -1}, []int{2, 1, 4, 0, 3}},
		{[]uint64{1 << 40, 1, 1 << 32, 0}, []int{3, 1, 2, 0}},
		{[]float32{nan, zero, minusZero, -inf, 1, minusNaN, inf, -1, zero}, []int{5, 3, 7, 2, 1, 8, 4, 6, 0}},
	} {
		if got := places(nil, c.keys); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, expected %v", c.keys, got, c.want)
		}
	}
}

// Keys of several bytes, of which some are the same in all keys, have the places that the
// library's stable sort gives them.
func TestReferenceOfManyKeys(t *testing.T) {
	const n = 2*ladder.Piece + 77
	keys := make([]uint32, n)
	random := ladder.NewRandom(1)
	want := make([]int, n)
	for i := range keys {
		keys[i], want[i] = 5<<24|uint32(random.IntN(1000))<<8, i
	}
	slices.SortStableFunc(want, func(a, b int) int { return int(keys[a]) - int(keys[b]) })
	if got := places(nil, keys); !slices.Equal(got, want) {
		t.Error("the places differ from those of the library's stable sort")
	}
}
