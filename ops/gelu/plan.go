package gelu

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// launch runs an entry once, with a thread for so many elements, in blocks of 256.
func launch(elements int, round float64) ladder.Planner { return blocks(256, elements, round) }

// blocks is launch in blocks of so many threads.
func blocks(threads, elements int, round float64) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Round: round, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, threads*elements)}, Block: gpu.Dim{X: threads},
			Args: []any{"x", "y", uint32(n)},
		}}}
	}
}
