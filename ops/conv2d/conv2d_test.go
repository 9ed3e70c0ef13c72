package conv2d

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T)            { optest.Run(t, Operator) }
func TestConformanceNHWC(t *testing.T)        { optest.Run(t, NHWC) }
func TestConformanceBiasReLU(t *testing.T)    { optest.Run(t, BiasReLU) }
func TestConformanceVolumes(t *testing.T)     { optest.Run(t, Volumes) }
func TestConformanceFP16(t *testing.T)        { optest.Run(t, FP16) }
func TestConformanceBF16(t *testing.T)        { optest.Run(t, BF16) }
func TestConformanceTF32(t *testing.T)        { optest.Run(t, TF32) }
func TestConformanceVolumesFP16(t *testing.T) { optest.Run(t, VolumesFP16) }
func TestConformanceVolumesBF16(t *testing.T) { optest.Run(t, VolumesBF16) }
func TestConformanceVolumesTF32(t *testing.T) { optest.Run(t, VolumesTF32) }
func TestConformanceWinograd2(t *testing.T)   { optest.Run(t, Winograd2) }
func TestConformanceWinograd4(t *testing.T)   { optest.Run(t, Winograd4) }

// Strides, paddings, dilations and groups that are no default, in both layouts, in three
// dimensions and on tensor cores, on every rung that takes them.
func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Stride: 2, Padding: 0, Dilation: 1, Groups: 1},
		{Stride: 1, Padding: 3, Dilation: 2, Groups: 2, Bias: true},
		{Stride: 3, Padding: 1, Dilation: 1, Groups: 4, ReLU: true},
	} {
		halves := o
		halves.NHWC, halves.Type = true, gpu.Float16
		volumes := o
		volumes.Depth = true
		last := o
		last.NHWC = true
		for name, of := range map[string]Options{"conv2d": o, "conv2d_nhwc": last, "conv2d_fp16": halves, "conv3d": volumes, "conv3d_fp16": deep(halves)} {
			op := must(With(name, of))
			cases := []ladder.Case{{Size: ladder.Size{2, 8, 11, 13, 12, 3, 3}}, {Size: ladder.Size{1, 16, 9, 7, 8, 3, 2}}}
			if of.Depth {
				cases = []ladder.Case{{Size: ladder.Size{2, 4, 5, 6, 7, 8, 3, 2, 3}}, {Size: ladder.Size{1, 16, 5, 4, 7, 8, 2, 2, 1}}}
			}
			devicetest.Each(t, func(t *testing.T, d gpu.Device) {
				if ladder.Older(d.Info().Compute, ladder.Ampere) && of.Type != 0 {
					return // the suite lists the rungs that it has not
				}
				for _, c := range optest.Some(t, d, 1, cases) {
					b := optest.NewBench(t, d, op, 1, c.Size...)
					for _, name := range []string{"x", "w"} { // vectors that are not aligned
						if err := b.Place(name, 1); err != nil {
							t.Fatal(err)
						}
					}
					optest.CheckAll(t, b, "from element 1 on")
				}
			})
		}
	}
}

// Answers worked by hand: padding, stride, dilation, groups, both layouts, bias and ReLU.
func TestReference(t *testing.T) {
	o := Options{Stride: 1, Padding: 0, Dilation: 1, Groups: 1}
	x := []float32{
		1, 2, 3,
		4, 5, 6,
		7, 8, 9,
	}
	w := []float32{
		1, 10,
		100, 1000,
	}
	for _, c := range []struct {
		name       string
		change     func(*Options)
		size       ladder.Size
		x, w, bias []float32
		want       []float64
	}{
		{"a correlation", func(*Options) {}, ladder.Size{1, 1, 3, 3, 1, 2, 2}, x, w, nil, []float64{5421, 6532, 8754, 9865}},
		{"padding", func(o *Options) { o.Padding, o.Stride = 1, 2 }, ladder.Size{1, 1, 3, 3, 1, 2, 2}, x, w, nil, []float64{1000, 3200, 7040, 9865}},
		{"dilation", func(o *Options) { o.Dilation = 2 }, ladder.Size{1, 1, 3, 3, 1, 2, 2}, x, w, nil, []float64{9731}},
		{"two channels are added", func(*Options) {}, ladder.Size{1, 2, 1, 2, 1, 1, 1}, []float32{1, 2, 3, 4}, []float32{1, 10}, nil, []float64{31, 42}},
		{"groups keep them apart", func(o *Options) { o.Groups = 2 }, ladder.Size{1, 2, 1, 2, 2, 1, 1}, []float32{1, 2, 3, 4}, []float32{1, 10}, nil, []float64{1, 2, 30, 40}},
		{"channels innermost", func(o *Options) { o.NHWC = true }, ladder.Size{1, 2, 1, 2, 2, 1, 1}, []float32{1, 2, 3, 4}, []float32{1, 10, 100, 1000}, nil, []float64{21, 2100, 43, 4300}},
		{"bias and ReLU", func(o *Options) { o.Bias, o.ReLU = true, true }, ladder.Size{1, 1, 1, 2, 2, 1, 1}, []float32{1, 2}, []float32{1, 10}, []float32{-1.5, 5}, []float64{0, 0.5, 15, 25}},
		{"a volume", func(o *Options) { o.Depth = true }, ladder.Size{1, 1, 2, 1, 2, 1, 2, 1, 1}, []float32{1, 2, 3, 4}, []float32{1, 10}, nil, []float64{31, 42}},
	} {
		with := o
		c.change(&with)
		inputs := []ladder.Values{c.x, c.w}
		if with.Bias {
			inputs = append(inputs, c.bias)
		}
		if got := with.reference(nil, c.size, inputs)[0]; !ladder.SameBits(got.Value, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, got.Value, c.want)
		}
	}
	got := o.reference(nil, ladder.Size{1, 1, 1, 2, 1, 1, 2}, []ladder.Values{[]float32{-1, 2}, []float32{3, 4}})[0]
	if got.Value[0] != 5 || got.Magnitude[0] != 11 {
		t.Errorf("signs: %v, magnitude %v, expected 5 and 11", got.Value, got.Magnitude)
	}
}

