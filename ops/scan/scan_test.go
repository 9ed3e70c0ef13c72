package scan

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/gpu/emu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

func TestConformance(t *testing.T)         { optest.Run(t, Operator) }
func TestConformanceInt32(t *testing.T)    { optest.Run(t, Int32) }
func TestConformanceUint64(t *testing.T)   { optest.Run(t, Uint64) }
func TestConformanceRows(t *testing.T)     { optest.Run(t, Rows) }
func TestConformanceByKey(t *testing.T)    { optest.Run(t, ByKey) }
func TestConformanceMistakes(t *testing.T) { optest.Run(t, Mistakes) }

// The references against answers worked by hand.
func TestReference(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		exclusive  bool
		ints       []int32
		values     []float64
		magnitudes []float64
	}{
		{false, []int32{math.MaxInt32, math.MinInt32, math.MinInt32 + 5}, []float64{1, -1, math.Inf(1), math.NaN()}, []float64{1, 3, 3, 3}},
		{true, []int32{0, math.MaxInt32, math.MinInt32}, []float64{0, 1, -1, math.Inf(1)}, []float64{0, 1, 3, 3}},
	} {
		if got := integers(nil, []int32{math.MaxInt32, 1, 5}, c.exclusive)[0].Exact.([]int32); !slices.Equal(got, c.ints) {
			t.Errorf("exclusive %v: %v, expected %v", c.exclusive, got, c.ints)
		}
		e := floats(nil, []float32{1, -2, inf, -inf}, c.exclusive)[0]
		for i, want := range c.values {
			if e.Value[i] != want && !(e.Value[i] != e.Value[i] && want != want) || e.Magnitude[i] != c.magnitudes[i] {
				t.Errorf("exclusive %v: %v of %v, expected %v of %v", c.exclusive, e.Value, e.Magnitude, c.values, c.magnitudes)
			}
		}
	}
}

func TestOf(t *testing.T) {
	if _, err := Of(gpu.Uint8, false); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("uint8: %v, expected an argument error", err)
	}
	if _, err := Operator.Set("exclusive", 0.5); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("exclusive = 0.5: %v, expected an argument error", err)
	}
}

// Every rung of the exclusive scans, around the tiles and at both ends of a vector.
func TestExclusive(t *testing.T) {
	for _, o := range []*ladder.Operator{Operator, Int32, Uint64} {
		o, err := o.Set("exclusive", 1)
		if err != nil {
			t.Fatal(err)
		}
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			for _, n := range []int{1, 1030, 8199} {
				b := optest.NewBench(t, d, o, 1, n)
				optest.CheckAll(t, b, "exclusive")
				b.Close()
			}
		})
	}
}

