// Package fused adds a bias, applies a mask and a scale, and adds a tensor, in one
// kernel: the experiment of note 000 in float32 and float16, corrected, and rungs of our
// own. Apply runs it on buffers. Package ops lists the operators. It must never import
// ops/bench.
package fused

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 fused.cu fused_half.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 fused.cu fused_half.cu

// Operator computes y[r][c] = (x[r][c] + bias[c]) m s + add[r][c] in float32, where s is
// the scale and m is 1 where mask[r][c] is not 0, and else 0. As in the formula, an
// infinity or NaN that is masked gives NaN.
//
// Shapes: x, mask, add, y (rows, columns), bias (columns). Types: mask uint8, the others
// float32; reference float64. Parameter: scale, 0.5.
// Error:  |y - ref| <= Bound(3) ((|x| + |bias|) m |s| + |add|), see ladder.Bound.
// Cost:   13 bytes per element and 4 per column, 4 operations per element: memory bound.
// Source: founding note 000, 3.4.
var Operator = of(gpu.Float32, 0.5)

// Half is Operator in float16: the mask is uint8 and the others float16, computed in
// halves. The error bound is 5 * 2^-11 in place of Bound(3), and the cost 7 bytes an
// element.
var Half = of(gpu.Float16, 0.5)

// of is the operator of a type and a scale.
func of(t gpu.Type, scale float32) *ladder.Operator {
	o := &ladder.Operator{
		Name: "fused", Folder: folder, Files: files, Peers: []string{"fused.py"},
		Formula: "y[r][c] = (x[r][c] + bias[c]) (mask[r][c] != 0) scale + add[r][c]",
		Source:  "founding note 000",
		Dims:    []string{"rows", "columns"}, MaxDim: most, Valid: valid,
		Inputs: func(s ladder.Size) []ladder.Tensor {
			float := func(name string, n int) ladder.Tensor { return ladder.Tensor{Name: name, Len: n, Type: t} }
			n := s[0] * s[1]
			return []ladder.Tensor{float("x", n), float("bias", s[1]), {Name: "mask", Len: n, Type: gpu.Uint8}, float("add", n)}
		},
		Outputs: func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: s[0] * s[1], Type: t}} },
		Reference: func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
			return reference(stop, s[1], inputs, float64(scale))
		},
		Data:       []ladder.DataSet{anyByte, special},
		Cases:      cases,
		Parameters: []ladder.Parameter{{Name: "scale", Value: float64(scale), Default: 0.5}},
		Remake:     func(values []float64) (*ladder.Operator, error) { return of(t, float32(values[0])), nil },
		Work: func(s ladder.Size) ladder.Work {
			n := float64(s[0]) * float64(s[1])
			return ladder.Work{Bytes: n*float64(3*t.Bytes()+1) + float64(t.Bytes()*s[1]), Operations: 4 * n}
		},
		Variants: variants(scale),
	}
	if t == gpu.Float16 {
		o.Name, o.Variants = "fused_half", halfVariants(scale)
	}
	return o
}

// most is the largest number of elements: the kernels count in 32 bits.
const most = math.MaxInt32

func valid(s ladder.Size) error {
	if s[0] > 0 && s[1] > most/s[0] {
		return fmt.Errorf("ops: fused: %d x %d elements: %w, expected at most %d: split the rows", s[0], s[1], gpu.ErrArgument, most)
	}
	return nil
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Half}
}
