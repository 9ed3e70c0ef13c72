package ops

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

func TestStrings(t *testing.T) {
	device, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	b := MustBench(device, Reduce, 7, 1000)
	v, err := Reduce.Variant("reduce_v2_sequential")
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := GemmTensor(GemmOptions{Alpha: 1}, gpu.Float16).Variant("gemm_fp16_mma")
	if err != nil {
		t.Fatal(err)
	}
	on := device.Info().String()
	handle := NewHandle(device)
	handle.Variant = "gemm_shared"
	for _, c := range []struct {
		value any
		want  string
	}{
		{Reduce, "reduce(n): " + Reduce.Formula + ", variants " + Reduce.Variants[0].Name + ", " + Reduce.Variants[1].Name + ", "},
		{v, "reduce_v2_sequential: " + v.Adds},
		{tensor, "gemm_fp16_mma: " + tensor.Adds + " (needs sm_80)"},
		{v.Plan(v.Name, Size{1000}, device.Info()), "plan of reduce_v2_sequential: grid (4,1,1), block (256,1,1)"},
		{v.Plan(v.Name, Size{0}, device.Info()), "plan without launches: the outputs are zeros"},
		{Step{Entry: "e", Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32}, Shared: 8}, "e: grid (2,1,1), block (32,1,1), 8 bytes of dynamic shared memory"},
		{Tensor{Name: "x", Len: 3}, "x: 3 float32"},
		{Tensor{Name: "x", Len: 3, Type: gpu.BFloat16}, "x: 3 bfloat16"},
		{Rung{Adds: "nothing", Like: "reduce_v0_naive"}, "an entry that is not compiled: run its cell: nothing (launched like reduce_v0_naive)"},
		{handle, "handle on " + on + ", variant gemm_shared"},
		{b, "bench of reduce, n = 1000, seed 7, on " + on},
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
	if got, want := b.String(), "bench of reduce, n = 1000, inputs of the caller, on "+on+", closed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
