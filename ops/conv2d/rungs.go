package conv2d

import (
	"warpbook/ops/ladder"
)

func (o Options) variants() []ladder.Variant {
	b := o.float32()
	split, depths := splitRung{boxed: b}, splitRung{boxed: b, depths: true}
	if o.Depth {
		return []ladder.Variant{
			{Name: "conv3d_direct", Adds: "one thread for each output; both factors from global memory", Source: "ours", Plan: o.direct},
			{Name: "conv3d_implicit", Adds: "implicit GEMM: tiles of 64 x 64 of a product, whose columns are read from x as im2col would write them", Source: "ours", Plan: o.implicit},
			{Name: "conv3d_registers", Adds: "8 channels by 8 places per thread; a plane of x with its halo and filters of a channel, copied 16 bytes at a time while two stages before are multiplied", Source: "ours",
				Module: "conv3d_registers", Needs: ladder.Ampere, Plan: registersRung{o}.plan, Refuses: registersRung{o}.refuses},
			{Name: "conv3d_sevens", Adds: "7 places per thread in tiles of 4 rows: four warps per block, five blocks per multiprocessor; filters lie in the order of their stages", Source: "ours",
				Module: "conv3d_sevens", Needs: ladder.Ampere, Plan: sevensRung{o}.plan, Refuses: sevensRung{o}.refuses},
			{Name: "conv3d_fourteens", Adds: "14 places per thread, sums in the register bank that their filters are not in; warps that only copy, and the two warpgroups of each multiprocessor have equal shares of all tiles", Source: "ours",
				Module: "conv3d_fourteens", Needs: hopper, Plan: fourteensRung{o}.plan, Refuses: fourteensRung{o}.refuses},
			{Name: "conv3d_bf16x3", Adds: "Hopper's tensor cores: x and w are split into three bfloat16 numbers each, channels innermost: six products, added to float32 sums after each tap of 64 channels", Source: "ours",
				Module: "conv2d_split", Needs: hopper, Plan: split.plan, Refuses: split.refuses},
			{Name: "conv3d_bf16x3_depths", Adds: "the 64 rows of a product are 32 channels of two depths of y, or 16 of four, which share the pixels", Source: "ours",
				Module: "conv2d_split", Needs: hopper, Picks: true, Plan: depths.plan, Refuses: depths.refuses},
			{Name: "conv3d_fp16x2", Adds: "two scaled float16 numbers per factor: the 64 rows of a product are both numbers of 32 channels, filters stay in shared memory; a box of x whose numbers do not fit the scale of all is split again, or added as float32", Source: "ours",
				Module: "conv3d_halves", Needs: hopper, Plan: fp16x2Rung{b}.plan, Refuses: fp16x2Rung{b}.refuses},
		}
	}
	return []ladder.Variant{
		{Name: "conv2d_direct", Adds: "one thread for each output; both factors from global memory", Source: "ours", Plan: o.direct},
		{Name: "conv2d_shared", Adds: "a channel of x with its halo in shared memory, for 16 x 16 outputs of 8 channels", Source: "ours", Plan: sharedRung{o}.plan, Refuses: sharedRung{o}.refuses},
		{Name: "conv2d_im2col", Adds: "im2col writes a column for each output, and a product of matrices follows: tiles of 64 x 64, 16 sums per thread", Source: "ours", Plan: im2colRung{o}.plan, Refuses: im2colRung{o}.refuses},
		{Name: "conv2d_implicit", Adds: "the same product without the matrix in memory: its columns are read from x", Source: "ours", Plan: o.implicit},
		{Name: "conv2d_fourteens", Adds: "float32 without a product: 8 channels by 14 places per thread, sums in the register bank that their filters are not in; warps that only copy, and the two warpgroups of each multiprocessor have equal shares of all tiles", Source: "ours",
			Module: "conv3d_fourteens", Needs: hopper, Picks: true, Plan: fourteensRung{o}.plan, Refuses: fourteensRung{o}.refuses},
		{Name: "conv2d_bf16x3", Adds: "Hopper's tensor cores: x and w are split into three bfloat16 numbers each, channels innermost: six products, added to float32 sums after each tap of 64 channels", Source: "ours",
			Module: "conv2d_split", Needs: hopper, Plan: split.plan, Refuses: split.refuses},
		{Name: "conv2d_fp16x3", Adds: "two float16 numbers each, scaled: three products; filters of a layer of 64 channels stay in shared memory, and warpgroups take two rows of places in turn", Source: "ours",
			Module: "conv2d_halves", Needs: hopper, Plan: fp16x3Rung{b}.plan, Refuses: fp16x3Rung{b}.refuses},
	}
}

func (o Options) tensorVariants(name string) []ladder.Variant {
	r := tensorRung{boxed{o, name}}
	variants := []ladder.Variant{
		{Name: name + "_mma", Adds: "tensor cores: implicit GEMM with mma.sync, 64 x 64 per block, factors loaded one by one", Source: "ours", Module: "conv2d_tensor", Needs: ladder.Ampere, Picks: o.Depth, Plan: r.plan},
		{Name: name + "_vector", Adds: "16 bytes per load: channels of a group are whole vectors", Source: "ours", Module: "conv2d_tensor", Needs: ladder.Ampere, Picks: o.Depth, Plan: r.plan, Refuses: r.refusesVectors},
	}
	if o.NHWC {
		variants = append(variants, o.hopperVariants(name)...)
	}
	return variants
}
