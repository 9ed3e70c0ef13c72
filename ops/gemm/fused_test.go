package gemm

import (
	"errors"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// Batches that are too large to number are refused.
func TestBatchedRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, size := range [][]int{{1 << 30, 1 << 10, 1, 1}, {1 << 31, 1, 1, 1}} {
			if _, err := bench.New(device, Batched, 1, size...); !errors.Is(err, gpu.ErrArgument) && !errors.Is(err, gpu.ErrMemory) {
				t.Errorf("%v: %v, expected a refusal", size, err)
			}
		}
	})
}

// About half of the results of bias and ReLU are 0, and the others are not.
func TestBiasReLUIsHalfZero(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), BiasReLU, uint64(time.Now().UnixNano()), 129, 127, 41)
	zeros, n := 0, len(b.Expected()[0].Value)
	for _, v := range b.Expected()[0].Value {
		if v == 0 {
			zeros++
		}
	}
	if zeros < n/4 || zeros > 3*n/4 {
		t.Errorf("%v: %d of %d results are 0, expected about half", b, zeros, n)
	}
}

// The reference by hand.
func TestGemmBiasReLUReference(t *testing.T) {
	e := BiasReLU.Reference(nil, ladder.Size{2, 2, 1}, ladder.All([][]float32{{1, -2}, {3, 4}, {-5, 1}}...))[0]
	for i, want := range []struct{ value, magnitude float64 }{{0, 8}, {5, 5}, {0, 11}, {0, 9}} {
		if e.Value[i] != want.value || e.Magnitude[i] != want.magnitude {
			t.Errorf("element %d: %v of magnitude %v, want %+v", i, e.Value[i], e.Magnitude[i], want)
		}
	}
}

// A batch that is larger than a grid may be, or than the places that a launch is
// told, takes more launches, each from where the one before ended.
func TestGemmBatchedLaunches(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		const batch = 2*65535 + 1
		for _, v := range Batched.Variants[:2] {
			p := v.Plan(v.Name, ladder.Size{batch, 1, 1, 1}, device.Info())
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
