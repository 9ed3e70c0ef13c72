package softmax

import (
	"math"
	"math/rand/v2"

	"warpbook/ops/ladder"
)

// dataSets are the data sets of logits.
var dataSets = []ladder.DataSet{normal, wide, infinite, special}

// normal are ordinary logits.
var normal = logits("normal", "normal, mean 0, deviation 1", func(_ int, random *rand.Rand) float32 { return float32(random.NormFloat64()) })

// wide are logits of which most underflow, and all overflow without the maximum.
var wide = logits("wide", "uniform in [-1000, 1000)", func(_ int, random *rand.Rand) float32 { return random.Float32()*2000 - 1000 })

// infinite has whole rows of -inf, and parts of rows, where rows are short.
var infinite = logits("minus infinity", "normal and -inf in turns of 150", func(i int, random *rand.Rand) float32 {
	if i/150%2 == 1 {
		return float32(math.Inf(-1))
	}
	return float32(random.NormFloat64())
})

// special has NaN and infinities among the logits.
var special = logits("special", "normal, one of 200 NaN, infinite, -0, subnormal or the largest number", func(_ int, random *rand.Rand) float32 {
	values := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0x1p-140, math.MaxFloat32, -math.MaxFloat32}
	if random.IntN(200) == 0 {
		return values[random.IntN(len(values))]
	}
	return float32(random.NormFloat64())
})

// hostile is data on which each of the mistakes fails.
var hostile = logits("hostile", "uniform in [1e30, 2e30), every third -inf", func(i int, random *rand.Rand) float32 {
	if i%3 == 0 {
		return float32(math.Inf(-1))
	}
	return 1e30 * (1 + random.Float32())
})

// maskedSets are dataSets with a mask that keeps half of the elements, and none in every
// fourth stretch of 100.
var maskedSets = func() (all []ladder.DataSet) {
	for _, d := range dataSets {
		d.Text += "; the mask keeps half, and nothing in every fourth stretch of 100"
		all = append(all, d)
	}
	return all
}()

// logits makes x element by element, and a mask where there is one.
func logits(name, text string, at func(i int, random *rand.Rand) float32) ladder.DataSet {
	return ladder.DataSet{Name: name, Text: text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]float32, tensors[0].Len)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				x[i] = at(i, random)
			}
		})
		all := []ladder.Values{x}
		for _, t := range tensors[1:] {
			mask := make([]uint8, t.Len)
			stop.Pieces(len(mask), func(from, to int) {
				for i := from; i < to; i++ {
					if i/100%4 < 3 {
						mask[i] = uint8(random.IntN(2))
					}
				}
			})
			all = append(all, mask)
		}
		return all
	}}
}

// cases bracket a warp, its registers of 1024 columns, a block's of 8192 and a
// cluster's of 131072, rows of whole vectors and not, and views that start anywhere.
var cases = []ladder.Case{
	{Size: ladder.Size{0, 0}}, {Size: ladder.Size{0, 5}}, {Size: ladder.Size{7, 0}},
	{Size: ladder.Size{1, 1}}, {Size: ladder.Size{1, 1}, Data: "minus infinity"}, {Size: ladder.Size{300, 1}, Data: "special"},
	{Size: ladder.Size{9, 31}}, {Size: ladder.Size{9, 32}}, {Size: ladder.Size{9, 33}},
	{Size: ladder.Size{5, 1023}}, {Size: ladder.Size{5, 1024}, Data: "wide"}, {Size: ladder.Size{3, 1025}}, {Size: ladder.Size{3, 1028}, Data: "minus infinity"},
	{Size: ladder.Size{61, 52}, Data: "minus infinity"}, {Size: ladder.Size{61, 53}, Data: "special"}, {Size: ladder.Size{61, 52}, Data: "special"},
	{Size: ladder.Size{9, 100}, Start: 1}, {Size: ladder.Size{9, 100}, Start: 4}, {Size: ladder.Size{5, 517}, Start: 3, Data: "wide"},
	{Size: ladder.Size{2, 8191}, Data: "wide"}, {Size: ladder.Size{2, 8192}}, {Size: ladder.Size{1, 8197}, Data: "minus infinity"},
	{Size: ladder.Size{1, 65_560}, Data: "special"}, {Size: ladder.Size{1, 131_072}, Long: true}, {Size: ladder.Size{2, 131_075}, Long: true}, {Size: ladder.Size{1024, 1024}, Long: true},
}

// fewCases are those of the other forms, whose rungs share the code of rows.
var fewCases = []ladder.Case{
	{Size: ladder.Size{0, 0}}, {Size: ladder.Size{7, 0}}, {Size: ladder.Size{1, 1}},
	{Size: ladder.Size{300, 1}, Data: "special"}, {Size: ladder.Size{61, 52}, Data: "special"}, {Size: ladder.Size{61, 52}, Data: "minus infinity"},
	{Size: ladder.Size{33, 99}, Data: "minus infinity"}, {Size: ladder.Size{5, 1024}, Data: "wide"}, {Size: ladder.Size{3, 1025}},
	{Size: ladder.Size{9, 100}, Start: 1}, {Size: ladder.Size{2, 8196}},
	{Size: ladder.Size{2, 131_075}, Long: true},
}

// mistakeCases are rows of which each has a third of -inf.
var mistakeCases = []ladder.Case{{Size: ladder.Size{0, 0}}, {Size: ladder.Size{1, 3}}, {Size: ladder.Size{9, 64}}, {Size: ladder.Size{3, 1000}}}
