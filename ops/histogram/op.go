// Package histogram counts how often each value occurs in a vector of integers: the
// ladder of note 000 and rungs of our own. OfBins makes the operator for a number of bins.
// Count and CountBytes run it on buffers. Package ops lists the operators. It must never
// import ops/bench.
package histogram

import (
	"fmt"
	"math"

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
		Peers:   []string{"histogram.cu", "counts.py"},
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

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Bytes}
}
