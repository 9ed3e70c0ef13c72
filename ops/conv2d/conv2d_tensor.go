package conv2d

import (
	"fmt"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// tensorRung is a product by mma.sync. Volumes have the entries of images, whose depth is 1.
type tensorRung struct{ boxed }

func (o tensorRung) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if o.Depth {
		entry = strings.Replace(entry, "conv3d", "conv2d", 1)
	}
	return ladder.Plan{Depth: o.roundings(s) + tensorRoundings, Round: o.tensorRound(), Steps: []ladder.Step{{
		Entry: entry, Grid: o.grid(s), Block: gpu.Dim{X: 128}, Args: append(o.operands("x"), o.shape(s)),
	}}}
}

// refusesVectors rejects groups whose channels are no whole vectors of 16 bytes.
func (o tensorRung) refusesVectors(s ladder.Size) error {
	x := o.of(s)
	layout, shape := "(n, h, w, c)", []int{x.n, x.h, x.w, x.c}
	if o.Depth {
		layout, shape = "(n, d, h, w, c)", []int{x.n, x.d, x.h, x.w, x.c}
	}
	if c, vector := x.c/o.Groups, 16/o.bytes(); c%vector != 0 {
		return fmt.Errorf("%w: %d channels in a group of x %s = %v: expected a multiple of %d, which is 16 bytes; pad the channels or use %s_mma", gpu.ErrUnsupported, c, layout, shape, vector, o.family)
	}
	return nil
}
