package matrix

import (
	"sync"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// This file is mma.sync of fp8. Compute capability 8.9 has such tensor cores. 9.0
// has them for wgmma only: its assembler (ptxas 13.0) converts to f16 and
// multiplies twice, first the even pairs of k and then the odd ones, from 0, and
// adds C by an instruction of its own, rounded to nearest. Not compared with a
// GPU yet.

// converted reports whether fp8 is multiplied as f16.
func (p *Product) converted() bool { return p.Compute.Major >= 9 }

// fp8Terms takes the factors apart, with the even pairs of a row of A before the
// odd ones if they are multiplied so. B is left in its order in a sparse product,
// whose elements are picked by those of A.
func (p *Product) fp8Terms(x *operands, kept *kept) {
	depth := p.Depth()
	for i := range p.M * depth {
		x.x[i-i%depth+p.fp8Place(i%depth, depth)] = p.fp8Term(x.a[i], p.Of)
	}
	for i := range p.N * p.K {
		at := i
		if p.Sparse == nil {
			at = i - i%p.K + p.fp8Place(i%p.K, p.K)
		}
		x.y[at] = p.fp8Term(x.b[i], p.OfB)
	}
	if p.Sparse != nil {
		for row := range kept {
			in := kept[row]
			for i := range depth {
				kept[row][p.fp8Place(i, depth)] = in[i]
			}
		}
	}
}

// fp8Place is the turn of element i of n.
func (p *Product) fp8Place(i, n int) int {
	if !p.converted() {
		return i
	}
	return i%4/2*n/2 + i/4*2 + i%2
}

func (p *Product) fp8Term(code uint64, of ptx.Type) arith.Term {
	if p.converted() {
		return fp8Halves()[of][code]
	}
	return arith.FP8Term(code, of)
}

// fp8Halves are all codes as f16.
var fp8Halves = sync.OnceValue(func() map[ptx.Type]*[256]arith.Term {
	all := map[ptx.Type]*[256]arith.Term{}
	for _, of := range []ptx.Type{"e4m3", "e5m2"} {
		all[of] = &[256]arith.Term{}
		for code := range all[of] {
			half := arith.RoundFloat(arith.FP8s[of+"x2"].Decode(byte(code)), arith.Nearest, arith.FormatOf("f16"))
			all[of][code] = arith.TermOf(half, arith.FormatOf("f16"))
		}
	}
	return all
})

// fp8Dot is a dot product whose terms are in the order of fp8Terms.
func (p *Product) fp8Dot() func(a, b []arith.Term, c uint64) uint64 {
	if !p.converted() {
		core := arith.FP8Core(p.Compute)
		return func(a, b []arith.Term, c uint64) uint64 { return core.Fuse(c, a, b, "e4m3", p.To) }
	}
	return func(a, b []arith.Term, c uint64) uint64 {
		half := len(a) / 2
		sum := p.Core.Fuse(0, a[:half], b[:half], "f16", p.To)
		sum = p.Core.Fuse(sum, a[half:], b[half:], "f16", p.To)
		return arith.RoundFloat(arith.Decode(sum, p.To)+arith.Decode(c, p.To), arith.Nearest, arith.FormatOf(p.To))
	}
}
