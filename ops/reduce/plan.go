package reduce

import (
	"fmt"
	"math/bits"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// oneThread is a single thread that adds everything: n additions in a row.
func oneThread(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	return ladder.Plan{
		Depth: n,
		Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{"x", "y", uint32(n)}}},
	}
}

// blockSums launches an entry that leaves one sum a block, and launches it
// again on these until one is left. A thread loads perThread elements.
func blockSums(block, perThread int) ladder.Planner { return passes(block, perThread, false, 0) }

// blockSumsShared is blockSums with dynamic shared memory of one float a thread.
func blockSumsShared(block int) ladder.Planner { return passes(block, 1, false, 4*block) }

// blockSumsInPlace is blockSums for an entry that works on a copy in global
// memory, of whole blocks.
func blockSumsInPlace(block int) ladder.Planner { return passes(block, 1, true, 0) }

func passes(block, perThread int, inPlace bool, shared int) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		var p ladder.Plan
		from, n := "x", size[0]
		for pass := 1; n > 0 && from != "y"; pass++ {
			blocks := ladder.CeilDiv(n, block*perThread)
			args := []any{from}
			if inPlace {
				args = append(args, p.NewScratch(fmt.Sprint("copy", pass), blocks*block))
			}
			from = "y"
			if blocks > 1 {
				from = p.NewScratch(fmt.Sprint("sums", pass), blocks)
			}
			p.Steps = append(p.Steps, ladder.Step{
				Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: shared,
				Args: append(args, from, uint32(n)),
			})
			p.Depth += perThread - 1 + log2(block)
			n = blocks
		}
		return p
	}
}

// atomicSums launches an entry that adds a sum a block to y[0] with atomicAdd,
// with dynamic shared memory of one float a thread. The order of the atomics is
// undefined, and all of them may run in sequence.
func atomicSums(block int) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		blocks := ladder.CeilDiv(n, block)
		return ladder.Plan{
			Depth: log2(block) + blocks, Atomics: blocks,
			Steps: []ladder.Step{{
				Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: 4 * block,
				Args: []any{"x", "y", uint32(n)}, Zero: []string{"y"},
			}},
		}
	}
}

// gridStride launches at most perSM blocks a multiprocessor, and then one block
// of the entry NAME+second on their sums.
func gridStride(block, perSM int, second string) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		blocks := min(ladder.CeilDiv(n, block), perSM*info.SMs)
		var p ladder.Plan
		sums := p.NewScratch("sums", blocks)
		p.Steps = []ladder.Step{
			{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Args: []any{"x", sums, uint32(n)}},
			{Entry: entry + second, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: block}, Args: []any{sums, "y", uint32(blocks)}},
		}
		p.Depth = ladder.CeilDiv(n, blocks*block) + ladder.CeilDiv(blocks, block) + 2*log2(block)
		return p
	}
}

// The constants of a block of the bandwidth rungs, and how many blocks a
// multiprocessor is given.
const (
	tileThreads = 512
	perThread   = 16 // elements of a tile: four vectors
	tilesPerSM  = 3
)

// tiles launches the blocks of the bandwidth rungs, and then one block of the
// entry NAME_2 on their sums.
func tiles(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	blocks := min(ladder.CeilDiv(n, tileThreads*perThread), tilesPerSM*info.SMs)
	var p ladder.Plan
	sums := p.NewScratch("sums", blocks)
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: tileThreads}, Args: []any{"x", sums, uint32(n)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: tileThreads}, Args: []any{sums, "y", uint32(blocks)}},
	}
	const thread = 6 // an element of the head or tail, four accumulators, four components
	p.Depth = ladder.CeilDiv(n, blocks*tileThreads*perThread) + thread + ladder.CeilDiv(blocks, tileThreads) + 2*log2(tileThreads)
	return p
}

// lastBlock is tiles in one launch: the last block adds the sums. more are
// further arguments.
func lastBlock(more ...func(ladder.Size, gpu.Info) any) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		p := tiles(entry, size, info)
		if len(p.Steps) == 0 {
			return p
		}
		p.Steps = p.Steps[:1]
		p.Steps[0].Args = []any{"x", "sums", "y", uint32(size[0])}
		for _, argument := range more {
			p.Steps[0].Args = append(p.Steps[0].Args, argument(size, info))
		}
		p.Tickets = []string{entry + "_ticket"}
		return p
	}
}

// halfOfL2 is the share of x that fills half of L2.
func halfOfL2(size ladder.Size, info gpu.Info) any {
	return float32(min(1, float64(info.L2Bytes)/2/(4*float64(size[0]))))
}

// twoPass is the last kernel of the notes: 10240 blocks of 128, then one of
// 1024, and the sums between them in a module variable.
func twoPass(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	const most, block, last = 10240, 128, 1024
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	blocks := min(ladder.CeilDiv(n, block), most)
	return ladder.Plan{
		Statics: []string{entry + "_sums"},
		Depth:   ladder.CeilDiv(n, blocks*block) + log2(block) + ladder.CeilDiv(blocks, last) + log2(last),
		Steps: []ladder.Step{
			{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: 4 * block,
				Args: []any{"x", uint32(n)}},
			{Entry: entry + "_2", Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: last}, Shared: 4 * last,
				Args: []any{"y", uint32(blocks)}},
		},
	}
}

// log2 is the depth of a tree over a power of two.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
