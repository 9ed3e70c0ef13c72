package ladder

import "warpbook/gpu"

// Grid is the number of blocks of a launch over n elements.
type Grid func(n, threads int, info gpu.Info) int

// OneBlock is a grid of one block.
func OneBlock(int, int, gpu.Info) int { return 1 }

// PerElements is a grid with one thread for each group of that many elements.
func PerElements(elements int) Grid {
	return func(n, threads int, _ gpu.Info) int { return CeilDiv(n, threads*elements) }
}

// Resident is PerElements with at most eight blocks a multiprocessor: 2048 threads in
// blocks of 256.
func Resident(elements int) Grid {
	return func(n, threads int, info gpu.Info) int {
		return min(CeilDiv(n, threads*elements), 8*info.SMs)
	}
}

// Vectors plans one launch over vectors of n elements. The arguments are the named
// vectors and then n, as a uint32.
func Vectors(threads int, grid Grid, names ...string) Planner {
	return func(entry string, size Size, info gpu.Info) Plan {
		n := size[0]
		if n == 0 {
			return Plan{}
		}
		var args []any
		for _, name := range names {
			args = append(args, name)
		}
		return Plan{Steps: []Step{{
			Entry: entry, Grid: gpu.Dim{X: grid(n, threads, info)}, Block: gpu.Dim{X: threads}, Args: append(args, uint32(n)),
		}}}
	}
}
