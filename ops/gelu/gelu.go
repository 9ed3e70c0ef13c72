// Package gelu computes the Gaussian error linear unit of float16, x Phi(x), in its
// tanh form and exactly: rungs of our own, because note 000 gives the formulas without
// a CUDA listing. ErrorsOf measures a rung's error on every float16. Package ops lists the
// operators. It must never import ops/bench.
package gelu

import (
	"math"
	"math/rand/v2"

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

// tanhForm is x / (1 + e^-2u), the same as x/2 (1 + tanh u) without its cancellation.
func tanhForm(x float64) float64 {
	return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// erfForm has erfc(-z) for 1 + erf(z), for the same reason.
func erfForm(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }

func reference(stop ladder.Stop, x []float32, form func(x float64) float64) []ladder.Expected {
	e := ladder.Expected{Value: make([]float64, len(x)), Magnitude: make([]float64, len(x))}
	stop.Parallel(len(x), func(from, to int) {
		for i, v := range x[from:to] {
			e.Value[from+i], e.Magnitude[from+i] = form(float64(v)), math.Abs(float64(v))
			if math.IsInf(float64(v), -1) {
				e.Value[from+i] = 0 // the limit
			}
		}
	})
	return []ladder.Expected{e}
}

// everyHalf has the 65536 halves in turn.
var everyHalf = ladder.DataSet{Name: "every half", Text: "the 65536 halves in turn",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, _ *rand.Rand) []ladder.Values {
		x := tensors[0].Make().([]float32)
		stop.Pieces(len(x), func(from, to int) {
			for i := from; i < to; i++ {
				x[i] = half(uint16(i))
			}
		})
		return []ladder.Values{x}
	}}

// half is the number of the bits of a half.
func half(bits uint16) float32 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return float32(math.NaN())
	case exponent == 31:
		fraction = math.Inf(1)
	case exponent > 0:
		fraction += 1024
	}
	v := math.Ldexp(fraction, max(exponent, 1)-25)
	if bits>>15 != 0 {
		v = -v
	}
	return float32(v)
}

// cases bracket warps, blocks of 256 threads, vectors of 2 and 8, and have every half
// there is.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 63, 255, 256, 257, 2047, 2048, 2049, 10_007} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for start := 1; start < 9; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{1_003}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{65_536}, Data: "every half"}, ladder.Case{Size: ladder.Size{5_003}, Data: "uniform"},
		ladder.Case{Size: ladder.Size{1 << 20}, Long: true})
}()
