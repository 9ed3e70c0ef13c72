package scan

import (
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Constants of pipeline.cu and cluster.cu, and elements of a tile: 256 threads with 4 or 32
// each; bytes of the pipeline's: 12 warps with 80 a lane.
const (
	smallTile     = 1024
	wideTile      = 8192
	pipelineBytes = 12 * 32 * 80 // = warps * vectors * 32 * 16

	pipelineStages = 7   // = stages
	pipelineGroup  = 256 // tiles
	groupTiles     = 32

	clusterBlocks = 8       // = cluster_blocks
	clusterMost   = 1 << 24 // elements, which take milliseconds
	wideFew       = 1 << 20 // elements up to which two launches take tiles of 2048, not of 4096

	// Bytes of x up to which a rung is the fastest on an H200.
	clusterBytes = 256 << 10
	twoWideBytes = 16 << 20
)

// Additions that round, on the longest way inside a tile: four or 20 elements of a
// thread, five steps of a warp, eight rounds, five steps across warps, and three that
// join a thread's sum with those before its lane, its warp and its tile.
const inTile = 20 + 5 + 8 + 5 + 3

// A tile that waits for another adds one sum to its prefix and one to the look-back. A
// window of several tiles adds no more than two each.
const aTile = 2

func flag(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

// oneBlock launches a block that goes through x in iterations of so many elements.
func oneBlock(turn int, exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{Depth: ladder.CeilDiv(n, turn) + inTile, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 256}, Args: []any{"x", "y", uint32(n), flag(exclusive)},
		}}}
	}
}

// twoKernels gives each of at most eight blocks a multiprocessor a chunk of whole turns.
func twoKernels(t gpu.Type, exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		chunk := ladder.CeilDiv(ladder.CeilDiv(n, 256), 8*info.SMs) * 256
		blocks := ladder.CeilDiv(n, chunk)
		step := func(entry string, args ...any) ladder.Step {
			return ladder.Step{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 256}, Args: args}
		}
		return ladder.Plan{
			Depth:   2*chunk/256 + ladder.CeilDiv(blocks, 256) + 3*inTile,
			Scratch: []ladder.Tensor{{Name: "sums", Len: blocks, Type: t}},
			Steps: []ladder.Step{
				step(entry, "x", "sums", uint32(n), uint32(chunk)),
				step(entry+"_2", "x", "y", "sums", uint32(n), uint32(chunk), flag(exclusive)),
			},
		}
	}
}

// twoWide gives each block one tile, or so many turns of tiles that there are at most 64
// blocks a multiprocessor: every block adds up the sums of all before it.
func twoWide(t gpu.Type, exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		rounds := 2
		if n > wideFew {
			rounds = 4
		}
		tiles := ladder.CeilDiv(n, rounds*smallTile)
		turns := ladder.CeilDiv(tiles, 64*info.SMs)
		blocks := ladder.CeilDiv(tiles, turns)
		step := func(entry string, args ...any) ladder.Step {
			return ladder.Step{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 256}, Args: append(args, uint32(rounds))}
		}
		return ladder.Plan{
			Depth:   (4*rounds+1)*turns + ladder.CeilDiv(blocks, 256) + 2*inTile,
			Scratch: []ladder.Tensor{{Name: "sums", Len: blocks, Type: t}},
			Steps: []ladder.Step{
				step(entry, "x", "sums", uint32(n), uint32(turns)),
				step(entry+"_2", "x", "y", "sums", uint32(n), uint32(turns), flag(exclusive)),
			},
		}
	}
}

// inClusters launches one cluster where its blocks have registers for all elements. More
// clusters add up what lies before them: up to 2^16 elements with the smallest parts.
func inClusters(exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		const part = clusterBlocks * smallTile // of one round
		rounds := 4
		switch {
		case n <= part, n > 4*part && n <= 8*part:
			rounds = 1
		case n <= 2*part:
			rounds = 2
		}
		clusters := ladder.CeilDiv(n, rounds*part)
		return ladder.Plan{
			Depth: 3*ladder.CeilDiv(n, 4*clusterBlocks*256) + 2*clusterBlocks + 2*inTile,
			Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: clusters * clusterBlocks}, Block: gpu.Dim{X: 256}, Args: []any{"x", "y", uint32(n), flag(exclusive), uint32(rounds)}}},
		}
	}
}

