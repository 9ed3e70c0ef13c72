package softmax

import (
	"math"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T)         { optest.Run(t, Operator) }
func TestConformanceLog(t *testing.T)      { optest.Run(t, Log) }
func TestConformanceMasked(t *testing.T)   { optest.Run(t, Masked) }
func TestConformanceMistakes(t *testing.T) { optest.Run(t, Mistakes) }

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

// Rows worked by hand: what each form gives of -inf, NaN and +inf.
var rows = []struct {
	name              string
	x                 []float32
	mask              []uint8
	plain, log, kept3 []float64 // kept3 is the masked form
}{
	{"equal", []float32{7, 7, 7, 7}, []uint8{1, 1, 0, 0}, []float64{.25, .25, .25, .25}, repeat(-math.Log(4)), []float64{.5, .5, 0, 0}},
	{"ratios 1 2 4 8", []float32{0, ln(2), ln(4), ln(8)}, []uint8{1, 0, 1, 0}, []float64{1. / 15, 2. / 15, 4. / 15, 8. / 15},
		[]float64{-math.Log(15), math.Log(2. / 15), math.Log(4. / 15), math.Log(8. / 15)}, []float64{.2, 0, .8, 0}},
	{"large", []float32{1e30, -1e30, 1e30, 0}, []uint8{1, 1, 1, 1}, []float64{.5, 0, .5, 0}, []float64{-math.Ln2, -2e30, -math.Ln2, -1e30}, []float64{.5, 0, .5, 0}},
	{"far below 0", []float32{-500, -3e38, -500, -500}, []uint8{1, 1, 1, 0}, []float64{1. / 3, 0, 1. / 3, 1. / 3}, []float64{-math.Log(3), -3e38, -math.Log(3), -math.Log(3)}, []float64{.5, 0, .5, 0}},
	{"-inf beside numbers", []float32{-inf, 3, -inf, 3}, []uint8{1, 1, 1, 0}, []float64{0, .5, 0, .5}, []float64{-math.Inf(1), -math.Ln2, -math.Inf(1), -math.Ln2}, []float64{0, 1, 0, 0}},
	{"-inf alone", []float32{-inf, -inf, -inf, -inf}, []uint8{1, 1, 1, 1}, repeat(math.NaN()), repeat(math.NaN()), repeat(0)},
	{"nothing kept", []float32{1, 2, 3, nan}, []uint8{0, 0, 0, 0}, repeat(math.NaN()), repeat(math.NaN()), repeat(0)},
	{"NaN", []float32{1, nan, 3, 4}, []uint8{1, 0, 1, 0}, repeat(math.NaN()), repeat(math.NaN()), []float64{sigmoid(-2), 0, sigmoid(2), 0}},
	{"NaN kept", []float32{-inf, nan, -inf, -inf}, []uint8{0, 1, 0, 0}, repeat(math.NaN()), repeat(math.NaN()), repeat(math.NaN())},
	{"+inf", []float32{1, inf, 3, 4}, []uint8{1, 1, 0, 0}, repeat(math.NaN()), repeat(math.NaN()), repeat(math.NaN())},
	{"both infinities", []float32{-inf, inf, -inf, -inf}, []uint8{1, 0, 1, 1}, repeat(math.NaN()), repeat(math.NaN()), repeat(0)},
}

func repeat(v float64) []float64 { return []float64{v, v, v, v} }

func ln(v float64) float32 { return float32(math.Log(v)) }

func sigmoid(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// TestRowsByHand holds the reference against the answers, and every rung against the
// reference, with each row also spread over 300 columns of -inf, whose lanes and blocks
// have parts without a number.
func TestRowsByHand(t *testing.T) {
	var x, spread []float32
	var mask, spreadMask []uint8
	var plain, log, kept []float64
	const wide = 300
	for _, r := range rows {
		x, mask = append(x, r.x...), append(mask, r.mask...)
		plain, log, kept = append(plain, r.plain...), append(log, r.log...), append(kept, r.kept3...)
		row, rowMask := make([]float32, wide), make([]uint8, wide)
		for c := range row {
			row[c], rowMask[c] = -inf, uint8(c%2)
		}
		for i, at := range []int{3, 70, 71, 299} {
			row[at], rowMask[at] = r.x[i], r.mask[i]
		}
		spread, spreadMask = append(spread, row...), append(spreadMask, rowMask...)
	}
	for _, f := range []struct {
		o      *ladder.Operator
		masked bool
		want   []float64
	}{{Operator, false, plain}, {Log, false, log}, {Masked, true, kept}} {
		inputs := []ladder.Values{x}
		if f.masked {
			inputs = append(inputs, mask)
		}
		for i, got := range f.o.Reference(nil, ladder.Size{len(rows), 4}, inputs)[0].Value {
			want := f.want[i]
			if got != want && !(math.Abs(got-want) < 1e-7*math.Max(1, math.Abs(want))) && !(got != got && want != want) {
				t.Errorf("%s, row %q, column %d: %v, expected %v", f.o.Name, rows[i/4].name, i%4, got, want)
			}
		}
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			narrow := optest.NewBench(t, d, f.o, 1, len(rows), 4)
			set(t, narrow, x, mask, f.masked)
			optest.CheckAll(t, narrow, "rows by hand")
			across := optest.NewBench(t, d, f.o, 1, len(rows), wide)
			set(t, across, spread, spreadMask, f.masked)
			optest.CheckAll(t, across, "rows by hand among -inf")
		})
	}
}

