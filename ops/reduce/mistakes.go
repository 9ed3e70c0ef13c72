package reduce

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Mistakes is the same operator with the kernels of the notes where they
// are wrong. Each names its error and the check that must find it; the
// emulator is the device that finds all of them.
//
// Two mistakes of the notes are no rows: `__shared__ int bound = blockSize`
// (000 2.7) does not compile, and the serial sum of 25.6 million ones is right
// code on data that float32 cannot add one by one: check reduce_serial on it.
var Mistakes = mistakesOf(Operator)

func mistakesOf(o *ladder.Operator) *ladder.Operator {
	m := *o
	m.Name, m.Module = "reduce_mistakes", "mistakes"
	m.Peers, m.Cases = nil, mistakeCases
	m.Data = []ladder.DataSet{ladder.UniformData, uneven}
	m.Source = "the founding notes, as they stand"
	m.Variants = mistakes
	return &m
}

var mistakes = []ladder.Variant{
	{
		Name: "mistake_block_offset", Adds: "every block sums the first 256 elements; data of all ones hides it",
		Source: "000 2.2", Plan: mistakeSums(256, 1, false), Expect: beyond(256, ladder.CheckBound),
	},
	{
		Name: "mistake_bounds_one_element", Adds: "reads past the end unless n is a multiple of 256",
		Source: "000 2.2, 001 baseline", Plan: mistakeAtomic(256, 1, 0), Expect: unlessMultiple(256, "", outOfBounds),
	},
	{
		Name: "mistake_bounds_two_elements", Adds: "reads past the end unless n is a multiple of 512",
		Source: "000 2.5, 001 sum_3", Plan: mistakeAtomic(256, 2, 0), Expect: unlessMultiple(512, "", outOfBounds),
	},
	{
		Name: "mistake_no_syncwarp", Adds: "a race: lanes read what others write, with volatile but no __syncwarp",
		Source: "000 2.7", Plan: mistakeSums(256, 2, false), Expect: fromBlock(512, race, outOfBounds),
	},
	{
		Name: "mistake_no_volatile_loop", Adds: "the same race; without volatile the compiler reads all before any lane writes, and the sum is wrong",
		Source: "001 sum_4", Plan: mistakeAtomic(256, 2, 0), Expect: fromBlock(512, race, outOfBounds),
	},
	{
		Name: "mistake_no_volatile_unrolled", Adds: "the same, unrolled",
		Source: "001 sum_5", Plan: mistakeAtomic(256, 2, 0), Expect: fromBlock(512, race, outOfBounds),
	},
	{
		Name: "mistake_destroys_input", Adds: "adds in place: the input holds partial sums afterwards",
		Source: "002 reduce_global", Plan: mistakeSums(128, 1, false), Expect: unlessMultiple(128, ladder.CheckInput, outOfBounds),
	},
	{
		Name: "mistake_mask_28_bits", Adds: "the mask 0xfffffff leaves out lanes 28 to 31, which wait all the same",
		Source: "004 __syncwarp", Plan: mistakeAtomic(128, 1, 4), Expect: always(ladder.CheckFault + gpu.ErrMask.Error()),
	},
	{
		Name: "mistake_two_syncwarps", Adds: "the corrected read goes unused, the race stays, and all threads run past the shared array",
		Source: "004", Plan: mistakeAtomic(128, 1, 4), Expect: always(race),
	},
	{
		Name: "mistake_shuffle_from_32", Adds: "the shuffle from offset 32 adds each lane to itself: each of two passes doubles",
		Source: "004 reduce1", Plan: mistakeTwice, Expect: always(ladder.CheckBound),
	},
	{
		Name:   "mistake_never_strides",
		Adds:   "right but pointless: with a thread for every element the grid-stride loop runs once; the counters of loads show it",
		Source: "000 2.8", Plan: mistakeSums(256, 1, true),
	},
}

var (
	outOfBounds = ladder.CheckFault + gpu.ErrOutOfBounds.Error()
	race        = ladder.CheckFault + gpu.ErrRace.Error()
)

func always(check string) func(ladder.Size) string {
	return func(s ladder.Size) string {
		if s[0] == 0 {
			return "" // nothing runs
		}
		return check
	}
}

// beyond expects a failure where there are more elements than one block takes,
// and a fault below.
func beyond(block int, check string) func(ladder.Size) string {
	return func(s ladder.Size) string {
		switch {
		case s[0] > block:
			return check
		case s[0] > 0 && s[0] < block:
			return outOfBounds
		}
		return ""
	}
}

// fromBlock expects one check to fail where there are enough elements for a
// whole block, the first, and another below.
func fromBlock(block int, whole, other string) func(ladder.Size) string {
	return func(s ladder.Size) string {
		switch {
		case s[0] == 0:
			return ""
		case s[0] >= block:
			return whole
		}
		return other
	}
}

// unlessMultiple expects one check to fail where n is a multiple of what a
// block takes, and another where it is not.
func unlessMultiple(block int, multiple, other string) func(ladder.Size) string {
	return func(s ladder.Size) string {
		switch {
		case s[0] == 0:
			return ""
		case s[0]%block == 0:
			return multiple
		}
		return other
	}
}

// mistakeSums launches a kernel that leaves one sum a block, as the notes do,
// and adds these with a right one instead of on the CPU.
func mistakeSums(block, perThread int, bounded bool) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		blocks := ladder.CeilDiv(n, block*perThread)
		var p ladder.Plan
		sums := p.NewScratch("sums", blocks)
		args := []any{"x", sums}
		if bounded {
			args = append(args, uint32(n))
		}
		p.Steps = []ladder.Step{
			{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Args: args},
			{Entry: "block_sums", Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 256}, Args: []any{sums, "y", uint32(blocks)}},
		}
		p.Depth = perThread - 1 + log2(block) + ladder.CeilDiv(blocks, 256) + log2(256)
		return p
	}
}

// mistakeAtomic launches a kernel whose blocks meet in an atomicAdd, with
// dynamic shared memory of so many bytes a thread.
func mistakeAtomic(block, perThread, shared int) ladder.Planner {
	return func(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
		n := size[0]
		if n == 0 {
			return ladder.Plan{}
		}
		blocks := ladder.CeilDiv(n, block*perThread)
		return ladder.Plan{
			Depth: perThread - 1 + log2(block) + blocks, Atomics: blocks,
			Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: shared * block,
				Args: []any{"x", "y", uint32(n)}, Zero: []string{"y"}}},
		}
	}
}

// mistakeTwice launches reduce1 of note 004 twice, as the note does.
func mistakeTwice(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	blocks := min(ladder.CeilDiv(n, 128), 10240)
	var p ladder.Plan
	sums := p.NewScratch("sums", blocks)
	p.Depth = ladder.CeilDiv(n, blocks*128) + 7 + ladder.CeilDiv(blocks, 1024) + 10
	for _, s := range []struct {
		from, to         string
		n, blocks, block int
	}{{"x", sums, n, blocks, 128}, {sums, "y", blocks, 1, 1024}} {
		p.Steps = append(p.Steps, ladder.Step{Entry: entry, Grid: gpu.Dim{X: s.blocks}, Block: gpu.Dim{X: s.block},
			Shared: 4 * s.block, Args: []any{s.from, s.to, int32(s.n)}})
	}
	return p
}
