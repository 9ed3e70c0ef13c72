package ops

import (
	"fmt"
	"math/bits"

	"warpbook/gpu"
)

// planner is the type of Variant.Plan.
type planner = func(entry string, size Size, info gpu.Info) Plan

// oneThread is a single thread that adds everything: n additions in a row.
func oneThread(entry string, size Size, _ gpu.Info) Plan {
	n := size[0]
	if n == 0 {
		return Plan{}
	}
	return Plan{
		Depth: n,
		Steps: []Step{{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{"x", "y", uint32(n)}}},
	}
}

// blockSums launches an entry that leaves one sum a block, and launches it
// again on these until one is left. A thread loads perThread elements.
func blockSums(block, perThread int) planner { return passes(block, perThread, false, 0) }

// blockSumsShared is blockSums with dynamic shared memory of one float a thread.
func blockSumsShared(block int) planner { return passes(block, 1, false, 4*block) }

// blockSumsInPlace is blockSums for an entry that works on a copy in global
// memory, of whole blocks.
func blockSumsInPlace(block int) planner { return passes(block, 1, true, 0) }

func passes(block, perThread int, inPlace bool, shared int) planner {
	return func(entry string, size Size, _ gpu.Info) Plan {
		var p Plan
		from, n := "x", size[0]
		for pass := 1; n > 0 && from != "y"; pass++ {
			blocks := ceilDiv(n, block*perThread)
			args := []any{from}
			if inPlace {
				args = append(args, p.scratch(fmt.Sprint("copy", pass), blocks*block))
			}
			from = "y"
			if blocks > 1 {
				from = p.scratch(fmt.Sprint("sums", pass), blocks)
			}
			p.Steps = append(p.Steps, Step{
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
// with dynamic shared memory of one float a thread. The order of the atomics
// is nobody's, and all may be in a row.
func atomicSums(block int) planner {
	return func(entry string, size Size, _ gpu.Info) Plan {
		n := size[0]
		if n == 0 {
			return Plan{}
		}
		blocks := ceilDiv(n, block)
		return Plan{
			Depth: log2(block) + blocks, Atomics: blocks,
			Steps: []Step{{
				Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: 4 * block,
				Args: []any{"x", "y", uint32(n)}, Zero: []string{"y"},
			}},
		}
	}
}

// gridStride launches at most perSM blocks a multiprocessor, and then one block
// of the entry NAME+second on their sums.
func gridStride(block, perSM int, second string) planner {
	return func(entry string, size Size, info gpu.Info) Plan {
		n := size[0]
		if n == 0 {
			return Plan{}
		}
		blocks := min(ceilDiv(n, block), perSM*info.SMs)
		var p Plan
		sums := p.scratch("sums", blocks)
		p.Steps = []Step{
			{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Args: []any{"x", sums, uint32(n)}},
			{Entry: entry + second, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: block}, Args: []any{sums, "y", uint32(blocks)}},
		}
		p.Depth = ceilDiv(n, blocks*block) + ceilDiv(blocks, block) + 2*log2(block)
		return p
	}
}

// What a block of the bandwidth rungs has, and how many of them a
// multiprocessor is given.
const (
	tileThreads = 512
	perThread   = 16 // elements of a tile: four vectors
	tilesPerSM  = 3
)

// tiles launches the blocks of the bandwidth rungs, and then one block of the
// entry NAME_2 on their sums.
func tiles(entry string, size Size, info gpu.Info) Plan {
	n := size[0]
	if n == 0 {
		return Plan{}
	}
	blocks := min(ceilDiv(n, tileThreads*perThread), tilesPerSM*info.SMs)
	var p Plan
	sums := p.scratch("sums", blocks)
	p.Steps = []Step{
		{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: tileThreads}, Args: []any{"x", sums, uint32(n)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: tileThreads}, Args: []any{sums, "y", uint32(blocks)}},
	}
	const thread = 6 // an element of the head or tail, four accumulators, four components
	p.Depth = ceilDiv(n, blocks*tileThreads*perThread) + thread + ceilDiv(blocks, tileThreads) + 2*log2(tileThreads)
	return p
}

// lastBlock is tiles in one launch: the last block adds the sums. more are
// further arguments.
func lastBlock(more ...func(Size, gpu.Info) any) planner {
	return func(entry string, size Size, info gpu.Info) Plan {
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
func halfOfL2(size Size, info gpu.Info) any {
	return float32(min(1, float64(info.L2Bytes)/2/(4*float64(size[0]))))
}

// twoPass is the last kernel of the notes: 10240 blocks of 128, then one of
// 1024, and the sums between them in a module variable.
func twoPass(entry string, size Size, _ gpu.Info) Plan {
	const most, block, last = 10240, 128, 1024
	n := size[0]
	if n == 0 {
		return Plan{}
	}
	blocks := min(ceilDiv(n, block), most)
	return Plan{
		Statics: []string{entry + "_sums"},
		Depth:   ceilDiv(n, blocks*block) + log2(block) + ceilDiv(blocks, last) + log2(last),
		Steps: []Step{
			{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: 4 * block,
				Args: []any{"x", uint32(n)}},
			{Entry: entry + "_2", Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: last}, Shared: 4 * last,
				Args: []any{"y", uint32(blocks)}},
		},
	}
}

// scratch adds device memory to the plan and returns its name.
func (p *Plan) scratch(name string, n int) string {
	p.Scratch = append(p.Scratch, Tensor{Name: name, Len: n})
	return name
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// log2 is the depth of a tree over a power of two.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
