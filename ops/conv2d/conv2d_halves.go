package conv2d

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of conv2d_halves.cu.
const (
	halves       = 2               // = parts: parts of a float32
	outletBytes  = 8 * 16 * 36 * 4 // = 8 * 16 * outlet_row * 4: of shared memory, in which the warps turn sums around
	splitPixels  = 128             // = split_pixels: of a block, and 64 channels
	splitFilters = 256             // = maxntid(conv2d_fp16x3): threads, with eight channels of a filter under a tap
)

// fp16x3Rung has two scaled float16 numbers for a float32.
type fp16x3Rung struct{ boxed }

// halfPlaces are the columns of a product that conv2d_halves.cu has.
var halfPlaces = []columns{{64, ""}, {208, "_of_208"}}

// splits is Splits of conv2d_halves.cu.
type splits struct{ XBlocks, WBlocks, Vectors uint32 }

func (o fp16x3Rung) refuses(s ladder.Size) error {
	x := o.of(s)
	switch _, _, ok := o.best(s, 1); {
	case o.Groups != 1 || o.Stride != 1:
		return fmt.Errorf("%w: %d groups, stride %d: expected 1 of each, use conv2d_implicit", gpu.ErrUnsupported, o.Groups, o.Stride)
	case !ok:
		return fmt.Errorf("%w: filters of %d x %d with dilation %d: no two boxes of pixels with a halo fit into %d bytes of shared memory; use conv2d_implicit", gpu.ErrUnsupported, x.r, x.s, o.Dilation, hopperBytes)
	}
	return nil
}

// cutFor cuts images as that of haloRung does. A stage of x or of w has one part.
func (o fp16x3Rung) cutFor(s ladder.Size, n int) (cut, bool) {
	c, ok := o.boxCut(s, n, 2, 1)
	if !ok {
		return c, false
	}
	c.XStages = halves
	fit := (hopperBytes - outletBytes - int(c.XStages*c.XBytes)) / int(c.WBytes)
	c.WStages = uint32(max(0, min(mostStages, fit)))
	return c, fit >= 2
}

func (o fp16x3Rung) best(s ladder.Size, sms int) (cut, string, bool) {
	return shortest(halfPlaces, sms, func(n int) (cut, bool) { return o.cutFor(s, n) })
}

// residentCut cuts a layer of at most 64 channels of y whose filters stay in shared memory, 32
// channels of x a box. The warpgroups have other tiles.
func (o fp16x3Rung) residentCut(s ladder.Size) (c cut, shared int, ok bool) {
	x := o.of(s)
	chunks := ladder.CeilDiv(x.c, pairsChannels)
	if x.k > itemFilters {
		return cut{}, 0, false
	}
	c = o.cut(s, 4, 1) // a channel has two numbers of 2 bytes
	c.OwnPlaces, c.XStages = 0, 2
	if !o.boxes(&c, s, pairsColumns) {
		return c, 0, false
	}
	shared = int(c.XStages*c.XBytes) + chunks*x.taps()*filterBytes
	return c, shared, shared <= hopperBytes
}

func (o fp16x3Rung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	if c, shared, ok := o.residentCut(s); ok {
		return o.launchResident(entry, s, info, c, shared)
	}
	c, suffix, _ := o.best(s, info.SMs)
	return o.launch(entry, suffix, s, info, c)
}

