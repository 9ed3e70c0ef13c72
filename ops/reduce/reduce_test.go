package reduce

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// long skips cases that take too long for ordinary tests; CI runs them.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("WARPBOOK_LONG") == "" {
		t.Skip("minutes on the emulator: set WARPBOOK_LONG=1, as CI does")
	}
}

// Every rung, on every device, on contents that break sums, and on integers, which
// add exactly; at the largest size some rungs.
func TestContents(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, n := range []int{0, 1, 33, 257, 511, 513, 1<<20 + 3} {
			o := Operator
			if n > 1000 {
				o = optest.SomeRungs(t, device, 8, o)
			}
			b := optest.NewBench(t, device, o, seed, n)
			checkExact(t, b, ladder.Integers(nil, n, ladder.NewRandom(seed)))
			if n < 1000 {
				checkContents(t, device, b, n)
			}
		}
	})
}

// A serial float32 sum of numbers in [0, 1) is right up to 2^24, and stays there.
func TestSerialSumSaturates(t *testing.T) {
	d := device.MustOpen("emu")
	for n, want := range map[int]string{1 << 25: ladder.Pass, 3 << 24: ladder.FailExpected} {
		r := optest.CheckAll(t, optest.NewBench(t, d, Operator, 1, n), "random", "cpu_serial").Rows[0]
		if r.Verdict != want || want == ladder.FailExpected && r.Result != 1<<24 {
			t.Errorf("n = %d, seed 1: %s, %v, want %s", n, r.Verdict, r.Result, want)
		}
	}
}

// checkExact demands the very sum, of numbers that add without rounding.
func checkExact(t *testing.T, b *bench.Bench, x []float32) {
	t.Helper()
	if err := b.SetInput("x", x); err != nil {
		t.Fatal(err)
	}
	for _, r := range optest.CheckAll(t, b, "integers").Rows {
		if float64(r.Result) != r.Reference {
			t.Errorf("%s, n = %d, integers: %v, want exactly %v", r.Name, len(x), r.Result, r.Reference)
		}
	}
}

// checkContents tries special numbers, at the first, a middle and
// the last index.
func checkContents(t *testing.T, device gpu.Device, b *bench.Bench, n int) {
	t.Helper()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	type content struct {
		what string
		x    []float32 // placed over zeros
	}
	for _, content := range optest.Some(t, device, 3, []content{
		{"NaN", []float32{nan}}, {"Inf", []float32{inf}}, {"-Inf", []float32{-inf}},
		{"Inf and -Inf", []float32{inf, -inf}}, {"subnormal", []float32{0x1p-149, 0x1p-149, 0x1p-149}},
		{"overflow", []float32{math.MaxFloat32, math.MaxFloat32}}, {"-0", []float32{float32(math.Copysign(0, -1))}},
		{"one", []float32{1}},
	}) {
		for _, at := range []int{0, n / 2, n - len(content.x)} {
			if at < 0 || at+len(content.x) > n {
				continue
			}
			x := make([]float32, n)
			copy(x[at:], content.x)
			if err := b.SetInput("x", x); err != nil {
				t.Fatal(err)
			}
			optest.CheckAll(t, b, fmt.Sprintf("%s at %d", content.what, at))
		}
	}
}

// A race report names its two accesses: the lines, the threads, the variable.
func TestMistakeRaces(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		if !device.Info().Checks.Has(gpu.CheckRaces) {
			t.Skip("a GPU does not look for races")
		}
		c, err := optest.NewBench(t, device, Mistakes, 2, 512).Check("mistake_no_syncwarp")
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"ld.volatile.shared.f32 at ", "mistakes.cu:77 (", "block (0,0,0) thread (0,0,0)",
			"byte 64 of shared variable smem", "thread (16,0,0) wrote it with st.volatile.shared.f32 at ", "mistakes.cu:76 (line "} {
			if !strings.Contains(c.Rows[0].Detail, words) {
				t.Errorf("%s, expected it to say %q", c.Rows[0].Detail, words)
			}
		}
	})
}

// Data of all ones hides that every block sums the first 256 elements.
func TestOnesHideMistake(t *testing.T) {
	const n = 256 * 100
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := optest.NewBench(t, device, Mistakes, 1, n)
		if err := b.SetInput("x", slices.Repeat([]float32{1}, n)); err != nil {
			t.Fatal(err)
		}
		c, err := b.Check("mistake_block_offset")
		if err != nil || c.Rows[0].Verdict != ladder.PassExpected || c.Passed() {
			t.Errorf("%+v, %v, expected a failure that does not occur", c, err)
		}
	})
}

