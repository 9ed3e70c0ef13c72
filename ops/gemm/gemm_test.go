package gemm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
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

// Alpha, beta and rows with gaps, which stay as they were; a matrix that
// starts where no vector may.
func TestGemmOptions(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	options := []Options{
		{Alpha: 1.5, Beta: 0.5, LDA: 44, LDB: 136, LDC: 132},
		{Alpha: -2, LDA: 43, LDB: 131, LDC: 130},
		{Alpha: 1, Beta: -1, LDA: 45, LDB: 129, LDC: 129},
		{Alpha: 0, Beta: 3},
		{Alpha: 0},
	}
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, o := range optest.Some(t, device, 2, options) {
			for _, size := range [][]int{{130, 129, 41}, {3, 2, 0}} {
				optest.CheckAll(t, optest.NewBench(t, device, optest.SomeRungs(t, device, 8, With(o)), seed, size...), "random")
			}
		}
	})
}

// A matrix may start at any float: vectors are read where they are aligned.
func TestGemmUnaligned(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := optest.NewBench(t, device, optest.SomeRungs(t, device, 8, Operator), 1, 132, 136, 20)
		for _, name := range []string{"a", "b", "d"} {
			for _, start := range optest.Some(t, device, 1, []int{1, 2, 3}) {
				if err := b.Place(name, start); err != nil {
					t.Fatal(err)
				}
				optest.CheckAll(t, b, fmt.Sprintf("%s at float %d", name, start))
			}
			if err := b.Place(name, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// NaN and infinities reach their row or column of D and no other element; what
// lies beyond k reaches none.
func TestGemmSpecialValues(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		specials := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-140, 3e38}
		for _, special := range optest.Some(t, device, 2, specials) {
			b := optest.NewBench(t, device, optest.SomeRungs(t, device, 8, Operator), 1, 130, 129, 9)
			for input, n := range map[string]int{"a": 130 * 9, "b": 9 * 129} {
				x := ladder.Uniform(nil, n, ladder.NewRandom(1))
				x[0], x[len(x)/2], x[len(x)-1] = special, special, special
				if err := b.SetInput(input, x); err != nil {
					t.Fatal(err)
				}
				optest.CheckAll(t, b, fmt.Sprintf("%v in %s", special, input))
			}
		}
	})
}

// The reference, against products worked by hand.
func TestGemmReference(t *testing.T) {
	for _, c := range []struct {
		o                Options
		size             ladder.Size
		inputs           [][]float32
		value, magnitude []float64
	}{
		{Options{Alpha: 1}, ladder.Size{2, 2, 3}, [][]float32{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}},
			[]float64{58, 64, 139, 154}, []float64{58, 64, 139, 154}},
		{Options{Alpha: 2, Beta: -1}, ladder.Size{1, 2, 2}, [][]float32{{1, -2}, {3, 4, 5, -6}, {10, 20}},
			[]float64{2*(3-10) - 10, 2*(4+12) - 20}, []float64{2*(3+10) + 10, 2*(4+12) + 20}},
		{Options{Alpha: 1, LDA: 3, LDB: 1, LDC: 2}, ladder.Size{2, 1, 2}, [][]float32{{1, 2, 99, 3, 4}, {5, 6}},
			[]float64{17, 0, 39}, []float64{17, ladder.Gap, 39}},
		{Options{Alpha: 1}, ladder.Size{1, 1, 0}, [][]float32{{}, {}}, []float64{0}, []float64{0}},
		{Options{Beta: 2}, ladder.Size{1, 1, 1}, [][]float32{{float32(math.NaN())}, {1}, {4}}, []float64{8}, []float64{8}},
		{Options{Alpha: 1}, ladder.Size{1, 1, 2}, [][]float32{{16777216, 1}, {1, 1}}, []float64{16777217}, []float64{16777217}},
		{Options{Alpha: 1}, ladder.Size{1, 1, 2}, [][]float32{{float32(math.Inf(1)), 2}, {1, 3}}, []float64{math.Inf(1)}, []float64{6}},
	} {
		got := With(c.o).Reference(nil, c.size, ladder.All(c.inputs...))[0]
		if fmt.Sprint(got.Value) != fmt.Sprint(c.value) || fmt.Sprint(got.Magnitude) != fmt.Sprint(c.magnitude) {
			t.Errorf("%+v, %v: %v of magnitudes %v, want %v of %v", c.o, c.size, got.Value, got.Magnitude, c.value, c.magnitude)
		}
	}
}

