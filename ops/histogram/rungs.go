package histogram

import (
	"fmt"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Figures are of one H200, 23 November 2026, 2^28 values in 256 bins, in us: uniform,
// and all equal. A handle runs the last one that takes the bins: those for many bins
// stand before those for few.
func variants(bins int) []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "histogram_race", Adds: "each thread adds one to a counter in global memory, and threads overwrite each other's counts",
			Source: "000 2.11", Plan: oneElement(bins), Expect: lost, Refuses: chance,
		},
		{
			Name: "histogram_atomic", Adds: "the addition is atomic",
			Source: "000 2.11", Plan: oneElement(bins),
		},
		{
			Name: "histogram_shared", Adds: "a block counts in shared memory and adds its counts to the global ones at its end",
			Source: "000 2.11", Plan: gridStride(bins, 4*bins), Refuses: tooMany(bins, 4, 48),
			Published: ladder.Published("000 histgram", "latency"),
		},
		{
			Name: "histogram_per_warp", Adds: "each warp of a block has counters of its own",
			Source: "ours", Plan: gridStride(bins, 4*bins*threads/32), Refuses: tooMany(bins, 4*threads/32, 48),
		},
		{
			Name: "histogram_vec4", Adds: "loads of 16 bytes",
			Source: "ours", Plan: gridStride(bins, 4*bins*threads/32), Refuses: tooMany(bins, 4*threads/32, 48),
		},
		{
			Name: "histogram_match_any", Adds: "in place of counters for each warp: lanes with the same value find each other, and one adds for all",
			Source: "ours", Plan: gridStride(bins, 4*bins), Refuses: tooMany(bins, 4, 48),
		},
		{
			Name: "histogram_cluster", Adds: "for many bins: counters of 32 bits, spread over the blocks of a cluster",
			Source: "ours", Plan: many(bins, 4, 4*((bins+3)/4)), Module: "many", Needs: gpu.Compute{Major: 9},
		},
		{
			Name: "histogram_u16_counters", Adds: "for many bins: counters of 16 bits, which are added to the global ones before they overflow",
			Source: "ours", Plan: many(bins, 1, 4*((bins+1)/2)), Module: "many", Needs: gpu.Compute{Major: 9},
		},
		{
			Name: "histogram_u16_prefetch", Adds: "for many bins: loads of 16 bytes, four per thread, and the next four in flight",
			Source: "ours", Plan: many(bins, 1, 4*((bins+1)/2)), Module: "many", Needs: gpu.Compute{Major: 9},
		},
		{
			Name: "histogram_wide", Adds: "for many bins: counters of 32 bits in one block's 227 KiB, whose additions return no value",
			Source: "ours", Plan: many(bins, 1, 4*bins), Module: "many", Needs: gpu.Compute{Major: 9}, Refuses: tooMany(bins, 4, 227),
		},
		{
			Name: "histogram_per_lane", Adds: "each lane has counters of its own in its own bank: no conflicts, whatever the data",
			Source: "ours", Plan: perLane(bins, 2), Refuses: tooMany(bins, 128, 48),
		},
		{
			// 248 and 244, CUB 615. Two vectors in flight 254 and 251; two blocks a multiprocessor 259 and 242.
			Name: "histogram_prefetch", Adds: "loads of 16 bytes, four per thread; the next four are in flight while these are counted",
			Source: "ours", Plan: perLane(bins, 1), Refuses: tooMany(bins, 128, 48),
		},
	}
}

// racy is the smallest size at which the race is certain to lose counts: 32 of 256
// values in a warp meet in 7 of 8 warps, and this is 128 warps.
const racy = 4096

// lost expects missing counts from the race.
func lost(s ladder.Size) string {
	if s[0] >= racy {
		return ladder.CheckExact
	}
	return ""
}

// chance rejects the sizes at which the race may or may not lose a count.
func chance(s ladder.Size) error {
	if s[0] > 1 && s[0] < racy {
		return fmt.Errorf("%w: whether the race loses counts of %d values is chance: expected at most 1 or at least %d", gpu.ErrUnsupported, s[0], racy)
	}
	return nil
}
