package sparse

import (
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// On one multiprocessor, warps of spmv_vec4_ahead have several tiles and those of spmv_hot_columns
// several shares. Rows are short and long, and columns are in the table or not.
func TestSeveralShares(t *testing.T) {
	d := optest.Emulator(t)
	one := *SpMV
	one.Variants = nil
	for _, name := range []string{"spmv_vec4_ahead", "spmv_hot_columns"} {
		v, err := SpMV.Variant(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := v.Plan
		v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
			info.SMs = 1
			return plan(entry, s, info)
		}
		one.Variants = append(one.Variants, v)
	}
	for _, c := range []struct {
		data string
		size ladder.Size
	}{
		{"rmat", ladder.Size{3001, 4001, 30_011}}, {"huge rows", ladder.Size{9000, 2000, 20_000}}, {"random", ladder.Size{700, 5000, 29_999}},
		{"banded", ladder.Size{2000, 2000, 32_000}}, {special, ladder.Size{2500, 300, 10_007}},
	} {
		b := optest.NewBench(t, d, &one, 1, c.size...)
		if err := b.UseData(c.data); err != nil {
			t.Fatal(err)
		}
		optest.CheckAll(t, b, c.data)
	}
}

// A matrix of more columns than have a counter is refused.
func TestHotColumnsRefuses(t *testing.T) {
	v, err := SpMV.Variant("spmv_hot_columns")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Refuses(ladder.Size{1, mostHot, 1}); err != nil {
		t.Errorf("%d columns: %v", mostHot, err)
	}
	const want = "ops: spmv_hot_columns: columns = 33554433: unsupported, expected at most 33554432: use spmv_merge_path"
	if err := v.Refuses(ladder.Size{1, mostHot + 1, 1}); err == nil || err.Error() != want {
		t.Errorf("%d columns: %v, expected %s", mostHot+1, err, want)
	}
}