// launchResident launches the split of x and w, and the products. Both factors lose 2^-23, and the
// product that is dropped is 2^-22 of the term. Of 16 channels a step cuts off 10.5 u, as in
// split; after those of 32 channels under all taps sums are added to float32 sums.
func (o fp16x3Rung) launchResident(entry string, s ladder.Size, info gpu.Info, c cut, shared int) ladder.Plan {
	x, chunks := o.of(s), int(c.Chunks)
	steps := 11*x.taps()*ladder.CeilDiv(min(x.c, pairsChannels), 16) + 2*chunks + 4 + tensorRoundings
	p := ladder.Plan{Depth: steps, Round: 0x1.01p-21}
	filters := chunks * x.taps()
	split := o.splitBoxes(&p, s, filters*filterBytes, 1, filters*itemFilters*4)
	split.Entry = entry + "_of_boxes"
	mapX := gpu.TensorMap{Shape: []int{64 * chunks, x.w, x.h, x.n}, Box: []int{64, int(c.Pitch), int(c.XBox / rowBytes / c.Pitch), 1}}
	mapW := gpu.TensorMap{Shape: []int{64, itemFilters, filters}, Box: []int{64, itemFilters, 1}}
	rounds := ladder.CeilDiv(int(c.Tiles), max(1, info.SMs))
	p.Steps = []ladder.Step{split, {
		Entry: entry + "_2_of_boxes", Grid: gpu.Dim{X: ladder.CeilDiv(int(c.Tiles), max(1, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: shared,
		Args: []any{numbers("numbers of x", mapX), numbers("numbers of w", mapW), "x", "w", o.operands("x")[2], "y", "misfits of x", "misfits of w", c, o.shape(s)},
	}}
	return p
}

func (o fp16x3Rung) launch(entry, suffix string, s ladder.Size, info gpu.Info, c cut) ladder.Plan {
	p, x, w := o.split(entry, s, info, int(c.Pitch), int(c.XBox/rowBytes/c.Pitch), int(c.WBytes)/rowBytes)
	rounds := ladder.CeilDiv(int(c.Tiles), max(1, info.SMs))
	p.Steps = append(p.Steps, ladder.Step{Entry: entry + "_3" + suffix, Grid: gpu.Dim{X: ladder.CeilDiv(int(c.Tiles), max(1, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: int(c.XStages*c.XBytes+c.WStages*c.WBytes) + outletBytes,
		Args: []any{x, w, o.operands("x")[2], "y", "shifts", c, o.shape(s)}})
	return p
}

// split is a plan that splits x and w, with maps of the parts: boxes of so many columns
// and rows of pixels, and of so many filters.
//
// Both factors lose 2^-23, and the product that is dropped is 2^-22 of the term. Of 16
// channels a step cuts products and the sum before off, 25 bits below the largest, and the
// new sum: 10.5 u. Those of first parts cost 42 u of a tap of 64 channels so, and are added to a
// float32 sum after a row of taps; those of others cost 2^-10 of as much.
func (o fp16x3Rung) split(entry string, s ladder.Size, info gpu.Info, width, height, filters int) (p ladder.Plan, ofX, ofW ladder.Argument) {
	x, taps := o.of(s), o.of(s).taps()
	pixels, chunks := x.n*x.h*x.w, ladder.CeilDiv(x.c, 64)
	p = ladder.Plan{Depth: chunks*(x.r+1+ladder.CeilDiv(taps, 12)) + x.s*min(ladder.CeilDiv(x.c, 16)*16, 64) + 3 + tensorRoundings, Round: 0x1.01p-21}
	channels, rows := ladder.CeilDiv(x.c, 8)*8, ladder.CeilDiv(x.k, 16)*16
	c := splits{XBlocks: uint32(ladder.CeilDiv(pixels, splitPixels) * chunks), WBlocks: uint32(ladder.CeilDiv(taps*rows*channels/8, splitFilters))}
	blocks := int(c.XBlocks + c.WBlocks)
	p.Scratch = []ladder.Tensor{
		{Name: "parts of x", Len: halves * pixels * channels, Type: gpu.Float16},
		{Name: "parts of w", Len: halves * taps * rows * channels, Type: gpu.Float16},
		{Name: "sizes", Len: blocks},
		{Name: "shifts", Len: 2},
	}
	of := func(name string, m gpu.TensorMap) ladder.Argument {
		return func(memory func(string) gpu.Buffer) (any, error) {
			m := m
			m.Buffer, m.Swizzle = memory(name), rowBytes
			return m, nil
		}
	}
	ofX = of("parts of x", gpu.TensorMap{Shape: []int{channels, x.w, x.h, halves * x.n}, Box: []int{64, width, height, 1}})
	ofW = of("parts of w", gpu.TensorMap{Shape: []int{channels, rows, halves * taps}, Box: []int{64, filters, 1}})
	// Four pixels at once, where each four of an image start at a multiple of 16 bytes.
	cut := func(memory func(string) gpu.Buffer) (any, error) {
		c := c
		place, err := memory("x").Place()
		if err == nil && !o.NHWC && x.h*x.w%4 == 0 && place.Start%16 == 0 {
			c.Vectors = 1
		}
		return c, err
	}
	args := []any{"x", "w", "parts of x", "parts of w", "sizes"}
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Args: append(args[:5:5], ladder.Argument(cut), o.shape(s))},
		{Entry: entry + "_2", Grid: gpu.Dim{X: max(1, min(info.SMs, blocks))}, Block: gpu.Dim{X: threads}, Args: append(args[:5:5], "shifts", ladder.Argument(cut), o.shape(s))},
	}
	return p, ofX, ofW
}
