package matrix

import (
	"math"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// Product is d = a*b + c of a warp: a has M x K elements, b K x N, and c and d M x N.
type Product struct {
	M, N, K   int
	Of, OfB   ptx.Type // of the elements of a and b
	To        ptx.Type // of those of c and d
	Saturated bool
	Sparse    *Sparsity // nil if all elements of A are stored
	Compute   gpu.Compute
	Core      *arith.TensorCore
}

// operands are those of a product, row by row for dot products: b is stored by columns.
type operands struct {
	a, b, c [512]uint64
	x, y    [512]arith.Term
}

// Depth is how many elements of a row of A are stored.
func (p *Product) Depth() int {
	if p.Sparse != nil {
		return p.K / 2
	}
	return p.K
}

// Typed reports whether the types are a valid combination.
func (p *Product) Typed() bool {
	switch p.Of {
	case "f16":
		return p.OfB == p.Of && (p.To == "f16" || p.To == "f32")
	case "bf16", "tf32":
		return p.OfB == p.Of && p.To == "f32"
	case "s8", "u8":
		return (p.OfB == "s8" || p.OfB == "u8") && p.To == "s32"
	case "e4m3", "e5m2":
		return (p.OfB == "e4m3" || p.OfB == "e5m2") && (p.To == "f16" || p.To == "f32")
	}
	return p.Of == "f64" && p.OfB == p.Of && p.To == p.Of
}

// Target is the lowest .target that multiplies matrices of the shape and types by mma.sync,
// or by wmma if whole.
func (p *Product) Target(whole bool) int {
	small := map[ptx.Type]int{"f16": 8, "s8": 16, "u8": 16}[p.Of] // the largest k of sm_75
	switch {
	case p.Of == "e4m3" || p.Of == "e5m2":
		return 89
	case p.Sparse != nil:
		return 80
	case whole && small > 0:
		return 72
	case p.Of == "f64" && p.M == 16:
		return 90
	case small == 0 || p.K > small || p.Of != "f16" && p.M == 16:
		return 80
	}
	return 75
}

// multiply replaces c by a*b + c; kept are the elements that A stores of a sparse product.
func (p *Product) multiply(x *operands, kept *kept) {
	switch p.To {
	case "s32":
		products(p, x, kept, x.a[:], x.b[:], p.integers)
		return
	case "f64":
		products(p, x, kept, x.a[:], x.b[:], doubles)
		return
	}
	dot := func(a, b []arith.Term, c uint64) uint64 { return p.Core.Fuse(c, a, b, p.Of, p.To) }
	if p.Of == "e4m3" || p.Of == "e5m2" {
		p.fp8Terms(x, kept)
		dot = p.fp8Dot()
	} else {
		f := arith.FormatOf(p.Of)
		drop := 0
		if p.Of == "tf32" {
			drop = 13
		}
		for i := range p.M * p.Depth() {
			x.x[i] = arith.TermOf(x.a[i]>>drop, f)
		}
		for i := range p.N * p.K {
			x.y[i] = arith.TermOf(x.b[i]>>drop, f)
		}
	}
	products(p, x, kept, x.x[:], x.y[:], dot)
}

// products applies a dot product to each row of a and column of b.
func products[T any](p *Product, x *operands, kept *kept, a, b []T, dot func(a, b []T, c uint64) uint64) {
	depth := p.Depth()
	var room [32]T
	for i := range p.M {
		row := a[i*depth : (i+1)*depth]
		for j := range p.N {
			column := b[j*p.K : (j+1)*p.K]
			if p.Sparse != nil {
				column = matching(room[:depth], column, kept[i][:])
			}
			c := &x.c[i*p.N+j]
			*c = dot(row, column, *c)
		}
	}
}

// integers is a dot product of bytes.
func (p *Product) integers(a, b []uint64, c uint64) uint64 {
	sum := int64(int32(c))
	for i := range a {
		sum += int64(arith.AsInt(a[i], p.Of)) * int64(arith.AsInt(b[i], p.OfB))
	}
	if p.Saturated {
		return arith.Clamp32(sum)
	}
	return uint64(uint32(sum))
}

// doubles is a dot product of f64: a sequence of fused multiply-adds.
func doubles(a, b []uint64, c uint64) uint64 {
	for i := range a {
		c = arith.Bits64(math.FMA(arith.F64(a[i]), arith.F64(b[i]), arith.F64(c)), a[i], c, b[i])
	}
	return c
}