// runRung runs a rung on the emulator of a T4, which holds 160 blocks of 256 threads at once.
func runRung(t *testing.T, d *emu.Device, o *ladder.Operator, rung string, x []float32) ([]float32, error) {
	t.Helper()
	h := run.NewHandle(d)
	defer h.Close()
	h.Variant = rung
	buffers := map[string]gpu.Buffer{}
	for _, name := range []string{"x", "y"} {
		b, err := d.Alloc(gpu.Float32, len(x))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		buffers[name] = b
	}
	y := ladder.Poisoned(len(x))
	if err := errors.Join(buffers["x"].Upload(x), buffers["y"].Upload(y)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(o, ladder.Size{len(x)}, buffers); err != nil {
		return nil, err
	}
	if err := buffers["y"].Download(y); err != nil {
		t.Fatal(err)
	}
	return y, nil
}

// TestBlockOrders starts blocks in order, backwards and from the middle, in a grid with
// more tiles of 1024 than a T4 holds at once. A block that draws a ticket ends in every
// order. The mistake ends in order alone. The rungs whose order of additions is fixed
// give the same bits each time.
func TestBlockOrders(t *testing.T) {
	const n = 200*smallTile + 1
	x := ladder.Uniform(nil, n, ladder.NewRandom(1))
	p := ladder.Plan{Depth: aTile*(n/smallTile+1) + inTile}
	want := floats(nil, x, false)
	fixed := map[string][]float32{"scan_two_kernels": nil, "scan_two_wide": nil, "scan_chained": nil, "scan_deterministic": nil}
	for _, order := range []emu.BlockOrder{emu.InOrder, emu.Backwards, emu.FromMiddle} {
		d := optest.EmulatorOf(t, "emu:t4").(*emu.Device)
		d.OrderBlocks(order)
		d.LimitSteps(200_000_000) // a busy machine lets a block wait for long
		for _, rung := range []string{"scan_two_kernels", "scan_two_wide", "scan_chained", "scan_look_back_thread", "scan_look_back_warp", "scan_look_back_wide", "scan_deterministic"} {
			y, err := runRung(t, d, Operator, rung, x)
			if err != nil {
				t.Errorf("order %d, %s: %v", order, rung, err)
				continue
			}
			if c := ladder.Compare(nil, Operator.Outputs(ladder.Size{n}), []ladder.Values{y}, want, p); len(c.Failed) > 0 {
				t.Errorf("order %d, %s: failed %q, element %d", order, rung, c.Failed, c.Index)
			}
			if before, is := fixed[rung]; is && before != nil && !ladder.SameBits(before, y) {
				t.Errorf("order %d, %s: other bits than in the first order", order, rung)
			} else if is {
				fixed[rung] = y
			}
		}
		d.LimitSteps(20_000_000)
		if order != emu.InOrder {
			d.LimitSteps(100_000)
		}
		_, err := runRung(t, d, Mistakes, "mistake_no_tickets", x)
		if order == emu.InOrder && err != nil || order != emu.InOrder && !errors.Is(err, gpu.ErrStepLimit) {
			t.Errorf("order %d, mistake_no_tickets: %v, expected an end in order and the limit of steps in others", order, err)
		}
	}
}

// TestPipelineTurns gives two blocks 16 to 24 tiles, so that each goes around its seven
// stages: in every order of blocks, with whole tiles, with one that ends early, and with
// vectors that the copy engine cannot load or store.
func TestPipelineTurns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for _, o := range []*ladder.Operator{Operator, Int32, Uint64} {
		two := *o
		two.Variants = nil
		tile := pipelineBytes / o.Inputs(ladder.Size{1})[0].Type.Bytes()
		for _, v := range o.Variants[len(o.Variants)-4 : len(o.Variants)-1] {
			plan := v.Plan
			v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
				info.SMs = 2
				return plan(entry, s, info)
			}
			two.Variants = append(two.Variants, v)
			if p := v.Plan(v.Name, ladder.Size{20*tile + 1}, gpu.Info{}); v.Module != "pipeline" || p.Steps[0].Args[len(p.Steps[0].Args)-1] != uint32(21) || p.Steps[0].Grid.X != 2 {
				t.Errorf("%s: %v tiles for %d blocks, expected 21 of a pipeline for 2", v.Name, p.Steps[0].Args[len(p.Steps[0].Args)-1], p.Steps[0].Grid.X)
			}
		}
		for _, c := range []struct {
			order emu.BlockOrder
			x, y  int // the elements from which they start
			more  int
		}{{emu.InOrder, 1, 0, 0}, {emu.InOrder, 0, 1, 0}, {emu.Backwards, 0, 0, 0}, {emu.FromMiddle, 0, 0, 1 + random.IntN(tile-1)}} {
			d := optest.EmulatorOf(t, "emu:h200").(*emu.Device)
			d.OrderBlocks(c.order)
			d.LimitSteps(200_000_000)
			n := (16+random.IntN(9))*tile + c.more
			b := optest.NewBench(t, d, &two, seed, n)
			if err := errors.Join(b.Place("x", c.x), b.Place("y", c.y)); err != nil {
				t.Fatal(err)
			}
			optest.CheckAll(t, b, fmt.Sprintf("order %d, %d elements, from %d and %d on, seed %d", c.order, n, c.x, c.y, seed))
		}
	}
}

// TestPipelineGroups scans three groups of tiles, so that the last starts from a sum that
// another published, in every order of blocks: the results are right, and have the same bits each time.
func TestPipelineGroups(t *testing.T) {
	const n = 2*pipelineGroup*pipelineBytes/4 + 9000
	x := ladder.Uniform(nil, n, ladder.NewRandom(1))
	want := floats(nil, x, false)
	var first []float32
	for _, order := range []emu.BlockOrder{emu.InOrder, emu.Backwards, emu.FromMiddle} {
		d := optest.EmulatorOf(t, "emu:h200").(*emu.Device)
		d.OrderBlocks(order)
		d.LimitSteps(1_000_000_000)
		y, err := runRung(t, d, Operator, "scan_pipeline_groups", x)
		if err != nil {
			t.Fatalf("order %d: %v", order, err)
		}
		v := Operator.Variants[slices.IndexFunc(Operator.Variants, func(v ladder.Variant) bool { return v.Name == "scan_pipeline_groups" })]
		if c := ladder.Compare(nil, Operator.Outputs(ladder.Size{n}), []ladder.Values{y}, want, v.Plan(v.Name, ladder.Size{n}, d.Info())); len(c.Failed) > 0 {
			t.Errorf("order %d: failed %q, element %d", order, c.Failed, c.Index)
		}
		if first != nil && !ladder.SameBits(first, y) {
			t.Errorf("order %d: other bits than in the first order", order)
		}
		first = y
	}
}

