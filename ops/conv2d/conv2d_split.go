package conv2d

import (
	"fmt"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// parts are the bfloat16 numbers that conv2d_split.cu splits a float32 into.
const parts = 3 // = parts

// splitRung has three bfloat16 numbers for a float32, for the depths of y that share a product.
type splitRung struct {
	boxed
	depths bool // several; the rung launches the entries of the one with one
}

// splitPlaces are the columns of a product that conv2d_split.cu has.
var splitPlaces = []columns{{64, ""}, {120, "_of_120"}}

// noBox rejects layers that a box with a halo does not do.
func (o splitRung) refuses(s ladder.Size) error {
	x := o.of(s)
	switch _, _, ok := (splitRung{boxed: o.boxed}).best(s, 1); {
	case o.Groups != 1 || o.Stride != 1:
		return fmt.Errorf("%w: %d groups, stride %d: expected 1 of each, use %s", gpu.ErrUnsupported, o.Groups, o.Stride, o.family+"_implicit")
	case !ok:
		return fmt.Errorf("%w: filters of %d x %d with dilation %d: no three boxes of pixels with a halo fit into %d bytes of shared memory; use %s", gpu.ErrUnsupported, x.r, x.s, o.Dilation, hopperBytes, o.family+"_implicit")
	}
	if o.depths {
		return o.sharesRows(s, o.family+"_bf16x3")
	}
	return nil
}

// cutFor cuts images as that of haloRung does. A stage of x or of w has one part.
func (o splitRung) cutFor(s ladder.Size, n, depths int) (cut, bool) {
	c, ok := o.boxCut(s, n, 2, depths)
	if !ok {
		return c, false
	}
	for _, want := range []int{2 * parts, parts} { // stages of w
		for c.XStages = 2 * parts; c.XStages >= parts; c.XStages-- {
			fit := (hopperBytes - int(c.XStages*c.XBytes)) / int(c.WBytes)
			if c.WStages = uint32(max(0, min(mostStages, fit))); fit >= want {
				return c, true
			}
		}
	}
	return c, false
}

func (o splitRung) best(s ladder.Size, sms int) (cut, string, bool) {
	depths := 1
	if o.depths {
		depths = o.sharedDepths(s)
	}
	return shortest(splitPlaces, sms, func(n int) (cut, bool) { return o.cutFor(s, n, depths) })
}

func (o splitRung) plan(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	c, suffix, _ := o.best(s, info.SMs)
	return o.launch(strings.TrimSuffix(entry, "_depths"), suffix, s, info, c)
}

// launch launches the splits of x and w, and the products. It drops three products of
// parts: two of 2^-25 of the term, and one of 2^-34. Each step of a chunk cuts its products
// and the sum before off, 25 bits below the largest, and the new sum: 10.5 u for 16
// channels. Those of first parts cost 42 u of 64 channels so, those of others 2^-7 of as much.
func (o splitRung) launch(entry, suffix string, s ladder.Size, info gpu.Info, c cut) ladder.Plan {
	x, taps := o.of(s), o.of(s).taps()
	pixels := x.n * x.d * x.h * x.w
	p := ladder.Plan{Depth: int(c.Chunks)*taps + min(x.c, 64) + 3 + tensorRoundings, Round: 0x1.01p-24}
	channels, filters := ladder.CeilDiv(x.c, 8)*8, ladder.CeilDiv(x.k, 16)*16
	p.Scratch = []ladder.Tensor{
		{Name: "parts of x", Len: parts * pixels * channels, Type: gpu.BFloat16},
		{Name: "parts of w", Len: parts * taps * filters * channels, Type: gpu.BFloat16},
	}
	of := func(name string, m gpu.TensorMap) ladder.Argument {
		return func(memory func(string) gpu.Buffer) (any, error) {
			m := m
			m.Buffer, m.Swizzle = memory(name), rowBytes
			return m, nil
		}
	}
	ofX := gpu.TensorMap{Shape: []int{channels, x.w, x.h, parts * x.n}, Box: []int{64, int(c.Pitch), int(c.XBox / rowBytes / c.Pitch), 1}}
	if o.Depth {
		ofX.Shape, ofX.Box = []int{channels, x.w, x.h, x.d, parts * x.n}, append(ofX.Box, 1)
	}
	ofW := gpu.TensorMap{Shape: []int{channels, filters, parts * taps}, Box: []int{64, int(c.WBytes/c.Depths) / rowBytes, 1}}
	bias := o.operands("x")[2]
	rounds := ladder.CeilDiv(int(c.Tiles), max(1, info.SMs))
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(pixels, 32), Y: ladder.CeilDiv(channels, 64)}, Block: gpu.Dim{X: threads}, Args: []any{"x", "parts of x", o.shape(s)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: ladder.CeilDiv(taps*filters*channels/8, threads)}, Block: gpu.Dim{X: threads}, Args: []any{"w", "parts of w", o.shape(s)}},
		{Entry: entry + "_3" + suffix, Grid: gpu.Dim{X: ladder.CeilDiv(int(c.Tiles), max(1, rounds))}, Block: gpu.Dim{X: hopperThreads}, Shared: int(c.XStages*c.XBytes + c.WStages*c.WBytes),
			Args: []any{of("parts of x", ofX), of("parts of w", ofW), bias, "y", c, o.shape(s)}},
	}
	return p
}