// Winograd's matrices compute the correlation: in float64, within its rounding.
func TestWinogradMatrices(t *testing.T) {
	random := ladder.NewRandom(1)
	for _, m := range []int{2, 4} {
		of, a := winogradMatrices(m), m+2
		square := func(n int) [][]float64 {
			b := make([][]float64, n)
			for i := range b {
				b[i] = make([]float64, n)
				for j := range b[i] {
					b[i][j] = random.NormFloat64()
				}
			}
			return b
		}
		w, x := square(3), square(a)
		u, v := sandwich(of.w, w, false), sandwich(of.x, x, false)
		for i := range u {
			for j := range u {
				u[i][j] *= v[i][j]
			}
		}
		y := sandwich(of.y, u, false)
		for i := range m {
			for j := range m {
				want := 0.0
				for r := range 3 {
					for q := range 3 {
						want += w[r][q] * x[i+r][j+q]
					}
				}
				if !(math.Abs(y[i][j]-want) < 1e-11) {
					t.Errorf("F(%d): element %d, %d: %v, expected %v", m, i, j, y[i][j], want)
				}
			}
		}
	}
}

// Options and sizes that cannot be are refused in one line with the shape that was
// computed, before anything is launched.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		size ladder.Size
		says string
	}{
		{Options{Stride: 0, Dilation: 1, Groups: 1}, nil, "stride = 0"},
		{Options{Stride: 1, Dilation: 0, Groups: 1}, nil, "dilation = 0"},
		{Options{Stride: 1, Dilation: 1, Groups: 0}, nil, "groups = 0"},
		{Options{Stride: 1, Dilation: 1, Groups: 1, Padding: -1}, nil, "padding = -1"},
		{Options{Stride: 2, Padding: 1, Dilation: 2, Groups: 1}, ladder.Size{1, 1, 2, 9, 1, 4, 3}, "height of y = (2 + 2 * 1 - 2 * (4 - 1) - 1) / 2 + 1 = -1:"},
		{Options{Stride: 1, Dilation: 1, Groups: 1}, ladder.Size{1, 1, 9, 2, 1, 3, 3}, "width of y = (2 + 2 * 0 - 1 * (3 - 1) - 1) / 1 + 1"},
		{Options{Stride: 1, Dilation: 1, Groups: 1, Depth: true}, ladder.Size{1, 1, 1, 9, 9, 1, 3, 3, 3}, "depth of y = (1 + "},
		{Options{Stride: 1, Dilation: 1, Groups: 3}, ladder.Size{1, 4, 9, 9, 6, 3, 3}, "3 groups of 4 channels of x and 6 of y"},
		{Options{Stride: 1, Dilation: 1, Groups: 1}, ladder.Size{1, 0, 9, 9, 6, 3, 3}, "at least 1 of each"},
		{Options{Stride: 1, Dilation: 1, Groups: 1}, ladder.Size{1 << 11, 1 << 10, 1 << 10, 9, 6, 3, 3}, "split the images"},
	} {
		o, err := With("conv2d", c.o)
		if err == nil {
			err = o.CheckSize(c.size)
		}
		checkLine(t, c.says, err, gpu.ErrArgument)
	}
	checkLine(t, "expected 3 x 3", Winograd2.CheckSize(ladder.Size{1, 1, 9, 9, 1, 5, 5}), gpu.ErrArgument)
	_, err := withWinograd(2, Options{Stride: 2, Dilation: 1, Groups: 1})
	checkLine(t, "stride 2, dilation 1, 1 groups", err, gpu.ErrArgument)
	v, err := FP16.Variant("conv2d_fp16_vector")
	if err != nil {
		t.Fatal(err)
	}
	checkLine(t, "12 channels in a group of x (n, h, w, c) = [1 9 9 12]", v.Refuses(ladder.Size{1, 12, 9, 9, 8, 3, 3}), gpu.ErrUnsupported)
	for _, c := range []struct {
		rung   string
		change func(*Options)
		size   ladder.Size
		says   string
	}{
		{"conv2d_fp16_wgmma", nil, ladder.Size{1, 12, 9, 9, 16, 3, 3}, "12 channels of x: the copy engine takes a multiple of 8"},
		{"conv2d_fp16_halo", nil, ladder.Size{1, 16, 9, 9, 24, 3, 3}, "24 channels of y"},
		{"conv2d_fp16_resident", nil, ladder.Size{1, 16, 9, 9, 80, 3, 3}, "80 channels of y: a block multiplies at most 64"},
		{"conv2d_fp16_resident", nil, ladder.Size{1, 512, 9, 9, 64, 3, 3}, "512 channels of x"},
		{"conv2d_fp16_resident", func(o *Options) { o.Stride = 2 }, ladder.Size{1, 16, 9, 9, 16, 3, 3}, "stride 2"},
		{"conv2d_fp16_wgmma", func(o *Options) { o.Groups = 2 }, ladder.Size{1, 16, 9, 9, 16, 3, 3}, "2 groups"},
		{"conv2d_fp16_wgmma", func(o *Options) { o.Stride = 9 }, ladder.Size{1, 16, 99, 99, 16, 3, 3}, "stride 9"},
		{"conv2d_fp16_wgmma", func(o *Options) { o.Dilation = 100 }, ladder.Size{1, 16, 299, 299, 16, 3, 3}, "filters over 201 pixels"},
		{"conv2d_fp16_halo", func(o *Options) { o.Stride = 2 }, ladder.Size{1, 16, 9, 9, 16, 3, 3}, "use conv2d_fp16_wgmma"},
		{"conv2d_fp16_halo", func(o *Options) { o.Dilation = 70 }, ladder.Size{1, 16, 299, 299, 16, 3, 3}, "no box of pixels"},
	} {
		o := tensorOptions(gpu.Float16)
		if c.change != nil {
			c.change(&o)
		}
		v, err := must(With("conv2d_fp16", o)).Variant(c.rung)
		if err != nil {
			t.Fatal(err)
		}
		checkLine(t, c.says, v.Refuses(c.size), gpu.ErrUnsupported)
	}
	for _, c := range []struct {
		rung, says string
		change     func(*Options)
		size       ladder.Size
	}{
		{"conv2d_bf16x3", "1 groups, stride 2", func(o *Options) { o.Stride = 2 }, ladder.Size{1, 4, 9, 9, 4, 3, 3}},
		{"conv2d_bf16x3", "no three boxes", func(o *Options) { o.Dilation = 40 }, ladder.Size{1, 4, 199, 199, 4, 3, 3}},
		{"conv2d_fp16x3", "2 groups, stride 1", func(o *Options) { o.Groups = 2 }, ladder.Size{1, 4, 9, 9, 4, 3, 3}},
		{"conv2d_fp16x3", "no two boxes", func(o *Options) { o.Dilation = 40 }, ladder.Size{1, 4, 199, 199, 4, 3, 3}},
	} {
		if v, err = must(With("conv2d", with(c.change))).Variant(c.rung); err != nil {
			t.Fatal(err)
		}
		checkLine(t, c.says, v.Refuses(c.size), gpu.ErrUnsupported)
	}
	for _, c := range []struct {
		rung   string
		kind   gpu.Type
		change func(*Options)
		size   ladder.Size
		says   string
	}{
		{"conv3d_fp16_vector", gpu.Float16, nil, ladder.Size{1, 12, 3, 9, 8, 16, 3, 3, 3}, "12 channels in a group of x (n, d, h, w, c) = [1 3 9 8 12]"},
		{"conv3d_fp16_wgmma", gpu.Float16, nil, ladder.Size{1, 12, 3, 9, 8, 16, 3, 3, 3}, "12 channels of x: the copy engine takes a multiple of 8"},
		{"conv3d_bf16_wgmma", gpu.BFloat16, func(o *Options) { o.Padding = 16 }, ladder.Size{1, 16, 3, 9, 8, 16, 1, 1, 1}, "padding 16, filters over 1 pixels"},
		{"conv3d_tf32_wgmma", 0, func(o *Options) { o.Dilation = 18 }, ladder.Size{1, 16, 39, 39, 39, 16, 2, 2, 2}, "filters over 19 pixels"},
		{"conv3d_tf32_halo", 0, func(o *Options) { o.Stride = 2 }, ladder.Size{1, 16, 3, 9, 8, 16, 3, 3, 3}, "use conv3d_tf32_wgmma"},
		{"conv3d_tf32_depths", 0, nil, ladder.Size{1, 16, 3, 9, 8, 48, 3, 3, 3}, "48 channels of y: expected at most 32"},
		{"conv3d_fp16_depths", gpu.Float16, func(o *Options) { o.Dilation = 2 }, ladder.Size{1, 16, 9, 9, 9, 32, 3, 3, 3}, "dilation 2: expected 1"},
		{"conv3d_bf16x3", 0, func(o *Options) { o.NHWC, o.Groups = false, 2 }, ladder.Size{1, 4, 3, 9, 8, 4, 3, 3, 3}, "use conv3d_implicit"},
		{"conv3d_bf16x3_depths", 0, func(o *Options) { o.NHWC = false }, ladder.Size{1, 4, 3, 9, 8, 33, 3, 3, 3}, "use conv3d_bf16x3"},
		{"conv3d_sevens", 0, func(o *Options) { o.NHWC = false }, ladder.Size{1, 4, 3, 9, 8, 4, 3, 2, 3}, "filters of 3 x 2 x 3"},
		{"conv3d_fp16x2", 0, func(o *Options) { o.NHWC = false }, ladder.Size{1, 64, 3, 9, 8, 4, 3, 3, 3}, "filters of 64 channels by 3 x 3 x 3"},
		{"conv3d_registers", 0, func(o *Options) { o.NHWC = false }, ladder.Size{1, 4, 3, 9, 8, 4, 3, 3, 2}, "filters of 3 x 3 x 2"},
		{"conv3d_registers", 0, func(o *Options) { o.NHWC = false }, ladder.Size{1, 4, 3, 99, 8, 4, 3, 99, 3}, "beyond 49152 bytes"},
	} {
		o := deep(tensorOptions(c.kind))
		if c.change != nil {
			c.change(&o)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(c.rung, "conv3d_"), "_")
		operator := must(With("conv3d", o))
		if o.NHWC {
			operator = o.tensor("conv3d_"+name, operator)
		}
		v, err := operator.Variant(c.rung)
		if err != nil {
			t.Fatal(err)
		}
		checkLine(t, c.says, v.Refuses(c.size), gpu.ErrUnsupported)
	}
	if v, err = Operator.Variant("conv2d_shared"); err != nil {
		t.Fatal(err)
	}
	checkLine(t, "filters of 120 x 120", v.Refuses(ladder.Size{1, 1, 200, 200, 1, 120, 120}), gpu.ErrUnsupported)
}

