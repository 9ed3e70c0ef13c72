package engine

import (
	"testing"
	"time"

	"warpbook/gpu"
)

// TestGrace: a worker that did not run while another block failed, on a busy machine,
// still gets a limited number of turns.
func TestGrace(t *testing.T) {
	l := &Launch{engine: new(Engine), grid: gpu.Dim{X: 2, Y: 1, Z: 1}, total: 2, failed: time.Now().Add(-10 * grace)}
	l.firstAt.Store(1)
	b := &block{launch: l}
	b.cnt.WarpInstructions = 1e9 // of earlier blocks
	for _, x := range []struct {
		ran  uint64
		want *gpu.Fault
	}{{0, nil}, {graceInstructions, nil}, {1, stopped}} {
		b.cnt.WarpInstructions += x.ran
		if got := l.check(b); got != x.want {
			t.Errorf("%d instructions on: %v, expected %v", x.ran, got, x.want)
		}
	}
}
