package sort

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// blockShapes are the blocks of block_radix.cu that sort all keys alone: threads, and keys
// of each. The keys of the largest fill the 64 KB of shared memory that a block of sm_75 has.
var blockShapes = []struct{ threads, items int }{{256, 4}, {512, 8}, {512, 32}}

const blockMost = 512 * 32

// aBlock launches the smallest block that has room for the keys.
func (l layout) aBlock(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	if s[0] == 0 {
		return ladder.Plan{}
	}
	shape := 0
	for blockShapes[shape].threads*blockShapes[shape].items < s[0] {
		shape++
	}
	threads, keys := blockShapes[shape].threads, blockShapes[shape].threads*blockShapes[shape].items
	counts := 32 * (threads/32 + 1) // a digit's, of each warp
	if keys == blockMost {
		counts = 0 // they lie where the keys do
	}
	return ladder.Plan{Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: threads}, Shared: 4 * (keys + counts),
		Args: append(l.buffers(0, 1), uint32(s[0]))}}}
}

// tooManyForBlock rejects more keys than the largest block sorts.
func tooManyForBlock(s ladder.Size) error {
	if s[0] <= blockMost {
		return nil
	}
	return fmt.Errorf("ops: sort: %d keys: %w: one block sorts at most %d, use sort_onesweep_early", s[0], gpu.ErrUnsupported, blockMost)
}
