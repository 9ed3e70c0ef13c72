package transpose

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Trials is Operator with rungs that each change one thing of one of its rungs,
// beside those rungs: they are no steps of the ladder.
//
// Shapes, types, error and cost are those of Operator. transpose_tma takes columns of
// a multiple of 4 and a matrix a that starts at a multiple of 16 bytes.
// Source: founding note 002 for __ldg, the others are ours.
var Trials = func() *ladder.Operator {
	o := *Operator
	o.Name, o.Module = "transpose_trials", "transpose"
	o.Cases = slices.Concat(cases, []ladder.Case{
		{Size: ladder.Size{1, 4}}, {Size: ladder.Size{63, 36}}, {Size: ladder.Size{66, 100}}, {Size: ladder.Size{129, 64}},
	})
	o.Variants = []ladder.Variant{
		rung("transpose_coalesced_write"),
		{
			Name: "transpose_write_plain", Adds: "transpose_coalesced_write without __restrict__: the compiler reads with plain loads",
			Source: "002", Module: "trials", Plan: tiles(alongRows),
		},
		{
			Name: "transpose_write_ldg", Adds: "transpose_write_plain with __ldg: the loads are read-only ones",
			Source: "002", Module: "trials", Plan: tiles(alongRows),
		},
		rung("transpose_swizzle"),
		{
			Name: "transpose_16_warps", Adds: "transpose_swizzle with twice the threads: half as many bytes each",
			Source: "ours", Module: "trials", Plan: tiles(tiling{edge: 64, block: gpu.Dim{X: 512}}),
		},
		{
			Name: "transpose_tma", Adds: "transpose_swizzle with a tile that the copy engine loads and swizzles",
			Source: "ours", Module: "tma", Needs: gpu.Compute{Major: 9}, Plan: boxes, Refuses: partVectors,
		},
	}
	return &o
}()

// rung is one of the ladder's.
func rung(name string) ladder.Variant {
	i := slices.IndexFunc(variants, func(v ladder.Variant) bool { return v.Name == name })
	return variants[i]
}

// boxes launches an entry once, with a block for each tile, and describes the boxes
// of a that the copy engine loads.
func boxes(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	p := tiles(tile64)(entry, size, info)
	for _, step := range p.Steps {
		step.Args[0] = ladder.TensorMap{Tensor: "a", Rows: size[0], Columns: size[1], LD: size[1], Box: [2]int{64, 32}}
	}
	return p
}

// partVectors rejects rows that the copy engine does not take.
func partVectors(size ladder.Size) error {
	if size[0] > 0 && size[1]%4 != 0 {
		return fmt.Errorf("%w: columns = %d: the copy engine takes rows of a multiple of 4 floats, use another rung", gpu.ErrUnsupported, size[1])
	}
	return nil
}
