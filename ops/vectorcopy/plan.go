package vectorcopy

import "warpbook/ops/ladder"

// blocks plans one launch in blocks of that many threads.
func blocks(threads int, grid ladder.Grid) ladder.Planner {
	return ladder.Vectors(threads, grid, "x", "y")
}
