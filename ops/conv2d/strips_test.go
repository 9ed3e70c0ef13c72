package conv2d

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

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

// The columns of a product that notes.md and notebook 07 name are those of the entries.
func TestColumnsInText(t *testing.T) {
	if len(haloPlaces) != 3 {
		t.Fatalf("the rungs _halo have %d numbers of columns, expected 3 as in the text", len(haloPlaces))
	}
	halo := fmt.Sprintf("%d, %d and %d", haloPlaces[0].n, haloPlaces[1].n, haloPlaces[2].n)
	notes, err := files.ReadFile("notes.md")
	if err != nil {
		t.Fatal(err)
	}
	notebook, err := os.ReadFile("../../notebooks/07-convolution.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	source, err := files.ReadFile("conv2d_wide.cu")
	if err != nil {
		t.Fatal(err)
	}
	sets := regexp.MustCompile(`first_columns = (\d+), other_columns = (\d+)`).FindSubmatch(source)
	if sets == nil {
		t.Fatal("conv2d_wide.cu: no first_columns and other_columns")
	}
	for name, c := range map[string]struct {
		text  []byte
		wants []string
	}{
		"notes.md": {notes, []string{
			"`conv2d_fp16_halo` has entries for " + halo + " columns",
			fmt.Sprintf("An item is %d columns", itemColumns),
			fmt.Sprintf("64 channels by %s and by %s columns, so that a block has 128 channels by %d columns", sets[1], sets[2], wideColumns),
		}},
		"notebook 07": {notebook, []string{
			"the rungs `_halo` of images have " + halo,
			fmt.Sprintf("`conv2d_fp16_resident` has %d, and `conv2d_tf32_wide` has %s and %s", itemColumns, sets[1], sets[2]),
		}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(string(c.text), want) {
				t.Errorf("%s: %q is missing: the code has these columns", name, want)
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
		rung := splitRung{boxed: c.o.float32()}
		operator := must(With(rung.family+"_of_parts", c.o))
		split, err := operator.Variant(rung.family + "_bf16x3")
		if err != nil {
			t.Fatal(err)
		}
		direct, err := operator.Variant(rung.family + "_direct")
		if err != nil {
			t.Fatal(err)
		}
		depths := []int{1}
		if c.o.Depth && rung.sharesRows(c.size, "") == nil {
			depths = append(depths, rung.sharedDepths(c.size))
		}
		for i, p := range optest.Some(t, d, len(depths), splitPlaces) {
			v, one := split, *operator
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				cut, ok := rung.cutFor(s, p.n, depths[i%len(depths)])
				if !ok {
					t.Fatalf("%d places: no cut of %v", p.n, s)
				}
				info.SMs = 2
				return rung.launch(entry, p.suffix, s, info, cut)
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

// The fused rungs of Winograd where a block takes several items and the ring of stages comes
// round: rows of x and y that are whole vectors and others, with and without padding, a bias,
// ReLU, and channels of y in two and three blocks. The device is planned as if it had two
// multiprocessors.
func TestFusedItems(t *testing.T) {
	d := optest.EmulatorOf(t, "emu")
	type call struct {
		change func(*Options)
		size   ladder.Size
	}
	for _, m := range []int{2, 4} {
		for _, c := range optest.Some(t, d, 2, []call{
			{nil, ladder.Size{4, 14, 12, 16, 70, 3, 3}},
			{func(o *Options) { o.Padding, o.Bias = 0, true }, ladder.Size{5, 13, 15, 14, 33, 3, 3}},
			{func(o *Options) { o.Padding, o.Bias, o.ReLU = 2, true, true }, ladder.Size{3, 17, 13, 16, 65, 3, 3}},
			{func(o *Options) { o.ReLU = true }, ladder.Size{1, 5, 40, 44, 3, 3, 3}},
			{func(o *Options) { o.Padding = 5 }, ladder.Size{9, 16, 4, 8, 32, 3, 3}},
		}) {
			o := usual
			if c.change != nil {
				c.change(&o)
			}
			operator, err := withWinograd(m, o)
			if err != nil {
				t.Fatal(err)
			}
			v, err := operator.Variant(fmt.Sprintf("conv2d_winograd%d_fused", m))
			if err != nil {
				t.Fatal(err)
			}
			plan := v.Plan
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				info.SMs = 2
				return plan(entry, s, info)
			}
			one := *operator
			one.Variants = []ladder.Variant{v}
			if checks := optest.CheckAll(t, optest.NewBench(t, d, &one, 1, c.size...), ""); len(checks.Rows) != 1 {
				t.Errorf("F(%d), padding %d, %v: %d rows, expected 1", m, o.Padding, c.size, len(checks.Rows))
			}
		}
	}
	nhwc, err := withWinograd(2, with(func(o *Options) { o.NHWC = true }))
	if err != nil {
		t.Fatal(err)
	}
	v, err := nhwc.Variant("conv2d_winograd2_fused")
	if err != nil {
		t.Fatal(err)
	}
	checkLine(t, "use conv2d_winograd2", v.Refuses(ladder.Size{1, 1, 3, 3, 1, 3, 3}), gpu.ErrUnsupported)
}
