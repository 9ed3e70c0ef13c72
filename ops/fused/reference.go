package fused

import (
	"math"
	"warpbook/ops/ladder"
)

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
