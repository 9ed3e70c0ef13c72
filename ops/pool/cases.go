package pool

import (
	"math"
	"math/rand/v2"
	"warpbook/ops/ladder"
)

// maxData are numbers of both signs, ties, and what has no order.
var maxData = []ladder.DataSet{ladder.NormalData, ladder.FewDistinct, ladder.AllEqual, infinite, special}

var avgData = []ladder.DataSet{ladder.UniformData, special}

// infinite are windows of -inf alone, whose first element is the place.
var infinite = floats("minus infinity", "normal and -inf in turns of 40", func(i int, random *rand.Rand) float32 {
	if i/40%2 == 1 {
		return float32(math.Inf(-1))
	}
	return float32(random.NormFloat64())
})

// special has several NaN in a window, infinities and both zeros.
var special = floats("special", "normal, one of 4 NaN, infinite, 0 or -0", func(_ int, random *rand.Rand) float32 {
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	if random.IntN(4) == 0 {
		return float32(values[random.IntN(len(values))])
	}
	return float32(random.NormFloat64())
})

// negative is below 0 with NaN among it: where each of the mistakes fails. Every fourth
// element is NaN, which every window of 3 x 3 with two columns in a plane of 2 columns or
// more may have.
var negative = floats("negative", "uniform in (-2, -1], every fourth element NaN", func(i int, random *rand.Rand) float32 {
	if i%4 == 3 {
		return float32(math.NaN())
	}
	return -1 - random.Float32()
})

func floats(name, text string, at func(i int, random *rand.Rand) float32) ladder.DataSet {
	return ladder.DataSet{Name: name, Text: text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]float32, tensors[0].Len)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				x[i] = at(i, random)
			}
		})
		return []ladder.Values{x}
	}}
}

// maxCases and avgCases bracket tiles of 8 x 32 outputs and groups of four rows, planes of
// one row, one column and one element, rows of whole vectors, and views that start anywhere.
var maxCases = []ladder.Case{
	{Size: ladder.Size{0, 5, 5}}, {Size: ladder.Size{1, 1, 1}}, {Size: ladder.Size{300, 1, 1}, Data: "special"}, {Size: ladder.Size{3, 1, 70}}, {Size: ladder.Size{3, 70, 1}},
	{Size: ladder.Size{2, 15, 63}}, {Size: ladder.Size{2, 16, 64}}, {Size: ladder.Size{2, 17, 65}}, {Size: ladder.Size{2, 18, 66}, Data: "few distinct"},
	{Size: ladder.Size{5, 7, 9}, Data: "all equal"}, {Size: ladder.Size{1, 33, 40}, Data: "minus infinity"}, {Size: ladder.Size{3, 31, 33}, Data: "special"},
	{Size: ladder.Size{5, 1, 8}}, {Size: ladder.Size{3, 9, 24}, Data: "special"}, {Size: ladder.Size{2, 4, 16}, Start: 4},
	{Size: ladder.Size{7, 12, 11}, Start: 1}, {Size: ladder.Size{64, 112, 112}, Long: true},
}

var avgCases = []ladder.Case{
	{Size: ladder.Size{0, 5, 5}}, {Size: ladder.Size{1, 1, 1}}, {Size: ladder.Size{300, 1, 1}}, {Size: ladder.Size{3, 1, 70}}, {Size: ladder.Size{3, 70, 1}},
	{Size: ladder.Size{2, 15, 63}}, {Size: ladder.Size{2, 16, 64}}, {Size: ladder.Size{2, 17, 65}}, {Size: ladder.Size{3, 31, 33}, Data: "special"},
	{Size: ladder.Size{5, 1, 8}}, {Size: ladder.Size{3, 9, 24}}, {Size: ladder.Size{2, 4, 16}, Start: 4},
	{Size: ladder.Size{7, 12, 11}, Start: 1}, {Size: ladder.Size{64, 112, 112}, Long: true},
}

// cases leaves out the planes in which the window has no place.
func (o Options) cases(some []ladder.Case) (all []ladder.Case) {
	for _, c := range some {
		if o.valid(c.Size) == nil {
			all = append(all, c)
		}
	}
	return all
}
