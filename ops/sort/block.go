package sort

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// blockShapes are the blocks of block_radix.cuh that sort all keys alone: threads, keys of
// each, and bits that choose a bucket of block_buckets.cuh. The keys of the largest fill the
// 64 KB of shared memory that a block of sm_75 has.
var blockShapes = []struct{ threads, items, bits int }{{256, 4, 11}, {512, 8, 13}, {512, 32, 14}}

const blockMost = 512 * 32

// aBlock launches the smallest block that has room for the keys: their number, and counts of
// each warp or counters of 16 bits of the buckets. In the largest these lie where the keys do.
func (l layout) aBlock(buckets bool) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 {
			return ladder.Plan{}
		}
		b := blockShapes[0]
		for _, larger := range blockShapes[1:] {
			if b.threads*b.items < s[0] {
				b = larger
			}
		}
		keys, counts := b.threads*b.items, 32*(b.threads/32+1)
		if buckets {
			counts = max(counts, 1<<b.bits/2)
		}
		if keys == blockMost {
			counts = 0
		}
		return ladder.Plan{Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: b.threads}, Shared: 4 * (keys + counts),
			Args: append(l.buffers(0, 1), uint32(s[0]))}}}
	}
}

// tooManyForBlock rejects more keys than the largest block sorts.
func tooManyForBlock(s ladder.Size) error {
	if s[0] <= blockMost {
		return nil
	}
	return fmt.Errorf("ops: sort: %d keys: %w: one block sorts at most %d, use sort_onesweep_early", s[0], gpu.ErrUnsupported, blockMost)
}
