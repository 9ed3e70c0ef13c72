package vectoradd

import "warpbook/ops/ladder"

var variants = []ladder.Variant{
	{
		Name: "vectoradd_one_thread", Adds: "one thread adds everything",
		Source: "003", Plan: blocks(1, ladder.OneBlock),
	},
	{
		Name: "vectoradd_one_block", Adds: "the 256 threads of one block share all elements",
		Source: "003", Plan: blocks(256, ladder.OneBlock),
	},
	{
		Name: "vectoradd_block_32", Adds: "a thread for each element, in blocks of 32",
		Source: "003", Plan: blocks(32, ladder.PerElements(1)),
	},
	{
		Name: "vectoradd_block_256", Adds: "blocks of 256 threads",
		Source: "003", Plan: blocks(256, ladder.PerElements(1)),
	},
	{
		Name: "vectoradd_grid_stride", Adds: "as many blocks as the GPU holds at a time: they stride over the vectors",
		Source: "003", Plan: blocks(256, ladder.Resident(1)),
	},
	{
		Name: "vectoradd_vec4", Adds: "accesses of 16 bytes",
		Source: "ours", Plan: blocks(256, ladder.Resident(4)),
	},
	{
		Name: "vectoradd_in_flight", Adds: "four vectors per iteration: eight loads are on their way at once",
		Source: "ours", Plan: blocks(256, ladder.Resident(4)),
	},
	{
		Name: "vectoradd_one_vector", Adds: "no loop: a thread for each vector",
		Source: "ours", Plan: blocks(256, ladder.PerElements(4)),
	},
	{
		Name: "vectoradd_two_vectors", Adds: "two vectors per thread in blocks of 128: four loads are on their way at once",
		Source: "ours", Plan: blocks(128, ladder.PerElements(8)),
	},
	{
		Name: "vectoradd_streaming", Adds: "loads and stores leave the caches first",
		Source: "ours", Plan: blocks(256, ladder.PerElements(4)),
	},
	{
		Name: "vectoradd_block_1024", Adds: "blocks of 1024 threads, a vector each: two fill a multiprocessor",
		Source: "ours", Plan: blocks(1024, ladder.PerElements(4)),
	},
}
