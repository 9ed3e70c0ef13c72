package gemm

import "warpbook/ops/ladder"

func (o Options) variants() []ladder.Variant {
	ladder := append(o.naiveVariants(), o.tiledVariants()...)
	ladder = append(append(ladder, o.layoutVariants()...), o.pipelineVariants()...)
	return append(ladder, o.auto())
}

func (o Options) naiveVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "cpu_triple_loop", Adds: "float32 in compiled Go on one core: rows, columns, k",
			Source: "003 gemm_example", Plan: o.host, Host: o.tripleLoop, Refuses: tripleLoopRefuses,
			Published: ladder.Published("003 gemm_example", "time"),
		},
		{
			Name: "gemm_uncoalesced", Adds: "one GPU thread for each element; a warp walks down a column of D",
			Source: "ours, the mistake that 003 avoids", Plan: o.tiles(32, 32, 32, 32),
		},
		{
			Name: "gemm_naive_16", Adds: "a warp lies along two rows of D: its reads of B are coalesced",
			Source: "003 gemm_baseline_kernel", Plan: o.tiles(16, 16, 16, 16),
			Published: ladder.Published("003 gemm_baseline_kernel", "rate"),
		},
		{
			Name: "gemm_naive_32", Adds: "a warp is one row of D: A is read once per warp",
			Source: "003 gemm_baseline_kernel", Plan: o.tiles(32, 32, 32, 32),
		},
	}
}

func (o Options) tiledVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_shared", Joined: true, Adds: "32 x 32 tiles of A and B in shared memory: global memory is read 32 times less",
			Source: "003 1", Plan: o.tiles(32, 32, 32, 32),
		},
		{
			Name: "gemm_tile_1d", Joined: true, Adds: "a thread computes 8 elements of a column: an element of B is used 8 times from a register",
			Source: "003 2", Plan: o.tiles(64, 64, 512, 1),
		},
		{
			Name: "gemm_tile_2d", Joined: true, Adds: "a thread computes 8 x 8 elements: 16 reads of shared memory for 64 products",
			Source: "003 2 and 3", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_float4", Adds: "vectors of four; A is transposed on its way into shared memory",
			Source: "003, first listing", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_double_buffer", Adds: "two buffers: the next tile is read while the current one is multiplied",
			Source: "003 4 and first listing", Plan: o.tiles(128, 128, 256, 1),
			Published: ladder.Published("003 gemm_kernel, first listing", "rate"),
		},
	}
}

func (o Options) layoutVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_conflict_free", Adds: "a thread's columns are two groups of four, 64 apart: reads of B no longer conflict; 4 x 4 stores",
			Source: "003, second listing", Plan: o.tiles(128, 128, 256, 1),
			Published: ladder.Published("003 gemm_kernel, second listing", "rate"),
		},
		{
			Name: "gemm_padded", Adds: "rows of A are 4 floats longer in shared memory: the transposing stores no longer conflict",
			Source: "ours", Plan: o.tiles(128, 128, 256, 1),
		},
		{
			Name: "gemm_warp_tile", Adds: "a warp owns 64 x 32 elements; neighbouring lanes share addresses: half the wavefronts",
			Source: "003 on maxas", Plan: o.tiles(128, 128, 256, 1),
		},
	}
}

func (o Options) pipelineVariants() []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "gemm_cp_async", Adds: "B goes to shared memory without passing registers, two steps of 16 ahead; whole tiles need no bounds checks",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(128, 128, 256, pipelineBytes),
		},
		{
			Name: "gemm_serpentine", Adds: "the products of a thread follow a serpentine: neighbours share a register",
			Source: "003 on FFMA order", Needs: ladder.Ampere, Plan: o.staged(128, 128, 256, pipelineBytes),
		},
		{
			Name: "gemm_sliced_k", Adds: "tiles of 32 x 64, and the warps of a block cut k in four: a small D fills the GPU",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(32, 64, 256, 3*32*(36+64)*4),
		},
		{
			Name: "gemm_sliced_k_16", Adds: "tiles of 16 x 32",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(16, 32, 256, 3*64*(20+32)*4),
		},
		{
			Name: "gemm_split_k", Adds: "blocks of 128 x 128 take shares of k, as many as fill the GPU; a second launch adds them",
			Source: "ours", Plan: o.splitK,
		},
		{
			Name: "gemm_wide", Adds: "a thread computes 8 x 16 elements, in a loop of four k that stays in the instruction cache; every size takes the fast path",
			Source: "ours", Needs: ladder.Ampere, Plan: o.wide,
		},
		{
			Name: "gemm_sliced_64", Adds: "tiles of 64 x 64, each step along k cut among four slices of two warps",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(64, 64, 256, 3*32*(68+64)*4),
		},
		{
			Name: "gemm_sliced_32", Adds: "tiles of 32 x 64, a slice is one warp",
			Source: "ours", Needs: ladder.Ampere, Plan: o.staged(32, 64, 128, 3*32*(36+64)*4),
		},
		{
			Name: "gemm_stream_k", Adds: "all blocks end together: what is left after whole rounds of tiles is shared along k",
			Source: "ours", Needs: ladder.Ampere, Plan: o.streamed(wideStream),
		},
		{
			Name: "gemm_stream_k_64", Adds: "tiles of 64 x 64, cut among four slices of one warp: few rows or columns, and a long k",
			Source: "ours", Needs: ladder.Ampere, Plan: o.streamed(smallStream),
		},
		o.specialized("gemm_specialized", "Hopper: tiles of 128 x 256; a warpgroup has the copy engine bring A and B and transposes A, two only multiply",
			o.streamed(specializedStream)),
		o.copied("gemm_cluster", "gemm_cluster", "Hopper: two to four blocks share the steps along k of a tile of 128 x 128, and add through each other's shared memory",
			clusterTile, o.clustered),
	}
}