// tooManyForClusters rejects vectors for which every cluster would add up far too much.
func tooManyForClusters(s ladder.Size) error {
	if s[0] <= clusterMost {
		return nil
	}
	return fmt.Errorf("ops: scan: %d elements: %w: clusters add up all before them, expected at most %d, use scan_auto", s[0], gpu.ErrUnsupported, clusterMost)
}

// best launches another rung of the operator: a cluster for short vectors, two launches while
// L2 holds x and y, and for longer ones the last of the ladder that the device has.
func best(t gpu.Type, prefix string, all []ladder.Variant) ladder.Planner {
	of := func(name string, s ladder.Size, info gpu.Info) ladder.Plan {
		v := all[slices.IndexFunc(all, func(v ladder.Variant) bool { return v.Name == prefix+name })]
		p := v.Plan(v.Name, s, info)
		p.Module = v.Module
		return p
	}
	return func(_ string, s ladder.Size, info gpu.Info) ladder.Plan {
		hopper, bytes := info.Compute.Major >= 9, s[0]*t.Bytes()
		switch {
		case hopper && bytes <= clusterBytes:
			return of("cluster", s, info)
		case bytes <= twoWideBytes:
			return of("two_wide", s, info)
		case hopper:
			return of("pipeline_groups", s, info)
		case t == gpu.Uint64:
			return of("look_back_wide", s, info)
		}
		return of("deterministic", s, info)
	}
}

// onePass launches a block for each tile, whose status has so many words.
func onePass(tile, words int, exclusive, tickets bool) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := ladder.CeilDiv(n, tile)
		p := ladder.Plan{
			Depth:   aTile*tiles + inTile,
			Scratch: []ladder.Tensor{{Name: "status", Len: words * tiles, Type: gpu.Uint64}},
		}
		step := ladder.Step{Entry: entry, Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: 256}, Args: []any{"x", "y", "status"}, Zero: []string{"status"}}
		if tickets {
			p.Scratch = append(p.Scratch, ladder.Tensor{Name: "ticket", Len: 1, Type: gpu.Uint32})
			step.Args, step.Zero = append(step.Args, "ticket"), append(step.Zero, "ticket")
		}
		step.Args = append(step.Args, uint32(n), flag(exclusive))
		p.Steps = []ladder.Step{step}
		return p
	}
}

// inGroups launches a block for each tile, with a status for each group of 32, too.
func inGroups(exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := ladder.CeilDiv(n, wideTile)
		groups := tiles/groupTiles + 1
		return ladder.Plan{
			Depth: 2*groups + 5 + inTile,
			Scratch: []ladder.Tensor{{Name: "status", Len: tiles, Type: gpu.Uint64}, {Name: "groups", Len: groups, Type: gpu.Uint64},
				{Name: "ticket", Len: 1, Type: gpu.Uint32}},
			Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: 256},
				Args: []any{"x", "y", "status", "groups", "ticket", uint32(n), flag(exclusive)}, Zero: []string{"status", "groups", "ticket"}}},
		}
	}
}

// pipeline launches a block a multiprocessor: 12 warps that scan, one that loads, and some
// that look back.
func pipeline(t gpu.Type, words, lookers int, grouped, exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := ladder.CeilDiv(n, pipelineBytes/t.Bytes())
		step := ladder.Step{Entry: entry, Grid: gpu.Dim{X: min(tiles, info.SMs)}, Block: gpu.Dim{X: 32 * (12 + 1 + lookers)}, Shared: pipelineStages * pipelineBytes,
			Args: []any{"x", "y", "status"}, Zero: []string{"status", "ticket"}}
		plan := ladder.Plan{
			Depth:   aTile*tiles + inTile,
			Scratch: []ladder.Tensor{{Name: "status", Len: words * tiles, Type: gpu.Uint64}, {Name: "ticket", Len: 1, Type: gpu.Uint32}},
		}
		if grouped {
			groups := tiles/pipelineGroup + 1
			plan.Depth = groups + 2*(pipelineGroup/32+5) + 2 + inTile
			plan.Scratch = append(plan.Scratch, ladder.Tensor{Name: "groups", Len: words * groups, Type: gpu.Uint64})
			step.Args, step.Zero = append(step.Args, "groups"), append(step.Zero, "groups")
		}
		step.Args = append(step.Args, "ticket", uint32(n), flag(exclusive), uint32(tiles))
		plan.Steps = []ladder.Step{step}
		return plan
	}
}
