package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 conv3d_sevens.cu

// Constants of conv3d_sevens.cu.
const (
	sevensPlaces  = 7 * 8                   // = places * segments: of a row of a tile
	sevensRows    = 4                       // = tile_rows
	sevensThreads = 128                     // = maxntid(conv3d_sevens_2)
	sevensBytes   = 3 * 4 * (6*8*12 + 9*32) // = stages * stage_floats * 4: of stages
)

// sevensRung has 7 places a thread.
type sevensRung struct{ Options }

// refuses rejects layers that conv3d_sevens does not cut.
func (o sevensRung) refuses(s ladder.Size) error {
	if x := o.of(s); x.s != stripFilterSide || x.r != stripFilterSide || o.Stride != 1 || o.Dilation != 1 || o.Groups != 1 {
		return fmt.Errorf("%w: filters of %d x %d x %d, stride %d, dilation %d, %d groups: expected %d x %d at each depth and 1 of the others; use conv3d_registers",
			gpu.ErrUnsupported, x.t, x.r, x.s, o.Stride, o.Dilation, o.Groups, stripFilterSide, stripFilterSide)
	}
	if n := o.filters(s); n > most {
		return fmt.Errorf("%w: filters padded to %d channels of y have %d elements: expected at most %d; use conv3d_registers", gpu.ErrUnsupported, stripChannels, n, most)
	}
	return nil
}

// filters is the number of elements of w in blocks of 32 channels of y.
func (o sevensRung) filters(s ladder.Size) int {
	x := o.of(s)
	return ladder.CeilDiv(x.k, stripChannels) * stripChannels * x.c * x.taps()
}

// plan launches the change of the order of w, and the sums.
func (o sevensRung) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	x := o.of(s)
	across, down, blocks := ladder.CeilDiv(x.ow, sevensPlaces), ladder.CeilDiv(x.oh, sevensRows), ladder.CeilDiv(x.k, stripChannels)
	n := o.filters(s)
	p := ladder.Plan{Depth: o.roundings(s)}
	filters := p.NewScratch("filters", n)
	shape := o.shape(s)
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, threads)}, Block: gpu.Dim{X: threads}, Args: []any{"w", filters, shape, uint32(n)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: x.n * x.od * across * down, Y: blocks}, Block: gpu.Dim{X: sevensThreads}, Shared: sevensBytes,
			Args: []any{"x", filters, o.operands("x")[2], "y", shape, uint32(across), uint32(down)}},
	}
	return p
}
