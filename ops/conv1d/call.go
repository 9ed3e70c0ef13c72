package conv1d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Correlate computes y[i] = sum mask[j] x[i stride + j dilation - before] on buffers of the
// caller's; with Options.Flip it convolves. The length of y must be that of Options.Len; y
// overlaps neither x nor mask.
//
// Types: float32. Error: that of Operator; without a rung that h names, float32 is added as
// float32 and not in parts of it.
func Correlate(h ladder.Runner, options Options, x, mask, y gpu.Buffer) error {
	o, err := With(options)
	if err != nil {
		return err
	}
	size := ladder.Size{length(x), length(mask)}
	c := ladder.NewOperands(h, o.Name)
	c.Add("x", ladder.Vector(x, size[0]), false, gpu.Float32)
	c.Add("mask", ladder.Vector(mask, size[1]), false, gpu.Float32)
	if err := c.Err(); err != nil {
		return err
	}
	n, err := options.Len(size[0], size[1])
	if err != nil {
		return err
	}
	if y != nil && y.Len() != n {
		c.Fail("y", gpu.ErrArgument, fmt.Sprintf("%d elements", y.Len()), fmt.Sprintf("expected the %d outputs of %d elements and %d taps", n, size[0], size[1]))
	}
	c.Add("y", ladder.Vector(y, n), true, gpu.Float32)
	return c.Run(o, size, "conv1d_vector", "conv1d_strips", "conv1d_sixteen", "conv1d_operands", "conv1d_window", "conv1d_shared", "conv1d_constant", "conv1d_global")
}

func length(b gpu.Buffer) int {
	if b == nil {
		return 0
	}
	return b.Len()
}
