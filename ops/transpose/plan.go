package transpose

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// tiling describes how a grid covers the matrix: one block for each tile.
type tiling struct {
	edge   int     // of the square tile
	block  gpu.Dim // threads
	byRows bool    // the grid's x dimension runs over the rows of a, not its columns
}

// The tilings of the rungs.
var (
	oneElement = tiling{edge: 32, block: gpu.Dim{X: 32, Y: 32}}
	alongRows  = tiling{edge: 32, block: gpu.Dim{X: 32, Y: 32}, byRows: true}
	fourRows   = tiling{edge: 32, block: gpu.Dim{X: 32, Y: 8}}
	tile64     = tiling{edge: 64, block: gpu.Dim{X: 256}}
)

// tiles launches an entry once, with a block for each tile.
func tiles(t tiling) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		rows, columns := size[0], size[1]
		if rows == 0 || columns == 0 {
			return ladder.Plan{}
		}
		grid := gpu.Dim{X: ladder.CeilDiv(columns, t.edge), Y: ladder.CeilDiv(rows, t.edge)}
		if t.byRows {
			grid.X, grid.Y = grid.Y, grid.X
		}
		return ladder.Plan{Steps: []ladder.Step{{
			Entry: entry, Grid: grid, Block: t.block,
			Args: []any{"a", "b", uint32(rows), uint32(columns)},
		}}}
	}
}
