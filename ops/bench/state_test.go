package bench

import (
	"errors"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
)

// WatchRung shows the last launch of a rung: the sum is in word 0 of shared memory, written
// by thread 0, and in the value that the thread stored. A rung that faults shows its block.
func TestWatchRung(t *testing.T) {
	b := newBench(t, device.MustOpen("emu"), sample.Operator, 1, 1000)
	s, err := WatchRung(b, "sum_blocks")
	if err != nil {
		t.Fatal(err)
	}
	a := s.Shared[0]
	if s.Kernel != "sum_blocks" || s.Fault != nil || len(s.Shared) != 1 || len(a.Words) != 256 {
		t.Fatalf("%s, %v, %d words", s.Kernel, s.Fault, len(a.Words))
	}
	sum := ""
	for _, v := range s.Values {
		sum = v.Threads[0] // the last store is that of the result
	}
	if w := a.Words[0]; w.Text != sum || w.Thread != (gpu.Dim{}) || w.Line == 0 || w.Writers != 1 {
		t.Errorf("word 0 is %+v, thread 0 stored %s", w, sum)
	}
	if w := a.Words[200]; w.Thread != (gpu.Dim{X: 200}) || w.Text != "0" {
		t.Errorf("word 200 is %+v, expected 0 of thread 200", w)
	}
	if _, err := WatchRung(b, "sum_blocks", gpu.Dim{X: 1}); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("block 1 of the last launch: %v", err)
	}
	if _, err := WatchRung(b, "sum_nothing"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("an unknown rung: %v", err)
	}
}
