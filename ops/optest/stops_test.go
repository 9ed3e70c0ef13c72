package optest

import (
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// The loops of the model look at their Stop: data, rounding and the comparison.
func TestStopEndsLoops(t *testing.T) {
	const n = 20 * ladder.Piece
	x, random := make([]float32, n), ladder.NewRandom(1)
	half := ladder.Tensor{Len: n, Type: gpu.BFloat16}
	Stops(t, "uniform", func(stop ladder.Stop) { ladder.Uniform(stop, n, random) })
	Stops(t, "rounded", func(stop ladder.Stop) { half.Rounded(stop, x) })
	Stops(t, "the comparison", func(stop ladder.Stop) {
		ladder.Compare(stop, []ladder.Tensor{{Len: n}}, ladder.All(x), []ladder.Expected{{Value: make([]float64, n), Magnitude: make([]float64, n)}}, ladder.Plan{})
	})
}
