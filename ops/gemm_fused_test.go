package ops

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

// Batches around tiles and around what one launch takes.
func TestGemmBatched(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	eachDevice(t, func(t *testing.T, device gpu.Device) {
		for _, size := range [][]int{{0, 3, 3, 3}, {3, 0, 3, 3}, {2, 3, 5, 0}, {1, 1, 1, 1}, {3, 129, 20, 33}, {2, 128, 128, 32}, {33, 5, 7, 9}, {65, 2, 3, 1},
			{5, 129, 260, 36}, {140, 4, 8, 40}, {1, 256, 512, 64}} {
			c := checkAll(t, newBench(t, device, GemmBatched, seed, size...), "random")
			if ran, all := len(c.Rows), len(GemmBatched.Variants); ran != all && (ran != all-1 || !strings.HasPrefix(c.Environment.NotRun[0], "gemm_batched_specialized: ")) {
				t.Errorf("%v: %d rows, not run: %v", size, ran, c.Environment.NotRun)
			}
		}
		for _, size := range [][]int{{1 << 30, 1 << 10, 1, 1}, {-1, 1, 1, 1}, {1 << 31, 1, 1, 1}, {1, 1, 1}} {
			if _, err := NewBench(device, GemmBatched, 1, size...); !errors.Is(err, gpu.ErrArgument) && !errors.Is(err, gpu.ErrMemory) {
				t.Errorf("%v: %v, expected a refusal", size, err)
			}
		}
	})
}

// Half of the results are 0, and the others are not.
func TestGemmBiasReLU(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	eachDevice(t, func(t *testing.T, device gpu.Device) {
		sizes := [][]int{{0, 5, 3}, {5, 3, 0}, {1, 1, 1}, {3, 130, 70}, {129, 127, 41}, {128, 256, 64}}
		if !device.Info().Emulated {
			sizes = append(sizes, specializedSizes...)
		}
		for _, size := range sizes {
			b := newBench(t, device, GemmBiasReLU, seed, size...)
			checkAll(t, b, "random")
			zeros := 0
			for _, v := range b.expected[0].Value {
				if v == 0 {
					zeros++
				}
			}
			if n := len(b.expected[0].Value); n > 1000 && (zeros < n/4 || zeros > 3*n/4) {
				t.Errorf("%v: %d of %d results are 0, expected about half", size, zeros, n)
			}
		}
	})
}

// The reference by hand.
func TestGemmBiasReLUReference(t *testing.T) {
	e := GemmBiasReLU.Reference(nil, Size{2, 2, 1}, [][]float32{{1, -2}, {3, 4}, {-5, 1}})[0]
	for i, want := range []struct{ value, magnitude float64 }{{0, 8}, {5, 5}, {0, 11}, {0, 9}} {
		if e.Value[i] != want.value || e.Magnitude[i] != want.magnitude {
			t.Errorf("element %d: %v of magnitude %v, want %+v", i, e.Value[i], e.Magnitude[i], want)
		}
	}
}

// A batch that is larger than a grid may be, or than the places that a launch is
// told, takes more launches, each from where the one before ended.
func TestGemmBatchedLaunches(t *testing.T) {
	eachDevice(t, func(t *testing.T, device gpu.Device) {
		const batch = 2*65535 + 1
		for _, v := range GemmBatched.Variants[:2] {
			p := v.Plan(v.Name, Size{batch, 1, 1, 1}, device.Info())
			most, next := map[string]int{"gemm_batched_strided": 65535, "gemm_batched_pointers": 32}[v.Name], 0
			for _, s := range p.Steps {
				if first := s.Args[len(s.Args)-1]; v.Name == "gemm_batched_strided" && first != uint32(next) {
					t.Fatalf("%s: a launch from %v on, expected %d", v.Name, first, next)
				}
				if s.Grid.Y < 1 || s.Grid.Y > most {
					t.Fatalf("%s: a launch of %d, expected 1 to %d", v.Name, s.Grid.Y, most)
				}
				next += s.Grid.Y
			}
			if next != batch {
				t.Errorf("%s: %d matrices, expected %d", v.Name, next, batch)
			}
		}
	})
}