func set(t *testing.T, b *bench.Bench, x []float32, mask []uint8, masked bool) {
	t.Helper()
	err := b.SetInput("x", x)
	if err == nil && masked {
		err = b.SetInput("mask", mask)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestJudge: the bound allows rounding errors and rejects larger ones.
func TestJudge(t *testing.T) {
	p := ladder.Plan{Depth: 10}
	for _, c := range []struct {
		name            string
		judge           ladder.Judge
		got             float32
		want, magnitude float64
		failed          string
	}{
		{"exact", relative, 0.5, 0.5, 10, ""},
		{"20 units allowed, 18 off", relative, 0.5 + 18*0x1p-25, 0.5, 10, ""},
		{"20 units allowed, 22 off", relative, 0.5 + 22*0x1p-25, 0.5, 10, ladder.CheckBound},
		{"zero for a share", relative, 0, 0.5, 10, ladder.CheckBound},
		{"zero for a small share", relative, 0, 1e-30, 250, ladder.CheckBound},
		{"zero for what underflows", relative, 0, 1e-50, 350, ""},
		{"a number for -inf", relative, 1e-30, 0, math.Inf(1), ladder.CheckBound},
		{"NaN for a share", relative, nan, 0.5, 10, ladder.CheckNaN},
		{"a share for NaN", relative, 0.5, math.NaN(), math.NaN(), ladder.CheckNaN},
		{"NaN for NaN", relative, nan, math.NaN(), math.NaN(), ""},
		{"not written", relative, ladder.Poison, math.NaN(), math.NaN(), ladder.CheckUnwritten},
		{"the logarithm's units", absolute, -20 + 16*0x1p-24, -20, 10, ""},
		{"the logarithm's units exceeded", absolute, -20 + 32*0x1p-24, -20, 10, ladder.CheckBound},
		{"-inf for -inf", absolute, -inf, math.Inf(-1), math.Inf(1), ""},
		{"-inf for what overflows", absolute, -inf, -6e38, 6e38, ""},
		{"-inf for a number", absolute, -inf, -20, 10, ladder.CheckNaN},
		{"a number for -inf", absolute, -1e30, math.Inf(-1), math.Inf(1), ladder.CheckNaN},
	} {
		got := c.judge.Compare(nil, []float32{c.got}, ladder.Expected{Value: []float64{c.want}, Magnitude: []float64{c.magnitude}}, p)
		if c.failed == "" && len(got.Failed) > 0 || c.failed != "" && (len(got.Failed) != 1 || got.Failed[0] != c.failed) {
			t.Errorf("%s: failed %q, expected %q, error %v", c.name, got.Failed, c.failed, got.Error)
		}
	}
}

// TestBest: the rungs that softmax_auto launches, by length, number of rows and device.
func TestBest(t *testing.T) {
	for _, c := range []struct {
		rows, columns, major int
		entry, module        string
	}{
		{4096, 1024, 9, "softmax_block_of_64", ""},
		{8192, 1025, 9, "softmax_evict_last", lastModule},
		{8192, 8192, 8, "softmax_evict_last", lastModule},
		{8192, 8192, 7, "softmax_block", ""},
		{1024, 8193, 9, "softmax_block", ""},
		{1024, 16_384, 9, "softmax_block", ""},
		{127, 16_384, 9, "softmax_cluster", clusterModule},
		{512, 16_388, 9, "softmax_cluster_shared", clusterModule},
		{512, 16_388, 8, "softmax_block", ""},
		{512, 16_389, 9, "softmax_cluster", clusterModule},
		{190, 98_304, 9, "softmax_cluster_shared", clusterModule},
		{128, 131_072, 9, "softmax_cluster", clusterModule},
	} {
		p := best("softmax")("softmax_auto", ladder.Size{c.rows, c.columns}, gpu.Info{SMs: 132, Compute: gpu.Compute{Major: c.major}})
		if p.Steps[0].Entry != c.entry || p.Module != c.module {
			t.Errorf("%d x %d on sm_%d0: %s of %q, expected %s of %q", c.rows, c.columns, c.major, p.Steps[0].Entry, p.Module, c.entry, c.module)
		}
	}
	if p := best("log_softmax")("log_softmax_auto", ladder.Size{1024, 8192}, gpu.Info{Compute: gpu.Compute{Major: 9}}); p.Steps[0].Entry != "log_softmax_block" {
		t.Errorf("the logarithm launches %s, expected log_softmax_block", p.Steps[0].Entry)
	}
}