func checkLine(t *testing.T, says string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, expected one line with %q", err, says)
	}
}

// Convolve and its refusals, on buffers of the caller's.
func TestConvolve(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := bench.NewHandle(d)
		defer h.Close()
		alloc := func(kind gpu.Type, values ...float32) gpu.Buffer {
			b, err := d.Alloc(kind, len(values))
			if err == nil {
				t.Cleanup(func() { b.Free() })
				err = (ladder.Tensor{Len: len(values), Type: kind}).Upload(nil, b, values)
			}
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		size := ladder.Size{1, 1, 3, 3, 1, 2, 2}
		for _, kind := range []gpu.Type{gpu.Float32, gpu.Float16, gpu.BFloat16} {
			if kind != gpu.Float32 && ladder.Older(d.Info().Compute, ladder.Ampere) {
				continue // the suite lists the rungs that it has not
			}
			o := Options{Stride: 1, Dilation: 1, Groups: 1, Bias: true, ReLU: true, NHWC: kind != gpu.Float32, Type: kind}
			x, w, bias, y := alloc(kind, 1, 2, 3, 4, 5, 6, 7, 8, 9), alloc(kind, 1, -1, 1, 1), alloc(kind, -10), alloc(kind, 0, 0, 0, 0)
			got := make([]float32, 4)
			err := Convolve(h, o, size, x, w, bias, y)
			if err == nil {
				err = (ladder.Tensor{Len: 4, Type: kind}).Download(nil, y, got)
			}
			if err != nil || !ladder.SameBits(got, []float32{0, 0, 4, 6}) {
				t.Errorf("%v: %v, %v", kind, got, err)
			}
		}
		if !ladder.Older(d.Info().Compute, ladder.Ampere) { // a volume of one depth, whose rungs of halves are those of volumes
			o := Options{Stride: 1, Dilation: 1, Groups: 1, NHWC: true, Depth: true, Type: gpu.Float16}
			x, w, y, got := alloc(o.Type, 1, 2, 3, 4, 5, 6, 7, 8, 9), alloc(o.Type, 1, -1, 1, 1), alloc(o.Type, 0, 0, 0, 0), make([]float32, 4)
			err := Convolve(h, o, ladder.Size{1, 1, 1, 3, 3, 1, 1, 2, 2}, x, w, nil, y)
			if err == nil {
				err = (ladder.Tensor{Len: 4, Type: o.Type}).Download(nil, y, got)
			}
			if err != nil || !ladder.SameBits(got, []float32{8, 10, 14, 16}) {
				t.Errorf("a volume: %v, %v", got, err)
			}
		}
		o := Options{Stride: 1, Dilation: 1, Groups: 1}
		x, w, y := alloc(gpu.Float32, 1, 2, 3, 4, 5, 6, 7, 8, 9), alloc(gpu.Float32, 1, 2, 3, 4), alloc(gpu.Float32, 0, 0, 0, 0)
		for says, err := range map[string]error{
			"expected 9 for n = 1, c = 1, h = 3": Convolve(h, o, size, y, w, nil, y),
			"shares elements":                    Convolve(h, o, size, x, w, nil, w),
			"no buffer":                          Convolve(h, o, size, x, nil, nil, y),
			"set Options.Bias":                   Convolve(h, o, size, x, w, w, y),
			"channels are not innermost":         Convolve(h, Options{Stride: 1, Dilation: 1, Groups: 1, Type: gpu.Float16}, size, x, w, nil, y),
			"type int32":                         Convolve(h, Options{Stride: 1, Dilation: 1, Groups: 1, Type: gpu.Int32}, size, x, w, nil, y),
			"height of y = (3 + 2 * 0":           Convolve(h, o, ladder.Size{1, 1, 3, 3, 1, 4, 2}, x, w, nil, y),
		} {
			checkLine(t, says, err, gpu.ErrArgument)
		}
	})
}

