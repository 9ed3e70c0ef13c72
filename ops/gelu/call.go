package gelu

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Tanh is GELU in its tanh form: y[i] = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), x = x[i].
//
// Shapes: x, y (n), which share no element. Types: float16. Error: that of Operator.
func Tanh(h ladder.Runner, x, y gpu.Buffer) error { return apply(h, Operator, x, y) }

// Exact is GELU as it is defined: y[i] = x/2 (1 + erf(x / sqrt 2)). Otherwise it is Tanh.
func Exact(h ladder.Runner, x, y gpu.Buffer) error { return apply(h, Erf, x, y) }

func apply(h ladder.Runner, o *ladder.Operator, x, y gpu.Buffer) error {
	return ladder.Call(h, o, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "y": y})
}
