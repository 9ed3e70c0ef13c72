package histogram

import (
	"math"
	"math/rand/v2"
	"warpbook/ops/ladder"
)

// image is a picture of 1024 pixels a row: neighbours differ little, and few values are
// frequent.
var image = ladder.DataSet{Name: "image", Text: "a picture: a bright disc before a gradient, with noise",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]int32, tensors[0].Len)
		paint(stop, len(x), random, func(i int, light float64) { x[i] = int32(light * tensors[0].High) })
		return []ladder.Values{x}
	}}

// paint makes the light of each pixel, from 0 to 1 and not 1.
func paint(stop ladder.Stop, n int, random *rand.Rand, set func(i int, light float64)) {
	const width = 1024
	height := float64(max(1, n/width))
	stop.Pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			column, row := float64(i%width)/width, float64(i/width)/height
			light := 0.2 + 0.2*row
			if math.Hypot(column-0.5, row-0.5) < 0.3 {
				light = 0.9
			}
			set(i, min(max(light+0.01*random.NormFloat64(), 0), 0.999))
		}
	})
}

// outside has values below and above the bins among uniform ones.
var outside = ladder.DataSet{Name: "outside", Text: "uniform, one of eight values outside of the bins",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := tensors[0].Random(stop, random).([]int32)
		bins := int32(tensors[0].High)
		wrong := []int32{-1, math.MinInt32, bins, math.MaxInt32}
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				if random.IntN(8) == 0 {
					x[i] = wrong[random.IntN(len(wrong))]
				}
			}
		})
		return []ladder.Values{x}
	}}

// cases bracket blocks of 256, vectors of four, and the second turn of the loops that
// stride over x, with every data set.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 2, 3, 5, 255, 256, 257, 4096, 65_537} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for _, data := range []string{"all equal", "skewed", "image", "outside"} {
		all = append(all, ladder.Case{Size: ladder.Size{20_011}, Data: data})
	}
	for start := 1; start < 4; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{9_001}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{3_000_017}, Long: true}, ladder.Case{Size: ladder.Size{3_000_017}, Data: "all equal", Long: true})
}()
