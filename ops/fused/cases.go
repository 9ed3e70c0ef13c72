package fused

import (
	"math/rand/v2"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// anyByte has masks of which half are 0 and the others any other byte. Note 000 takes 0
// and 1 in turn, for which a mask that multiplies as it is passes.
var anyByte = ladder.DataSet{Name: "any byte", Text: "uniform in [0, 1), half of the masks 0 and half from 1 to 255",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return masked(stop, tensors, random, ladder.UniformData)
	}}

// special has such masks, and NaN and infinities among the floats.
var special = ladder.DataSet{Name: "special", Text: ladder.SpecialData.Text + ", masks of any byte",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return masked(stop, tensors, random, ladder.SpecialData)
	}}

func masked(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand, floats ladder.DataSet) (all []ladder.Values) {
	for _, t := range tensors {
		if t.Type != gpu.Uint8 {
			all = append(all, floats.Make(stop, []ladder.Tensor{t}, random)...)
			continue
		}
		mask := make([]uint8, t.Len)
		for i := range mask {
			mask[i] = uint8(random.IntN(2) * (1 + random.IntN(255)))
		}
		all = append(all, mask)
	}
	return all
}

// cases bracket vectors of 2, 4 and 8, blocks of 256 and 1024 threads, rows of whole
// vectors and not, and arrays that start at any element.
var cases = func() (all []ladder.Case) {
	for _, s := range []ladder.Size{{0, 0}, {0, 5}, {7, 0}, {1, 1}, {3, 1}, {1, 64}, {64, 1}, {2, 33}, {33, 2}, {9, 12}, {3, 1023}, {2, 1024}, {5, 1028}, {1, 4104}, {17, 488}, {127, 67}} {
		all = append(all, ladder.Case{Size: s})
	}
	for start := 1; start < 9; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{9, 136}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{33, 256}, Data: "special"}, ladder.Case{Size: ladder.Size{33, 67}, Data: "special"},
		ladder.Case{Size: ladder.Size{1031, 1024}, Long: true})
}()
