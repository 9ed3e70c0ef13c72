package ops

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// TestStopEndsLoops: every long loop looks at its Stop while it works, and ends at
// the look that says so.
func TestStopEndsLoops(t *testing.T) {
	const n = 20 * piece
	x, random := make([]float32, n), newRandom(1)
	half := Tensor{Len: n, Type: gpu.BFloat16}
	matrices := [][]float32{make([]float32, 1024*8), make([]float32, 8*1024), make([]float32, 1024)}
	size := Size{1024, 1024, 8}
	for name, f := range map[string]func(stop Stop){
		"uniform":       func(stop Stop) { uniform(stop, n, random) },
		"rounded":       func(stop Stop) { half.rounded(stop, x) },
		"reduce":        func(stop Stop) { Reduce.Reference(stop, Size{n}, [][]float32{x}) },
		"reduce, exact": func(stop Stop) { Reduce.Exact(stop, Size{n}, 1) },
		"reduce, host":  func(stop Stop) { reduceInOrder(stop, Size{n}, [][]float32{x}, [][]float32{{0}}) },
		"gemm":          func(stop Stop) { Gemm.Reference(stop, size, matrices) },
		"gemm, exact":   func(stop Stop) { Gemm.Exact(stop, Size{n, 1, 1}, 1) },
		"gemm, host": func(stop Stop) {
			GemmOptions{Alpha: 1}.tripleLoop(stop, size, matrices, [][]float32{make([]float32, 1024*1024)})
		},
		"batch":         func(stop Stop) { GemmBatched.Reference(stop, Size{1024, 1, 1, 1}, matrices) },
		"bias and ReLU": func(stop Stop) { GemmBiasReLU.Reference(stop, size, matrices) },
		"the comparison": func(stop Stop) {
			compare(stop, [][]float32{x}, []Expected{{make([]float64, n), make([]float64, n)}}, Plan{})
		},
	} {
		var looks atomic.Int64
		f(func() bool { looks.Add(1); return false })
		whole := looks.Swap(0)
		const last = 3
		f(func() bool { return looks.Add(1) >= last })
		more := int64(8 * (runtime.GOMAXPROCS(0) + 1)) // workers, and the loops around
		if stopped := looks.Load(); whole < 20 || stopped > min(last+more, whole/2) {
			t.Errorf("%s: %d looks, %d when it is stopped at look %d", name, whole, stopped, last)
		}
	}
}

// interrupted is a device that is interrupted after so many looks.
type interrupted struct {
	gpu.Device
	left *atomic.Int64
}

func (d interrupted) Interrupts() uint64 {
	if d.left.Add(-1) < 0 {
		return 1
	}
	return 0
}

// TestInterruptOnTheHost: wherever a bench looks whether its device has been
// interrupted, the call ends with that error, and the next call is as if there
// had been none.
func TestInterruptOnTheHost(t *testing.T) {
	emulator := device.MustOpen("emu")
	t.Cleanup(func() { emulator.Close() })
	for _, c := range []struct {
		operator *Operator
		size     Size
		variants []string
	}{
		{Reduce, Size{3 * piece}, []string{"cpu_serial", "reduce_bandwidth"}},
		{GemmBF16, Size{8, 16, 16}, []string{GemmBF16.Variants[0].Name}},
	} {
		d := interrupted{emulator, &atomic.Int64{}}
		never := func() { d.left.Store(1 << 40) }
		never()
		random := newRandom(2)
		b := newBench(t, d, c.operator, 1, c.size...)
		for name, call := range map[string]func() error{
			"new": func() error {
				b, err := NewBench(d, c.operator, 1, c.size...)
				if err == nil {
					err = b.Close()
				}
				return err
			},
			"check": func() error { _, err := b.Check(c.variants...); return err },
			"set input": func() error {
				input := c.operator.Inputs(c.size)[0]
				return b.SetInput(input.Name, uniform(nil, input.Len, random))
			},
		} {
			if name == "new" && c.operator != Reduce {
				continue // which takes as long as its PTX is
			}
			looks := int64(1) // the first is what the others are compared with
			for ; ; looks++ {
				d.left.Store(looks)
				err := call()
				never()
				if err == nil {
					break
				}
				if !errors.Is(err, gpu.ErrInterrupted) {
					t.Fatalf("%s: %s: look %d: %v", c.operator.Name, name, looks, err)
				}
				if checks, err := b.Check(c.variants...); err != nil || !checks.Passed() {
					t.Fatalf("%s: %s: after an interrupt at look %d: %v, %v", c.operator.Name, name, looks, checks, err)
				}
			}
			if t.Logf("%s: %s looks %d times", c.operator.Name, name, looks); looks < 4 {
				t.Errorf("%s: %s looks %d times, expected more", c.operator.Name, name, looks)
			}
		}
	}
}
