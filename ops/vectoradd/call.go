package vectoradd

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Add adds two vectors: z[i] = x[i] + y[i].
//
// Shapes: x, y, z (n); z shares no element with the others. Types: float32. Error: one
// rounding.
func Add(h ladder.Runner, x, y, z gpu.Buffer) error {
	return ladder.Call(h, Operator, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "y": y, "z": z})
}
