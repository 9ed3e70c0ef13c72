package copyif

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// The rungs up to copy_if_compact leave the elements in any order, those after it in
// the order of x.
func variants(room float64) []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "copy_if_cpu", Adds: "compiled Go on one core, in the order of x",
			Source: "000 2.12", Plan: lookBack(room), Host: onHost,
		},
		{
			Name: "copy_if_filter", Adds: "one thread for each element; each kept element takes its place with an atomic",
			Source: "000 2.12", Plan: launch(room, perElement, 256),
		},
		{
			Name: "copy_if_origin", Adds: "a grid of one size, 128 x 512 threads, strides over x",
			Source: "000 2.12", Plan: launch(room, ofNotes, 512),
			Published: ladder.Published("000 origin_copy_if", "time beside the CPU's"),
		},
		{
			Name: "copy_if_block", Adds: "a block counts in shared memory and takes its places with one atomic",
			Source: "000 2.12", Plan: launch(room, ofNotes, 512),
			Published: ladder.Published("000 blocklevel_copy_if", "time beside the CPU's and origin_copy_if's"),
		},
		{
			Name: "copy_if_warp", Adds: "a warp takes its places with one atomic, without barriers",
			Source: "000 2.12", Plan: launch(room, ofNotes, 512),
			Published: ladder.Published("000 warplevel_copy_if", "time beside the other two's"),
		},
		{
			Name: "copy_if_block_scan", Adds: "a block sums up ballots and takes its places with one atomic",
			Source: "ours", Plan: launch(room, perElement, 256),
		},
		{
			Name: "copy_if_compact", Adds: "16 elements per thread in loads of 16 bytes; the block packs them in shared memory",
			Source: "ours", Plan: launch(room, perTile, 256),
		},
		{
			Name: "copy_if_two_passes", Adds: "order kept: the tiles are counted, their numbers added up, and x is read again",
			Source: "ours", Plan: twoPasses(room),
		},
		{
			Name: "copy_if_look_back", Adds: "order kept in one pass: a tile looks back over the numbers of those before",
			Source: "ours", Plan: lookBack(room),
		},
		{
			Name: "copy_if_pipeline", Adds: "persistent blocks; the copy engine loads ahead, and a separate warp looks back",
			Source: "ours", Plan: pipeline(room), Module: "pipeline", Needs: gpu.Compute{Major: 9},
		},
	}
}
