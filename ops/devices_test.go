package ops

import (
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// devices are the best one there is, and the emulator of a small GPU, whose
// grids are smaller and whose PTX is the oldest.
var devices = []string{"", "emu:t4"}

// eachDevice runs a test on every device there is.
func eachDevice(t *testing.T, f func(*testing.T, gpu.Device)) {
	t.Helper()
	for _, name := range devices {
		d, err := device.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(d.Info().Name, func(t *testing.T) {
			t.Cleanup(func() { // after the cleanups of the test's own
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			f(t, d)
		})
	}
}
