package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of the CUDA C++.
const (
	threads     = 256
	tile        = 64 // rows and columns of a product's tile
	tileSide    = 16 // outputs of a block of conv2d_shared in a row and in a column
	tileFilters = 8
	tileBytes   = 48 << 10
)

func (o Options) variants() []ladder.Variant {
	if o.Depth {
		return []ladder.Variant{
			{Name: "conv3d_direct", Adds: "a thread an output; both factors from global memory", Source: "ours", Plan: o.direct},
			{Name: "conv3d_implicit", Adds: "implicit GEMM: tiles of 64 x 64 of a product, whose columns are read from x as im2col would write them", Source: "ours", Plan: o.implicit},
			{Name: "conv3d_registers", Adds: "8 channels by 8 places a thread; a plane of x with its halo and filters of a channel, copied 16 bytes at a time while two stages before are multiplied", Source: "ours",
				Module: "conv3d_registers", Needs: ladder.Ampere, Plan: o.registers, Refuses: o.stripsRefuse},
			{Name: "conv3d_sevens", Adds: "7 places a thread in tiles of 4 rows: four warps a block, five blocks a multiprocessor; filters lie in the order of their stages", Source: "ours",
				Module: "conv3d_sevens", Needs: ladder.Ampere, Plan: o.sevens, Refuses: o.sevensRefuse},
			{Name: "conv3d_fourteens", Adds: "14 places a thread, sums in the register bank that their filters are not in; warps that only copy, and two warpgroups a multiprocessor have equal shares of all tiles", Source: "ours",
				Module: "conv3d_fourteens", Needs: hopper, Plan: o.fourteens, Refuses: o.fourteensRefuse},
			{Name: "conv3d_bf16x3", Adds: "Hopper's tensor cores: x and w are split into three bfloat16 numbers each, channels innermost: six products, added to float32 sums after each tap of 64 channels", Source: "ours",
				Module: "conv2d_split", Needs: hopper, Plan: o.split, Refuses: o.splitRefuses},
			{Name: "conv3d_bf16x3_depths", Adds: "the 64 rows of a product are 32 channels of two depths of y, or 16 of four, which share the pixels", Source: "ours",
				Module: "conv2d_split", Needs: hopper, Picks: true, Plan: o.splitDepths, Refuses: o.splitDepthsRefuse},
			{Name: "conv3d_fp16x2", Adds: "two scaled float16 numbers a factor: the 64 rows of a product are both numbers of 32 channels, filters stay in shared memory; a box of x whose numbers do not fit the scale of all is split again, or added as float32", Source: "ours",
				Module: "conv3d_halves", Needs: hopper, Plan: o.pairs, Refuses: o.pairsRefuse},
		}
	}
	return []ladder.Variant{
		{Name: "conv2d_direct", Adds: "a thread an output; both factors from global memory", Source: "ours", Plan: o.direct},
		{Name: "conv2d_shared", Adds: "a channel of x with its halo in shared memory, for 16 x 16 outputs of 8 channels", Source: "ours", Plan: o.shared, Refuses: o.tileLimit},
		{Name: "conv2d_im2col", Adds: "im2col writes a column for each output, and a product of matrices follows: tiles of 64 x 64, 16 sums a thread", Source: "ours", Plan: o.im2col, Refuses: o.matrixLimit},
		{Name: "conv2d_implicit", Adds: "the same product without the matrix in memory: its columns are read from x", Source: "ours", Plan: o.implicit},
		{Name: "conv2d_fourteens", Adds: "float32 without a product: 8 channels by 14 places a thread, sums in the register bank that their filters are not in; warps that only copy, and two warpgroups a multiprocessor have equal shares of all tiles", Source: "ours",
			Module: "conv3d_fourteens", Needs: hopper, Picks: true, Plan: o.fourteens, Refuses: o.fourteensRefuse},
		{Name: "conv2d_bf16x3", Adds: "Hopper's tensor cores: x and w are split into three bfloat16 numbers each, channels innermost: six products, added to float32 sums after each tap of 64 channels", Source: "ours",
			Module: "conv2d_split", Needs: hopper, Plan: o.split, Refuses: o.splitRefuses},
		{Name: "conv2d_fp16x3", Adds: "two float16 numbers each, scaled: three products; filters of a layer of 64 channels stay in shared memory, and warpgroups take two rows of places in turn", Source: "ours",
			Module: "conv2d_halves", Needs: hopper, Plan: o.halves, Refuses: o.halvesRefuse},
	}
}

// operands are the arguments of a launch that computes y. Without a bias its argument is w,
// which is not read as one.
func (o Options) operands(x string) []any {
	if o.Bias {
		return []any{x, "w", "bias", "y"}
	}
	return []any{x, "w", "w", "y"}
}

// roundings are those of a sum over the channels and taps of a group, with a bias.
func (o Options) roundings(s ladder.Size) int {
	x := o.of(s)
	return x.c/o.Groups*x.taps() + 3
}

func (o Options) direct(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return ladder.Plan{Depth: o.roundings(s), Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(o.of(s).elementsOfY(), threads)}, Block: gpu.Dim{X: threads}, Args: append(o.operands("x"), o.shape(s)),
	}}}
}

