package reduce

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Sum sums a vector: y[0] = x[0] + ... + x[n-1], and 0 for n = 0.
//
// Shapes: x (n), y (1 or more, of which the first is written). Types: float32.
// Error: that of Operator of this package.
func Sum(h ladder.Runner, x, y gpu.Buffer) error {
	c := ladder.NewOperands(h, Operator.Name)
	n := 0
	if x != nil {
		n = x.Len()
	}
	c.Add("x", ladder.Vector(x, n), false, gpu.Float32)
	c.Add("y", ladder.Vector(y, 1), true, gpu.Float32)
	return c.Run(Operator, ladder.Size{n}, "reduce_last_block")
}
