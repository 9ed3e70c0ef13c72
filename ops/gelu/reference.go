package gelu

import (
	"math"
	"warpbook/ops/ladder"
)

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
