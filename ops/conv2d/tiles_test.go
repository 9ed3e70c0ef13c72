package conv2d

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

// The entries of the rungs on wgmma, where a block takes several tiles and the ring of
// stages comes round: each width of the product is forced, one a rung and case that the seed
// chooses, on a device that is planned as if it had two multiprocessors. Strides and dilations
// are other than 1.
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
		b := boxed{o, name}
		halo := haloRung{boxed: b}
		variants := o.hopperVariants(name)
		check(variants[0], variants[0].Plan, variants[0].Name)
		for _, v := range variants[1:] {
			depths := 1
			if v.Module == "conv2d_wide" {
				continue // TestWideTiles
			}
			if v.Module == "conv2d_resident" {
				chunks := ladder.CeilDiv(o.of(c.size).c*b.bytes(), rowBytes)
				stages := chunks * o.of(c.size).taps()
				for _, keep := range []int{1, stages} { // filters in a ring, and all of them at once
					check(v, func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
						return residentRung{b}.launch(entry, s, info, shortItems(t, residentRung{b}, s, chunks, stages, keep))
					}, fmt.Sprintf("%s keeping %d stages", v.Name, keep))
				}
				continue
			}
			if v.Picks {
				depths = b.sharedDepths(c.size)
			}
			if c.change != nil {
				check(v, v.Plan, v.Name)
				continue
			}
			for _, p := range optest.Some(t, d, 1, halo.columns()) {
				check(v, func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
					cut, ok := halo.cutFor(s, p.n, depths)
					if !ok {
						t.Fatalf("%d places: no cut of %v", p.n, s)
					}
					if v.Picks {
						entry = haloOf(entry)
					}
					return halo.launch(entry+p.suffix, s, info, cut)
				}, v.Name+p.suffix)
			}
		}
	}
}

// The rungs _wide as TestHopperTiles has the other rungs: strips of two rows, so that a block
// takes several, and three stages of filters. Both sets of sums have places where two rows
// are more than 208 columns. One chunk of channels of x is multiplied twice and nothing once;
// with more chunks both happen.
func TestWideTiles(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	type call struct {
		kind   gpu.Type
		change func(*Options)
		size   ladder.Size
	}
	for _, c := range optest.Some(t, d, 2, []call{
		{0, nil, ladder.Size{2, 8, 3, 110, 16, 3, 3}},
		{0, nil, ladder.Size{1, 72, 7, 108, 16, 2, 3}},
		{0, nil, ladder.Size{1, 36, 2, 120, 144, 3, 1}},
		{0, nil, ladder.Size{3, 40, 5, 6, 80, 1, 1}},
		{0, func(o *Options) { o.Dilation, o.Padding, o.Bias, o.ReLU = 2, 3, false, false }, ladder.Size{1, 36, 3, 104, 80, 2, 3}},
		{gpu.Float16, nil, ladder.Size{2, 16, 3, 110, 16, 3, 3}},
		{gpu.Float16, nil, ladder.Size{1, 136, 5, 108, 144, 2, 3}},
		{gpu.BFloat16, func(o *Options) { o.Dilation, o.Padding, o.ReLU = 2, 3, false }, ladder.Size{1, 72, 3, 104, 80, 2, 3}},
		{gpu.BFloat16, func(o *Options) { o.Bias = false }, ladder.Size{3, 80, 5, 6, 80, 1, 1}},
	}) {
		o := tensorOptions(c.kind)
		if c.change != nil {
			c.change(&o)
		}
		name := "conv2d_" + map[gpu.Type]string{0: "tf32", gpu.Float16: "fp16", gpu.BFloat16: "bf16"}[c.kind]
		operator := o.tensor(name, must(With(name, o)))
		one := *operator
		one.Variants = nil
		for _, v := range operator.Variants {
			if v.Module != "conv2d_wide" {
				continue
			}
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				info.SMs = 2
				rung := wideRung{boxed{o, name}}
				cut, ok := rung.strips(s, min(2, o.of(s).oh))
				if !ok {
					t.Fatalf("no strips of %v", s)
				}
				cut.WStages = 3
				return rung.launch(entry, s, info, cut)
			}
			one.Variants = append(one.Variants, v)
		}
		if checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), "short strips"); len(checks.Rows) != 1 {
			t.Errorf("%v: %d rows, expected that of %s_wide", c.size, len(checks.Rows), name)
		}
	}
}

// shortItems cuts images into short strips, so that a block takes several items: of the
// filters, no more than `keep` stay, and two boxes of x.
func shortItems(t *testing.T, o residentRung, s ladder.Size, boxes, stages, keep int) items {
	t.Helper()
	c, ok := o.itemCut(s, min(2, o.of(s).oh), boxes, stages, keep)
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
		rung := fp16x3Rung{c.o.float32()}
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
				cut, ok := rung.cutFor(s, p.n)
				if !ok {
					t.Fatalf("%d places: no cut of %v", p.n, s)
				}
				return rung.launch(entry, p.suffix, s, info, cut)
			})
		}
		if cut, shared, ok := rung.residentCut(c.size); ok {
			check("boxes", func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				return rung.launchResident(entry, s, info, cut, shared)
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
		h := run.NewHandle(d)
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
		h := run.NewHandle(d)
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
