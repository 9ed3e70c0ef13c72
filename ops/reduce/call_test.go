package reduce

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// A sum of any part of a buffer: the first element of y is written, and no other.
func TestSumOfViews(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := run.NewHandle(d)
		defer func() { ok(t, h.Close()) }()
		random := ladder.NewRandom(seed)
		values := ladder.Uniform(nil, 30_000, random)
		whole, y := buffer(t, d, slices.Clone(values)), buffer(t, d, ladder.Poisoned(3))
		for _, name := range append(rungs(), "", "", "") {
			start, n := random.IntN(9), oneOf(random, 0, 1, 31, 255, 8191, 8193, 29_000)
			if name == "reduce_serial" {
				n = 100
			}
			x, err := whole.View(start, n)
			ok(t, err)
			h.Variant = name
			if err := Sum(h, x, y); name == "reduce_l2_resident" && errors.Is(err, gpu.ErrUnsupported) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, 3)
			ok(t, y.Download(got))
			value, magnitude := sum(nil, values[start:start+n])
			want := []ladder.Expected{{Value: []float64{value, 0, 0}, Magnitude: []float64{magnitude, ladder.Gap, ladder.Gap}}}
			if r := ladder.Compare(nil, []ladder.Tensor{{Len: len(got)}}, []ladder.Values{got}, want, ladder.Plan{Depth: n}); len(r.Failed) > 0 {
				t.Errorf("seed %d: %q: %d from %d on: %v: %v, expected %v and poison behind it", seed, name, n, start, r.Failed, got, value)
			}
		}
	})
}

// A sum refuses operands that no device could take, in the same words on every device.
func TestSumRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := run.NewHandle(d)
		defer func() { ok(t, h.Close()) }()
		x := buffer(t, d, ladder.Poisoned(16))
		doubles, err := d.Alloc(gpu.Float64, 16)
		ok(t, err)
		defer func() { ok(t, doubles.Free()) }()
		view := func(start, n int) gpu.Buffer {
			v, err := x.View(start, n)
			ok(t, err)
			return v
		}
		for _, c := range []struct {
			err  error
			says string
		}{
			{Sum(h, nil, x), "ops: reduce: x: invalid argument: no buffer, expected one of " + d.Info().Name},
			{Sum(h, x, view(0, 0)), "ops: reduce: y: invalid argument: a buffer of 0 elements, expected at least 1: 1 x 1"},
			{Sum(h, view(0, 10), view(9, 1)), "ops: reduce: y: invalid argument: it shares elements with x, expected memory of its own: an output is written while the other operands are read"},
			{Sum(h, doubles, x), "ops: reduce: x: invalid argument: a buffer of float64, expected float32"},
		} {
			if !errors.Is(c.err, gpu.ErrArgument) || c.err.Error() != c.says {
				t.Errorf("%v\nexpected %s", c.err, c.says)
			}
		}
	})
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// buffer is device memory with values, freed at the end of the test.
func buffer(t *testing.T, d gpu.Device, values []float32) gpu.Buffer {
	t.Helper()
	b, err := d.Alloc(gpu.Float32, len(values))
	ok(t, err)
	t.Cleanup(func() { ok(t, b.Free()) })
	ok(t, b.Upload(values))
	return b
}

func oneOf[T any](random *rand.Rand, some ...T) T { return some[random.IntN(len(some))] }

// rungs are the names of the rungs of the device, and "".
func rungs() []string {
	names := []string{""}
	for _, v := range Operator.Variants {
		if v.Host == nil {
			names = append(names, v.Name)
		}
	}
	return names
}
