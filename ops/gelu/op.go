// Package gelu computes the Gaussian error linear unit of float16, x Phi(x), in its
// tanh form and exactly: rungs of our own, because note 000 gives the formulas without
// a CUDA listing. Tanh and Exact run them on buffers; ErrorsOf measures a rung's error on every
// float16. Package ops lists the operators. It must never import ops/bench.
package gelu

import (
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 gelu.cu

// Operator is GELU in its tanh form: y[i] = x/2 (1 + tanh u), x = x[i] and
// u = sqrt(2/pi) (x + 0.044715 x^3).
//
// Shapes: x, y (n). Types: float16, reference float64. y is 0 at -infinity, infinity
// at infinity, and NaN at NaN.
// Error:  |y - ref| <= 0.55 (ulp(ref) + round |x|), with the round of the rung: 2^-8 in
// halves, 2^-11 with an approximate tanh, 2^-22 with the library's, and 0 at the end.
// Cost:   4n bytes: memory bound where the arithmetic hides below it.
// Source: founding note 000, 3.2.
var Operator = operator("gelu", "y[i] = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", tanhForm, variants)

// Erf is GELU as it is defined: y[i] = x/2 (1 + erf(x / sqrt 2)). Otherwise it is like
// Operator.
var Erf = operator("gelu_erf", "y[i] = x/2 (1 + erf(x / sqrt 2))", erfForm, erfVariants)

func operator(name, formula string, form func(x float64) float64, variants []ladder.Variant) *ladder.Operator {
	return &ladder.Operator{
		Name:    name,
		Module:  "gelu",
		Folder:  folder,
		Files:   files,
		Peers:   []string{"gelu.py"},
		Formula: formula,
		Source:  "founding note 000",
		Dims:    []string{"n"},
		MaxDim:  math.MaxInt32,
		Inputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "x", Len: s[0], Type: gpu.Float16, Low: -4, High: 4}}
		},
		Outputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "y", Len: s[0], Type: gpu.Float16, Judge: ladder.ULPOf(gpu.Float16, 0.55)}}
		},
		Reference: func(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
			return reference(stop, inputs[0].([]float32), form)
		},
		Data:     []ladder.DataSet{ladder.NormalData, ladder.UniformData, everyHalf},
		Cases:    cases,
		Work:     func(s ladder.Size) ladder.Work { return ladder.Work{Bytes: 4 * float64(s[0])} },
		Variants: variants,
	}
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Erf}
}
