package sample

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

const (
	block = 256 // threads of a block
	tree  = 8   // additions on the way through a block's tree
)

// launch is one step of a grid of whole blocks.
func launch(entry string, grid int, args ...any) ladder.Step {
	return ladder.Step{Entry: entry, Grid: gpu.Dim{X: grid}, Block: gpu.Dim{X: block}, Args: args}
}

func oneThread(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	return ladder.Plan{Depth: n, Steps: []ladder.Step{{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{"x", "y", uint32(n)}}}}
}

func blocks(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	var p ladder.Plan
	from, n := "x", size[0]
	for pass := 1; n > 0 && from != "y"; pass++ {
		grid, to := ladder.CeilDiv(n, block), "y"
		if grid > 1 {
			to = p.NewScratch(fmt.Sprint("sums", pass), grid)
		}
		p.Steps = append(p.Steps, launch(entry, grid, from, to, uint32(n)))
		p.Depth += tree
		from, n = to, grid
	}
	return p
}

func static(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	const most = 64
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	grid := min(ladder.CeilDiv(n, block), most)
	return ladder.Plan{
		Statics: []string{entry + "_sums"},
		Depth:   ladder.CeilDiv(n, grid*block) + ladder.CeilDiv(grid, block) + 2*tree,
		Steps:   []ladder.Step{launch(entry, grid, "x", uint32(n)), launch(entry+"_2", 1, "y", uint32(grid))},
	}
}

func atomics(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	const warp = 32
	grid := ladder.CeilDiv(n, warp)
	step := launch(entry, grid, "x", "y", uint32(n))
	step.Block, step.Zero = gpu.Dim{X: warp}, []string{"y"}
	return ladder.Plan{Depth: tree + grid, Atomics: grid, Steps: []ladder.Step{step}}
}

func ticket(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	grid := ladder.CeilDiv(n, block)
	p := ladder.Plan{Tickets: []string{entry + "_ticket"}, Depth: ladder.CeilDiv(grid, block) + 2*tree}
	sums := p.NewScratch("sums", grid)
	p.Steps = []ladder.Step{launch(entry, grid, "x", sums, "y", uint32(n))}
	return p
}

func inPlace(entry string, size ladder.Size, _ gpu.Info) ladder.Plan {
	n := size[0]
	if n == 0 {
		return ladder.Plan{}
	}
	grid := ladder.CeilDiv(n, block)
	var p ladder.Plan
	sums := p.NewScratch("sums", grid)
	last := launch("sum_serial", 1, sums, "y", uint32(grid))
	last.Block = gpu.Dim{X: 1}
	p.Steps, p.Depth = []ladder.Step{launch(entry, grid, "x", sums), last}, tree+grid
	return p
}
