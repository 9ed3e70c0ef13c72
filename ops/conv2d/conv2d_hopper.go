package conv2d

import (
	"fmt"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// hopper is the only compute capability with wgmma.
var hopper = gpu.Compute{Major: 9}

// Constants of conv2d_hopper.cu.
const (
	hopperThreads = 384       // = maxntid(conv2d_fp16_wgmma)
	hopperBytes   = 225 << 10 // of shared memory for stages
	mostStages    = 8
	rowBytes      = 128 // of channels that a stage has
	wgmmaPlaces   = 128 // of a warpgroup of the rungs _wgmma
)

// columns are those of a product that an entry has, and what its name ends in.
type columns struct {
	n      int
	suffix string
}

// haloPlaces are those of the rungs _halo, and deepPlaces those of volumes.
var (
	haloPlaces = []columns{{64, ""}, {208, "_of_208"}, {232, "_of_232"}}
	deepPlaces = []columns{{64, ""}, {232, "_of_232"}}
)

// hopperCases have channels that the copy engine takes: less and more than a row of 128
// bytes, and filters for one warpgroup, a part of the second, and a second block. Places are
// fewer and more than a tile has, and an image is wider than one. The last fills a GPU so that
// the widest product takes the fewest rounds.
var hopperCases = []ladder.Case{
	{Size: ladder.Size{1, 16, 7, 6, 16, 3, 3}}, {Size: ladder.Size{2, 8, 5, 9, 80, 3, 3}}, {Size: ladder.Size{3, 72, 4, 4, 32, 2, 2}},
	{Size: ladder.Size{1, 8, 3, 70, 16, 1, 3}}, {Size: ladder.Size{1, 8, 12, 12, 144, 1, 1}}, {Size: ladder.Size{1, 8, 5, 6, 16, 3, 3}, Data: "special"},
	{Size: ladder.Size{36, 8, 56, 56, 16, 3, 3}, OnGPU: true},
}

// deepCases are hopperCases of volumes: channels of y for four depths in the rows of a
// product, for two and for one, and depths that fill no whole tile. Special data have more
// than 32 channels of y, which the rungs _depths refuse: a NaN spreads there to other depths.
var deepCases = []ladder.Case{
	{Size: ladder.Size{1, 8, 5, 2, 3, 16, 3, 1, 2}}, {Size: ladder.Size{2, 8, 2, 3, 4, 32, 2, 1, 3}}, {Size: ladder.Size{1, 72, 2, 2, 3, 80, 2, 2, 1}},
	{Size: ladder.Size{1, 8, 1, 2, 70, 16, 1, 3, 2}}, {Size: ladder.Size{1, 8, 1, 2, 5, 144, 1, 1, 1}}, {Size: ladder.Size{1, 8, 2, 3, 4, 48, 3, 2, 3}, Data: "special"},
	{Size: ladder.Size{2, 8, 16, 56, 56, 16, 1, 3, 3}, OnGPU: true},
}

// cut is Cut of conv2d_hopper.cuh.
type cut struct {
	Images, OH, OW, K, R, S, Stride, Dilation uint32
	Padding                                   int32
	Chunks, Last, Blocks, Tiles, OwnPlaces    uint32
	XStages, XBytes, XBox, WStages, WBytes    uint32
	Columns, Rows, Pitch, Across, Down        uint32
	Bias, ReLU                                uint32
	OD, T, Depths, Deep, Planes               uint32
	DepthPadding                              int32
}

// boxed are options of rungs whose x the copy engine brings in boxes. The names of the rungs
// begin with the family's: conv2d_fp16.
type boxed struct {
	Options
	family string
}

// float32 are the options of the rungs that split a float32 into parts.
func (o Options) float32() boxed {
	if o.Depth {
		return boxed{o, "conv3d"}
	}
	return boxed{o, "conv2d"}
}

// wgmmaRung has the pixels under each tap by im2col.
type wgmmaRung struct{ boxed }

// haloRung has boxes of x with their halo, for the depths of y that share a product.
type haloRung struct {
	boxed
	depths bool // several; the rung launches the entries of the one with one
}

// hopperVariants are the rungs of a type on wgmma.
func (o Options) hopperVariants(name string) []ladder.Variant {
	module, whole := "conv2d_hopper", "all taps"
	if o.Depth {
		module, whole = "conv3d_hopper", "all taps of a depth"
	}
	b := boxed{o, name}
	variant := func(suffix, adds string, plan ladder.Planner, refuses func(ladder.Size) error) ladder.Variant {
		return ladder.Variant{Name: name + suffix, Adds: adds, Source: "ours", Module: module, Needs: hopper, Plan: plan,
			Refuses: func(s ladder.Size) error {
				if err := b.copyEngineRefuses(s); err != nil {
					return err
				}
				return refuses(s)
			}}
	}
	wgmma, halo := wgmmaRung{b}, haloRung{boxed: b}
	variants := []ladder.Variant{
		variant("_wgmma", "Hopper: the copy engine brings the pixels under each tap (im2col) and filters, two warpgroups multiply 64 channels by 128 places each", wgmma.plan, wgmma.refuses),
		variant("_halo", "x with its halo comes once for "+whole+", which read it in shared memory, moved by whole pixels", halo.plan, halo.refuses),
	}
	if !o.Depth {
		wide := variant("_wide", "a block has 128 channels by 408 columns, whose filters come once: of the last channels of x the first columns are multiplied first, and stored while the others are multiplied", wideRung{b}.plan, wideRung{b}.refuses)
		wide.Module = "conv2d_wide"
		r := residentRung{b} // the last: it is the fastest for the few channels that it takes
		resident := variant("_resident", "filters of 64 channels stay in shared memory, for items of 200 columns, which the two warpgroups take in turn: one multiplies while the other stores", r.plan, r.refuses)
		resident.Module = "conv2d_resident"
		variants = append(variants, wide, resident)
	}
	if o.Depth {
		several := haloRung{boxed: b, depths: true}
		depths := variant("_depths", "the 64 rows of a product are 32 channels of two depths of y, or 16 of four, which share the pixels: x comes half as often", several.plan, several.refuses)
		depths.Picks = true // the entries of _halo
		variants = append(variants, depths)
	}
	return variants
}

// bytes are those of an element.
func (o boxed) bytes() int { return (ladder.Tensor{Type: o.Type}).Elements().Bytes() }

// copyEngineRefuses rejects channels of which the copy engine or a warp takes no part.
func (o boxed) copyEngineRefuses(s ladder.Size) error {
	x := o.of(s)
	switch vector := 16 / o.bytes(); {
	case o.Groups != 1:
		return fmt.Errorf("%w: %d groups: expected 1, use %s_mma", gpu.ErrUnsupported, o.Groups, o.family)
	case x.c%vector != 0:
		return fmt.Errorf("%w: %d channels of x: the copy engine takes a multiple of %d, which is 16 bytes; pad the channels or use %s_mma", gpu.ErrUnsupported, x.c, vector, o.family)
	case x.k%16 != 0:
		return fmt.Errorf("%w: %d channels of y: a warp multiplies 16, expected a multiple; pad the filters or use %s_vector", gpu.ErrUnsupported, x.k, o.family)
	}
	return nil
}

// refuses rejects what im2col mode has no bits for: the directions share 16.
func (o wgmmaRung) refuses(s ladder.Size) error {
	x := o.of(s)
	most, least := 1<<7, min(x.r, x.s)
	if o.Depth {
		most, least = 1<<4, min(least, x.t)
	}
	spread := o.Dilation * (max(x.t, x.r, x.s) - 1)
	if o.Stride > 8 || o.Padding > most || spread-o.Padding > most || spread >= 2*most || o.Padding-o.Dilation*(least-1) >= most {
		return fmt.Errorf("%w: stride %d, padding %d, filters over %d pixels: im2col mode has strides up to 8, paddings up to %d, and filters over %d pixels and the padding, at most %d; use %s_vector",
			gpu.ErrUnsupported, o.Stride, o.Padding, spread+1, most-1, most+1, 2*most, o.family)
	}
	return nil
}

// refuses rejects layers of which no box with a halo fits, and of several depths those that
// do not share a product.
func (o haloRung) refuses(s ladder.Size) error {
	if o.Stride != 1 {
		return fmt.Errorf("%w: stride %d: places lie side by side in a box with a halo, expected 1; use %s_wgmma", gpu.ErrUnsupported, o.Stride, o.family)
	}
	if _, _, ok := (haloRung{boxed: o.boxed}).best(s, 1); !ok {
		x := o.of(s)
		return fmt.Errorf("%w: filters of %d x %d with dilation %d: no box of pixels with a halo fits twice into %d bytes of shared memory; use %s_wgmma", gpu.ErrUnsupported, x.r, x.s, o.Dilation, hopperBytes, o.family)
	}
	if o.depths {
		return o.sharesRows(s, o.family+"_halo")
	}
	return nil
}

// sharesRows rejects channels that leave no rows of a product to another depth of y, and
// depths that meet no common plane of x.
func (o boxed) sharesRows(s ladder.Size, other string) error {
	switch x := o.of(s); {
	case x.k > 32:
		return fmt.Errorf("%w: %d channels of y: expected at most 32, so that two depths share the 64 rows of a product; use %s", gpu.ErrUnsupported, x.k, other)
	case o.Dilation != 1:
		return fmt.Errorf("%w: dilation %d: expected 1, so that neighbouring depths of y meet the same planes of x; use %s", gpu.ErrUnsupported, o.Dilation, other)
	}
	return nil
}

// sharedDepths is how many depths of y the 64 rows of a product have room for, of those
// that there are.
func (o boxed) sharedDepths(s ladder.Size) int {
	switch x := o.of(s); {
	case x.k <= 16 && x.od > 2:
		return 4
	case x.od > 1:
		return 2
	}
	return 1
}

// cut is the part of a cut that all rungs have, for elements of so many bytes and so many
// depths of y in the rows of a product.
func (o boxed) cut(s ladder.Size, bytes, depths int) cut {
	x, p := o.of(s), o.shape(s)
	c := cut{
		Images: p.Images, OH: p.OH, OW: p.OW, K: p.K, R: p.R, S: p.S, Stride: p.Stride, Dilation: p.Dilation, Padding: p.Padding,
		Chunks: uint32(ladder.CeilDiv(x.c*bytes, rowBytes)), Blocks: uint32(ladder.CeilDiv(x.k, 128)), WBytes: 128 * rowBytes,
		Last:    uint32(ladder.CeilDiv((x.c*bytes-1)%rowBytes+1, 32)),
		XStages: 2, Columns: 1, Rows: 1, Pitch: 1, Across: 1, Down: 1, Bias: p.Bias, ReLU: p.ReLU,
		OD: p.OD, T: p.T, Depths: uint32(depths), Deep: uint32(ladder.CeilDiv(x.od, depths)), Planes: uint32(x.t + depths - 1), DepthPadding: p.DepthPadding,
	}
	if x.k <= 64 { // a second warpgroup of channels would have none
		c.OwnPlaces, c.Blocks, c.WBytes = 1, 1, 64*rowBytes
	}
	return c
}

// cutFor cuts images into boxes for n columns of a product: as many whole rows of places
// as they hold, with the pixels between, or a part of one.
func (o haloRung) cutFor(s ladder.Size, n, depths int) (cut, bool) {
	c, ok := o.boxCut(s, n, o.bytes(), depths)
	return c, ok && c.stages()
}

// boxCut is cutFor of haloRung for elements of so many bytes, without stages.
func (o boxed) boxCut(s ladder.Size, n, bytes, depths int) (cut, bool) {
	c := o.cut(s, bytes, depths)
	return c, o.boxes(&c, s, n)
}

// boxes sets the boxes of a cut.
func (o boxed) boxes(c *cut, s ladder.Size, n int) bool {
	x := o.of(s)
	columns := ladder.CeilDiv(x.ow, ladder.CeilDiv(x.ow, n))
	pitch := max(8, columns+o.Dilation*(x.s-1)) // the store steps over eight pixels at most once a row
	rows := min(x.oh, (n-columns)/pitch+1)
	all := rows * (1 + int(c.OwnPlaces)) // of a block
	height := all + o.Dilation*(x.r-1)
	if pitch > 256 || height > 256 {
		return false
	}
	c.Columns, c.Rows, c.Pitch = uint32(columns), uint32(rows), uint32(pitch)
	c.Across, c.Down = uint32(ladder.CeilDiv(x.ow, columns)), uint32(ladder.CeilDiv(x.oh, all))
	c.Tiles = c.Blocks * c.Across * c.Down * c.Deep * c.Images
	box := pitch * height
	// The last tap of the last warpgroup reads n pixels, of which the last are no places.
	read := (all-rows)*pitch + o.Dilation*((x.r-1)*pitch+x.s-1) + n
	c.XBox, c.XBytes = uint32(box*rowBytes), uint32(ladder.CeilDiv(max(box, read), 8)*8*rowBytes)
	return true
}

// stages sets how many stages of w fit beside those of x.
func (c *cut) stages() bool {
	fit := (hopperBytes - int(c.XStages*c.XBytes)) / int(c.WBytes)
	c.WStages = uint32(max(0, min(mostStages, fit)))
	return fit >= 2
}

// columns are those of the entries that take the options.
func (o haloRung) columns() []columns {
	if o.Depth {
		return deepPlaces
	}
	return haloPlaces
}

// best is the cut that takes the least time, by the columns that a multiprocessor
// multiplies one after the other, where a tile costs as much as 16 more.
func (o haloRung) best(s ladder.Size, sms int) (best cut, suffix string, found bool) {
	depths := 1
	if o.depths {
		depths = o.sharedDepths(s)
	}
	return shortest(o.columns(), sms, func(n int) (cut, bool) { return o.cutFor(s, n, depths) })
}

func shortest(places []columns, sms int, of func(n int) (cut, bool)) (best cut, suffix string, found bool) {
	least := 0
	for _, p := range places {
		c, ok := of(p.n)
		if cost := ladder.CeilDiv(int(c.Tiles), max(1, sms)) * (p.n + 16); ok && (!found || cost < least) {
			best, suffix, found, least = c, p.suffix, true, cost
		}
	}
	return best, suffix, found
}

func (o haloRung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	c, suffix, _ := o.best(s, info.SMs)
	if o.depths {
		entry = haloOf(entry)
	}
	return o.launch(entry+suffix, s, info, c)
}

// haloOf is the entry that a rung _depths launches.
func haloOf(entry string) string { return strings.TrimSuffix(entry, "_depths") + "_halo" }

func (o haloRung) launch(entry string, s ladder.Size, info gpu.Info, c cut) ladder.Plan {
	images := gpu.TensorMap{Shape: o.imageShape(s), Box: []int{rowBytes / o.bytes(), int(c.Pitch), int(c.XBox / rowBytes / c.Pitch), 1}}
	if o.Depth {
		images.Box = append(images.Box, 1)
	}
	return o.launchBoxes(entry, s, info, c, images)
}

// imageShape is that of x in a map, the channels first.
func (o boxed) imageShape(s ladder.Size) []int {
	x := o.of(s)
	if o.Depth {
		return []int{x.c, x.w, x.h, x.d, x.n}
	}
	return []int{x.c, x.w, x.h, x.n}
}

func (o wgmmaRung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	x, c := o.of(s), o.cut(s, o.bytes(), 1)
	places := wgmmaPlaces * (1 + int(c.OwnPlaces))
	c.Tiles = c.Blocks * uint32(ladder.CeilDiv(x.n*x.od*x.oh*x.ow, places))
	c.XBox = uint32(places * rowBytes)
	c.XBytes, c.XStages = c.XBox, uint32(hopperBytes/(places*rowBytes+int(c.WBytes)))
	c.stages()
	taps := []int{x.s, x.r}
	if o.Depth {
		taps = append(taps, x.t)
	}
	box := gpu.Im2col{Channels: rowBytes / o.bytes(), Pixels: places}
	for _, n := range taps {
		box.Lower, box.Upper, box.Steps = append(box.Lower, -o.Padding), append(box.Upper, o.Padding-o.Dilation*(n-1)), append(box.Steps, o.Stride)
	}
	return o.launchBoxes(entry, s, info, c, gpu.TensorMap{Shape: o.imageShape(s), Im2col: &box})
}

// launchBoxes launches a block a multiprocessor, or the fewest that take as many rounds.
func (o boxed) launchBoxes(entry string, s ladder.Size, info gpu.Info, c cut, images gpu.TensorMap) ladder.Plan {
	rounds := ladder.CeilDiv(int(c.Tiles), max(1, info.SMs))
	return ladder.Plan{Depth: o.roundings(s) + tensorRoundings, Round: o.tensorRound(), Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(int(c.Tiles), max(1, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: int(c.XStages*c.XBytes + c.WStages*c.WBytes),
		Args: []any{o.mapOf("x", images), o.mapOf("w", o.filterMap(s, int(c.WBytes/c.Depths)/rowBytes)), o.operands("x")[2], aligned("y"), c},
	}}}
}

// tensorRound is the rounding of y, or of two factors to TF32.
func (o boxed) tensorRound() float64 {
	return map[gpu.Type]float64{0: 0x1.001p-10, gpu.Float16: 0x1p-11, gpu.BFloat16: 0x1p-8}[o.Type]
}

// filterMap has boxes of so many filters. Channels 16 q + 2 i + p of y are row 16 q + 8 p + i
// of a factor: a thread has both rows i, so that it stores neighbours.
func (o boxed) filterMap(s ladder.Size, filters int) gpu.TensorMap {
	x := o.of(s)
	filter := x.c * x.taps() * o.bytes()
	return gpu.TensorMap{
		Shape: []int{x.c, 8, 2, x.k / 16, x.taps()}, Strides: []int{2 * filter, filter, 16 * filter, x.c * o.bytes()},
		Box: []int{rowBytes / o.bytes(), 8, 2, filters / 16, 1},
	}
}

// mapOf is a map of a tensor, of rows of 128 bytes.
func (o boxed) mapOf(name string, m gpu.TensorMap) ladder.Argument {
	buffer := aligned(name)
	return func(memory func(string) gpu.Buffer) (any, error) {
		b, err := buffer(memory)
		if err != nil {
			return nil, err
		}
		m := m
		m.Buffer, m.TF32, m.Swizzle = b.(gpu.Buffer), o.bytes() == 4, rowBytes
		return m, nil
	}
}

// aligned is a tensor that must start at a multiple of 16 bytes.
func aligned(name string) ladder.Argument {
	return func(memory func(string) gpu.Buffer) (any, error) {
		b := memory(name)
		place, err := b.Place()
		if err == nil && place.Start%16 != 0 {
			err = fmt.Errorf("%w: %s is a view from byte %d of its buffer on: the copy engine and wide stores take a multiple of 16 bytes, use another rung", gpu.ErrUnsupported, name, place.Start)
		}
		return b, err
	}
}
