package ops

import (
	"slices"

	"warpbook/gpu"
)

// specializedStream has two steps of A in shared memory as the copy engine brings
// them, three of A and B to be read, and barriers. One round of tiles that leaves a
// few multiprocessors idle costs less than to share tiles and to add their parts.
var specializedStream = stream{
	rows: 128, columns: 256, depth: 32, threads: copiedThreads, slice: 256, blocks: 1,
	bytes:  func(gpu.Info) int { return 2*128*32*4 + 3*32*(128+4+256)*4 + 256 },
	enough: 15,
}

// copiedThreads are two warpgroups that multiply, and one for which the copy engine
// brings A and B.
const copiedThreads = 384

// specialized is a rung of gemm_specialized.cu.
func (o GemmOptions) specialized(name, adds string, streamed planner) Variant {
	return o.copied("gemm_specialized", name, adds, specializedStream.columns, streamed)
}

// copied is a rung of a module whose first entry is told of maps of A and B, with so
// many columns in a box of B, where the product is told of A and B, and whose second
// entry is told nothing of them.
func (o GemmOptions) copied(module, name, adds string, columns int, product planner) Variant {
	v := o.hopperVariant(name, adds, 4)
	v.Module = module
	v.Plan = func(entry string, s Size, info gpu.Info) Plan {
		p := product(entry, s, info)
		for i, step := range p.Steps {
			p.Steps[i].Args = append(slices.Clone(step.Args[2:7]), step.Args[9:]...) // without A, B, lda and ldb
		}
		if len(p.Steps) > 0 {
			a, b := o.boxes("a", s, 4), o.boxes("b", s, 4)
			b.Box[1] = columns
			p.Steps[0].Args = append([]any{a, b}, p.Steps[0].Args...)
		}
		return p
	}
	return v
}
