package reduce

import (
	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/ops/ladder"
)

// Sum sums a vector: y[0] = x[0] + ... + x[n-1], and 0 for n = 0.
//
// Shapes: x (n), y (1 or more, of which the first is written). Types: float32.
// Error: that of Operator of this package.
func Sum(h ladder.Runner, x, y gpu.Buffer) error {
	c := ladder.NewOperands(h, Operator.Name)
	n := ladder.Elements(x)
	c.Add("x", ladder.Vector(x, n), false, gpu.Float32)
	c.Add("y", ladder.Vector(y, 1), true, gpu.Float32)
	return c.Run(Operator, ladder.Size{n}, "reduce_last_block")
}

// SumAcross sums the vectors of all ranks of a group: each device sums its own by Sum, and
// an all-reduce of one element adds these up, so that y[0] of every rank is the sum of all.
// All ranks call it, each in a goroutine of its own. An error of one ends the group. With
// run.Handle.Async the host does not wait between the two.
//
// Shapes: x (n of this rank), y (1 or more, of which the first is written). Types: float32.
// Error: that of Operator of this package, and of one addition more for each rank.
func SumAcross(c collective.Communicator, h ladder.Runner, x, y gpu.Buffer) error {
	if err := Sum(h, x, y); err != nil {
		c.Abort(err)
		return err
	}
	first, err := y.View(0, 1)
	if err != nil {
		c.Abort(err)
		return err
	}
	return c.AllReduce(first, first, collective.Sum)
}