// The blocked reference against the plain loop, at sizes around its blocks.
func TestGemmReferenceBlocks(t *testing.T) {
	for _, size := range []ladder.Size{{1, 1, 1}, {2, 31, 5}, {3, 33, 4}, {5, 64, 1}, {4, 67, 9}} {
		o := Options{Alpha: 1, LDA: size[2] + 2}
		random := ladder.NewRandom(3)
		var inputs [][]float32
		for _, tensor := range o.inputs(size) {
			inputs = append(inputs, signs(nil, tensor.Len, random))
		}
		got, want := o.reference(nil, size, ladder.All(inputs...))[0], make([]float32, size[0]*size[1])
		o.tripleLoop(nil, size, ladder.All(inputs...), ladder.All(want))
		for i, v := range want {
			if got.Value[i] != float64(v) {
				t.Errorf("%v, seed 3: element %d is %v, want %v", size, i, got.Value[i], v)
			}
		}
	}
}

// Sizes and strides that cannot be are refused before anything is allocated.
func TestGemmErrors(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, c := range []struct {
			o    Options
			size []int
			want error
			says string
		}{
			{Options{Alpha: 1}, []int{4, 4}, gpu.ErrArgument, "expected m, n, k"},
			{Options{Alpha: 1}, []int{-1, 4, 4}, gpu.ErrArgument, "m = -1"},
			{Options{Alpha: 1}, []int{4, math.MaxInt32 + 1, 4}, gpu.ErrArgument, "n = 2147483648"},
			{Options{Alpha: 1}, []int{math.MaxInt32, 1, math.MaxInt32}, gpu.ErrArgument, "2^38"},
			{Options{Alpha: 1}, []int{1 << 19, 1 << 19, 1}, gpu.ErrMemory, "GiB"},
			{Options{Alpha: 1, LDA: 3}, []int{4, 4, 4}, gpu.ErrArgument, "lda = 3"},
			{Options{Alpha: 1, LDB: 3}, []int{4, 4, 4}, gpu.ErrArgument, "ldb = 3"},
			{Options{Alpha: 1, LDC: -1}, []int{4, 4, 4}, gpu.ErrArgument, "ldc = -1"},
		} {
			_, err := bench.New(device, With(c.o), 1, c.size...)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v, %v: %v, want %v that says %q", c.o, c.size, err, c.want, c.says)
			}
		}
	})
}

// The conflicts that the rungs are about, worked by hand for 2 x 3 tiles of
// 128 x 128 and five steps of 8: 8 warps in each of 6 blocks.
func TestGemmConflicts(t *testing.T) {
	const warps, steps, rows = 6 * 8, 5, 5 * 8
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		c, err := optest.NewBench(t, device, Operator, 1, 256, 384, rows).Count("gemm_double_buffer", "gemm_conflict_free", "gemm_padded", "gemm_warp_tile")
		if errors.Is(err, gpu.ErrUnsupported) {
			t.Skip("this device counts nothing: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct{ loads, loadConflicts, stores, storeConflicts uint64 }{
			// A row of a step is four loads of 128 bits. Eight lanes ask A for one address
			// each, so that neighbours share it: two wavefronts. They ask B for every other
			// vector of 256 bytes: two wavefronts for each of four quarters.
			{warps * rows * (2*2 + 2*8), warps * rows * 2 * 4, warps * steps * (4*2 + 4), warps * steps * 4},
			// Now they ask B for 128 bytes in a row: one wavefront a quarter. Stores of A put
			// lanes 16 rows down and 4 columns across: two of them on a bank, in four stores.
			{warps * rows * (2*2 + 2*4), 0, warps * steps * (4*2 + 4), warps * steps * 4},
			// 4 x 132 floats are 16 banks on: the two columns lie beside each other.
			{warps * rows * (2*2 + 2*4), 0, warps * steps * (4 + 4), 0},
			// Of B, too, lanes two apart share an address: two wavefronts for each load.
			{warps * rows * 4 * 2, 0, warps * steps * (4 + 4), 0},
		} {
			total := c.Rows[i].Total
			got := []uint64{total.SharedLoad.Wavefronts, total.SharedLoad.Conflicts, total.SharedStore.Wavefronts, total.SharedStore.Conflicts}
			if fmt.Sprint(got) != fmt.Sprint([]uint64{want.loads, want.loadConflicts, want.stores, want.storeConflicts}) {
				t.Errorf("%s: load and store wavefronts and conflicts %v, want %+v", c.Rows[i].Name, got, want)
			}
		}
	})
}

