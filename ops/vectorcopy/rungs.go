package vectorcopy

import "warpbook/ops/ladder"

var variants = []ladder.Variant{
	{
		Name: "vectorcopy_one_thread", Adds: "one thread copies everything",
		Source: "000", Plan: blocks(1, ladder.OneBlock),
	},
	{
		Name: "vectorcopy_one_block", Adds: "the 256 threads of one block share all elements",
		Source: "000", Plan: blocks(256, ladder.OneBlock),
	},
	{
		Name: "vectorcopy_block_32", Adds: "many blocks: a thread for each element, in blocks of 32",
		Source: "003", Plan: blocks(32, ladder.PerElements(1)),
	},
	{
		Name: "vectorcopy_block_256", Adds: "blocks of 256 threads",
		Source: "003", Plan: blocks(256, ladder.PerElements(1)),
	},
	{
		Name: "vectorcopy_grid_stride", Adds: "as many blocks as the GPU holds at a time: they stride over the vector",
		Source: "003", Plan: blocks(256, ladder.Resident(1)),
	},
	{
		Name: "vectorcopy_vec4", Adds: "accesses of 16 bytes",
		Source: "ours", Plan: blocks(256, ladder.Resident(4)),
	},
	{
		Name: "vectorcopy_in_flight", Adds: "four vectors per iteration: four loads are in flight",
		Source: "ours", Plan: blocks(256, ladder.Resident(4)),
	},
	{
		Name: "vectorcopy_one_turn", Adds: "no loop: a block copies 1024 vectors, four per thread",
		Source: "ours", Plan: blocks(256, ladder.PerElements(16)),
	},
	{
		Name: "vectorcopy_one_vector", Adds: "one vector per thread: more blocks, one load in flight",
		Source: "ours", Plan: blocks(256, ladder.PerElements(4)),
	},
	{
		Name: "vectorcopy_block_1024", Adds: "blocks of 1024 threads: two fill a multiprocessor",
		Source: "ours", Plan: blocks(1024, ladder.PerElements(4)),
	},
}