// tileOf is the shared memory of a block of conv2d_shared in bytes.
func (o Options) tileOf(s ladder.Size) int {
	x := o.of(s)
	side := func(taps int) int { return (tileSide-1)*o.Stride + (taps-1)*o.Dilation + 1 }
	if o.Stride > tileBytes || o.Dilation > tileBytes || x.r > tileBytes || x.s > tileBytes {
		return tileBytes + 1
	}
	return 4 * (side(x.r)*side(x.s) + tileFilters*x.r*x.s)
}

func (o Options) tileLimit(s ladder.Size) error {
	if bytes := o.tileOf(s); bytes > tileBytes {
		x := o.of(s)
		return fmt.Errorf("%w: filters of %d x %d with stride %d and dilation %d: the tile is beyond %d bytes of shared memory; use conv2d_implicit", gpu.ErrUnsupported, x.r, x.s, o.Stride, o.Dilation, tileBytes)
	}
	return nil
}

func (o Options) shared(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	x := o.of(s)
	blocks := ladder.CeilDiv(x.oh, tileSide) * ladder.CeilDiv(x.ow, tileSide) * ladder.CeilDiv(x.k/o.Groups, tileFilters) * o.Groups * x.n
	return ladder.Plan{Depth: o.roundings(s), Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Shared: o.tileOf(s), Args: append(o.operands("x"), o.shape(s)),
	}}}
}

// grid is that of a product with a row for each channel of a group and a column for each
// place.
func (o Options) grid(s ladder.Size) gpu.Dim {
	x := o.of(s)
	return gpu.Dim{X: ladder.CeilDiv(x.n*x.od*x.oh*x.ow, tile), Y: ladder.CeilDiv(x.k/o.Groups, tile), Z: o.Groups}
}

// matrixLimit keeps im2col's matrix within the indices of its grid.
func (o Options) matrixLimit(s ladder.Size) error {
	x := o.of(s)
	if rows, places := x.c*x.taps(), x.n*x.oh*x.ow; rows > most/places {
		return fmt.Errorf("%w: a matrix of %d x %d: expected at most %d elements; use conv2d_implicit", gpu.ErrUnsupported, rows, places, most)
	}
	return nil
}

func (o Options) im2col(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	x := o.of(s)
	n := x.c * x.taps() * x.n * x.oh * x.ow
	p := ladder.Plan{Depth: o.roundings(s)}
	matrix := p.NewScratch("matrix", n)
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, threads)}, Block: gpu.Dim{X: threads}, Args: []any{"x", matrix, o.shape(s)}},
		{Entry: entry + "_2", Grid: o.grid(s), Block: gpu.Dim{X: threads}, Args: append(o.operands(matrix), o.shape(s))},
	}
	return p
}

func (o Options) implicit(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return ladder.Plan{Depth: o.roundings(s), Steps: []ladder.Step{{
		Entry: entry, Grid: o.grid(s), Block: gpu.Dim{X: threads}, Args: append(o.operands("x"), o.shape(s)),
	}}}
}

// tensorRoundings are the roundings beyond those of a float32 sum: tensor cores truncate
// products that are too small relative to the largest of a step.
const tensorRoundings = 16

func (o Options) tensorVariants(name string) []ladder.Variant {
	round, vector := 0x1.001p-10, 4
	switch o.Type {
	case gpu.Float16:
		round, vector = 0x1p-11, 8
	case gpu.BFloat16:
		round, vector = 0x1p-8, 8
	}
	plan := func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		return ladder.Plan{Depth: o.roundings(s) + tensorRoundings, Round: round, Steps: []ladder.Step{{
			Entry: entry, Grid: o.grid(s), Block: gpu.Dim{X: 128}, Args: append(o.operands("x"), o.shape(s)),
		}}}
	}
	module, layout := "conv2d_tensor", "(n, h, w, c)"
	if o.Depth {
		module, layout = "conv3d_tensor", "(n, d, h, w, c)"
	}
	variants := []ladder.Variant{
		{Name: name + "_mma", Adds: "tensor cores: implicit GEMM with mma.sync, 64 x 64 a block, factors loaded one by one", Source: "ours", Module: module, Needs: ladder.Ampere, Plan: plan},
		{Name: name + "_vector", Adds: "16 bytes a load: channels of a group are whole vectors", Source: "ours", Module: module, Needs: ladder.Ampere, Plan: plan,
			Refuses: func(s ladder.Size) error {
				if c := o.of(s).c / o.Groups; c%vector != 0 {
					return fmt.Errorf("%w: %d channels in a group of x %s = %v: expected a multiple of %d, which is 16 bytes; pad the channels or use %s_mma", gpu.ErrUnsupported, c, layout, o.channelsLast(s), vector, name)
				}
				return nil
			}},
	}
	if o.NHWC {
		variants = append(variants, o.hopperVariants(name)...)
	}
	return variants
}

// channelsLast is the shape of x with channels innermost.
func (o Options) channelsLast(s ladder.Size) []int {
	x := o.of(s)
	if o.Depth {
		return []int{x.n, x.d, x.h, x.w, x.c}
	}
	return []int{x.n, x.h, x.w, x.c}
}