// The serial sum of 25.6 million ones stops at 2^24, and the check reports it; a sum in
// parallel passes. TestConformance runs every rung at this size, on data that hides less
// than ones do, so the seed chooses three parallel rungs here, of those that every device
// runs, and one of the emulators.
func TestLongSerialOnes(t *testing.T) {
	long(t)
	const n = 25_600_000
	serial := []string{"reduce_serial", "cpu_serial"}
	var parallel []string
	for _, v := range Operator.Variants {
		if !slices.Contains(serial, v.Name) && v.Needs == (gpu.Compute{}) {
			parallel = append(parallel, v.Name)
		}
	}
	seed := uint64(time.Now().UnixNano())
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(parallel), func(i, j int) { parallel[i], parallel[j] = parallel[j], parallel[i] })
	names := append(slices.Clone(serial), parallel[:3]...)
	t.Logf("%v, seed %d", names, seed)
	place, runs := -1, int(seed%uint64(len(devicetest.Names)))
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		if place++; device.Info().Emulated && place != runs {
			t.Skip("the other emulator runs it with this seed")
		}
		b := optest.NewBench(t, device, Operator, 1, n)
		if err := b.SetInput("x", slices.Repeat([]float32{1}, n)); err != nil {
			t.Fatal(err)
		}
		for _, name := range serial {
			if err := b.Expect(name, ladder.CheckTolerance); err != nil {
				t.Fatal(err)
			}
		}
		rows := optest.CheckAll(t, b, "ones", names...).Rows
		if len(rows) != len(names) {
			t.Errorf("%d rows, expected those of %v", len(rows), names)
		}
		for _, r := range rows {
			stops := slices.Contains(serial, r.Name)
			if stops && (r.Verdict != ladder.FailExpected || r.Result != 1<<24) || !stops && r.Verdict != ladder.Pass {
				t.Errorf("%s of %d ones: %v, %s", r.Name, n, r.Result, r.Verdict)
			}
		}
	})
}

// Vector loads start at 16 bytes: x may start at any float.
func TestUnalignedInput(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 1000, 40_000} {
			b := optest.NewBench(t, device, Operator, 1, n)
			for start := range 4 {
				ok(t, b.Place("x", start))
				optest.CheckAll(t, b, fmt.Sprintf("x at float %d", start), "reduce_bandwidth", "reduce_last_block", "reduce_eight_loads", "reduce_v3_first_add")
			}
		}
	})
}

// The purpose of the rungs, in counters worked by hand for 256 blocks and the
// pass over their sums.
func TestCounters(t *testing.T) {
	const n, blocks = 256 * 256, 256 + 1
	shared := func(c gpu.Counters) uint64 { return c.SharedLoad.Conflicts + c.SharedStore.Conflicts }
	barriers := func(c gpu.Counters) uint64 { return c.Barriers }
	syncs := func(c gpu.Counters) uint64 { return c.WarpSyncs }
	shuffles := func(c gpu.Counters) uint64 { return c.Shuffles }
	sectors := func(c gpu.Counters) uint64 { return c.GlobalLoad.Sectors }
	atomics := func(c gpu.Counters) uint64 { return c.GlobalAtomic.Requests }
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		c, err := optest.NewBench(t, device, Operator, 1, n).Count()
		if errors.Is(err, gpu.ErrUnsupported) {
			t.Skip("this device counts nothing: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []struct {
			variant, what string
			value         func(gpu.Counters) uint64
			want          uint64
		}{
			{"reduce_v0_interleaved", "conflicts", shared, 0},
			// Two loads and a store, of 4, 2, 1, 1, 1, 1, 1 warps, in 2, 4, 8, 8, 8, 4, 2 wavefronts.
			{"reduce_v1_strided_index", "conflicts", shared, 3 * (4*1 + 2*3 + 7 + 7 + 7 + 3 + 1) * blocks},
			{"reduce_v2_sequential", "conflicts", shared, 0},
			{"reduce_v2_sequential", "barriers", barriers, 8 * 9 * blocks}, // warps, 8 steps and the load
			{"reduce_v3_first_add", "barriers", barriers, 8 * 9 * (128 + 1)},
			{"reduce_v4_last_warp", "barriers", barriers, 8 * 3 * (128 + 1)},
			{"reduce_v4_last_warp", "warp syncs", syncs, 12 * (128 + 1)},
			{"reduce_v2_sequential", "sectors", sectors, n/8 + 256/8},
			{"reduce_warp_shuffle", "shuffles", shuffles, 9 * 5 * blocks}, // 8 warps, and one for their sums
			{"reduce_shfl_down", "shuffles", shuffles, 4 * 5 * 512},
			{"reduce_shfl_down", "atomics", atomics, 512},
			{"reduce_bandwidth", "sectors", sectors, n/8 + 1}, // 8 blocks of 512 times 4 float4, then their sums
			{"reduce_last_block", "sectors", sectors, n/8 + 1},
			{"reduce_last_block", "atomics", atomics, 8},
			{"reduce_acquire_release", "sectors", sectors, n/8 + 1},
			{"reduce_acquire_release", "atomics", atomics, 8},
			{"reduce_eight_loads", "sectors", sectors, n/8 + 1},
			{"reduce_eight_loads", "atomics", atomics, 4},
			{"reduce_l2_resident", "sectors", sectors, n/8 + 1},
		} {
			for _, r := range c.Rows {
				if got := want.value(r.Total); r.Name == want.variant && got != want.want {
					t.Errorf("%s: %d %s, want %d", r.Name, got, want.what, want.want)
				}
			}
		}
	})
}
