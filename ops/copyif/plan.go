package copyif

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// pipelineTile is how many elements a block of pipeline.cu has at a time.
const pipelineTile = 30 * 4 * 128 // = TILE

// launch is one of the kernels that take places from the counter, in any order, with so
// many blocks of so many threads.
func launch(room float64, blocks func(n int) int, threads int) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		if size[0] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{AnyOrder: true, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: blocks(size[0])}, Block: gpu.Dim{X: threads},
			Args: []any{"x", "y", "count", uint32(size[0]), uint32(capacity(room, size))}, Zero: []string{"count"},
		}}}
	}
}

// The grids of the notes: a thread an element, or one size that strides.
func perElement(n int) int { return ladder.CeilDiv(n, 256) }
func ofNotes(int) int      { return 128 }

// perTile is a block for each 4096 elements.
func perTile(n int) int { return ladder.CeilDiv(n, 4096) }

// twoPasses counts the tiles, adds them up in one block, and writes them.
func twoPasses(room float64) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := perTile(n)
		step := func(entry string, blocks, threads int, args ...any) ladder.Step {
			return ladder.Step{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: threads}, Args: args}
		}
		return ladder.Plan{
			Scratch: []ladder.Tensor{{Name: "starts", Len: tiles, Type: gpu.Uint32}},
			Steps: []ladder.Step{
				step(entry, tiles, 256, "x", "starts", uint32(n)),
				step(entry+"_2", 1, 1024, "starts", "count", uint32(tiles)),
				step(entry+"_3", tiles, 256, "x", "y", "starts", uint32(n), uint32(capacity(room, size))),
			},
		}
	}
}

// lookBack launches a block for each tile of 8192 elements.
func lookBack(room float64) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := ladder.CeilDiv(n, 8192)
		return onePass(tiles, ladder.Step{Entry: entry, Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: 256},
			Args: []any{"x", "y", "count", "status", "ticket", uint32(n), uint32(capacity(room, size))}})
	}
}

// pipeline launches a block a multiprocessor, with three stages of a tile.
func pipeline(room float64) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := ladder.CeilDiv(n, pipelineTile)
		return onePass(tiles, ladder.Step{Entry: entry, Grid: gpu.Dim{X: min(tiles, info.SMs)}, Block: gpu.Dim{X: 1024}, Shared: 3 * 4 * pipelineTile,
			Args: []any{"x", "y", "count", "status", "ticket", uint32(n), uint32(capacity(room, size)), uint32(tiles)}})
	}
}

// onePass is a launch whose blocks draw tiles and publish their status.
func onePass(tiles int, step ladder.Step) ladder.Plan {
	step.Zero = []string{"status", "ticket"}
	return ladder.Plan{
		Scratch: []ladder.Tensor{{Name: "status", Len: tiles, Type: gpu.Uint64}, {Name: "ticket", Len: 1, Type: gpu.Uint32}},
		Steps:   []ladder.Step{step},
	}
}
