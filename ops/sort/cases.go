package sort

import (
	"math"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// data are the data sets of keys of a type.
func data(t gpu.Type) []ladder.DataSet {
	all := []ladder.DataSet{ladder.UniformData, ladder.Sorted, ladder.Reversed, ladder.FewDistinct, ladder.AllEqual, sentinels}
	if t == gpu.Float32 {
		all = append(all, ladder.SpecialData, anyBits)
	}
	return all
}

// sentinels has the smallest and the largest keys among others: a sort that pads its
// tiles with the largest key may confuse the padding with these.
var sentinels = ladder.DataSet{Name: "sentinels", Text: "uniform, every other key the smallest or the largest that there is",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		keys := tensors[0].Random(stop, random)
		switch x := keys.(type) {
		case []uint32:
			mix(stop, x, random, 0, math.MaxUint32)
		case []int32:
			mix(stop, x, random, math.MinInt32, math.MaxInt32)
		case []float32:
			mix(stop, x, random, math.Float32frombits(math.MaxUint32), math.Float32frombits(math.MaxInt32))
		case []uint64:
			mix(stop, x, random, 0, math.MaxUint64)
		}
		return []ladder.Values{keys}
	}}

func mix[T any](stop ladder.Stop, x []T, random *rand.Rand, smallest, largest T) {
	stop.Pieces(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			switch random.IntN(4) {
			case 0:
				x[i] = smallest
			case 1:
				x[i] = largest
			}
		}
	})
}

// anyBits has all floats: every sign, exponent and NaN.
var anyBits = ladder.DataSet{Name: "any bits", Text: "32 random bits, of which 1 in 128 is NaN",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]float32, tensors[0].Len)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				x[i] = math.Float32frombits(random.Uint32())
			}
		})
		return []ladder.Values{x}
	}}

// withPlaces makes pairs with the keys of a data set. The value of a key is its place, so
// the result of an unstable sort is wrong.
func withPlaces(d ladder.DataSet) ladder.DataSet {
	return ladder.DataSet{Name: d.Name, Text: "keys " + d.Text + ", values their places",
		Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			keys, values := d.Make(stop, tensors[:1], random), make([]uint32, tensors[1].Len)
			for i := range values {
				values[i] = uint32(i)
			}
			return []ladder.Values{keys[0], values}
		}}
}

// cases bracket warps, the tiles of 2048 and 4096 keys, runs of two and three tiles, and
// vectors that start anywhere.
func cases(t gpu.Type) []ladder.Case {
	var all []ladder.Case
	for _, n := range []int{0, 1, 2, 31, 33, 255, 257, 2047, 2049, 4095, 4097} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for i, d := range data(t)[1:] {
		all = append(all, ladder.Case{Size: ladder.Size{1000 + 1111*i}, Data: d.Name})
	}
	return append(all, ladder.Case{Size: ladder.Size{1_027}, Start: 1}, ladder.Case{Size: ladder.Size{9_001}},
		ladder.Case{Size: ladder.Size{40_009}, Data: "few distinct", Long: true}, ladder.Case{Size: ladder.Size{200_003}, Long: true})
}
