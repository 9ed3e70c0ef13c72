package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/gputest"
)

func TestConformance(t *testing.T) {
	gputest.Run(t, func() (gpu.Device, error) { return Open("") })
}

// TestConformanceT4 runs the suite on the profile with the lowest limits.
func TestConformanceT4(t *testing.T) {
	gputest.Run(t, func() (gpu.Device, error) { return Open("t4") })
}

// TestLeaks names the buffers that were not freed, and none of a module.
func TestLeaks(t *testing.T) {
	j := newJob(t, ".global .align 4 .b8 g[64];", "", 1, 32)
	if err := j.p0.Free(); err != nil {
		t.Fatal(err)
	}
	err := j.device.Leaks()
	if !errors.Is(err, gpu.ErrLeak) || !strings.Contains(err.Error(), "1 buffers of 128 bytes in all were not freed: buffer output (128 bytes)") {
		t.Errorf("%v, expected buffer output", err)
	}
	if err := j.p1.Free(); err != nil {
		t.Fatal(err)
	}
	if err := j.device.Leaks(); err != nil {
		t.Errorf("%v, expected none", err)
	}
}
