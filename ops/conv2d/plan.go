package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of conv2d.cu.
const (
	threads     = 256 // = maxntid(conv2d_implicit)
	tile        = 64  // = tile: rows and columns of a product's tile
	tileSide    = 16  // = side: outputs of a block of conv2d_shared in a row and in a column
	tileFilters = 8   // = filters
	tileBytes   = 48 << 10
)

// sharedRung has a tile of x in shared memory.
type sharedRung struct{ Options }

// im2colRung writes the matrix of a product to memory.
type im2colRung struct{ Options }

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

// bytesOfTile is the shared memory of a block of conv2d_shared in bytes.
func (o sharedRung) bytesOfTile(s ladder.Size) int {
	x := o.of(s)
	side := func(taps int) int { return (tileSide-1)*o.Stride + (taps-1)*o.Dilation + 1 }
	if o.Stride > tileBytes || o.Dilation > tileBytes || x.r > tileBytes || x.s > tileBytes {
		return tileBytes + 1
	}
	return 4 * (side(x.r)*side(x.s) + tileFilters*x.r*x.s)
}

func (o sharedRung) refuses(s ladder.Size) error {
	if bytes := o.bytesOfTile(s); bytes > tileBytes {
		x := o.of(s)
		return fmt.Errorf("%w: filters of %d x %d with stride %d and dilation %d: the tile is beyond %d bytes of shared memory; use conv2d_implicit", gpu.ErrUnsupported, x.r, x.s, o.Stride, o.Dilation, tileBytes)
	}
	return nil
}

func (o sharedRung) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	x := o.of(s)
	blocks := ladder.CeilDiv(x.oh, tileSide) * ladder.CeilDiv(x.ow, tileSide) * ladder.CeilDiv(x.k/o.Groups, tileFilters) * o.Groups * x.n
	return ladder.Plan{Depth: o.roundings(s), Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Shared: o.bytesOfTile(s), Args: append(o.operands("x"), o.shape(s)),
	}}}
}

// grid is that of a product with a row for each channel of a group and a column for each
// place.
func (o Options) grid(s ladder.Size) gpu.Dim {
	x := o.of(s)
	return gpu.Dim{X: ladder.CeilDiv(x.n*x.od*x.oh*x.ow, tile), Y: ladder.CeilDiv(x.k/o.Groups, tile), Z: o.Groups}
}

// refuses keeps im2col's matrix within the indices of its grid.
func (o im2colRung) refuses(s ladder.Size) error {
	x := o.of(s)
	if rows, places := x.c*x.taps(), x.n*x.oh*x.ow; rows > most/places {
		return fmt.Errorf("%w: a matrix of %d x %d: expected at most %d elements; use conv2d_implicit", gpu.ErrUnsupported, rows, places, most)
	}
	return nil
}

func (o im2colRung) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
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

// shape is Shape of conv2d.cuh.
type shape struct {
	Images, C, D, H, W, K, T, R, S, OD, OH, OW uint32
	Stride, Dilation, Groups                   uint32
	Padding, DepthPadding                      int32
	Bias, ReLU                                 uint32
	XN, XC, XD, XH, XW                         uint32
	WK, WC, WT, WR, WS                         uint32
	YN, YK, YD, YH, YW                         uint32
}

// shape is the call as the kernels take it: C and K are the channels of a group.
func (o Options) shape(size ladder.Size) shape {
	x := o.of(size)
	p := shape{
		Images: uint32(x.n), C: uint32(x.c / o.Groups), D: uint32(x.d), H: uint32(x.h), W: uint32(x.w), K: uint32(x.k / o.Groups),
		T: uint32(x.t), R: uint32(x.r), S: uint32(x.s), OD: uint32(x.od), OH: uint32(x.oh), OW: uint32(x.ow),
		Stride: uint32(o.Stride), Dilation: uint32(o.Dilation), Groups: uint32(o.Groups), Padding: int32(o.Padding),
	}
	if o.Depth {
		p.DepthPadding = int32(o.Padding)
	}
	if o.Bias {
		p.Bias = 1
	}
	if o.ReLU {
		p.ReLU = 1
	}
	// Strides of the tensor (a, b, d, h, w), of which b is the channel.
	strides := func(b, d, h, w int) (ofA, ofB, ofD, ofH, ofW uint32) {
		if o.NHWC {
			return uint32(d * h * w * b), 1, uint32(h * w * b), uint32(w * b), uint32(b)
		}
		return uint32(b * d * h * w), uint32(d * h * w), uint32(h * w), uint32(w), 1
	}
	p.XN, p.XC, p.XD, p.XH, p.XW = strides(x.c, x.d, x.h, x.w)
	p.WK, p.WC, p.WT, p.WR, p.WS = strides(x.c/o.Groups, x.t, x.r, x.s)
	p.YN, p.YK, p.YD, p.YH, p.YW = strides(x.k, x.od, x.oh, x.ow)
	return p
}
