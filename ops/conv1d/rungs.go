package conv1d

import (
	"fmt"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

func (o Options) variants() []ladder.Variant {
	return []ladder.Variant{
		{Name: "conv1d_global", Adds: "the listing of note 001 with a guard: x and the mask from global memory, an if for each tap", Source: "001, mended", Plan: o.global,
			Published: ladder.Published("001 convolution_1D", "arithmetic intensity")},
		{Name: "conv1d_constant", Adds: "taps from constant memory: one address for all lanes of a warp", Source: "001 names it, ours", Plan: o.constant, Refuses: constantLimit},
		{Name: "conv1d_shared", Adds: "a block's part of x and its halo in shared memory, with zeros outside x: no if for a tap", Source: "ours", Plan: o.shared, Refuses: o.tileLimit},
		{Name: "conv1d_window", Adds: "eight outputs per thread; four neighbours share a window of x in registers", Source: "ours", Plan: o.window, Refuses: o.windowLimit(mostTaps)},
		{Name: "conv1d_operands", Adds: "up to 128 taps, unrolled: the multiplications take them from constant memory as operands", Source: "ours", Plan: o.window, Refuses: o.windowLimit(operandTaps)},
		{Name: "conv1d_sixteen", Adds: "sixteen neighbouring outputs per thread, whose window is a ring of registers: a read of 16 bytes for 64 multiplications", Source: "ours", Needs: ladder.Ampere, Module: "conv1d_sixteen", Plan: o.sixteen, Refuses: o.windowLimit(operandTaps)},
		{Name: "conv1d_strips", Adds: "28 outputs per thread, in warps that wait for no other: bulk copies, and a loop of 32 taps in uniform registers with 31 instructions beside its 896 multiplications", Source: "ours", Needs: gpu.Compute{Major: 9}, Module: "conv1d_strips", Plan: o.strips, Refuses: o.windowLimit(operandTaps)},
		{Name: "conv1d_vector", Adds: "up to 9 taps: four outputs per thread, vectors of x from L1: no shared memory and no barrier; blocks of 128 threads", Source: "ours", Plan: o.vector, Refuses: o.windowLimit(vectorTaps)},
		{Name: "conv1d_toeplitz", Adds: "tensor cores: sixteen outputs are a Toeplitz matrix of the taps times x, both split into two scaled float16 numbers; a block whose numbers lie too far apart adds float32", Source: "ours",
			Module: "conv1d_toeplitz", Needs: ladder.Ampere, Plan: o.toeplitz, Refuses: o.stepLimit},
		{Name: "conv1d_toeplitz_warps", Adds: "warps that wait for no other: the next part of x comes to registers while one is multiplied; taps are split once per block, for up to 102 of them", Source: "ours",
			Module: "conv1d_toeplitz", Needs: ladder.Ampere, Plan: o.toeplitzWarps, Refuses: o.partLimit},
	}
}

func mistakesOf(o *ladder.Operator) *ladder.Operator {
	m := *o
	m.Name, m.Module, m.Peers = "conv1d_mistakes", "mistakes", nil
	m.Parameters, m.Remake = nil, nil
	m.Source = "founding note 001, as it stands"
	m.Cases = []ladder.Case{{Size: ladder.Size{512, 9}}, {Size: ladder.Size{600, 9}}, {Size: ladder.Size{1000, 4}}}
	m.Variants = []ladder.Variant{
		{Name: "mistake_no_guard", Adds: "the listing as it stands: threads past the last output store, unless n is a multiple of 256", Source: "001 convolution_1D", Plan: asPublished,
			Expect: func(s ladder.Size) string {
				if s[0]%threads == 0 {
					return ""
				}
				return ladder.CheckFault + gpu.ErrOutOfBounds.Error()
			}},
		{Name: "mistake_flipped_mask", Adds: "a convolution where a correlation is meant: symmetric masks hide it", Source: "ours", Plan: asPublished, Refuses: chance,
			Expect: func(ladder.Size) string { return ladder.CheckBound }},
	}
	return &m
}

// chance refuses sizes at which random masks may be as good as symmetric.
func chance(s ladder.Size) error {
	if s[0] < 256 || s[1] < 2 {
		return fmt.Errorf("%w: whether a flipped mask shows in %d outputs of %d taps is chance: expected at least 256 of 2", gpu.ErrUnsupported, s[0], s[1])
	}
	return nil
}

func asPublished(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return ladder.Plan{Depth: s[1] + 1, Steps: []ladder.Step{{
		Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(s[0], threads)}, Block: gpu.Dim{X: threads}, Args: []any{"x", "mask", "y", uint32(s[0]), uint32(s[1])},
	}}}
}
