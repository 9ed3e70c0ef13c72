// Package devicetest runs a test on every device of this machine. Each runs it,
// Names are the devices. Tests of operators and of package bench use it; programs do not.
package devicetest

import (
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// Names are the best device of this machine, and the emulator of a small GPU, whose
// grids are smaller and whose PTX is the oldest.
var Names = []string{"", "emu:t4"}

// Each runs f on every device, each in a subtest of its own.
func Each(t *testing.T, f func(*testing.T, gpu.Device)) {
	t.Helper()
	for _, name := range Names {
		d, err := device.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(d.Info().Name, func(t *testing.T) {
			t.Cleanup(func() { // runs after the cleanups that f registers
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			f(t, d)
		})
	}
}
