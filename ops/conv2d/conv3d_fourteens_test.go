package conv2d

import (
	"errors"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// Tiles of conv3d_fourteens, in both layouts: patches that end within a row, a column and a tile, channels of x
// and of y that fill no chunk or block, depths of padding alone, and fewer stages than workers,
// so that shares begin and end within a tile.
func TestFourteens(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	for _, c := range []struct {
		padding int
		size    ladder.Size // of a volume, or of images
		nhwc    bool
	}{
		{1, ladder.Size{1, 1, 1, 1, 4, 1, 1, 3, 3}, false}, {1, ladder.Size{1, 5, 3, 5, 16, 33, 3, 3, 3}, false}, {0, ladder.Size{2, 4, 2, 6, 28, 3, 2, 3, 3}, false}, {3, ladder.Size{1, 2, 1, 2, 60, 5, 3, 3, 3}, false},
		{2, ladder.Size{3, 9, 9, 20, 8, 3, 3}, false}, {1, ladder.Size{1, 5, 6, 15, 34, 3, 3}, true},
	} {
		o := with(func(o *Options) {
			o.Depth, o.Padding, o.ReLU, o.Bias, o.NHWC = len(c.size) == 9, c.padding, true, true, c.nhwc
		})
		name := "conv2d"
		if o.Depth {
			name = "conv3d"
		}
		one := *must(With(name, o))
		v, err := one.Variant(name + "_fourteens")
		if err != nil {
			t.Fatal(err)
		}
		one.Variants = []ladder.Variant{v}
		if checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), ""); len(checks.Rows) == 0 {
			t.Errorf("padding %d, %v: refused", c.padding, c.size)
		}
	}
}

// Layers that the operator takes, but of which an int of the device does not number the padded
// filters or the stages, are for another rung. Those of a little less are not.
func TestRefusesBeyond32Bits(t *testing.T) {
	for _, c := range []struct {
		o     *ladder.Operator
		rung  string
		size  ladder.Size
		takes bool
	}{
		{Operator, "conv2d_fourteens", ladder.Size{1, 1 << 24, 1, 1, 1, 3, 3}, false},
		{Operator, "conv2d_fourteens", ladder.Size{1, 7_000_000, 1, 1, 1, 3, 3}, true},
		{Operator, "conv2d_fourteens", ladder.Size{131_072, 15_000, 1, 1, 15_000, 3, 3}, false},
		{Operator, "conv2d_fourteens", ladder.Size{16_384, 15_000, 1, 1, 15_000, 3, 3}, true},
		{Volumes, "conv3d_fourteens", ladder.Size{1, 1 << 24, 1, 1, 1, 1, 1, 3, 3}, false},
		{Volumes, "conv3d_sevens", ladder.Size{1, 1 << 24, 1, 1, 1, 1, 1, 3, 3}, false},
		{Volumes, "conv3d_sevens", ladder.Size{1, 7_000_000, 1, 1, 1, 1, 1, 3, 3}, true},
	} {
		v, err := c.o.Variant(c.rung)
		if err := errors.Join(err, c.o.CheckSize(c.size)); err != nil {
			t.Fatal(err)
		}
		if err := v.Refuses(c.size); (err == nil) != c.takes || err != nil && !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("%s of %v: %v, expected that it takes the size: %v", c.rung, c.size, err, c.takes)
		}
	}
}
