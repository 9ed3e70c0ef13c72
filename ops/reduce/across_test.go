package reduce

import (
	"errors"
	"sync"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

// across sums parts of a vector of small integers, whose sum is exact, on emulators of
// their own. The part of the rank broken, if there is one, has no output.
func across(t *testing.T, x []float32, ranks, broken int) (sums []float32, errs []error) {
	var devices []gpu.Device
	for range ranks {
		devices = append(devices, optest.Emulator(t))
	}
	group, err := collective.InMemory(time.Hour, devices...)
	if err != nil {
		t.Fatal(err)
	}
	sums, errs = make([]float32, ranks), make([]error, ranks)
	var wg sync.WaitGroup
	for i, d := range devices {
		part := x[i*len(x)/ranks : (i+1)*len(x)/ranks]
		in, err1 := d.Alloc(gpu.Float32, len(part))
		out, err2 := d.Alloc(gpu.Float32, 1)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if err := in.Upload(part); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			h := run.NewHandle(d)
			defer h.Close()
			if i == broken {
				errs[i] = SumAcross(group[i], h, in, nil)
				return
			}
			y := make([]float32, 1)
			if errs[i] = SumAcross(group[i], h, in, out); errs[i] == nil {
				errs[i] = out.Download(y)
			}
			sums[i] = y[0]
		})
	}
	wg.Wait()
	return sums, errs
}

// Parts on several devices have the sum of the whole, also those without elements.
func TestSumAcross(t *testing.T) {
	for _, n := range []int{2, 10_007} {
		x := ladder.Integers(nil, n, ladder.NewRandom(1))
		var want float32
		for _, v := range x {
			want += v
		}
		sums, errs := across(t, x, 3, -1)
		for i, sum := range sums {
			if errs[i] != nil || sum != want {
				t.Errorf("%d elements: rank %d has %v, %v, expected %v", n, i, sum, errs[i], want)
			}
		}
	}
}

// A rank that cannot sum is an error of all: none waits for it.
func TestSumAcrossOfBrokenRank(t *testing.T) {
	_, errs := across(t, make([]float32, 100), 3, 1)
	for i, err := range errs {
		if !errors.Is(err, gpu.ErrArgument) || errors.Is(err, collective.ErrAborted) != (i != 1) {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}
