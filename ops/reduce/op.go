// Package reduce sums a vector: the ladder of the founding notes, its mistakes, and
// rungs of our own. Sum runs it on buffers. Package ops lists the operator. It must never
// import ops/bench.
package reduce

import (
	"math"

	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 reduce.cu mistakes.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 reduce.cu

// Operator sums a vector: y[0] = x[0] + ... + x[n-1], and 0 for n = 0.
//
// Shapes: x (n), y (1). Types: float32, reference float64.
// Error:  |y - ref| <= min(bound(depth), 1e-3) * sum|x|, see Bound; where the
// bound is the looser one, y equals the float32 CPU sum in the same order. The
// serial rungs must fail beyond 2^25 elements, where float32 cannot count on.
// Cost:   4n+4 bytes, n-1 adds: memory bound.
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", as retold by the
// founding notes 000, 001, 002 and 004.
var Operator = &ladder.Operator{
	Name:      "reduce",
	Folder:    folder,
	Files:     files,
	Peers:     []string{"reduce.cu", "reduce.py"},
	Formula:   "y[0] = x[0] + ... + x[n-1]",
	Source:    `M. Harris, "Optimizing Parallel Reduction in CUDA"`,
	Dims:      []string{"n"},
	MaxDim:    math.MaxInt32,
	Inputs:    func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0]}} },
	Outputs:   func(ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: 1}} },
	Reference: reference,
	Exact: func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
		return []ladder.Values{ladder.Integers(stop, s[0], ladder.NewRandom(seed))}
	},
	Work: func(s ladder.Size) ladder.Work {
		return ladder.Work{Bytes: 4*float64(s[0]) + 4, Operations: math.Max(0, float64(s[0])-1)}
	},
	Cases:    cases,
	Variants: variants,
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Mistakes}
}
