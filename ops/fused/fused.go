// Package fused adds a bias, applies a mask and a scale, and adds a tensor, in one
// kernel: the experiment of note 000 in float32 and float16, corrected, and rungs of our
// own. Apply runs it on buffers. Package ops lists the operators. It must never import
// ops/bench.
package fused

import (
	"fmt"
	"math"
	"math/rand/v2"

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
// Cost:   13 bytes an element and 4 a column, 4 operations an element: memory bound.
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

func reference(stop ladder.Stop, columns int, inputs []ladder.Values, scale float64) []ladder.Expected {
	x, bias, mask, add := inputs[0].([]float32), inputs[1].([]float32), inputs[2].([]uint8), inputs[3].([]float32)
	e := ladder.Expected{Value: make([]float64, len(x)), Magnitude: make([]float64, len(x))}
	stop.Parallel(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			v, b, a, s := float64(x[i]), float64(bias[i%columns]), float64(add[i]), 0.0
			if mask[i] != 0 {
				s = scale
			}
			e.Value[i] = (v+b)*s + a
			e.Magnitude[i] = (finite(v)+finite(b))*math.Abs(s) + finite(a)
		}
	})
	return []ladder.Expected{e}
}

// finite is |v|, 0 for NaN and infinities.
func finite(v float64) float64 {
	if v-v != 0 {
		return 0
	}
	return math.Abs(v)
}

// anyByte has masks of which half are 0 and the others any other byte. Note 000 takes 0
// and 1 in turn, for which a mask that multiplies as it is passes.
var anyByte = ladder.DataSet{Name: "any byte", Text: "uniform in [0, 1), half of the masks 0 and half from 1 to 255",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return masked(stop, tensors, random, ladder.UniformData)
	}}

// special has such masks, and NaN and infinities among the floats.
var special = ladder.DataSet{Name: "special", Text: ladder.SpecialData.Text + ", masks of any byte",
	Make: func(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
		return masked(stop, tensors, random, ladder.SpecialData)
	}}

func masked(stop ladder.Stop, tensors []ladder.Tensor, random *rand.Rand, floats ladder.DataSet) (all []ladder.Values) {
	for _, t := range tensors {
		if t.Type != gpu.Uint8 {
			all = append(all, floats.Make(stop, []ladder.Tensor{t}, random)...)
			continue
		}
		mask := make([]uint8, t.Len)
		for i := range mask {
			mask[i] = uint8(random.IntN(2) * (1 + random.IntN(255)))
		}
		all = append(all, mask)
	}
	return all
}

// cases bracket vectors of 2, 4 and 8, blocks of 256 and 1024 threads, rows of whole
// vectors and not, and arrays that start at any element.
var cases = func() (all []ladder.Case) {
	for _, s := range []ladder.Size{{0, 0}, {0, 5}, {7, 0}, {1, 1}, {3, 1}, {1, 64}, {64, 1}, {2, 33}, {33, 2}, {9, 12}, {3, 1023}, {2, 1024}, {5, 1028}, {1, 4104}, {17, 488}, {127, 67}} {
		all = append(all, ladder.Case{Size: s})
	}
	for start := 1; start < 9; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{9, 136}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{33, 256}, Data: "special"}, ladder.Case{Size: ladder.Size{33, 67}, Data: "special"},
		ladder.Case{Size: ladder.Size{1031, 1024}, Long: true})
}()