// The entries of the rungs on wgmma, where a block takes several tiles and the ring of
// stages comes round: each width of the product is forced, one a rung and case that the seed
// chooses, on a device that is planned as
// if it had two multiprocessors. Strides and dilations are other than 1.
func TestHopperTiles(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	type call struct {
		kind   gpu.Type
		change func(*Options)
		size   ladder.Size
	}
	for _, c := range optest.Some(t, d, 4, []call{
		{gpu.Float16, nil, ladder.Size{2, 8, 7, 9, 16, 3, 3}},
		{gpu.Float16, nil, ladder.Size{1, 72, 9, 8, 80, 2, 3}},
		{gpu.BFloat16, nil, ladder.Size{1, 8, 6, 9, 16, 3, 3}},
		{0, nil, ladder.Size{1, 8, 6, 9, 16, 3, 3}},
		{gpu.Float16, func(o *Options) { o.Dilation, o.Padding = 2, 3 }, ladder.Size{1, 8, 6, 7, 16, 3, 2}},
		{gpu.BFloat16, func(o *Options) { o.Stride, o.Padding, o.ReLU = 2, 0, false }, ladder.Size{2, 8, 17, 19, 16, 3, 3}},
		{0, func(o *Options) { o.Stride, o.Dilation, o.Bias = 3, 2, false }, ladder.Size{1, 8, 12, 13, 16, 1, 3}},
		{gpu.Float16, nil, ladder.Size{1, 8, 5, 2, 3, 16, 3, 1, 2}},
		{0, nil, ladder.Size{1, 40, 3, 2, 3, 32, 2, 1, 2}},
		{gpu.BFloat16, func(o *Options) { o.Dilation = 2 }, ladder.Size{1, 8, 3, 2, 3, 80, 2, 1, 2}},
		{gpu.Float16, func(o *Options) { o.Stride, o.Padding, o.ReLU = 2, 2, false }, ladder.Size{2, 8, 5, 4, 3, 16, 3, 2, 1}},
	}) {
		o := tensorOptions(c.kind)
		o.Depth = len(c.size) == 9
		if c.change != nil {
			c.change(&o)
		}
		name := map[bool]string{false: "conv2d_", true: "conv3d_"}[o.Depth] + map[gpu.Type]string{0: "tf32", gpu.Float16: "fp16", gpu.BFloat16: "bf16"}[c.kind]
		operator := o.tensor(name, must(With(name, o)))
		check := func(v ladder.Variant, plan ladder.Planner, what string) {
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				info.SMs = 2
				return plan(entry, s, info)
			}
			one := *operator
			one.Variants = []ladder.Variant{v}
			checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), what)
			if refused := v.Refuses(c.size) != nil; refused != (len(checks.Rows) == 0) {
				t.Errorf("%s of %v: %d rows, refused %v", what, c.size, len(checks.Rows), refused)
			}
		}
		variants := o.hopperVariants(name)
		check(variants[0], variants[0].Plan, variants[0].Name)
		for _, v := range variants[1:] {
			plan, depths := o.haloPlan, 1
			if strings.HasSuffix(v.Name, "_planes") {
				plan = o.planePlan
			}
			if v.Module == "conv2d_resident" {
				check(v, func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
					x := o.of(s)
					chunks := ladder.CeilDiv(x.c*o.bytes(), rowBytes)
					return o.residentPlan(entry, s, info, shortItems(t, o, s, chunks, chunks*x.taps(), 1, 0))
				}, v.Name)
				continue
			}
			if v.Picks {
				depths = o.sharedDepths(c.size)
			}
			if c.change != nil {
				check(v, v.Plan, v.Name)
				continue
			}
			for _, p := range optest.Some(t, d, 1, o.haloPlaces()) {
				check(v, func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
					cut, ok := o.haloCut(s, p.n, depths)
					if !ok {
						t.Fatalf("%d places: no cut of %v", p.n, s)
					}
					if v.Picks {
						entry = haloOf(entry)
					}
					return plan(entry+p.suffix, s, info, cut)
				}, v.Name+p.suffix)
			}
		}
	}
}

