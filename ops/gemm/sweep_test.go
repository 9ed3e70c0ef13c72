package gemm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The shapes of the committed rungs are cut as gemm.cu has them.
func TestGemmShapes(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		like  string // an entry of gemm.cu
		want  string
	}{
		{Shape{BM: 128, BN: 128, BK: 32, RM: 8, RN: 16, Held: 2}, "gemm_wide", "Shape<2, 2, 1, 8, 8, 16, 32, 2, 4>"},
		{Shape{BM: 64, BN: 64, BK: 32, RM: 8, RN: 8, Slices: 4}, "gemm_sliced_64", "Shape<1, 2, 4, 8, 8, 8, 32, 3, 4>"},
		{Shape{BM: 32, BN: 64, BK: 32, RM: 8, RN: 8, Slices: 4, Unroll: 2}, "gemm_sliced_32", "Shape<1, 1, 4, 4, 8, 8, 32, 3, 2>"},
	} {
		warpsDown, warpsAcross, down, err := c.shape.cut()
		if err != nil {
			t.Error(err)
			continue
		}
		if text := c.shape.entry(warpsDown, warpsAcross, down); !strings.Contains(text, "wide<"+c.want+">") {
			t.Errorf("%s, expected %s", text, c.want)
		}
		v, err := Operator.Variant(c.like)
		if err != nil {
			t.Fatal(err)
		}
		step := v.Plan(c.like, ladder.Size{512, 512, 512}, gpu.Info{Compute: gpu.Compute{Major: 9}, SMs: 132}).Steps[0]
		if threads, bytes, err := c.shape.Block(); err != nil || step.Block.X != threads || step.Shared != bytes {
			t.Errorf("%s: %d threads and %d bytes, %v; %s has %d and %d", c.shape.Name(), threads, bytes, err, c.like, step.Block.X, step.Shared)
		}
	}
}

func TestGemmShapesThatCannotBe(t *testing.T) {
	for _, g := range []Shape{
		{},
		{BM: 128, BN: 128, BK: 32, RM: 8, RN: 6},
		{BM: 100, BN: 128, BK: 32, RM: 8, RN: 8},
		{BM: 512, BN: 512, BK: 16, RM: 4, RN: 4},
		{BM: 128, BN: 128, BK: 16, RM: 8, RN: 8, Slices: 3},
		{BM: 128, BN: 128, BK: 8, RM: 8, RN: 8, Slices: 4},
		{BM: 128, BN: 128, BK: 16, RM: 8, RN: 8, Held: 1},
	} {
		if _, err := Sweep(context.Background(), g); !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected an error of its argument in a line", g.Name(), err)
		}
	}
}

// Every shape of the sweep is right on the emulator, at a size with edges. Where
// NVRTC is missing the error says what to install, and names no rung.
func TestGemmSweep(t *testing.T) {
	shapes := []Shape{
		{BM: 128, BN: 128, BK: 8, RM: 8, RN: 8},
		{BM: 64, BN: 128, BK: 16, RM: 8, RN: 8},
		{BM: 32, BN: 64, BK: 64, RM: 8, RN: 8, Slices: 8},
		{BM: 128, BN: 64, BK: 32, RM: 8, RN: 16, Slices: 2},
		{BM: 64, BN: 64, BK: 16, RM: 4, RN: 8, Held: 2},
	}
	rungs, err := Sweep(context.Background(), shapes...)
	if err != nil {
		if !strings.Contains(err.Error(), "ops: gemm: sweep: compile: gemm_sweep.cu: ") || !strings.Contains(err.Error(), "pip install") {
			t.Errorf("without NVRTC: %v", err)
		}
		return
	}
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	var names []string
	for _, g := range shapes {
		names = append(names, g.Name())
	}
	for _, size := range []ladder.Size{{128, 128, 64}, {131, 137, 67}, {1, 5, 0}} {
		checks, err := optest.NewBench(t, dev, rungs, 7, size...).Check(names...)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range checks.Rows {
			if row.Verdict != ladder.Pass {
				t.Errorf("%s at %v, seed 7: %s %v", row.Name, size, row.Verdict, row.Failed)
			}
		}
	}
}