// TestShortVectors runs the rungs for short vectors around the lengths at which their plans
// change: parts of one, two and four rounds, a second cluster of either, and on a device of
// one multiprocessor chunks of more than one tile.
func TestShortVectors(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	const part = clusterBlocks * smallTile
	d := optest.EmulatorOf(t, "emu:h200")
	for _, o := range []*ladder.Operator{Operator, Int32, Uint64} {
		one := *o
		one.Variants = nil
		for _, v := range o.Variants {
			if plan := v.Plan; strings.HasSuffix(v.Name, "_two_wide") || strings.HasSuffix(v.Name, "_cluster") {
				v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
					info.SMs = 1
					return plan(entry, s, info)
				}
				one.Variants = append(one.Variants, v)
			}
		}
		if len(one.Variants) != 2 {
			t.Fatalf("%s: %d rungs for short vectors, expected 2", o.Name, len(one.Variants))
		}
		if p := one.Variants[0].Plan("", ladder.Size{8*part*2 + 1}, gpu.Info{}); p.Steps[0].Args[3] != uint32(2) {
			t.Errorf("%s: %v turns of a block, expected 2", o.Name, p.Steps[0].Args[3])
		}
		for _, n := range []int{part + random.IntN(3) - 1, 2*part + random.IntN(3) - 1, 4*part + random.IntN(3) - 1, 8*part + random.IntN(3) - 1, 8*part*2 + 1 + random.IntN(1000)} {
			b := optest.NewBench(t, d, &one, seed, n)
			optest.CheckAll(t, b, fmt.Sprintf("%d elements, seed %d", n, seed))
			b.Close()
		}
	}
}

// TestAuto checks which rung the last one launches, on a GPU with clusters and without.
func TestAuto(t *testing.T) {
	for _, c := range []struct {
		o     *ladder.Operator
		n     int
		major int
		entry string
	}{
		{Operator, 1 << 16, 9, "scan_cluster"}, {Operator, 1<<16 + 1, 9, "scan_two_wide"}, {Operator, 1 << 16, 8, "scan_two_wide"},
		{Operator, 1 << 22, 9, "scan_two_wide"}, {Operator, 1<<22 + 1, 9, "scan_pipeline_groups"}, {Operator, 1<<22 + 1, 8, "scan_deterministic"},
		{Int32, 1<<22 + 1, 9, "scan_i32_pipeline_groups"}, {Uint64, 1 << 15, 9, "scan_u64_cluster"}, {Uint64, 1 << 21, 9, "scan_u64_two_wide"},
		{Uint64, 1<<21 + 1, 9, "scan_u64_pipeline_groups"}, {Uint64, 1<<21 + 1, 7, "scan_u64_look_back_wide"},
	} {
		v := c.o.Variants[len(c.o.Variants)-1]
		if v.Refuses != nil {
			t.Errorf("%s refuses lengths", v.Name)
		}
		if p := v.Plan(v.Name, ladder.Size{c.n}, gpu.Info{SMs: 132, Compute: gpu.Compute{Major: c.major}}); !v.Picks || p.Steps[0].Entry != c.entry {
			t.Errorf("%s of %d elements on compute capability %d launches %s, expected %s", v.Name, c.n, c.major, p.Steps[0].Entry, c.entry)
		}
	}
}

// TestClustersRefuse asks for more elements than clusters add up.
func TestClustersRefuse(t *testing.T) {
	for _, n := range []int{clusterMost, clusterMost + 1} {
		if err := tooManyForClusters(ladder.Size{n}); (err != nil) != (n > clusterMost) || err != nil && !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("%d elements: %v", n, err)
		}
	}
}

// TestOrdersOfOtherTypes starts the last block first, for the scans whose statuses hold
// other values. With more workers than processors, tiles look back over others that know
// only their own sums.
func TestOrdersOfOtherTypes(t *testing.T) {
	d := optest.EmulatorOf(t, "emu:t4").(*emu.Device)
	d.OrderBlocks(emu.Backwards)
	d.LimitWorkers(16)
	d.LimitSteps(200_000_000)
	for _, o := range []*ladder.Operator{Uint64, ByKey} {
		optest.CheckAll(t, optest.NewBench(t, d, o, 1, 170*smallTile), "last block first", o.Variants[1].Name)
	}
}
