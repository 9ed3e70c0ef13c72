package scan

import (
	"slices"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// variants are the rungs of a type; uint64 has those whose tiles fit with eight bytes an
// element, and of the rest only what differs.
func variants(t gpu.Type, prefix string, exclusive bool) []ladder.Variant {
	words := 1
	if t == gpu.Uint64 {
		words = 2
	}
	all := []ladder.Variant{
		{Name: "hillis_steele", Adds: "one block; each step adds what lies 1, 2, 4, ... places before", Plan: oneBlock(256, exclusive)},
		{Name: "blelloch", Adds: "a tree, up and down: two additions per element", Plan: oneBlock(512, exclusive)},
		{Name: "shuffle", Adds: "lanes exchange registers; shared memory holds a word for each warp", Plan: oneBlock(256, exclusive)},
		{Name: "two_kernels", Adds: "many blocks: one launch adds chunks up, the next scans them and reads x again", Plan: twoKernels(t, exclusive)},
		{Name: "two_wide", Adds: "the same with one tile per block, and 16 bytes per access: short vectors get as many blocks as they need", Plan: twoWide(t, exclusive)},
		{Name: "cluster", Adds: "one launch: the blocks of a cluster exchange sums through distributed shared memory, and a later cluster adds up all that lies before it",
			Module: "cluster", Needs: gpu.Compute{Major: 9}, Plan: inClusters(exclusive), Refuses: tooManyForClusters},
		{Name: "chained", Adds: "one launch and one read of x: each tile waits for the one before; 16 bytes per access", Plan: onePass(smallTile, words, exclusive, true)},
		{Name: "look_back_thread", Adds: "a tile publishes its own sum at once; a thread looks back over those before", Plan: onePass(smallTile, words, exclusive, true)},
		{Name: "look_back_warp", Adds: "a warp looks back, 32 tiles at a time", Plan: onePass(smallTile, words, exclusive, true)},
		{Name: "look_back_wide", Adds: "32 elements per thread: an eighth of the tiles", Plan: onePass(wideTile, words, exclusive, true)},
		{Name: "deterministic", Adds: "groups of 32 tiles are added in one order and chained: the bits of a float never vary", Plan: inGroups(exclusive)},
		{Name: "pipeline_bulk", Adds: "persistent blocks; the copy engine loads ahead and stores, and three warps look back while others scan",
			Module: "pipeline", Needs: gpu.Compute{Major: 9}, Plan: pipeline(t, words, 3, false, exclusive)},
		{Name: "pipeline", Adds: "the warps that scan store, too; a fourth looks back",
			Module: "pipeline", Needs: gpu.Compute{Major: 9}, Plan: pipeline(t, words, 4, false, exclusive)},
		{Name: "pipeline_groups", Adds: "two loads in flight, so that none is late; a look-back reads the sums of two groups of 256 tiles, whose bits never vary, and never waits for a chain",
			Module: "pipeline", Needs: gpu.Compute{Major: 9}, Plan: pipeline(t, words, 5, true, exclusive)},
	}
	if t == gpu.Uint64 {
		all = slices.DeleteFunc(all, func(v ladder.Variant) bool {
			return !slices.Contains([]string{"two_kernels", "two_wide", "cluster", "look_back_warp", "look_back_wide", "pipeline_bulk", "pipeline", "pipeline_groups"}, v.Name)
		})
	}
	for i := range all {
		all[i].Name, all[i].Source = prefix+all[i].Name, "ours"
	}
	return append(all, ladder.Variant{Name: prefix + "auto", Adds: "the rung of this length: a cluster, two launches, or the pipeline where the device has it", Source: "ours",
		Picks: true, Plan: best(t, prefix, all)})
}
