package vectorcopy

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Copy copies a vector: y[i] = x[i].
//
// Shapes: x, y (n), which share no element. Types: float32. Error: none.
func Copy(h ladder.Runner, x, y gpu.Buffer) error {
	return ladder.Call(h, Operator, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "y": y})
}
