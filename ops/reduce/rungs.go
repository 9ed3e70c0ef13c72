package reduce

import "warpbook/ops/ladder"

var variants = []ladder.Variant{
	{
		Name: "cpu_serial", Adds: "float32 in compiled Go on one core, first element to last",
		Source: "002", Plan: oneThread, Host: inOrder, Order: inOrder, Expect: stuck,
		Published: ladder.Published("002 CPU", "latency"),
	},
	{
		Name: "reduce_serial", Adds: "one GPU thread adds everything, as a CPU would",
		Source: "000 2.1", Plan: oneThread, Order: inOrder, Expect: stuck,
		Published: ladder.Published("000 SerialKernel", "latency"),
	},
	{
		Name: "reduce_v0_interleaved", Adds: "a tree in shared memory over 256 threads, neighbours first, chosen with %",
		Source: "000 2.2, 001 baseline", Plan: blockSums(256, 1),
		Published: ladder.Published("000 reduce_v0", "latency"),
	},
	{
		Name: "reduce_v1_strided_index", Adds: "the threads that add are neighbours: whole warps go idle",
		Source: "000 2.3", Plan: blockSums(256, 1),
		Published: ladder.Published("000 reduce_v1", "latency"),
	},
	{
		Name: "reduce_v2_sequential", Adds: "the elements that are added lie side by side: no bank conflicts",
		Source: "000 2.4, 001 sum_2", Plan: blockSums(256, 1),
		Published: ladder.Published("000 reduce_v2", "latency"),
	},
	{
		Name: "reduce_v3_first_add", Adds: "each thread adds two elements while loading: half the blocks",
		Source: "000 2.5, 001 sum_3", Plan: blockSums(256, 2),
		Published: ladder.Published("000 reduce_v3", "latency"),
	},
	{
		Name: "reduce_v4_last_warp", Adds: "the last warp is unrolled and synchronises itself, not the block",
		Source: "000 2.6, 001 sum_4", Plan: blockSums(256, 2),
		Published: ladder.Published("000 reduce_v4", "latency"),
	},
	{
		Name: "reduce_v5_unrolled", Adds: "the loop over steps is unrolled: the block's size is a constant",
		Source: "000 2.7, 001 sum_5", Plan: blockSums(256, 2),
		Published: ladder.Published("000 reduce_v5", "latency"),
	},
	{
		Name: "reduce_v6_grid_stride", Adds: "8 blocks per multiprocessor stride over x; a second launch adds their sums",
		Source: "000 2.8", Plan: gridStride(256, 8, "_2"),
		Published: ladder.Published("000 reduce_v6", "latency"),
	},
	{
		Name: "reduce_warp_shuffle", Adds: "lanes pass registers to each other: shared memory holds one sum per warp",
		Source: "000 2.9", Plan: gridStride(256, 8, ""),
		Published: ladder.Published("000 reduce_warp_level", "latency"),
	},
	{
		Name: "reduce_global", Adds: "the tree in global memory, in place, on a copy",
		Source: "002", Plan: blockSumsInPlace(128),
		Published: ladder.Published("002 reduce_global", "latency"),
	},
	{
		Name: "reduce_shared_static", Adds: "the tree moves to static shared memory",
		Source: "002", Plan: blockSums(128, 1),
		Published: ladder.Published("002 reduce_shared", "latency"),
	},
	{
		Name: "reduce_shared_dynamic", Adds: "the launch names the size of the shared memory",
		Source: "002", Plan: blockSumsShared(128),
	},
	{
		Name: "reduce_syncwarp", Adds: "the last five steps synchronise a warp; block sums meet in an atomicAdd",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_shfl_down", Adds: "the last five steps are shuffles down",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_shfl_xor", Adds: "the shuffles exchange: every lane ends with the sum",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_cooperative_groups", Adds: "the warp is a tile of 32 threads of cooperative groups",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_two_pass", Adds: "10240 blocks stride over x into static device memory; one block adds",
		Source: "004", Plan: twoPass,
	},
	{
		// On an H200 in November 2026, the first launch alone: 25.6 us at 25.6 M and 92.2 at 1e8, where a
		// kernel that only reads takes 26.7 and 92.2. The best of a sweep over 660 shapes; with loads a grid
		// apart 26.0, and so 4 blocks of 256 25.8, 1 of 1024 25.9, 2 of 512 with 8 loads 26.6.
		Name: "reduce_bandwidth", Adds: "four float4 loads in flight per thread, 1536 threads per multiprocessor",
		Source: "ours", Plan: fourLoads.twoLaunches,
	},
	{
		// 26.9 us at 25.6 M on an H200 (November 2026), both launches of the rung before 29.1.
		Name: "reduce_last_block", Adds: "the last block to finish adds the sums of all: one launch",
		Source: "ours", Plan: fourLoads.lastBlock(),
	},
	{
		Name: "reduce_acquire_release", Adds: "the ticket is an atomic that acquires and releases, in place of two fences around it",
		Source: "ours", Plan: fourLoads.lastBlock(),
	},
	{
		Name: "reduce_eight_loads", Adds: "eight float4 loads in flight per thread, which leave nothing in L1, 1024 threads per multiprocessor",
		Source: "ours", Plan: eightLoads.lastBlock(),
	},
	{
		// 22.9 us at 25.6 M on an H200 (November 2026); a share of 41 MB of L2's 60 MiB 25.0, and
		// half of the lines evicted first but none last 26.9. Nothing is gained where L2 holds nothing of x.
		Name: "reduce_l2_resident", Adds: "a share of x, half of L2 large, is evicted last and the rest first: the next run finds it in L2",
		Source: "ours", Needs: ladder.Ampere, Plan: fourLoads.lastBlock(halfOfL2),
	},
}
