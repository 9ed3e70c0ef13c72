// Package histogram counts how often each value occurs in a vector of integers: the
// ladder of note 000 and rungs of our own. OfBins makes the operator for a number of bins.
// Package ops lists the operators. It must never import ops/bench.
package histogram

import (
	"fmt"
	"math"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 histogram.cu bytes.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 many.cu

// Operator counts the values of 256 bins; OfBins is the same for another number.
//
// counts[v] = |{i : x[i] = v}| for v from 0 to bins-1; dropped[0] counts the
// elements outside of that range.
//
// Shapes: x (n), counts (bins), dropped (1). Types: x int32, counts and dropped
// uint32.
// Error:  none, every count is exact; histogram_race must fail.
// Cost:   4n + 4 bins + 4 bytes, n additions: memory bound where the atomics are
// not.
// Source: founding note 000, 2.11.
var Operator = must(OfBins(256))

// maxBins is the number of 32-bit counters that fit the shared memory of a cluster of four
// blocks, and of 16-bit counters that fit one block.
const maxBins = 65_536

// OfBins is the histogram of so many bins, from 1 to 65536. Rungs whose counters do not
// fit shared memory refuse them.
func OfBins(bins int) (*ladder.Operator, error) {
	if bins < 1 || bins > maxBins {
		return nil, fmt.Errorf("ops: histogram: bins = %d: %w, expected 1 to %d", bins, gpu.ErrArgument, maxBins)
	}
	return &ladder.Operator{
		Name:    "histogram",
		Folder:  folder,
		Files:   files,
		Peers:   []string{"histogram.cu"},
		Formula: "counts[v] = |{i : x[i] = v}|",
		Source:  "founding note 000",
		Dims:    []string{"n"},
		MaxDim:  math.MaxInt32,
		Inputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "x", Len: s[0], Type: gpu.Int32, Low: 0, High: float64(bins)}}
		},
		Outputs: func(ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{
				{Name: "counts", Len: bins, Type: gpu.Uint32},
				{Name: "dropped", Len: 1, Type: gpu.Uint32},
			}
		},
		Reference: func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
			return reference(stop, inputs[0].([]int32), bins)
		},
		Data:       []ladder.DataSet{ladder.UniformData, ladder.AllEqual, ladder.Skewed, image, outside},
		Cases:      cases,
		Parameters: []ladder.Parameter{{Name: "bins", Value: float64(bins), Default: 256, Whole: true}},
		PeersTake:  []string{"bins"},
		Remake:     func(values []float64) (*ladder.Operator, error) { return OfBins(int(values[0])) },
		Work: func(s ladder.Size) ladder.Work {
			return ladder.Work{Bytes: 4*float64(s[0]) + 4*float64(bins) + 4, Operations: float64(s[0]), Unit: "additions"}
		},
		Variants: variants(bins),
	}, nil
}

func must(o *ladder.Operator, err error) *ladder.Operator {
	if err != nil {
		panic(err)
	}
	return o
}

func reference(stop ladder.Stop, x []int32, bins int) []ladder.Expected {
	counts, dropped := make([]uint32, bins), make([]uint32, 1)
	stop.Pieces(len(x), func(from, to int) {
		for _, v := range x[from:to] {
			if v >= 0 && int(v) < bins {
				counts[v]++
			} else {
				dropped[0]++
			}
		}
	})
	return []ladder.Expected{{Exact: counts}, {Exact: dropped}}
}

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
