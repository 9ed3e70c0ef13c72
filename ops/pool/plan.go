package pool

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of pool.cu.
const (
	threads       = 256 // = maxntid(maxpool_shared)
	tileRows      = 8   // = tile_rows
	tileColumns   = 32  // = tile_columns
	outputsDown   = 4   // = outputs_down
	outputsAcross = 4
	tileFloats    = 12_000 // of shared memory at most, 48 KB
)

// tile is the number of elements that a block of the shared rung reads.
func (o Options) tile() int {
	return ((tileRows-1)*o.Stride + o.Window) * ((tileColumns-1)*o.Stride + o.Window)
}

// tiles are the threads of the shared rung.
func (o Options) tiles(s ladder.Size) int {
	return s[0] * ladder.CeilDiv(o.places(s[1]), tileRows) * ladder.CeilDiv(o.places(s[2]), tileColumns) * threads
}

func (o Options) tileLimit(ladder.Size) error {
	if n := o.tile(); n > tileFloats {
		return fmt.Errorf("%w: a tile of %d elements for a window of %d and a stride of %d: expected at most %d in shared memory; use the rung clipped or rows", gpu.ErrUnsupported, n, o.Window, o.Stride, tileFloats)
	}
	return nil
}

// shape is Shape of pool.cuh.
type shape struct {
	Planes, H, W, OH, OW, Window, Stride uint32
	Padding                              int32
	CountPadding                         uint32
}

// plan launches an entry with so many threads.
func (o Options) plan(average bool, count func(ladder.Size) int, shared int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := count(s)
		if n == 0 {
			return ladder.Plan{}
		}
		p := shape{uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(o.places(s[1])), uint32(o.places(s[2])), uint32(o.Window), uint32(o.Stride), int32(o.Padding), 0}
		if o.CountPadding {
			p.CountPadding = 1
		}
		args := []any{"x", "y", "index", p}
		if average {
			args = []any{"x", "y", p}
		}
		return ladder.Plan{Depth: o.Window*o.Window + 2, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, threads)}, Block: gpu.Dim{X: threads}, Shared: shared, Args: args,
		}}}
	}
}
