package conv1d

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

func TestConformance(t *testing.T)            { optest.Run(t, Operator) }
func TestConformanceConvolution(t *testing.T) { optest.Run(t, Convolution) }
func TestConformanceMistakes(t *testing.T)    { optest.Run(t, Mistakes) }

// Strides, dilations and paddings that are no default, on every rung that takes them.
func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Stride: 2, Dilation: 1, Before: 0, After: 0},
		{Stride: 3, Dilation: 2, Before: 5, After: 1, Flip: true},
		{Stride: 1, Dilation: 7, Before: Same, After: Same},
		{Stride: 1, Dilation: 1, Before: 40, After: 0},
		{Stride: 60, Dilation: 1, Before: Same, After: 200}, // no tile in shared memory
		{Stride: 1, Dilation: 5000, Before: Same, After: Same},
	} {
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			for _, c := range optest.Some(t, d, 3, must(With(o)).Cases) {
				if !c.Long {
					optest.CheckAll(t, optest.NewBench(t, d, must(With(o)), 1, c.Size...), "")
				}
			}
		})
	}
}

// Answers worked by hand: a mask of three and of two, both ways round, stride, dilation and
// padding.
func TestReference(t *testing.T) {
	x, three, two := []float32{1, 2, 3, 4, 5}, []float32{1, 10, 100}, []float32{1, 10}
	same := Options{Stride: 1, Dilation: 1, Before: Same, After: Same}
	with := func(change func(*Options)) Options { o := same; change(&o); return o }
	for _, c := range []struct {
		name string
		o    Options
		mask []float32
		want []float64
	}{
		{"correlation", same, three, []float64{210, 321, 432, 543, 54}},
		{"convolution", with(func(o *Options) { o.Flip = true }), three, []float64{12, 123, 234, 345, 450}},
		{"an even mask looks back", same, two, []float64{10, 21, 32, 43, 54}},
		{"an even mask flipped", with(func(o *Options) { o.Flip = true }), two, []float64{1, 12, 23, 34, 45}},
		{"no padding", with(func(o *Options) { o.Before, o.After = 0, 0 }), three, []float64{321, 432, 543}},
		{"stride 2", with(func(o *Options) { o.Stride = 2 }), three, []float64{210, 432, 54}},
		{"dilation 2", with(func(o *Options) { o.Dilation = 2 }), three, []float64{310, 420, 531, 42, 53}},
		{"padding behind", with(func(o *Options) { o.Before, o.After = 0, 2 }), three, []float64{321, 432, 543, 54, 5}},
		{"a mask longer than x", same, []float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []float64{15, 15, 15, 15, 15}},
	} {
		size := ladder.Size{len(x), len(c.mask)}
		got := c.o.reference(nil, size, []ladder.Values{x, c.mask})[0]
		if !ladder.SameBits(got.Value, c.want) || !ladder.SameBits(got.Magnitude, c.want) {
			t.Errorf("%s: %v, magnitudes %v, expected %v", c.name, got.Value, got.Magnitude, c.want)
		}
	}
	got := same.reference(nil, ladder.Size{2, 2}, []ladder.Values{[]float32{-1, 2}, []float32{1, -10}})[0]
	if !ladder.SameBits(got.Value, []float64{10, -21}) || !ladder.SameBits(got.Magnitude, []float64{10, 21}) {
		t.Errorf("signs: %v, magnitudes %v", got.Value, got.Magnitude)
	}
}

