package conv2d

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
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

// A parameter that is set on an operator of tensor cores reaches its rungs.
func TestSet(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		if ladder.Older(d.Info().Compute, ladder.Ampere) {
			return // the suite lists the rungs that it has not
		}
		for _, o := range []*ladder.Operator{FP16, TF32, VolumesBF16} {
			size := ladder.Size{1, 16, 6, 5, 8, 3, 3}
			if len(o.Dims) > len(size) {
				size = ladder.Size{1, 16, 5, 6, 5, 8, 3, 3, 3}
			}
			for _, p := range o.Parameters {
				other, err := o.Set(p.Name, 2)
				if err == nil {
					other, err = other.Set("padding", 0)
				}
				if err != nil {
					t.Fatal(err)
				}
				b := optest.NewBench(t, d, other, 1, size...)
				checks, err := b.Check(o.Name+"_mma", o.Name+"_vector")
				if err != nil {
					t.Fatalf("%s, %s: %v", o.Name, other.Settings(), err)
				}
				for _, row := range checks.Rows {
					if row.Verdict != ladder.Pass {
						t.Errorf("%s, %s: %s %v %s", row.Name, other.Settings(), row.Verdict, row.Failed, row.Detail)
					}
				}
			}
		}
	})
}

// A product that is subnormal has fewer bits than the bound of one term asks for, and passes.
func TestSubnormalProducts(t *testing.T) {
	for _, o := range []*ladder.Operator{Operator, NHWC} {
		b := optest.NewBench(t, optest.Emulator(t), o, 1, 1, 1, 1, 3, 1, 1, 1)
		for name, values := range map[string][]float32{"w": {0.3}, "x": {0x1p-140, 1, 0x1p-149}} {
			if err := b.SetInput(name, values); err != nil {
				t.Fatal(err)
			}
		}
		optest.CheckAll(t, b, "subnormal")
	}
}

// A handle's scratch was never written, where that of a bench is poisoned: no rung copies more
// of it than was written. Filters have an odd number of taps.
func TestFreshScratch(t *testing.T) {
	d := optest.Emulator(t)
	size := ladder.Size{1, 4, 2, 3, 4, 3, 3, 3, 3}
	buffers := map[string]gpu.Buffer{}
	for _, tensor := range append(Volumes.Inputs(size), Volumes.Outputs(size)...) {
		b, err := d.Alloc(gpu.Float32, tensor.Len)
		if err == nil {
			err = b.Upload(make([]float32, tensor.Len))
		}
		if err != nil {
			t.Fatal(err)
		}
		buffers[tensor.Name] = b
	}
	for _, v := range Volumes.Variants {
		if v.Refuses != nil && v.Refuses(size) != nil || len(v.Plan(v.Name, size, d.Info()).Scratch) == 0 {
			continue
		}
		h := run.NewHandle(d)
		h.Variant = v.Name
		if err := h.Run(Volumes, size, buffers); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
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
		{"conv3d_fourteens", 0, func(o *Options) { o.NHWC, o.Stride = false, 2 }, ladder.Size{1, 4, 3, 9, 8, 4, 3, 3, 3}, "stride 2, dilation 1, 1 groups: expected 3 x 3 at each depth and 1 of the others; use conv3d_registers"},
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
	if v, err = Operator.Variant("conv2d_fourteens"); err != nil {
		t.Fatal(err)
	}
	checkLine(t, "filters of 3 x 2, stride 1, dilation 1, 1 groups: expected 3 x 3 at each depth and 1 of the others; use conv2d_implicit", v.Refuses(ladder.Size{1, 1, 9, 9, 1, 3, 2}), gpu.ErrUnsupported)
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
		h := run.NewHandle(d)
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

// A handle without a rung takes the last one that does not refuse: the fastest of each layer
// that an H200 has timed.
func TestDefaultRungs(t *testing.T) {
	for _, o := range []*ladder.Operator{FP16, BF16, TF32} {
		for suffix, size := range map[string]ladder.Size{"_resident": {32, 64, 56, 56, 64, 3, 3}, "_wide": {32, 256, 28, 28, 256, 3, 3}} {
			for _, v := range slices.Backward(o.Variants) {
				if v.Refuses(size) == nil {
					if v.Name != o.Name+suffix {
						t.Errorf("%v: %s is the default, expected %s", size, v.Name, o.Name+suffix)
					}
					break
				}
			}
		}
	}
}
