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

// tiles is how the bandwidth rungs divide x: a thread has so many loads of a
// float4 in flight, and a multiprocessor is given so many blocks of tileThreads.
type tiles struct{ loads, blocksPerSM int }

const tileThreads = 512

var (
	fourLoads  = tiles{4, 3}
	eightLoads = tiles{8, 2}
)

func (t tiles) blocks(n int, info gpu.Info) int {
	return min(ladder.CeilDiv(n, 4*t.loads*tileThreads), t.blocksPerSM*info.SMs)
}

func (t tiles) depth(n, blocks int) int {
	thread := 1 + (t.loads - 1) + 2 // an element of the head or tail, the accumulators, the components
	return ladder.CeilDiv(n, 4*t.loads*tileThreads*blocks) + thread + ladder.CeilDiv(blocks, tileThreads) + 2*log2(tileThreads)
}

// twoLaunches launches the blocks, and then one block of the entry NAME_2 on their sums.
func (t tiles) twoLaunches(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	blocks := t.blocks(n, info)
	p := ladder.Plan{Depth: t.depth(n, blocks)}
	sums := p.NewScratch("sums", blocks)
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: tileThreads}, Args: []any{"x", sums, uint32(n)}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: tileThreads}, Args: []any{sums, "y", uint32(blocks)}},
	}
	return p
}

// lastBlock is one launch: the last block adds the sums. more are further arguments.
func (t tiles) lastBlock(more ...func(ladder.Size, gpu.Info) any) ladder.Planner {
	return func(entry string, size ladder.Size, info gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		blocks := t.blocks(n, info)
		p := ladder.Plan{Depth: t.depth(n, blocks), Tickets: []string{entry + "_ticket"}}
		args := []any{"x", p.NewScratch("sums", blocks), "y", uint32(n)}
		for _, argument := range more {
			args = append(args, argument(size, info))
		}
		p.Steps = []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: tileThreads}, Args: args}}
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
