package sort

import (
	"slices"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// variants are the rungs of a type. Keys of uint32 have all; pairs have those that are
// stable and fast enough to be used, and the other types the best of either kind.
func variants(t gpu.Type, prefix string, pairs bool) []ladder.Variant {
	l := layout{t, pairs}
	wide := l.sweeps(l.countColumns, wideThreads, wideTile, 0)
	early := ladder.Variant{Name: "onesweep_early", Adds: "tiles of 9216 keys publish their counts before they rank; one lane per digit takes the places of a row, and each key goes to its place in the tile at once", Module: "onesweep_early", Plan: l.early(earlyBytes)}
	large := ladder.Variant{Name: "onesweep_large", Adds: "tiles of 6144, a third more, in 73 KB of shared memory", Module: "onesweep_large", Needs: gpu.Compute{Major: 8}, Plan: l.early(largeBytes)}
	switch {
	case pairs:
		early.Module, early.Adds = "onesweep_early_8", "tiles of 4608 pairs publish their counts before they rank; key and value go to their place in the tile as one number of 64 bits"
	case t.Bytes() == 8:
		early.Module, early.Adds = "onesweep_early_8", "tiles of 4608 keys publish their counts before they rank; digits are counted in half as many columns"
	}
	all := []ladder.Variant{
		{Name: "bitonic", Adds: "one block: a network of comparisons in shared memory, at most 2048 keys", Plan: l.oneTile, Refuses: tooLong},
		{Name: "merge_serial", Adds: "many blocks sort 2048 keys each; launches merge pairs of runs, one thread for each pair", Plan: l.merges(aThread)},
		{Name: "merge_path", Adds: "merge path finds where each thread's results begin: all threads merge, in the tile and across tiles", Plan: l.merges(aTile)},
		{Name: "tile_merge", Adds: "tiles of up to 33 792 keys, 33 per thread: an odd number meets no bank twice; a merge reads a key once", Module: "four_way", Plan: l.large(2).plan},
		{Name: "four_way", Adds: "a pass merges four runs: half the passes; a separate launch finds the four parts of a tile", Module: "four_way", Plan: l.large(4).plan},
		{Name: "network_merge", Adds: "tiles of registers: warps sort 1024 keys by networks; sentinels end the runs of a merge, which takes six instructions per key; a pass merges eight runs", Module: "network_merge", Needs: gpu.Compute{Major: 8}, Plan: network{l, []int{512}, 32, 8, 256, 64, 67, true}.plan},
		{Name: "radix_1", Adds: "no comparisons: 32 times, keys with a 0 before those with a 1; count, scan, scatter", Plan: l.digits(1)},
		{Name: "radix_4", Adds: "digits of 4 bits: 8 passes; ballots rank equal digits", Plan: l.digits(4)},
		{Name: "onesweep", Adds: "digits of 8 bits, and one read and one write per pass: tiles look back for each digit, and are sorted before they are written", Plan: l.onesweep()},
		{Name: "onesweep_wide", Adds: "tiles of 8192 keys, four statuses at a time; digits are counted in a column for each lane, from loads of 16 bytes", Module: "onesweep_wide", Plan: wide},
		{Name: "onesweep_ballots", Adds: "eight ballots per key in place of atomicOr: less traffic of shared memory, and more instructions", Module: "onesweep_wide", Plan: wide},
		{Name: "onesweep_match", Adds: "one match.any per key in place of eight ballots", Module: "onesweep_wide", Plan: wide},
		early,
		large,
		{Name: "network_few", Adds: "tiles of 4096 or 8192 keys, 16 per thread, and blocks that find their parts of four runs themselves: all multiprocessors work, and a pass is one launch", Module: "network_merge", Needs: gpu.Compute{Major: 8}, Plan: network{l, []int{256, 512}, 16, 4, 128, 16, 17, false}.plan, Refuses: tooManyForNetwork},
		{Name: "block_radix", Adds: "one block and one launch, at most 16 384 keys in registers: digits of 5 bits, one per lane, counted by ballots", Module: "block_radix", Plan: l.aBlock(false), Refuses: tooManyForBlock},
		{Name: "block_buckets", Adds: "one pass by the first bits into as many buckets as keys, or twice as many; keys of a bucket compare themselves; more than 16 in one: the passes of block_radix", Module: "block_buckets", Plan: l.aBlock(true), Refuses: tooManyForBlock},
	}
	switch {
	case pairs:
		all = slices.DeleteFunc(all, func(v ladder.Variant) bool {
			return !slices.Contains([]string{"merge_path", "four_way", "radix_4", "onesweep", "onesweep_early", "onesweep_large"}, v.Name)
		})
	case t != gpu.Uint32:
		all = slices.DeleteFunc(all, func(v ladder.Variant) bool {
			return !slices.Contains([]string{"merge_path", "onesweep", "onesweep_early", "onesweep_large"}, v.Name)
		})
	}
	switch last := len(all) - 1; {
	case t.Bytes() == 4 && !pairs:
		all = slices.DeleteFunc(all, func(v ladder.Variant) bool { return v.Name == "onesweep_large" })
	case t.Bytes() == 8: // the last rung is the default, and the smaller tiles are faster here
		all[last-1], all[last] = all[last], all[last-1]
	}
	for i := range all {
		all[i].Name, all[i].Source = prefix+all[i].Name, "ours"
	}
	return all
}
