package ladder

import (
	"strings"
	"testing"

	"warpbook/gpu"
)

func TestPick(t *testing.T) {
	turing, hopper := gpu.Compute{Major: 7, Minor: 5}, gpu.Compute{Major: 9}
	old, recent := gpu.Version{Major: 7, Minor: 8}, gpu.Version{Major: 8, Minor: 4}
	available := []PTX{
		{Name: "75", Target: turing, Version: gpu.Version{Major: 8}},
		{Name: "80", Target: gpu.Compute{Major: 8}, Version: gpu.Version{Major: 8}},
		{Name: "90a", Target: hopper, Feature: true, Version: gpu.Version{Major: 8}},
	}
	for _, c := range []struct {
		compute gpu.Compute
		ptx     gpu.Version
		want    string
	}{
		{turing, recent, "75"},
		{gpu.Compute{Major: 8, Minor: 9}, recent, "80"},
		{hopper, recent, "90a"},
		{gpu.Compute{Major: 10}, recent, "80"}, // sm_90a is for 9.0 alone
		{gpu.Compute{Major: 7}, recent, ""},
		{hopper, old, ""},
	} {
		got, err := pick("ops", "x", available, gpu.Info{Compute: c.compute, PTX: c.ptx})
		if got.Name != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v with PTX %v: %q, %v, want %q", c.compute, c.ptx, got.Name, err, c.want)
		}
		if err != nil && (!strings.Contains(err.Error(), "gpu/nvrtc") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v: expected one line with the remedy", err)
		}
	}
	if _, err := pick("ops", "x", nil, gpu.Info{}); err == nil {
		t.Error("no PTX at all is no error")
	}
}