// shortItems cuts images into short strips, so that a block takes several items: of the
// filters, no more than `keep` stay, and two boxes of x.
func shortItems(t *testing.T, o Options, s ladder.Size, boxes, stages, keep, leave int) items {
	t.Helper()
	c, ok := o.itemCut(s, min(2, o.of(s).oh), boxes, stages, keep, leave)
	if !ok {
		t.Fatalf("no items of %v", s)
	}
	if stages > keep {
		c.Kept = uint32(keep)
	}
	c.XStages = 2
	return c
}

// The entries of the products of two parts, as TestHopperTiles has them. The error is
// compared with that of a direct sum.
func TestHalfTiles(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	type call struct {
		o    Options
		size ladder.Size
	}
	for _, c := range optest.Some(t, d, 1, []call{
		{Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, Bias: true, ReLU: true}, ladder.Size{2, 3, 7, 9, 17, 3, 3}},
		{Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1}, ladder.Size{1, 9, 4, 60, 64, 3, 3}},
		{Options{Stride: 1, Padding: 0, Dilation: 2, Groups: 1, Bias: true, NHWC: true}, ladder.Size{1, 40, 9, 12, 33, 2, 3}},
		{Options{Stride: 1, Padding: 2, Dilation: 2, Groups: 1, NHWC: true}, ladder.Size{1, 67, 6, 5, 70, 1, 2}},
	}) {
		operator := must(With("conv2d_of_halves", c.o))
		halves, err := operator.Variant("conv2d_fp16x3")
		if err != nil {
			t.Fatal(err)
		}
		direct, err := operator.Variant("conv2d_direct")
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, plan ladder.Planner) {
			v, one := halves, *operator
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				info.SMs = 2
				return plan(entry, s, info)
			}
			one.Variants = []ladder.Variant{direct, v}
			checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), what)
			if len(checks.Rows) != 2 || !(checks.Rows[1].Error < 4*checks.Rows[0].Error) {
				t.Errorf("%s of %v: %+v", what, c.size, checks.Rows)
			}
			t.Logf("%v, %s: error %.2g, of a direct sum %.2g, bound %.2g", c.size, what, checks.Rows[1].Error, checks.Rows[0].Error, checks.Rows[1].Bound)
		}
		for _, p := range optest.Some(t, d, 1, halfPlaces) {
			check(fmt.Sprint(p.n, " places"), func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				cut, ok := c.o.halvesCut(s, p.n)
				if !ok {
					t.Fatalf("%d places: no cut of %v", p.n, s)
				}
				return c.o.halfPlan(entry, p.suffix, s, info, cut)
			})
		}
		if x := c.o.of(c.size); x.c <= 64 && x.k <= itemFilters {
			check("items", func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				return c.o.halfItemPlan(entry, s, info, shortItems(t, c.o, s, 2, 2*x.taps(), x.taps(), outletBytes))
			})
		}
	}
}

