package bench

import (
	"errors"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
)

// TestExplainRefuses names what cannot be explained.
func TestExplainRefuses(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	b := newBench(t, dev, sample.Operator, 42, 1000)
	for name, want := range map[string]error{"sum_host": gpu.ErrUnsupported, "sum_v9": gpu.ErrNotFound} {
		if _, err := b.Explain(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, expected %v", name, err, want)
		}
	}
}
