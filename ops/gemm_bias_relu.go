package ops

import (
	"math"

	"warpbook/gpu"
)

// GemmBiasReLU is a layer of a network: D = max(0, A B + bias), a bias for each
// column.
//
// Shapes: a (m, k), b (k, n), bias (n), d (m, n). Types: float32, reference
// float64.
// Error:  |d - ref| <= bound(k + 1) * (sum|a||b| + |bias|), see Bound.
// Cost:   2mnk + 2mn flops, 4(mk + kn + n + mn) bytes in one launch.
// Source: the notes' MatmulAndBiasAndRelu.
var GemmBiasReLU = gemmBiasReLU()

func gemmBiasReLU() *Operator {
	plain := GemmOptions{Alpha: 1}
	product := GemmWith(plain)
	operator := *product
	operator.Name, operator.Formula, operator.Source = "gemm_bias_relu", "D = max(0, A B + bias)", "the notes' MatmulAndBiasAndRelu"
	operator.Inputs = func(s Size) []Tensor {
		// Around the mean of a sum of products in [0, 1), so that half of D is 0.
		mean, spread := -float32(s[2])/4, float32(math.Sqrt(float64(s[2])))
		return append(product.Inputs(s), Tensor{Name: "bias", Len: s[1], Low: mean - spread, High: mean + spread})
	}
	operator.Reference = func(stop Stop, s Size, inputs [][]float32) []Expected {
		e := product.Reference(stop, s, inputs[:2])[0]
		stop.pieces(len(e.Value), func(from, to int) {
			for i := from; i < to; i++ {
				bias := inputs[2][i%s[1]]
				e.Value[i], e.Magnitude[i] = e.Value[i]+float64(bias), e.Magnitude[i]+finite(bias)
				if e.Value[i] < 0 {
					e.Value[i] = 0
				}
			}
		})
		return []Expected{e}
	}
	operator.Exact = func(stop Stop, s Size, seed uint64) [][]float32 {
		return append(product.Exact(stop, s, seed), signs(stop, s[1], newRandom(seed+1)))
	}
	operator.Bytes = func(s Size) float64 { return product.Bytes(s) + 4*float64(s[1]) }
	operator.Flops = func(s Size) float64 { return product.Flops(s) + 2*float64(s[0])*float64(s[1]) }
	operator.Variants = plain.biasReLUVariants()
	return &operator
}

func (o GemmOptions) biasReLUVariants() []Variant {
	return []Variant{
		{
			Name: "gemm_then_bias_relu", Adds: "the product, and a second launch for bias and maximum: D goes through memory three times",
			Source: "ours", Plan: o.biasReLU(o.streamed(wideStream), true),
		},
		{
			Name: "gemm_bias_relu", Adds: "bias and maximum while the sums are in registers: D is written once",
			Source: "the notes' MatmulAndBiasAndRelu", Plan: o.biasReLU(o.streamed(wideStream), false),
		},
		o.specialized("gemm_bias_relu_specialized", "the product of gemm_specialized", o.biasReLU(o.streamed(specializedStream), false)),
	}
}

// biasReLU launches a product with its bias, or after it.
func (o GemmOptions) biasReLU(product planner, after bool) planner {
	return func(entry string, s Size, info gpu.Info) Plan {
		p := product(entry, s, info)
		if len(p.Steps) == 0 {
			return p
		}
		p.Depth++
		for i := range p.Steps { // which are told of a bias, and nothing of C and beta
			args := p.Steps[i].Args
			p.Steps[i].Args = append(append([]any{"a", "b", "bias", "d"}, args[4:11]...), args[12:]...)
		}
		if after {
			p.Steps = append(p.Steps, Step{Entry: entry + "_3", Grid: gpu.Dim{X: ceilDiv(s[0]*s[1], 256)}, Block: gpu.Dim{X: 256},
				Args: []any{"bias", "d", uint32(s[0]), uint32(s[1]), uint32(o.shapes(s).d.ld)}})
		}
		return p
	}
}
