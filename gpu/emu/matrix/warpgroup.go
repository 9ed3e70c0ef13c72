package matrix

import (
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// This file is wgmma: four warps multiply 64 rows of A by B, whose tiles lie in shared
// memory where descriptors say. Each warp has 16 rows of A and of D, and multiplies them
// when it executes the instruction, which is one of the times at which a GPU may.
//
// Source: the layouts are those of the canonical forms that CUTLASS documents
// (cute/arch/mma_sm90_desc.hpp).

// Warpgroup is d = a*b + d of a warpgroup, and its operands.
type Warpgroup struct {
	N, K           int
	Of, OfB, To    ptx.Type
	D, A           *Tile // A is nil if it lies in shared memory
	TransA, TransB bool
	MinusA, MinusB bool
	Saturated      bool      // of integers
	Sparse         *Sparsity // nil if all elements of A are stored
	core           *arith.TensorCore
}

// warpgroupDepth is the k of a dense instruction, 32 bytes. A sparse one has twice as many,
// and stores 32 bytes of A.
var warpgroupDepth = map[ptx.Type]int{"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}

// Integer reports whether it multiplies integers.
func (p *Warpgroup) Integer() bool { return p.To == "s32" }

func (p *Warpgroup) isFP8() bool { return !p.Integer() && p.Of.Bytes() == 1 }

// Depth is how many elements of a row of A are stored.
func (p *Warpgroup) Depth() int { return warpgroupDepth[p.Of] }

// Valid reports whether there is such a product: its types go together, and its shape is
// one of those of the types. The shapes of integers are fewer.
func (p *Warpgroup) Valid() bool {
	same := Product{Of: p.Of, OfB: p.OfB, To: p.To}
	if p.Depth() == 0 || !same.Typed() || p.Saturated && !p.Integer() {
		return false
	}
	k := p.Depth()
	if p.Sparse != nil {
		k *= 2
	}
	if p.Integer() && p.N > 32 && p.N%16 != 0 {
		return false
	}
	return p.K == k && p.N >= 8 && p.N <= 256 && p.N%8 == 0
}

// Prepare makes the tile of D, and that of A if it lies in registers, for a GPU.
func (p *Warpgroup) Prepare(compute gpu.Compute, registers bool) {
	if p.core = arith.TensorCoreOf(compute); p.isFP8() {
		p.core = arith.FP8Core(compute)
	}
	if p.D = NewTile(p.To, 16*p.N); registers {
		p.A = NewTile(p.Of, 16*p.Depth())
	}
}

// LoadA takes the 16 rows of A of a warp, from registers or from the tile in shared memory
// that a descriptor names. The error is ErrNoPart, or what the emulator does not know of the
// descriptor.
func (u *Unit) LoadA(file unsafe.Pointer, p *Warpgroup, warp int, descriptor uint64, read Reader) error {
	rows := rows{of: p.Of, depth: p.Depth(), from: warp % 4 * 16, count: 16, trans: p.TransA, minus: p.MinusA}
	to := u.rows().a[:]
	if p.A == nil {
		return rows.load(to, descriptor, read)
	}
	term := rows.term()
	p.A.Unpack(file, func(lane, register, i, per int, v uint64) {
		to[(lane/4+8*(register&1))*rows.depth+lane%4*per+i+4*per*(register>>1)] = term(v)
	})
	return nil
}

// LoadB takes the columns of B from the tile that a descriptor names, with errors as LoadA.
func (u *Unit) LoadB(p *Warpgroup, descriptor uint64, read Reader) error {
	rows := rows{of: p.OfB, depth: p.K, count: p.N, trans: p.TransB, minus: p.MinusB}
	return rows.load(u.rows().b[:], descriptor, read)
}

// Warpgroup multiplies the 16 rows of A of a warp by B, which LoadA and LoadB have taken. D
// is added if add is true. For a sparse product Keep comes first.
func (u *Unit) Warpgroup(file unsafe.Pointer, p *Warpgroup, add bool) {
	x, depth := u.rows(), p.Depth()
	p.D.Unpack(file, func(lane, register, i, per int, v uint64) {
		if !add {
			v = 0
		}
		x.d[p.element(lane, register*per+i)] = v
	})
	var room [32]arith.Term
	for i := range 16 {
		row := x.a[i*depth : (i+1)*depth]
		for j := range p.N {
			column := x.b[j*p.K : (j+1)*p.K]
			if p.Sparse != nil {
				column = matching(room[:depth], column, u.kept[i][:])
			}
			d := &x.d[i*p.N+j]
			*d = p.dot(*d, row, column)
		}
	}
	p.D.Pack(file, func(lane, register, i, per int) uint64 { return x.d[p.element(lane, register*per+i)] })
}

// dot is a dot product and d. That fp8 is added as published, and a sparse product
// as one of the elements that are stored, is not compared with a GPU yet.
func (p *Warpgroup) dot(d uint64, a, b []arith.Term) uint64 {
	switch {
	case p.Integer():
		sum := int64(int32(d)) + arith.Dot(a, b)
		if p.Saturated {
			return arith.Clamp32(sum)
		}
		return uint64(uint32(sum))
	case p.isFP8():
		return p.core.Fuse(d, a, b, "e4m3", p.To)
	}
	return p.core.Fuse(d, a, b, p.Of, p.To)
}

// element is the place of element e of a lane in the 16 rows of d.
func (p *Warpgroup) element(lane, e int) int {
	return (lane/4+8*(e>>1&1))*p.N + e>>2*8 + lane%4*2 + e&1
}
