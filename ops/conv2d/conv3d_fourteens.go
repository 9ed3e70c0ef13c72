package conv2d

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 conv3d_fourteens.cu

// Constants of conv3d_fourteens.cu.
const (
	patchPlaces      = 14                                                                                               // = places: of a row of a patch
	patchRows        = 4                                                                                                // = patch_rows
	tilePatches      = 8                                                                                                // = patches
	patchPitch       = patchPlaces + 6                                                                                  // = pitch
	chunkChannels    = 4                                                                                                // = chunk: of x, that a stage has
	fourteensStages  = 4                                                                                                // or as many as fit, at least 2
	fourteensWorkers = 2                                                                                                // = multiplying: of a block
	fourteensThreads = fourteensWorkers * (128 + 64)                                                                    // = maxntid(conv3d_fourteens_2)
	stageBytes       = fourteensWorkers * (4*chunkChannels*(tilePatches*(patchRows+2)*patchPitch+9*stripChannels) + 16) // = multiplying * (4 * stage_floats + 16): of all workers, with barriers
	workerSums       = 8 * patchPlaces * 128                                                                            // = 4 * vectors * warpgroup
)

// plan is Fourteens of conv3d_fourteens.cu.
type fourteens struct{ Across, Down, Tiles, Blocks, Chunks, All, Workers, Stages uint32 }

// fourteensRung has 14 places a thread.
type fourteensRung struct{ Options }

// refuses rejects layers that conv3d_fourteens does not cut.
func (o fourteensRung) refuses(s ladder.Size) error {
	x, other := o.of(s), "conv2d_implicit"
	if o.Depth {
		other = "conv3d_registers"
	}
	if x.s != stripFilterSide || x.r != stripFilterSide || o.Stride != 1 || o.Dilation != 1 || o.Groups != 1 {
		return fmt.Errorf("%w: filters of %d x %d, stride %d, dilation %d, %d groups: expected %d x %d at each depth and 1 of the others; use %s",
			gpu.ErrUnsupported, x.r, x.s, o.Stride, o.Dilation, o.Groups, stripFilterSide, stripFilterSide, other)
	}
	if _, _, ok := o.cutFor(s, 1); !ok {
		return fmt.Errorf("%w: %d channels of x and %d of y: filters padded to %d and %d channels, or the stages of all tiles, are beyond 32 bits; use %s",
			gpu.ErrUnsupported, x.c, x.k, chunkChannels, stripChannels, other)
	}
	return nil
}

// cutFor cuts y into tiles, and their stages into equal shares of so many workers at
// most. Filters are the elements of w in blocks and chunks. ok is false where an int of the
// device does not number them or the stages.
func (o fourteensRung) cutFor(s ladder.Size, workers int) (c fourteens, filters int, ok bool) {
	x, p := o.of(s), o.shape(s)
	across, down, blocks := ladder.CeilDiv(x.ow, patchPlaces), ladder.CeilDiv(x.oh, patchRows), ladder.CeilDiv(x.k, stripChannels)
	tiles, chunks, all := ladder.CeilDiv(x.n*across*down, tilePatches)*blocks, ladder.CeilDiv(x.c, chunkChannels), 0
	for od := range x.od {
		first := min(x.t-1, max(0, int(p.DepthPadding)-od))
		all += tiles * chunks * max(1, min(x.t, x.d+int(p.DepthPadding)-od)-first)
	}
	filters = blocks * stripChannels * chunks * chunkChannels * x.taps()
	c = fourteens{Across: uint32(across), Down: uint32(down), Tiles: uint32(tiles), Blocks: uint32(blocks), Chunks: uint32(chunks), All: uint32(all), Workers: uint32(min(all, workers))}
	return c, filters, all <= math.MaxUint32 && filters <= most
}

// plan launches the change of the order of w, and the sums.
func (o fourteensRung) plan(_ string, s ladder.Size, info gpu.Info) ladder.Plan {
	const entry = "conv3d_fourteens"
	sms := max(1, info.SMs)
	c, n, _ := o.cutFor(s, fourteensWorkers*sms)
	for c.Stages = fourteensStages; c.Stages > 2 && int(c.Stages)*stageBytes > info.SharedPerBlockMax; c.Stages-- {
	}
	p := ladder.Plan{Depth: o.roundings(s) + 1}
	filters, parts, flags := p.NewScratch("filters", n), p.NewScratch("parts", int(c.Workers)*workerSums), "flags"
	p.Scratch = append(p.Scratch, ladder.Tensor{Name: flags, Len: int(c.Workers), Type: gpu.Uint32})
	shape := o.shape(s)
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(max(n, int(c.Workers)), threads)}, Block: gpu.Dim{X: threads}, Args: []any{"w", filters, flags, shape, c, uint32(n)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: min(sms, int(c.Workers))}, Block: gpu.Dim{X: fourteensThreads}, Shared: int(c.Stages) * stageBytes,
			Args: []any{"x", filters, o.operands("x")[2], "y", parts, flags, shape, c, uint32(0)}},
	}
	return p
}
