package matrix

import (
	"unsafe"

	"warpbook/gpu/emu/arith"
)

// Unit multiplies matrices for the warps of a block, one product at a time. The zero value
// is ready: it allocates its memory with the first product.
type Unit struct {
	operands  *operands
	warpgroup *warpgroupOperands
	kept      *kept
}

// MMA are the tiles of a product by mma.sync or mma.sp.
type MMA struct {
	*Product
	D, A, B, C *Tile
}

// NewMMA returns the tiles of a product.
func NewMMA(p *Product) *MMA {
	return &MMA{p, NewTile(p.To, p.M*p.N), NewTile(p.Of, p.M*p.Depth()), NewTile(p.OfB, p.K*p.N), NewTile(p.To, p.M*p.N)}
}

// accumulator is the place of element e of a lane in c and d.
func (x *MMA) accumulator(lane, e int) int {
	return (lane/4+8*(e>>1))*x.N + lane%4*2 + e&1
}

// MMA multiplies tiles of a register file. For a sparse product Keep comes first.
func (u *Unit) MMA(file unsafe.Pointer, t *MMA) {
	x, depth := u.room(), t.Depth()
	t.A.Unpack(file, func(lane, register, i, per int, v uint64) {
		x.a[(lane/4+8*(register&1))*depth+lane%4*per+i+4*per*(register>>1)] = v
	})
	t.B.Unpack(file, func(lane, register, i, per int, v uint64) { x.b[lane/4*t.K+lane%4*per+i+4*per*register] = v })
	t.C.Unpack(file, func(lane, register, i, per int, v uint64) { x.c[t.accumulator(lane, register*per+i)] = v })
	t.multiply(x, u.kept)
	t.D.Pack(file, func(lane, register, i, per int) uint64 { return x.c[t.accumulator(lane, register*per+i)] })
}

// WMMA are the fragments of a product by wmma.
type WMMA struct {
	*Product
	D, A, B, C *Fragment
}

// WMMA multiplies fragments in a register file.
func (u *Unit) WMMA(file unsafe.Pointer, t *WMMA) {
	x := u.room()
	t.A.Unpack(file, func(lane, r, i, per int, v uint64) {
		row, col := t.A.Index(lane, r*per+i)
		x.a[row*t.K+col] = v
	})
	t.B.Unpack(file, func(lane, r, i, per int, v uint64) {
		row, col := t.B.Index(lane, r*per+i)
		x.b[col*t.K+row] = v
	})
	t.C.Unpack(file, func(lane, r, i, per int, v uint64) {
		row, col := t.C.Index(lane, r*per+i)
		x.c[row*t.N+col] = v
	})
	t.multiply(x, nil)
	t.D.Pack(file, func(lane, r, i, per int) uint64 {
		row, col := t.D.Index(lane, r*per+i)
		return x.c[row*t.N+col]
	})
}

// room is the memory for the operands of a product.
func (u *Unit) room() *operands {
	if u.operands == nil {
		u.operands = &operands{}
	}
	return u.operands
}

// warpgroupOperands are those of one warp's product by wgmma.
type warpgroupOperands struct {
	a [16 * 32]arith.Term
	b [256 * 64]arith.Term
	d [16 * 256]uint64
}

// rows is the memory for the operands of a product by wgmma.
func (u *Unit) rows() *warpgroupOperands {
	if u.warpgroup == nil {
		u.warpgroup = &warpgroupOperands{}
	}
	return u.warpgroup
}