// Sizes without outputs are refused in one line with the shape that was computed, and
// options that cannot be.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		n, k int
		says string
	}{
		{Options{Stride: 2, Dilation: 3}, 5, 3, "(5 + 0 + 0 - 3 * (3 - 1) - 1) / 2 + 1 = 0 of"},
		{Options{Stride: 1, Dilation: 1}, 0, 3, "0 elements"},
		{Options{Stride: 1, Dilation: 1}, 3, 0, "0 taps"},
		{Options{Stride: 1, Dilation: 1 << 24, Before: Same, After: Same}, 1, 1 << 10, "split x"},
		{Options{Stride: 0, Dilation: 1}, 3, 3, "stride = 0"},
		{Options{Stride: 1, Dilation: -1}, 3, 3, "dilation = -1"},
		{Options{Stride: 1, Dilation: 1, Before: -2}, 3, 3, "before = -2"},
		{Options{}, 3, 3, "ops: conv1d: stride = 0"},
		{Options{Stride: 1, Flip: true}, 3, 3, "ops: convolution1d: dilation = 0"},
		{Options{Stride: 1, Dilation: math.MaxInt}, 3, 3, "dilation = 9223372036854775807"},
		{Options{Stride: 1, Dilation: 1, After: math.MaxInt}, 3, 3, "after = 9223372036854775807"},
	} {
		if _, err := c.o.Len(c.n, c.k); !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Len of %+v of %d and %d: %v, expected one line with %q", c.o, c.n, c.k, err, c.says)
		}
		o, err := With(c.o)
		if err == nil {
			err = o.CheckSize(ladder.Size{c.n, c.k})
		}
		if _, of := c.o.Len(c.n, c.k); fmt.Sprint(of) != fmt.Sprint(err) {
			t.Errorf("%+v: the length of %d and %d: %v, expected %v", c.o, c.n, c.k, of, err)
		}
		if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v of %d and %d: %v, expected one line with %q", c.o, c.n, c.k, err, c.says)
		}
	}
	for _, size := range [][2]int{{math.MaxInt, 3}, {3, math.MaxInt}, {math.MinInt, math.MinInt}} { // no sum overflows
		if n, err := (Options{Stride: 1, Dilation: 1 << 24, Before: Same, After: Same}).Len(size[0], size[1]); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("%v: %d outputs, %v", size, n, err)
		}
	}
	for name, size := range map[string]ladder.Size{"conv1d_constant": {10, mostTaps + 1}, "conv1d_operands": {10, operandTaps + 1}, "conv1d_vector": {10, vectorTaps + 1}, "conv1d_toeplitz_warps": {10, partTaps + 1}} {
		v, err := Operator.Variant(name)
		if err == nil {
			err = v.Refuses(size)
		}
		if !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("%s at %v: %v, expected a refusal", name, size, err)
		}
	}
	v, err := must(With(Options{Stride: 2, Dilation: 1})).Variant("conv1d_toeplitz")
	if err == nil {
		err = v.Refuses(ladder.Size{10, 3})
	}
	if !errors.Is(err, gpu.ErrUnsupported) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "stride 2 and dilation 1") {
		t.Errorf("conv1d_toeplitz with stride 2: %v, expected a refusal in one line", err)
	}
}

// A product that is subnormal has fewer bits than the bound of one term asks for, and passes.
func TestSubnormalProducts(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Operator, 1, 3, 1)
	for name, values := range map[string][]float32{"mask": {0.3}, "x": {0x1p-140, 1, 0x1p-149}} {
		if err := b.SetInput(name, values); err != nil {
			t.Fatal(err)
		}
	}
	optest.CheckAll(t, b, "subnormal")
}

// Correlate and its refusals, on buffers of the caller's.
func TestCorrelate(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := run.NewHandle(d)
		defer h.Close()
		upload := func(v any, kind gpu.Type, n int) gpu.Buffer {
			b, err := d.Alloc(kind, n)
			if err == nil {
				t.Cleanup(func() { b.Free() })
				err = b.Upload(v)
			}
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		floats := func(v ...float32) gpu.Buffer { return upload(v, gpu.Float32, len(v)) }
		x, mask, y := floats(1, 2, 3, 4, 5), floats(1, 10, 100), floats(0, 0, 0)
		for _, flip := range []bool{false, true} {
			want := []float32{210, 432, 54}
			if flip {
				want = []float32{12, 234, 450}
			}
			got := make([]float32, 3)
			err := Correlate(h, Options{Stride: 2, Dilation: 1, Before: Same, After: Same, Flip: flip}, x, mask, y)
			if err == nil {
				err = y.Download(got)
			}
			if err != nil || !ladder.SameBits(got, want) {
				t.Errorf("flip %v: %v, %v, expected %v", flip, got, err, want)
			}
		}
		one := Options{Stride: 1, Dilation: 1}
		for _, c := range []struct {
			says       string
			x, mask, y gpu.Buffer
		}{
			{"x", nil, mask, y}, {"mask", x, nil, y}, {"y", x, mask, nil},
			{"expected the 3 outputs", x, mask, x},
			{"shares elements", x, y, y},
			{"(3 + 0 + 0 - 1 * (5 - 1) - 1) / 1 + 1", mask, x, y},
			{"int32", upload([]int32{1, 2, 3, 4, 5}, gpu.Int32, 5), mask, y},
		} {
			err := Correlate(h, one, c.x, c.mask, c.y)
			if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, expected one line with %q", err, c.says)
			}
		}
	})
}

