package gemm

import (
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// specializedStream has two steps of A in shared memory as the copy engine loads
// them, three transposed steps of A and of B for reading, and barriers. One round of
// tiles that leaves a few multiprocessors idle costs less than sharing tiles and
// adding their parts.
var specializedStream = stream{
	rows: 128, columns: 256, depth: 32, threads: copiedThreads, slice: 256, blocks: 1,
	bytes:  func(gpu.Info) int { return 2*128*32*4 + 3*32*(128+4+256)*4 + 256 },
	enough: 15,
}

// copiedThreads are two warpgroups that multiply, and one that loads A and B by the
// copy engine.
const copiedThreads = 384

// specialized is a rung of gemm_specialized.cu.
func (o Options) specialized(name, adds string, streamed ladder.Planner) ladder.Variant {
	return o.copied("gemm_specialized", name, adds, specializedStream.columns, streamed)
}

// copied is a rung of a module whose first entry takes tensor maps of A and B, with so
// many columns in a box of B, in place of the addresses of A and B. The second entry
// takes neither.
func (o Options) copied(module, name, adds string, columns int, product ladder.Planner) ladder.Variant {
	v := o.hopperVariant(name, adds, 4)
	v.Module = module
	v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
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
