// Package sort sorts keys of uint32, int32, float32 and uint64, and keys with values:
// a ladder of merges and a ladder of digits, and sorts that lose the order of equal keys. Keys
// and KeysWithValues run them on buffers. Package ops lists the operators. It must never
// import ops/bench.
//
// The founding note 000 names sort among the operators and prints no listing of it.
package sort

import (
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 sort.cu types.cu pairs.cu four_way.cu onesweep_wide.cu onesweep_early.cu onesweep_early_8.cu block_radix.cu block_buckets.cu mistakes.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 onesweep_large.cu network_merge.cu
//go:generate go run ../../gpu/nvrtc -plain -arch sm_75 -release 12.0 testdata/look_back.cu

// Operator sorts keys of uint32.
//
// Shapes: keys, sorted (n). Types: uint32.
// Error:  none, every bit counts.
// Cost:   8n bytes at least: a radix sort of d-bit digits moves them 32/d times.
// Source: ours; founding note 000 names it without a listing.
var Operator = of(gpu.Uint32, "sort", "")

// Int32 sorts keys of int32.
//
// Shapes: keys, sorted (n). Types: int32.
// Error:  none, every bit counts.
// Cost:   that of Operator.
// Source: ours.
var Int32 = of(gpu.Int32, "sort_i32", "types")

// Float32 sorts keys of float32 in the total order of IEEE 754: NaN with a sign, -inf,
// negative numbers, -0, +0, positive numbers, +inf, NaN.
//
// Shapes: keys, sorted (n). Types: float32.
// Error:  none, every bit counts, except that one NaN equals any other.
// Cost:   that of Operator.
// Source: ours.
var Float32 = of(gpu.Float32, "sort_f32", "types")

// Uint64 sorts keys of uint64.
//
// Shapes: keys, sorted (n). Types: uint64.
// Error:  none, every bit counts.
// Cost:   16n bytes at least.
// Source: ours.
var Uint64 = of(gpu.Uint64, "sort_u64", "types")

// maxDim is the largest count that fits the 30 bits of a status.
const maxDim = 1<<30 - 1

// of is the sort of keys of a type.
func of(t gpu.Type, name, module string) *ladder.Operator {
	return &ladder.Operator{
		Name:    name,
		Module:  module,
		Folder:  folder,
		Files:   files,
		Peers:   []string{"sort.cu", "sort_tried.py"},
		Formula: "sorted[i] <= sorted[i+1], the elements of keys",
		Source:  "ours; founding note 000 names it without a listing",
		Dims:    []string{"n"},
		MaxDim:  maxDim,
		Inputs:  func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "keys", Len: s[0], Type: t}} },
		Outputs: func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "sorted", Len: s[0], Type: t}} },
		Reference: func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
			return []ladder.Expected{{Exact: picked(inputs[0], places(stop, inputs[0]))}}
		},
		Data:  data(t),
		Cases: cases(t),
		Work: func(s ladder.Size) ladder.Work {
			return ladder.Work{Bytes: 2 * float64(t.Bytes()) * float64(s[0]), Operations: float64(s[0]), Unit: "keys"}
		},
		Variants: variants(t, name+"_", false),
	}
}

// code is an unsigned number that has the order of the keys.
func code(keys ladder.Values) func(i int) uint64 {
	switch x := keys.(type) {
	case []uint32:
		return func(i int) uint64 { return uint64(x[i]) }
	case []int32:
		return func(i int) uint64 { return uint64(int64(x[i]) - math.MinInt32) }
	case []float32:
		return func(i int) uint64 {
			bits := math.Float32bits(x[i])
			if bits>>31 == 1 {
				return uint64(^bits)
			}
			return uint64(bits | 1<<31)
		}
	}
	x := keys.([]uint64)
	return func(i int) uint64 { return x[i] }
}

func elements[T any](x []T, at []int) []T {
	y := make([]T, len(at))
	for i, from := range at {
		y[i] = x[from]
	}
	return y
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Int32, Float32, Uint64, Pairs, Mistakes}
}
