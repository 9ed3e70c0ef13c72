package conv2d

import (
	"math/rand/v2"
	"warpbook/ops/ladder"
)

// dataSets are uniform numbers, and an x with NaN and infinities under finite filters.
var dataSets = []ladder.DataSet{ladder.UniformData, special}

var special = ladder.DataSet{Name: "special", Text: ladder.SpecialData.Text + "; filters and biases uniform",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return append(ladder.SpecialData.Make(stop, tensors[:1], random), ladder.UniformData.Make(stop, tensors[1:], random)...)
	}}

// cases bracket tiles of 64 places and 64 channels, steps of 16 and 32 of the inner
// dimension, tiles of 16 x 16 outputs of 8 channels, vectors of channels, and views that
// start anywhere. Sizes that the options do not take are left out.
func (o Options) cases() (all []ladder.Case) {
	some := []ladder.Case{
		{Size: ladder.Size{1, 1, 1, 1, 1, 1, 1}}, {Size: ladder.Size{1, 1, 3, 3, 1, 3, 3}}, {Size: ladder.Size{2, 3, 5, 7, 4, 3, 3}}, {Size: ladder.Size{1, 2, 7, 9, 65, 3, 3}},
		{Size: ladder.Size{1, 4, 8, 8, 8, 3, 3}}, {Size: ladder.Size{1, 2, 16, 17, 9, 2, 2}}, {Size: ladder.Size{1, 1, 15, 33, 8, 5, 3}},
		{Size: ladder.Size{3, 16, 4, 5, 6, 1, 1}}, {Size: ladder.Size{1, 8, 6, 11, 64, 1, 3}}, {Size: ladder.Size{2, 17, 3, 3, 3, 1, 1}}, {Size: ladder.Size{1, 40, 5, 4, 10, 3, 1}},
		{Size: ladder.Size{2, 8, 7, 6, 12, 3, 3}, Start: 1}, {Size: ladder.Size{2, 4, 9, 6, 5, 3, 3}, Data: "special"},
		{Size: ladder.Size{2, 64, 14, 15, 80, 3, 3}, Long: true},
		{Size: ladder.Size{60, 8, 28, 28, 16, 3, 3}, OnGPU: true}, // the wider products of Hopper take fewer rounds
		{Size: ladder.Size{60, 8, 28, 28, 80, 3, 3}, OnGPU: true}, // and those of more than 64 channels
	}
	if o.Depth {
		some = []ladder.Case{
			{Size: ladder.Size{1, 1, 1, 1, 1, 1, 1, 1, 1}}, {Size: ladder.Size{1, 1, 1, 2, 2, 1, 3, 3, 3}}, {Size: ladder.Size{2, 3, 1, 3, 3, 4, 2, 1, 3}}, {Size: ladder.Size{1, 2, 1, 2, 4, 65, 1, 1, 3}},
			{Size: ladder.Size{1, 2, 2, 4, 5, 4, 2, 1, 2}, Start: 1}, {Size: ladder.Size{1, 3, 1, 3, 12, 33, 3, 1, 3}},
			{Size: ladder.Size{1, 2, 2, 4, 5, 34, 3, 1, 3}, Data: "special"}, // a NaN spreads in the rungs _depths, which refuse so many channels
			{Size: ladder.Size{2, 8, 16, 56, 56, 16, 1, 3, 3}, OnGPU: true},  // as the last of those above
		}
	}
	if o.Depth && o.NHWC {
		some = some[1:5] // and deepCases
	}
	for _, c := range some {
		if o.valid("conv2d", c.Size) == nil && (c.Data == "" || o.Type == 0) {
			all = append(all, c)
		}
	}
	return all
}
