package conv2d

import (
	"errors"
	"math"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The products of conv3d_fp16x2 where a block takes several tiles and the ring of boxes
// comes round, on a device that is planned as if it had two multiprocessors: both layouts, wide stores
// and others, one to three rows of channels of x, two blocks of channels of y, an odd number
// of taps, taps two pixels apart, and rows of a tile that y has not.
func TestHalvesTiles(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	type call struct {
		o    Options
		size ladder.Size
	}
	for _, c := range optest.Some(t, d, 1, []call{
		{Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, Depth: true}, ladder.Size{2, 3, 3, 5, 56, 4, 2, 1, 3}},
		{Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, Depth: true, Bias: true, ReLU: true}, ladder.Size{1, 20, 4, 9, 58, 33, 1, 2, 2}},
		{Options{Stride: 1, Padding: 2, Dilation: 2, Groups: 1, Depth: true, NHWC: true}, ladder.Size{1, 67, 2, 3, 9, 9, 1, 1, 2}},
		{Options{Stride: 1, Padding: 0, Dilation: 1, Groups: 1, Depth: true, NHWC: true, Bias: true}, ladder.Size{2, 9, 3, 4, 130, 3, 3, 1, 1}},
	}) {
		operator := must(With("conv3d", c.o))
		v, err := operator.Variant("conv3d_fp16x2")
		if err != nil {
			t.Fatal(err)
		}
		plan := v.Plan
		v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
			info.SMs = 2
			return plan(entry, s, info)
		}
		direct, err := operator.Variant("conv3d_direct")
		if err != nil {
			t.Fatal(err)
		}
		one := *operator
		one.Variants = []ladder.Variant{direct, v}
		checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), "two multiprocessors")
		if len(checks.Rows) != 2 {
			t.Fatalf("%v: %d rows, expected 2", c.size, len(checks.Rows))
		}
		t.Logf("%v: error %.2g, of a direct sum %.2g, bound %.2g", c.size, checks.Rows[1].Error, checks.Rows[0].Error, checks.Rows[1].Bound)
	}
}

// A box whose numbers lie too far apart for two float16 numbers is added as float32, and all
// boxes are if numbers of w lie so. Boxes of different magnitudes have scales of their own. Each
// way is within the bound if the numbers of an output have one magnitude.
func TestHalvesRange(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	random := ladder.NewRandom(1)
	heights := func(n int, of func(i int) int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(math.Ldexp(1+random.Float64(), of(i))) * float32(1-2*random.IntN(2))
		}
		return v
	}
	const pixels, channels, filters = 40, 2, 3 // two volumes of 1 x 2 x 20
	size := ladder.Size{2, channels, 1, 2, pixels / 2, filters, 1, 1, 3}
	volume := func(i int) int { return i / (channels * pixels) }
	row := func(i int) int { return i / (pixels / 2) % 2 }
	same := func(int) int { return 2 }
	var all uint64 // loads of warps where all numbers fit
	v, err := Volumes.Variant("conv3d_fp16x2")
	if err != nil {
		t.Fatal(err)
	}
	plan, one := v.Plan, *Volumes
	v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		info.SMs = 1 // one block: how often it waits for a piece does not depend on others
		return plan(entry, s, info)
	}
	one.Variants = []ladder.Variant{v}
	cases := []struct {
		what string
		x, w func(int) int
		way  string
	}{
		{"numbers of one height", same, same, "products"},
		{"numbers at the end of the range", func(i int) int { return 2 - 27*row(i) }, same, "products"},
		{"numbers that another scale fits", func(i int) int { return -27 * row(i) }, same, "another scale"},
		{"volumes of two scales", func(i int) int { return 40 * volume(i) }, same, "another scale"},
		{"filters that another scale fits", same, func(int) int { return -40 }, "another scale"},
		{"x beyond the range", func(i int) int { return -28 * row(i) * volume(i) }, same, "floats"},
		{"filters beyond the range", same, func(i int) int { return -28 * (i / (channels * 3) % 2) }, "floats"},
		{"x too small to scale", func(int) int { return -80 }, same, "floats"},
		{"x too large to scale", func(int) int { return 64 }, same, "floats"},
	}
	for _, c := range append(cases[:1:1], optest.Some(t, d, 3, cases[1:])...) {
		b := optest.NewBench(t, d, &one, 1, size...)
		if err := errors.Join(b.SetInput("x", heights(2*channels*pixels, c.x)), b.SetInput("w", heights(filters*channels*3, c.w))); err != nil {
			t.Fatal(err)
		}
		checks := optest.CheckAll(t, b, c.what)
		counts, err := b.Count("conv3d_fp16x2")
		if err != nil {
			t.Fatal(err)
		}
		loads := counts.Rows[0].Total.GlobalLoad.Requests
		if all == 0 {
			all = loads
		}
		way := "products"
		switch { // a box or filters are looked at again, and split again; one tile of floats takes 84 loads of warps
		case loads >= all+84:
			way = "floats"
		case loads > all:
			way = "another scale"
		}
		if way != c.way {
			t.Errorf("%s: %d loads of warps, %d where all numbers fit: %s, expected %s", c.what, loads, all, way, c.way)
		}
		t.Logf("%s: %d loads, error %.2g, bound %.2g", c.what, loads, checks.Rows[0].Error, checks.Rows[0].Bound)
	}
}

// Images of other scales, and one with a NaN and an infinity, that one block of conv2d_fp16x3
// takes one after the other: boxes with a scale of their own come where the copy engine
// brought others. Each is within the bound.
func TestImagesOfOtherScales(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	v, err := Operator.Variant("conv2d_fp16x3")
	if err != nil {
		t.Fatal(err)
	}
	plan, one := v.Plan, *Operator
	v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		info.SMs = 1
		return plan(entry, s, info)
	}
	one.Variants = []ladder.Variant{v}
	const images, channels, pixels = 7, 33, 5 * 6
	random := ladder.NewRandom(2)
	x := make([]float32, images*channels*pixels)
	for i := range x {
		x[i] = float32(math.Ldexp(random.Float64()-0.5, []int{0, 0, 20, -30, 0, 0, -60}[i/(channels*pixels)]))
	}
	x[4*channels*pixels+7], x[4*channels*pixels+40] = float32(math.NaN()), float32(math.Inf(-1))
	b := optest.NewBench(t, d, &one, 1, images, channels, 5, 6, 18, 3, 3)
	if err := b.SetInput("x", x); err != nil {
		t.Fatal(err)
	}
	checks := optest.CheckAll(t, b, "images of other scales")
	t.Logf("error %.2g, bound %.2g", checks.Rows[0].Error, checks.Rows[0].Bound)
}