// The loop of the CPU is skipped where it takes minutes, with the reason.
func TestTripleLoopRefuses(t *testing.T) {
	device := device.MustOpen("emu")
	t.Cleanup(func() { device.Close() })
	v, err := Operator.Variant("cpu_triple_loop")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Refuses(ladder.Size{1024, 1024, 1024}); err != nil {
		t.Error(err)
	}
	o := *Operator
	o.Reference = func(_ ladder.Stop, s ladder.Size, _ []ladder.Values) []ladder.Expected { // a second's work, with which nothing is compared
		return []ladder.Expected{{Value: make([]float64, s[0]*s[1]), Magnitude: make([]float64, s[0]*s[1])}}
	}
	b := optest.NewBench(t, device, &o, 1, 1025, 1024, 1024)
	const says = "ops: cpu_triple_loop: unsupported: 1025 x 1024 x 1024 on one core takes minutes, expected at most 2^30 products"
	if _, err := b.Check(v.Name); !errors.Is(err, gpu.ErrUnsupported) || err.Error() != says {
		t.Errorf("%v, expected %s", err, says)
	}
	if _, err := b.Time(v.Name); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("%v, expected %v", err, gpu.ErrUnsupported)
	}
}

// What is picked takes at most 3 % longer than the fastest rung, wherever both
// were measured in one run.
func TestGemmAutoWithinThreePercent(t *testing.T) {
	text, err := os.ReadFile("measured/gemm_times.h200.json")
	if err != nil {
		t.Fatal(err)
	}
	var measured struct {
		Times []struct {
			Size ladder.Size
			US   map[string]float64
		}
	}
	if err := json.Unmarshal(text, &measured); err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, row := range measured.Times {
		for _, mapped := range []bool{false, true} {
			picked := (Options{Alpha: 1}).pickRung(row.Size, 132, mapped)
			took, ok := row.US[picked]
			if !ok {
				t.Logf("%v: %s is picked, and was not measured", row.Size, picked)
				continue
			}
			judged++
			for name, us := range row.US {
				taken := strings.HasPrefix(name, "gemm_") && name != "gemm_auto" && (mapped || name != "gemm_specialized" && name != "gemm_cluster") // gemm_auto launches one of these rungs
				if taken && took > 1.03*us {
					t.Errorf("%v: %s is picked and takes %v us, %s takes %v", row.Size, picked, took, name, us)
				}
			}
		}
	}
	if judged < 26 { // with and without the copy engine at 13 sizes
		t.Errorf("%d picks judged, expected at least 26", judged)
	}
}

// The predicted costs pick the fastest rung on an H200 (notes.md).
func TestGemmAutoPicks(t *testing.T) {
	for _, c := range []struct {
		size         ladder.Size
		want, mapped string // where the copy engine takes A and B; "" is the same
	}{
		{ladder.Size{256, 256, 256}, "gemm_sliced_k_16", ""}, {ladder.Size{512, 512, 512}, "gemm_sliced_32", ""}, {ladder.Size{1024, 1024, 1024}, "gemm_sliced_64", "gemm_cluster"},
		{ladder.Size{2048, 2048, 2048}, "gemm_stream_k", "gemm_specialized"}, {ladder.Size{4096, 4096, 4096}, "gemm_stream_k", "gemm_specialized"},
		{ladder.Size{8192, 8192, 8192}, "gemm_stream_k", "gemm_specialized"}, {ladder.Size{128, 128, 8192}, "gemm_split_k", ""},
		{ladder.Size{64, 4096, 4096}, "gemm_stream_k_64", ""}, {ladder.Size{4096, 64, 4096}, "gemm_stream_k_64", ""}, {ladder.Size{512, 512, 8192}, "gemm_stream_k", "gemm_specialized"},
		{ladder.Size{768, 768, 768}, "gemm_split_k", "gemm_cluster"}, {ladder.Size{1000, 1000, 1000}, "gemm_stream_k", "gemm_cluster"},
		{ladder.Size{1, 1, 0}, "gemm_sliced_k_16", ""},
	} {
		for mapped, want := range map[bool]string{false: c.want, true: cmp.Or(c.mapped, c.want)} {
			if got := (Options{Alpha: 1}).pickRung(c.size, 132, mapped); got != want {
				t.Errorf("%v, by the copy engine %v: %s, want %s", c.size, mapped, got, want)
			}
		}
	}
}
