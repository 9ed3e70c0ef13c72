package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Convolve computes a layer on buffers of the caller's, of the shapes of Operator, or of
// NHWC or Volumes as the options say: size is (n, c, h, w, k, r, s), or (n, c, d, h, w, k, t,
// r, s) with Depth. bias is nil without Options.Bias. y overlaps no other operand.
//
// Types: Options.Type throughout; float16 and bfloat16 with NHWC. Error: that of Operator or
// of FP16 and BF16. Without a rung that h names, float32 is added as float32 and not in
// parts of it.
func Convolve(h ladder.Runner, options Options, size ladder.Size, x, w, bias, y gpu.Buffer) error {
	name := "conv2d"
	if options.Depth {
		name = "conv3d"
	}
	switch options.Type {
	case gpu.Float16:
		name += "_fp16"
	case gpu.BFloat16:
		name += "_bf16"
	case 0, gpu.Float32:
		options.Type = 0
	default:
		return fmt.Errorf("ops: %s: type %v: %w, expected float32, float16 or bfloat16", name, options.Type, gpu.ErrArgument)
	}
	if options.Type != 0 && !options.NHWC {
		return fmt.Errorf("ops: %s: %w: channels are not innermost: tensor cores take NHWC: set Options.NHWC", name, gpu.ErrArgument)
	}
	o, err := With(name, options)
	if err == nil {
		err = o.CheckSize(size)
	}
	if err != nil {
		return err
	}
	c := ladder.NewOperands(h, o.Name)
	if bias != nil && !options.Bias {
		c.Fail("bias", gpu.ErrArgument, "a buffer", "expected none: set Options.Bias")
	}
	c.AddTensors(o, size, map[string]gpu.Buffer{"x": x, "w": w, "bias": bias, "y": y})
	switch {
	case options.Type != 0 && options.Depth: // not the rung in which a NaN spreads to other depths
		return c.Run(o, size, name+"_halo", name+"_wgmma", name+"_vector", name+"_mma")
	case options.Type != 0:
		return c.Run(o, size)
	case options.Depth:
		return c.Run(o, size, "conv3d_fourteens", "conv3d_sevens", "conv3d_registers", "conv3d_implicit")
	}
	return c.Run(o, size, "conv2d_fourteens", "conv2d_implicit")
}
