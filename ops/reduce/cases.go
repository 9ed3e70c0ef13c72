package reduce

import (
	"math/rand/v2"

	"warpbook/ops/ladder"
)

// cases bracket every edge: warps, blocks, two elements a thread, passes, grids that
// stride.
var cases = append(atSizes(0, 1, 31, 32, 33, 255, 256, 257, 511, 513, 300_007),
	ladder.Case{Size: ladder.Size{1<<20 + 3}, Profile: "reduce"},
	ladder.Case{Size: ladder.Size{25_600_000}, Long: true})

// mistakeCases are multiples of a block and others, of data that hides no mistake. The
// one with a profile is that at which the fewest mistakes are faults.
var mistakeCases = []ladder.Case{
	{Size: ladder.Size{0}, Data: uneven.Name},
	{Size: ladder.Size{1}, Data: uneven.Name},
	{Size: ladder.Size{300}, Data: uneven.Name},
	{Size: ladder.Size{512 * 100}, Data: uneven.Name},
	{Size: ladder.Size{512*100 + 1}, Data: uneven.Name},
	{Size: ladder.Size{1 << 17}, Profile: "mistakes"},
	{Size: ladder.Size{25_600_000}, Data: uneven.Name, Long: true},
}

// uneven is data of which the first 256 elements sum to at least 512, and any other 256
// to less than 128: a multiple of the first sum is never the sum of all. The sums of two
// blocks of uniform data differ by less than the bound for one of tens of thousands of seeds.
var uneven = ladder.DataSet{Name: "uneven", Text: "uniform in [2, 3) in the first 256 elements, then in [0.25, 0.5)",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]float32, tensors[0].Len)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				if x[i] = 2 + random.Float32(); i >= 256 {
					x[i] = 0.25 + random.Float32()/4
				}
			}
		})
		return []ladder.Values{x}
	}}

func atSizes(sizes ...int) (cases []ladder.Case) {
	for _, n := range sizes {
		cases = append(cases, ladder.Case{Size: ladder.Size{n}})
	}
	return cases
}
