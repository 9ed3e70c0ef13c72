package copyif

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Positive copies the elements above 0 of a vector to the front of another, in their order,
// and counts them: y[0..count) = the x[i] > 0. A rung that the handle's Variant names may keep
// another order.
//
// Shapes: x, y (n), count (1); they share no element. Types: x and y float32, count uint32.
// Error: none.
func Positive(h ladder.Runner, x, y, count gpu.Buffer) error {
	return ladder.Call(h, Operator, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "y": y, "count": count})
}
