package gemm

import (
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// BiasReLU is a layer of a network: D = max(0, A B + bias), a bias for each
// column.
//
// Shapes: a (m, k), b (k, n), bias (n), d (m, n). Types: float32, reference
// float64.
// Error:  |d - ref| <= bound(k + 1) * (sum|a||b| + |bias|), see Bound.
// Cost:   2mnk + 2mn flops, of which rates count the product's, 4(mk + kn + n + mn) bytes in one launch.
// Source: the notes' MatmulAndBiasAndRelu.
var BiasReLU = withCases(biasReLU(), biasReLUCases)

func biasReLU() *ladder.Operator {
	plain := Options{Alpha: 1}
	product := With(plain)
	operator := *product
	operator.Name, operator.Peers = "gemm_bias_relu", []string{"gemm.py"}
	operator.Formula, operator.Source = "D = max(0, A B + bias)", "the notes' MatmulAndBiasAndRelu"
	operator.Inputs = func(s ladder.Size) []ladder.Tensor {
		// Around the mean of a sum of products in [0, 1), so that half of D is 0.
		mean, spread := -float32(s[2])/4, float32(math.Sqrt(float64(s[2])))
		return append(product.Inputs(s), ladder.Tensor{Name: "bias", Len: s[1], Low: float64(mean - spread), High: float64(mean + spread)})
	}
	operator.Reference = func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		e := product.Reference(stop, s, inputs[:2])[0]
		biases := inputs[2].([]float32)
		stop.Pieces(len(e.Value), func(from, to int) {
			for i := from; i < to; i++ {
				bias := biases[i%s[1]]
				e.Value[i], e.Magnitude[i] = e.Value[i]+float64(bias), e.Magnitude[i]+finite(bias)
				if e.Value[i] < 0 {
					e.Value[i] = 0
				}
			}
		})
		return []ladder.Expected{e}
	}
	operator.Exact = func(stop ladder.Stop, s ladder.Size, seed uint64) []ladder.Values {
		return append(product.Exact(stop, s, seed), signs(stop, s[1], ladder.NewRandom(seed+1)))
	}
	operator.Work = func(s ladder.Size) ladder.Work {
		work := product.Work(s)
		work.Bytes += 4 * float64(s[1]) // operations are those of the product, as libraries count them
		return work
	}
	operator.Parameters, operator.Remake = nil, nil
	operator.Variants = plain.biasReLUVariants()
	return &operator
}

func (o Options) biasReLUVariants() []ladder.Variant {
	return []ladder.Variant{
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
func (o Options) biasReLU(product ladder.Planner, after bool) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		p := product(entry, s, info)
		if len(p.Steps) == 0 {
			return p
		}
		p.Depth++
		for i := range p.Steps { // their arguments have a bias in place of C and beta
			args := p.Steps[i].Args
			p.Steps[i].Args = append(append([]any{"a", "b", "bias", "d"}, args[4:11]...), args[12:]...)
		}
		if after {
			p.Steps = append(p.Steps, ladder.Step{Entry: entry + "_3", Grid: gpu.Dim{X: ladder.CeilDiv(s[0]*s[1], 256)}, Block: gpu.Dim{X: 256},
				Args: []any{"bias", "d", uint32(s[0]), uint32(s[1]), uint32(o.shapes(s).d.ld)}})
		}
		return p
	}
}