// Tensors of all scales are split so that as many bits are left, on every device with the rung:
// the results of tensors that are 2^n as large are 2^n as large, but for the last bits.
func TestHalvesOfAnyScale(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		o := Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1}
		size := ladder.Size{1, 3, 5, 6, 4, 3, 3}
		v, err := Operator.Variant("conv2d_fp16x3")
		if err != nil {
			t.Fatal(err)
		}
		if ladder.Older(d.Info().Compute, v.Needs) || d.Info().Compute.Major != v.Needs.Major {
			return // the suite lists the rungs that a device has not
		}
		h := bench.NewHandle(d)
		defer h.Close()
		h.Variant = v.Name
		const seed = 7
		random := rand.New(rand.NewPCG(seed, 1))
		fill := func(n int) []float32 {
			all := make([]float32, n)
			for i := range all {
				all[i] = float32(random.Float64() - 0.5)
			}
			return all
		}
		x, w, n := fill(3*5*6), fill(4*3*9), 4*5*6
		run := func(ofX, ofW int) []float32 {
			var buffers []gpu.Buffer
			for i, values := range [][]float32{x, w, make([]float32, n)} {
				scaled := make([]float32, len(values))
				for j := range values {
					scaled[j] = float32(math.Ldexp(float64(values[j]), []int{ofX, ofW, 0}[i]))
				}
				if i == 2 {
					for j := range scaled {
						scaled[j] = float32(math.NaN())
					}
				}
				b, err := d.Alloc(gpu.Float32, len(values))
				if err == nil {
					t.Cleanup(func() { b.Free() })
					err = (ladder.Tensor{Len: len(values)}).Upload(nil, b, scaled)
				}
				if err != nil {
					t.Fatal(err)
				}
				buffers = append(buffers, b)
			}
			got := make([]float32, n)
			err := Convolve(h, o, size, buffers[0], buffers[1], nil, buffers[2])
			if err == nil {
				err = (ladder.Tensor{Len: n}).Download(nil, buffers[2], got)
			}
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		want := run(0, 0)
		for _, s := range [][2]int{{-40, 0}, {0, 60}, {9, -9}, {-100, 90}, {110, -120}} {
			for i, got := range run(s[0], s[1]) {
				// Sums of 27 products of at most 1/4 are compared within 2^-19 of 27/4.
				if diff := math.Ldexp(float64(got), -s[0]-s[1]) - float64(want[i]); !(math.Abs(diff) <= 27.0/4*0x1p-19) {
					t.Fatalf("seed %d: scaled by 2^%d and 2^%d: y[%d] is %v of its scale, expected %v", seed, s[0], s[1], i, math.Ldexp(float64(got), -s[0]-s[1]), want[i])
				}
			}
		}
	})
}

