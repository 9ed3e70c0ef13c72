package bench

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

func TestStrings(t *testing.T) {
	device, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	b := Must(device, sample.Operator, 7, 1000)
	v, err := sample.Operator.Variant("sum_blocks")
	if err != nil {
		t.Fatal(err)
	}
	newer := v
	newer.Needs = ladder.Ampere
	on := device.Info().String()
	for _, c := range []struct {
		value any
		want  string
	}{
		{sample.Operator, "sample(n): " + sample.Operator.Formula + ", variants " + sample.Operator.Variants[0].Name + ", " + sample.Operator.Variants[1].Name + ", "},
		{v, "sum_blocks: " + v.Adds},
		{newer, "sum_blocks: " + v.Adds + " (needs sm_80)"},
		{v.Plan(v.Name, ladder.Size{1000}, device.Info()), "plan of sum_blocks: grid (4,1,1), block (256,1,1)"},
		{v.Plan(v.Name, ladder.Size{0}, device.Info()), "plan without launches: the outputs are zeros"},
		{ladder.Step{Entry: "e", Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32}, Shared: 8}, "e: grid (2,1,1), block (32,1,1), 8 bytes of dynamic shared memory"},
		{ladder.Tensor{Name: "x", Len: 3}, "x: 3 float32"},
		{ladder.Tensor{Name: "x", Len: 3, Type: gpu.BFloat16}, "x: 3 bfloat16"},
		{ladder.Rung{Adds: "nothing", Like: "sum_tree"}, "an entry that is not compiled: run its cell: nothing (launched like sum_tree)"},
		{b, "bench of sample, n = 1000, seed 7, on " + on},
	} {
		if got := fmt.Sprint(c.value); !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%T: %q, want %q", c.value, got, c.want)
		}
	}
	if err := b.SetInput("x", make([]float32, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "bench of sample, n = 1000, inputs of the caller, on "+on+", closed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
