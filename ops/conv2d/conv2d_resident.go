package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of conv2d_resident.cuh.
const (
	itemColumns = 200                    // = item_columns
	stripPlaces = 512                    // = strip_columns: that a block numbers
	itemFilters = 64                     // channels of y of a block
	filterBytes = itemFilters * rowBytes // = w_stage
	filterRing  = 4                      // = w_ring: stages of filters that do not stay
	mostBoxes   = 4
	itemBytes   = 224 << 10 // of shared memory for stages; barriers and numbers of places take 3 KB
)

// residentRung keeps filters in shared memory.
type residentRung struct{ boxed }

// items is Items of conv2d_resident.cuh.
type items struct {
	Images, OH, OW, K, R, S, Dilation    uint32
	Padding                              int32
	Boxes                                uint32
	Items, Passes, Down                  uint32
	Rows, Pitch, Columns                 uint32
	XStages, XBytes, XBox, WStages, Kept uint32
	Bias, ReLU                           uint32
}

// plan is the shared memory of a block in bytes.
func (c items) shared() int {
	stages := int(c.Kept)
	if c.Kept < c.WStages {
		stages += filterRing
	}
	return int(c.XStages*c.XBytes) + stages*filterBytes
}

// itemCut cuts images into strips of so many rows, and those into items. An item takes so
// many boxes of x and stages of filters, of which at least `keep` must stay.
func (o residentRung) itemCut(s ladder.Size, rows, boxes, stages, keep int) (c items, ok bool) {
	x, p := o.of(s), o.shape(s)
	pitch := max(8, x.ow, x.w+o.Padding) // the store steps over eight pixels at most once a row
	columns := rows*pitch - (pitch - x.ow)
	c = items{
		Images: p.Images, OH: p.OH, OW: p.OW, K: p.K, R: p.R, S: p.S, Dilation: p.Dilation, Padding: p.Padding, Boxes: uint32(boxes),
		Passes: uint32(ladder.CeilDiv(columns, itemColumns)), Down: uint32(ladder.CeilDiv(x.oh, rows)), Rows: uint32(rows), Pitch: uint32(pitch), Columns: uint32(columns),
		WStages: uint32(stages), Bias: p.Bias, ReLU: p.ReLU,
	}
	height, read := 0, 0 // rows of a box, and the pixels that an item reads
	for pass := range int(c.Passes) {
		first := max(0, min(pass*itemColumns, (columns-itemColumns+1)/2*2)) // even
		last := min(first+itemColumns, columns) - 1
		height = max(height, last/pitch-first/pitch+o.Dilation*(x.r-1)+1)
		read = max(read, first%pitch+itemColumns+o.Dilation*((x.r-1)*pitch+x.s-1))
	}
	if pitch > 256 || height > 256 || columns > stripPlaces-2 {
		return c, false
	}
	box := height * pitch
	c.Items = c.Images * c.Down * c.Passes
	c.XBox, c.XBytes = uint32(box*rowBytes), uint32(ladder.CeilDiv(max(box, read), 8)*8*rowBytes)
	fit := func(boxes int) int { return max(0, itemBytes-boxes*int(c.XBytes)) / filterBytes }
	c.Kept = c.WStages
	for c.XStages = mostBoxes; c.XStages > 2 && fit(int(c.XStages)) < stages; c.XStages-- {
	}
	if kept := fit(2) - filterRing; fit(int(c.XStages)) < stages {
		c.Kept = uint32(max(0, kept))
		ok = kept >= keep
		return c, ok
	}
	return c, true
}

// best is the cut of a layer, whose channels are in chunks of 128 bytes, with the fewest
// rounds of items, and of those the one with the smallest boxes. At least half of the filters
// stay: the warpgroups do not share the others, as those of the rungs _halo do.
func (o residentRung) best(s ladder.Size, sms int) (best items, found bool) {
	x := o.of(s)
	chunks := ladder.CeilDiv(x.c*o.bytes(), rowBytes)
	stages, least := chunks*x.taps(), 0
	for rows := range min(x.oh, itemColumns) {
		c, ok := o.itemCut(s, rows+1, chunks, stages, ladder.CeilDiv(stages, 2))
		if rounds := ladder.CeilDiv(int(c.Items), max(1, sms)); ok && (!found || rounds < least || rounds == least && c.XBox < best.XBox) {
			best, found, least = c, true, rounds
		}
	}
	return best, found
}

func (o residentRung) refuses(s ladder.Size) error {
	x := o.of(s)
	if o.Stride != 1 {
		return fmt.Errorf("%w: stride %d: places lie side by side in a box with a halo, expected 1; use %s_wgmma", gpu.ErrUnsupported, o.Stride, o.family)
	}
	if x.k > itemFilters {
		return fmt.Errorf("%w: %d channels of y: a block multiplies at most %d, whose filters stay; use %s_halo", gpu.ErrUnsupported, x.k, itemFilters, o.family)
	}
	if _, ok := o.best(s, 1); !ok {
		return fmt.Errorf("%w: %d channels of x under filters of %d x %d with dilation %d over rows of %d pixels: two boxes with a halo and half of the filters do not fit into %d bytes of shared memory; use %s_halo", gpu.ErrUnsupported, x.c, x.r, x.s, o.Dilation, x.w, itemBytes, o.family)
	}
	return nil
}

func (o residentRung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	c, _ := o.best(s, info.SMs)
	return o.launch(entry, s, info, c)
}

// launch launches a block a multiprocessor, or the fewest that take as many rounds.
func (o residentRung) launch(entry string, s ladder.Size, info gpu.Info, c items) ladder.Plan {
	images := gpu.TensorMap{Shape: o.imageShape(s), Box: []int{rowBytes / o.bytes(), int(c.Pitch), int(c.XBox / rowBytes / c.Pitch), 1}}
	return ladder.Plan{Depth: o.roundings(s) + tensorRoundings, Round: o.tensorRound(), Steps: []ladder.Step{{
		Entry: entry, Grid: c.grid(info), Block: gpu.Dim{X: hopperThreads}, Shared: c.shared(),
		Args: []any{o.mapOf("x", images), o.mapOf("w", o.filterMap(s, itemFilters)), o.operands("x")[2], aligned("y"), c},
	}}}
}

func (c items) grid(info gpu.Info) gpu.Dim {
	rounds := ladder.CeilDiv(int(c.Items), max(1, info.SMs))
	return gpu.Dim{X: ladder.CeilDiv(int(c.Items), max(1, rounds))}
}