// A NaN at depth 0 of x is in the two depths of y that filters of three reach. In the rungs
// _depths it spreads to those that share its product, of 16 channels four, and no further;
// Convolve takes another rung unless the handle names one.
func TestDepthsSpreadNaN(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	const depths, channels = 6, 16
	o := Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, NHWC: true, Depth: true, Type: gpu.Float16}
	size := ladder.Size{1, 8, depths, 1, 1, channels, 3, 1, 1}
	filled := func(n int) []float32 {
		values := make([]float32, n)
		for i := range values {
			values[i] = 1
		}
		return values
	}
	const outputs = depths * 3 * 3 * channels // a row and a column of padding on each side
	x := filled(depths * 8)
	x[3] = float32(math.NaN())
	for rung, reaches := range map[string]int{"": 2, "conv3d_fp16_halo": 2, "conv3d_fp16_depths": 4} {
		h := bench.NewHandle(d)
		h.Variant = rung
		var buffers []gpu.Buffer
		for _, values := range [][]float32{x, filled(channels * 8 * 3), make([]float32, outputs)} {
			b, err := d.Alloc(o.Type, len(values))
			if err == nil {
				t.Cleanup(func() { b.Free() })
				err = (ladder.Tensor{Len: len(values), Type: o.Type}).Upload(nil, b, values)
			}
			if err != nil {
				t.Fatal(err)
			}
			buffers = append(buffers, b)
		}
		got := make([]float32, outputs)
		err := Convolve(h, o, size, buffers[0], buffers[1], nil, buffers[2])
		if err == nil {
			err = (ladder.Tensor{Len: outputs, Type: o.Type}).Download(nil, buffers[2], got)
		}
		if err != nil {
			t.Fatal(rung, err)
		}
		for depth := range depths {
			if v := got[(depth*9+4)*channels]; math.IsNaN(float64(v)) != (depth < reaches) {
				t.Errorf("%s: depth %d: %v, expected NaN in the first %d", rung, depth, v, reaches)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The rows that conv3d_registers and conv3d_sevens copy: aligned vectors with three elements before the
// first place and with none, elements, planes of padding alone, and two parts of a row.
func TestStrips(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	for _, c := range []struct {
		padding int
		size    ladder.Size
	}{
		{0, ladder.Size{1, 2, 3, 4, 12, 3, 2, 2, 3}}, {1, ladder.Size{2, 3, 2, 5, 16, 9, 1, 3, 3}}, {2, ladder.Size{1, 2, 1, 3, 8, 2, 3, 1, 3}},
		{3, ladder.Size{1, 2, 1, 2, 7, 2, 1, 2, 3}}, {4, ladder.Size{1, 1, 1, 2, 4, 33, 2, 2, 3}}, {1, ladder.Size{1, 1, 1, 1, 520, 1, 1, 2, 3}}, {0, ladder.Size{2, 3, 2, 8, 17, 34, 2, 3, 3}}, {3, ladder.Size{1, 2, 1, 2, 60, 5, 3, 3, 3}},
	} {
		o := with(func(o *Options) { o.Depth, o.Padding, o.ReLU, o.Bias = true, c.padding, true, true })
		operator := must(With("conv3d", o))
		for _, name := range []string{"conv3d_registers", "conv3d_sevens"} {
			v, err := operator.Variant(name)
			if err != nil {
				t.Fatal(err)
			}
			one := *operator
			one.Variants = []ladder.Variant{v}
			refused := v.Refuses(c.size) != nil
			if checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), ""); refused != (len(checks.Rows) == 0) || refused != (name == "conv3d_sevens" && c.size[7] != 3) {
				t.Errorf("%s, padding %d, %v: %d rows, refused %v", name, c.padding, c.size, len(checks.Rows), refused)
			}
		}
	}
}

// An entry of the products of parts, as TestHopperTiles has them: each layout, less and
// more than 64 channels, and taps that are two pixels apart. The error is compared with that
// of a direct sum.
func TestSplitTiles(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	type call struct {
		o    Options
		size ladder.Size
	}
	for _, c := range optest.Some(t, d, 2, []call{
		{Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, Bias: true, ReLU: true}, ladder.Size{2, 3, 7, 9, 17, 3, 3}},
		{Options{Stride: 1, Padding: 2, Dilation: 2, Groups: 1, NHWC: true}, ladder.Size{1, 67, 6, 5, 70, 1, 2}},
		{Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, Depth: true, Bias: true}, ladder.Size{1, 3, 5, 1, 3, 9, 2, 1, 2}},
		{Options{Stride: 1, Padding: 1, Dilation: 2, Groups: 1, Depth: true, NHWC: true}, ladder.Size{1, 5, 2, 2, 3, 70, 2, 1, 1}},
	}) {
		operator := must(With(c.o.rung("")+"of_parts", c.o))
		split, err := operator.Variant(c.o.rung("bf16x3"))
		if err != nil {
			t.Fatal(err)
		}
		direct, err := operator.Variant(c.o.rung("direct"))
		if err != nil {
			t.Fatal(err)
		}
		depths := []int{1}
		if c.o.Depth && c.o.sharesRows(c.size, "") == nil {
			depths = append(depths, c.o.sharedDepths(c.size))
		}
		for i, p := range optest.Some(t, d, len(depths), splitPlaces) {
			v, one := split, *operator
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				cut, ok := c.o.splitCut(s, p.n, depths[i%len(depths)])
				if !ok {
					t.Fatalf("%d places: no cut of %v", p.n, s)
				}
				info.SMs = 2
				return c.o.splitPlan(entry, p.suffix, s, info, cut)
			}
			one.Variants = []ladder.Variant{direct, v}
			b := optest.NewBench(t, d, &one, 1, c.size...)
			checks := optest.CheckAll(t, b, v.Name+p.suffix)
			if len(checks.Rows) != 2 || !(checks.Rows[1].Error < 4*checks.Rows[0].Error) {
				t.Errorf("%d places of %v: %+v", p.n, c.size, checks.Rows)
			}
			t.Logf("%v, %d places: error %.2g, of a direct sum %.2g, bound %.2g", c.size, p.n, checks.Rows[1].Error, checks.Rows[0].Error, checks.Rows[1].Bound)
		}
	}
}

// TestNoSpills: ptxas gave every entry the registers that it needs, as the notes have it.
func TestNoSpills(t *testing.T) {
	code, err := Operator.MachineCode()
	if err != nil || len(code.Entries) == 0 {
		t.Fatalf("%d files of machine code, %v", len(code.Entries), err)
	}
	for file, entries := range code.Entries {
		for name, e := range entries {
			if e.SpillBytes != 0 {
				t.Errorf("%s of %s spills %d bytes, expected none", name, file, e.SpillBytes)
			}
		}
	}
}
