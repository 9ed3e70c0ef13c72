// Package optest is the suite that every operator must pass (Run), and the devices and
// benches that tests of operators share. Only tests import it.
package optest

import (
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/loader"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

func init() { loader.Keep() }

// Emulator opens the emulator of the default GPU for a test.
func Emulator(t *testing.T) gpu.Device {
	t.Helper()
	return EmulatorOf(t, "emu")
}

// EmulatorOf opens a device by its name for a test.
func EmulatorOf(t *testing.T, name string) gpu.Device {
	t.Helper()
	d, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// NewBench is a bench that ends with the test.
func NewBench(t *testing.T, device gpu.Device, o *ladder.Operator, seed uint64, size ...int) *bench.Bench {
	t.Helper()
	b, err := bench.New(device, o, seed, size...)
	if err != nil {
		t.Fatalf("%s of %v, seed %d: %v", o.Name, size, seed, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("%s of %v: close: %v", o.Name, size, err)
		}
	})
	return b
}

// CheckAll checks the named rungs, all for none, and fails where one is not as
// it must be.
func CheckAll(t *testing.T, b *bench.Bench, what string, names ...string) *results.Checks {
	t.Helper()
	c, err := b.Check(names...)
	if err != nil {
		t.Fatalf("%v, %s: %v", b, what, err)
	}
	for _, r := range c.Rows {
		switch {
		case r.Verdict == ladder.Pass || r.Verdict == ladder.FailExpected:
		case r.Detail != "": // a fault: there is no result
			t.Errorf("%s, %v, %s: %s: failed %v, expected %q: %s", r.Name, b, what, r.Verdict, r.Failed, r.Expect, r.Detail)
		default:
			t.Errorf("%s, %v, %s: %s: %v against %v, error %.2g, bound %.2g, failed %v, expected %q",
				r.Name, b, what, r.Verdict, r.Result, r.Reference, r.Error, r.Bound, r.Failed, r.Expect)
		}
	}
	return c
}
