package scan

import (
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Elements of a tile: 256 threads with 4 or 32 each; bytes of the pipeline's: 12 warps with
// 80 a lane.
const (
	smallTile     = 1024
	wideTile      = 8192
	pipelineBytes = 12 * 32 * 80

	pipelineStages = 7
	groupTiles     = 32
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

// oneBlock launches a block that goes through x in turns of so many elements.
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
func pipeline(t gpu.Type, words, lookers int, exclusive bool) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		n := s[0]
		if n == 0 {
			return ladder.Plan{}
		}
		tiles := ladder.CeilDiv(n, pipelineBytes/t.Bytes())
		return ladder.Plan{
			Depth:   aTile*tiles + inTile,
			Scratch: []ladder.Tensor{{Name: "status", Len: words * tiles, Type: gpu.Uint64}, {Name: "ticket", Len: 1, Type: gpu.Uint32}},
			Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: min(tiles, info.SMs)}, Block: gpu.Dim{X: 32 * (12 + 1 + lookers)}, Shared: pipelineStages * pipelineBytes,
				Args: []any{"x", "y", "status", "ticket", uint32(n), flag(exclusive), uint32(tiles)}, Zero: []string{"status", "ticket"}}},
		}
	}
}

// variants are the rungs of a type; uint64 has those whose tiles fit with eight bytes an
// element, and of the rest only what differs.
func variants(t gpu.Type, prefix string, exclusive bool) []ladder.Variant {
	words := 1
	if t == gpu.Uint64 {
		words = 2
	}
	all := []ladder.Variant{
		{Name: "hillis_steele", Adds: "one block; each step adds what lies 1, 2, 4, ... places before", Plan: oneBlock(256, exclusive)},
		{Name: "blelloch", Adds: "a tree, up and down: two additions an element", Plan: oneBlock(512, exclusive)},
		{Name: "shuffle", Adds: "lanes exchange registers; shared memory holds a word for each warp", Plan: oneBlock(256, exclusive)},
		{Name: "two_kernels", Adds: "many blocks: one launch adds chunks up, the next scans them and reads x again", Plan: twoKernels(t, exclusive)},
		{Name: "chained", Adds: "one launch and one read of x: each tile waits for the one before; 16 bytes an access", Plan: onePass(smallTile, words, exclusive, true)},
		{Name: "look_back_thread", Adds: "a tile publishes its own sum at once; a thread looks back over those before", Plan: onePass(smallTile, words, exclusive, true)},
		{Name: "look_back_warp", Adds: "a warp looks back, 32 tiles at a time", Plan: onePass(smallTile, words, exclusive, true)},
		{Name: "look_back_wide", Adds: "32 elements a thread: an eighth of the tiles", Plan: onePass(wideTile, words, exclusive, true)},
		{Name: "deterministic", Adds: "groups of 32 tiles are added in one order and chained: the bits of a float never vary", Plan: inGroups(exclusive)},
		{Name: "pipeline_bulk", Adds: "blocks stay; the copy engine loads ahead and stores, and three warps look back while others scan",
			Module: "pipeline", Needs: gpu.Compute{Major: 9}, Plan: pipeline(t, words, 3, exclusive)},
		{Name: "pipeline", Adds: "the warps that scan store, too; a fourth looks back", // last, the default: it is faster than pipeline_bulk on an H200
			Module: "pipeline", Needs: gpu.Compute{Major: 9}, Plan: pipeline(t, words, 4, exclusive)},
	}
	if t == gpu.Uint64 {
		all = slices.DeleteFunc(all, func(v ladder.Variant) bool {
			return !slices.Contains([]string{"two_kernels", "look_back_warp", "look_back_wide", "pipeline_bulk", "pipeline"}, v.Name)
		})
	}
	for i := range all {
		all[i].Name, all[i].Source = prefix+all[i].Name, "ours"
	}
	return all
}
