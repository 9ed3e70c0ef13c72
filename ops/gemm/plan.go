package gemm

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// host launches nothing.
func (o Options) host(_ string, s ladder.Size, _ gpu.Info) ladder.Plan {
	return ladder.Plan{Depth: o.depth(s)}
}

// tiles launches a block of x times y threads a tile of D.
func (o Options) tiles(rows, columns, x, y int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		if s[0] == 0 || s[1] == 0 {
			return ladder.Plan{}
		}
		return ladder.Plan{
			Depth: o.depth(s),
			Steps: []ladder.Step{{
				Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(s[0], rows) * ladder.CeilDiv(s[1], columns)},
				Block: gpu.Dim{X: x, Y: y}, Args: o.arguments(s),
			}},
		}
	}
}

// pipelineBytes are three steps of 16 of a 128 x 128 tile; rows of A are four
// floats longer.
const pipelineBytes = 3 * 16 * (132 + 128) * 4

// staged is tiles for so many threads with bytes of dynamic shared memory.
func (o Options) staged(rows, columns, threads, bytes int) ladder.Planner {
	plain := o.tiles(rows, columns, threads, 1)
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		p := plain(entry, s, info)
		for i := range p.Steps {
			p.Steps[i].Shared = bytes
		}
		return p
	}
}

// splitK cuts k into the shares that are predicted to be fastest. One share
// needs no sum.
func (o Options) splitK(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	p := o.tiles(128, 128, 256, 1)(entry, s, info)
	if len(p.Steps) == 0 {
		return p
	}
	step, k := &p.Steps[0], s[2]
	if o.Alpha == 0 {
		k = 0
	}
	if !ladder.Older(info.Compute, ladder.Ampere) {
		step.Shared = pipelineBytes
	}
	share := shareOf(k, bestShares(ladder.Size{s[0], s[1], k}, info.SMs))
	splits := max(1, ladder.CeilDiv(k, share))
	step.Args = append(step.Args, uint32(share))
	if splits == 1 {
		return p
	}
	parts := p.NewScratch("parts", splits*s[0]*s[1])
	whole := o.arguments(s)
	step.Grid.Y = splits
	step.Args[2], step.Args[3] = parts, parts
	step.Args[9], step.Args[10], step.Args[11] = uint32(s[1]), float32(1), float32(0)
	p.Steps = append(p.Steps, ladder.Step{
		Entry: entry + "_2", Grid: gpu.Dim{X: ladder.CeilDiv(s[0]*s[1], 256)}, Block: gpu.Dim{X: 256},
		Args: append([]any{parts, whole[2], whole[3], whole[4], whole[5]}, append(whole[9:], uint32(splits))...),
	})
	p.Depth += splits
	return p
}

// A tile of gemm_wide, and its steps along k.
const (
	wideTile  = 128
	wideDepth = 32
)

// wideBytes is the shared memory of a block of gemm_wide. Turing holds other
// steps of the tile.
func wideBytes(info gpu.Info) int {
	if ladder.Older(info.Compute, ladder.Ampere) {
		return pipelineBytes
	}
	return 2 * wideDepth * (wideTile + 4 + wideTile) * 4
}

// wide is one block a tile of gemm_wide.
func (o Options) wide(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	return o.staged(wideTile, wideTile, 128, wideBytes(info))(entry, s, info)
}

// stream describes how the blocks of gemm_stream_k and similar rungs cut a product.
type stream struct {
	rows, columns, depth int // of a tile, and a step along k
	threads, slice       int // of a block, and of those that hold the sums
	blocks               int // that a multiprocessor runs at once
	bytes                func(gpu.Info) int
	enough               int // tiles left over are taken whole, too, if they fill so many sixteenths of the blocks; 0 for never
}

var (
	wideStream  = stream{wideTile, wideTile, wideDepth, 128, 128, 2, wideBytes, 0}
	smallStream = stream{64, 64, 32, 128, 32, 2, func(gpu.Info) int { return 3 * 32 * (64 + 4 + 64) * 4 }, 0}
)

// share is how many blocks run, how many tiles they take whole, and how many are
// left for all to share.
func (c stream) share(s ladder.Size, sms int) (blocks, whole, rest int) {
	tiles, steps := ladder.CeilDiv(s[0], c.rows)*ladder.CeilDiv(s[1], c.columns), ladder.CeilDiv(s[2], c.depth)
	blocks = max(1, min(c.blocks*sms, tiles*max(1, steps)))
	whole = tiles / blocks * blocks
	if steps == 0 || c.enough > 0 && 16*(tiles-whole) >= c.enough*blocks {
		whole = tiles
	}
	return blocks, whole, tiles - whole
}

// streamed lets as many blocks as run at once take whole tiles in turn, and share
// the steps along k of the rest.
func (o Options) streamed(c stream) ladder.Planner {
	return func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		p := o.staged(c.rows, c.columns, c.threads, c.bytes(info))(entry, s, info)
		if len(p.Steps) == 0 {
			return p
		}
		k, c := s[2], c
		if o.Alpha == 0 {
			k = 0
		}
		if ladder.Older(info.Compute, ladder.Ampere) {
			c.depth = 16
		}
		blocks, whole, rest := c.share(ladder.Size{s[0], s[1], k}, info.SMs)
		parts := "d" // without shared tiles no block writes its parts
		if rest > 0 {
			parts = p.NewScratch("parts", 2*blocks*c.rows*c.columns)
			p.Depth += ladder.CeilDiv(blocks, rest) + 1
			p.Steps = append(p.Steps, ladder.Step{
				Entry: entry + "_2", Grid: gpu.Dim{X: rest, Y: c.rows * c.columns / c.slice / 4}, Block: gpu.Dim{X: c.slice},
				Args: append(o.arguments(s), uint32(whole), parts, uint32(blocks)),
			})
		}
		p.Steps[0].Grid.X = blocks
		p.Steps[0].Args = append(p.Steps[0].Args, uint32(whole), parts)
		return p
	}
}

// depth counts the roundings: one a product that is added, one of alpha, two
// of beta.
func (o Options) depth(s ladder.Size) int {
	depth := s[2]
	if o.Alpha != 1 {
		depth++
	}
	if o.Beta != 0 {
		depth += 2
	}
	return depth
}

// arguments are those of every entry. With alpha = 0 nothing is multiplied,
// and A and B are not read.
func (o Options) arguments(s ladder.Size) []any {
	shapes, c, k := o.shapes(s), "c", s[2]
	if o.Beta == 0 {
		c = "d" // which is not read
	}
	if o.Alpha == 0 {
		k = 0
	}
	return []any{"a", "b", c, "d", uint32(s[0]), uint32(s[1]), uint32(k),
		uint32(shapes.a.ld), uint32(shapes.b.ld), uint32(shapes.d.ld), o.Alpha, o.Beta}
}
