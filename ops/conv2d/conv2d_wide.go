package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of conv2d_wide.cu.
const (
	wideColumns = 408 // = first_columns + other_columns: of a warpgroup, in two sets of sums
	wideFilters = 128 // channels of y of a block
	wideStages  = 8   // = most_stages: at most, of filters of a warpgroup
)

// wideRung has wide products, whose filters come once.
type wideRung struct{ boxed }

// wideCut is WideCut of conv2d_wide.cu.
type wideCut struct {
	Images, OH, OW, K, R, S, Dilation uint32
	Padding                           int32
	Chunks, Blocks, Tiles, Down       uint32
	Rows, Pitch                       uint32
	XStages, XBytes, XBox, WStages    uint32
	Bias, ReLU                        uint32
}

// plan is the shared memory of a block in bytes.
func (c wideCut) shared() int { return int(c.XStages*c.XBytes + 2*c.WStages*filterBytes) }

// strips cuts images into strips of so many rows.
func (o wideRung) strips(s ladder.Size, rows int) (c wideCut, ok bool) {
	x, p := o.of(s), o.shape(s)
	pitch := max(8, x.ow, x.w+o.Padding)
	height := rows + o.Dilation*(x.r-1)
	if rows*pitch-(pitch-x.ow) > wideColumns || pitch > 256 || height > 256 {
		return c, false
	}
	c = wideCut{
		Images: p.Images, OH: p.OH, OW: p.OW, K: p.K, R: p.R, S: p.S, Dilation: p.Dilation, Padding: p.Padding,
		Chunks: uint32(ladder.CeilDiv(x.c*o.bytes(), rowBytes)), Blocks: uint32(ladder.CeilDiv(x.k, wideFilters)), Down: uint32(ladder.CeilDiv(x.oh, rows)),
		Rows: uint32(rows), Pitch: uint32(pitch), XStages: 2, Bias: p.Bias, ReLU: p.ReLU,
	}
	c.Tiles = c.Images * c.Down * c.Blocks
	box, read := height*pitch, wideColumns+o.Dilation*((x.r-1)*pitch+x.s-1)
	c.XBox, c.XBytes = uint32(box*rowBytes), uint32(ladder.CeilDiv(max(box, read), 8)*8*rowBytes)
	fit := (hopperBytes - int(c.XStages*c.XBytes)) / (2 * filterBytes)
	c.WStages = uint32(max(0, min(wideStages, fit)))
	return c, fit >= 3
}

// best is the cut with the fewest rounds of tiles, and of those the one with the
// smallest boxes.
func (o wideRung) best(s ladder.Size, sms int) (best wideCut, found bool) {
	least := 0
	for rows := range min(o.of(s).oh, wideColumns) {
		c, ok := o.strips(s, rows+1)
		if rounds := ladder.CeilDiv(int(c.Tiles), max(1, sms)); ok && (!found || rounds < least) {
			best, found, least = c, true, rounds
		}
	}
	return best, found
}

func (o wideRung) refuses(s ladder.Size) error {
	if o.Stride != 1 {
		return fmt.Errorf("%w: stride %d: places lie side by side in a box with a halo, expected 1; use %s_wgmma", gpu.ErrUnsupported, o.Stride, o.family)
	}
	if _, ok := o.best(s, 1); !ok {
		x := o.of(s)
		return fmt.Errorf("%w: filters of %d x %d with dilation %d over rows of %d pixels: no strip of whole rows has at most %d columns and fits twice into %d bytes of shared memory; use %s_halo", gpu.ErrUnsupported, x.r, x.s, o.Dilation, x.w, wideColumns, hopperBytes, o.family)
	}
	return nil
}

func (o wideRung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	c, _ := o.best(s, info.SMs)
	return o.launch(entry, s, info, c)
}

// launch launches a block a multiprocessor, or the fewest that take as many rounds.
func (o wideRung) launch(entry string, s ladder.Size, info gpu.Info, c wideCut) ladder.Plan {
	images := gpu.TensorMap{Shape: o.imageShape(s), Box: []int{rowBytes / o.bytes(), int(c.Pitch), int(c.XBox / rowBytes / c.Pitch), 1}}
	rounds := ladder.CeilDiv(int(c.Tiles), max(1, info.SMs))
	return ladder.Plan{Depth: o.roundings(s) + tensorRoundings, Round: o.tensorRound(), Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(int(c.Tiles), max(1, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: c.shared(),
		Args: []any{o.mapOf("x", images), o.mapOf("w", o.filterMap(s, itemFilters)), o.operands("x")[2], aligned("y"), c},
	}}}
}
