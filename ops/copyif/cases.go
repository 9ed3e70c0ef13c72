package copyif

import (
	"math"
	"math/rand/v2"

	"warpbook/ops/ladder"
)

// dataSets are vectors with the given share of elements above 0, in different places.
func dataSets(keep float64) []ladder.DataSet {
	return []ladder.DataSet{
		signed("uniform", "uniform in (0, 1], of either sign, each by itself", func(int, *rand.Rand) func(i int) bool {
			return nil
		}, keep),
		signed("clustered", "runs of one sign, about 512 elements long", clusters(keep), keep),
		signed("skewed", "the share above 0 falls from the first element to the last", func(n int, random *rand.Rand) func(int) bool {
			return func(i int) bool {
				left := 1 - float64(i)/float64(n)
				if keep <= 0.5 {
					return random.Float64() < 2*keep*left
				}
				return random.Float64() < 1-2*(1-keep)*(1-left)
			}
		}, keep),
		special(keep),
	}
}

// signed makes numbers that are above 0 where the function of pick returns true. If that
// function is nil, the signs are independent and random.
func signed(name, text string, pick func(n int, random *rand.Rand) func(i int) bool, keep float64) ladder.DataSet {
	return ladder.DataSet{Name: name, Text: text, Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		x := make([]float32, tensors[0].Len)
		above := pick(len(x), random)
		if above == nil {
			above = func(int) bool { return random.Float64() < keep }
		}
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				x[i] = 1 - random.Float32()
				if !above(i) {
					x[i] = -x[i]
				}
			}
		})
		return []ladder.Values{x}
	}}
}

// clusters are runs of both signs whose lengths are exponential.
func clusters(keep float64) func(int, *rand.Rand) func(int) bool {
	return func(_ int, random *rand.Rand) func(int) bool {
		end, above := 0, random.Float64() >= keep
		return func(i int) bool {
			for i >= end {
				above = !above
				share := keep
				if !above {
					share = 1 - keep
				}
				end += int(math.Ceil(random.ExpFloat64() * 1024 * share))
			}
			return above
		}
	}
}

// special mixes uniform numbers with the special values of a float comparison.
func special(keep float64) ladder.DataSet {
	uniform := signed("special", "uniform, one of ten NaN, an infinity, 0, -0 or a subnormal", func(int, *rand.Rand) func(int) bool { return nil }, keep)
	numbers := uniform.Make
	uniform.Make = func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		values := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-149}
		made := numbers(stop, tensors, random)
		x := made[0].([]float32)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				if random.IntN(10) == 0 {
					x[i] = values[random.IntN(len(values))]
				}
			}
		})
		return made
	}
	return uniform
}

// cases bracket warps, blocks of 256 and 512, the grid of 65536 threads that strides, and
// tiles of 4096, 8192 and 15360; with every data set, and with views that start after
// the start of an allocation.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 31, 33, 255, 257, 512, 4095, 4097, 8192, 8193, 15_360, 15_361, 65_537} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for _, data := range []string{"clustered", "skewed", "special"} {
		all = append(all, ladder.Case{Size: ladder.Size{50_021}, Data: data})
	}
	for start := 1; start < 4; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{20_003}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{3_000_017}, Long: true}, ladder.Case{Size: ladder.Size{1<<31 + 4099}, Long: true, OnGPU: true})
}()