// Warps that take several tiles, of x from each element of a vector on and with each
// padding of a vector, up to the longest mask. The x of conv1d_strips has infinities: a tap of
// 0 where there is no tap would make NaN of them.
func TestWarpsOfOneBlock(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	for i, c := range optest.Some(t, d, 3, []struct {
		rung         string
		n, k, before int
	}{
		{"conv1d_toeplitz_warps", 9300, 101, 50}, {"conv1d_toeplitz_warps", 5000, 102, 3}, {"conv1d_toeplitz_warps", 6145, 9, 4},
		{"conv1d_toeplitz_warps", 8192, 102, 101}, {"conv1d_toeplitz_warps", 7000, 1, 0}, {"conv1d_toeplitz_warps", 5121, 32, 45},
		{"conv1d_strips", 50_000, 101, 50}, {"conv1d_strips", 12_000, 128, 126}, {"conv1d_strips", 28_001, 48, 2},
		{"conv1d_strips", 25_000, 3, 2}, {"conv1d_strips", 26_000, 1, 0}, {"conv1d_strips", 27_529, 95, 96},
	}) {
		o := must(With(Options{Stride: 1, Dilation: 1, Before: c.before, After: c.k - 1 - c.before + max(0, c.before-c.k+1), Flip: i%2 == 1}))
		v, err := o.Variant(c.rung)
		if err != nil {
			t.Fatal(err)
		}
		plan := v.Plan
		v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
			p := plan(entry, s, info)
			p.Steps[0].Grid.X = 1
			return p
		}
		one := *o
		one.Variants = []ladder.Variant{v}
		b := optest.NewBench(t, d, &one, 1, c.n, c.k)
		if err := b.Place("x", i%4); err != nil {
			t.Fatal(err)
		}
		if c.rung == "conv1d_strips" {
			x, random := make([]float32, c.n), ladder.NewRandom(uint64(i))
			for j := range x {
				if x[j] = float32(random.Float64()*2 - 1); random.IntN(500) == 0 {
					x[j] = float32(math.Inf(1))
				}
			}
			if err := b.SetInput("x", x); err != nil {
				t.Fatal(err)
			}
		}
		if checks := optest.CheckAll(t, b, "one block"); len(checks.Rows) != 1 {
			t.Errorf("%+v: %d rows", c, len(checks.Rows))
		}
	}
}

// A block whose numbers lie too far apart for two float16 numbers adds float32, whether
// they are in x or in the mask; others load each element once. Both are within the bound
// where each output has numbers of one height alone.
func TestToeplitzRange(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	random := ladder.NewRandom(1)
	heights := func(n int, of func(i int) int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(math.Ldexp(1+random.Float64(), of(i))) * float32(1-2*random.IntN(2))
		}
		return v
	}
	const n, k = 1500, 9
	same := func(int) int { return 3 }
	for _, c := range []struct {
		what    string
		x, mask []float32
		direct  bool
	}{
		{"numbers of one height", heights(n, same), heights(k, same), false},
		{"numbers at the end of the range", heights(n, func(i int) int { return -27 * (i / 64 % 2) }), heights(k, same), false},
		{"x beyond the range", heights(n, func(i int) int { return -40 * (i / 64 % 2) }), heights(k, same), true},
		{"a mask beyond the range", heights(n, same), heights(k, func(i int) int { return -40 * (i % 2) }), true},
		{"sums that take two powers", heights(n, func(int) int { return -50 }), heights(k, func(int) int { return -55 }), false},
		{"x too small to scale", heights(n, func(int) int { return -80 }), heights(k, same), true},
		{"zeros", make([]float32, n), heights(k, same), false},
	} {
		b := optest.NewBench(t, d, Operator, 1, n, k)
		if err := errors.Join(b.SetInput("x", c.x), b.SetInput("mask", c.mask)); err != nil {
			t.Fatal(err)
		}
		for _, rung := range []string{"conv1d_toeplitz", "conv1d_toeplitz_warps"} {
			checks := optest.CheckAll(t, b, c.what, rung)
			counts, err := b.Count(rung)
			if err != nil {
				t.Fatal(err)
			}
			if loads := counts.Rows[0].Total.GlobalLoad.Requests; loads > 100 != c.direct {
				t.Errorf("%s, %s: %d loads of warps, expected direct sums: %v", rung, c.what, loads, c.direct)
			}
			t.Logf("%s, %s: error %.2g, bound %.2g", rung, c.what, checks.Rows[0].Error, checks.Rows[0].Bound)
		}
	}
}
