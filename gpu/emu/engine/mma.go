package engine

import (
	"fmt"
	"math"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// matrixProduct is d = a*b + c of a warp: a has m x k elements, b k x n, and c
// and d m x n.
type matrixProduct struct {
	m, n, k   int
	of, ofB   ptx.Type // of the elements of a and b
	to        ptx.Type // of those of c and d
	saturated bool
	sparse    *sparsity // nil if all elements of A are stored
	compute   gpu.Compute
	core      *arith.TensorCore
}

// matrices are the operands of a product, row by row for dot products: b is stored by
// columns.
type matrices struct {
	a, b, c [512]uint64
	x, y    [512]arith.Term
	kept    *keptElements // of a sparse product
}

// mmaShapes are the shapes of mma.sync for each type of a and b.
var mmaShapes = map[ptx.Type][]string{
	"f16": {"m16n8k8", "m16n8k16"}, "bf16": {"m16n8k8", "m16n8k16"}, "tf32": {"m16n8k4", "m16n8k8"},
	"s8": {"m8n8k16", "m16n8k16", "m16n8k32"}, "u8": {"m8n8k16", "m16n8k16", "m16n8k32"},
	"e4m3": {"m16n8k16", "m16n8k32"}, "e5m2": {"m16n8k16", "m16n8k32"},
	"f64": {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"},
}

// sparseShapes are those of mma.sp.
var sparseShapes = map[ptx.Type][]string{
	"f16": {"m16n8k16", "m16n8k32"}, "bf16": {"m16n8k16", "m16n8k32"}, "tf32": {"m16n8k8", "m16n8k16"},
	"s8": {"m16n8k32", "m16n8k64"}, "u8": {"m16n8k32", "m16n8k64"}, "e4m3": {"m16n8k64"}, "e5m2": {"m16n8k64"},
}

// mmaForm lowers mma.sync and mma.sp.
func mmaForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	whole := w.has("sync") && w.has("aligned")
	p := &matrixProduct{saturated: w.has("satfinite"), compute: lo.compute}
	p.core = arith.TensorCoreOf(p.compute)
	layout := w.has("row") && w.has("col")
	shapes := mmaShapes
	if sparse := w.take("sp", "sp::ordered_metadata"); sparse != "" {
		p.sparse, shapes = &sparsity{ordered: sparse != "sp"}, sparseShapes
	}
	w.drop("rn")
	if len(w) != 5 || !whole || !layout {
		return lo.unsupported("no such form of mma")
	}
	shape := w[0]
	p.to, p.of, p.ofB = ptx.Type(w[1]), ptx.Type(w[2]), ptx.Type(w[3])
	if !slices.Contains(shapes[p.of], shape) || string(p.to) != w[4] || !p.typed() {
		return lo.unsupported("no such form of mma")
	}
	if _, err := fmt.Sscanf(shape, "m%dn%dk%d", &p.m, &p.n, &p.k); err != nil {
		return lo.malformed("shape %s", shape)
	}
	if err := lo.target(p.matrixTarget(false)); err != nil {
		return err
	}
	operands, depth := 4, p.depth()
	var metadata error
	if p.sparse != nil {
		p.sparse.of, p.sparse.k = p.of, p.k
		operands, metadata = 6, first(lo.operands(6, 6), lo.sparseOperands(p.sparse, 4))
	}
	d, a, b, c := tileOf(p.to, p.m*p.n), tileOf(p.of, p.m*depth), tileOf(p.ofB, p.k*p.n), tileOf(p.to, p.m*p.n)
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		if !w.together32(in, m) {
			return
		}
		x := w.matrices()
		if p.sparse != nil {
			var ok bool
			if x.kept, ok = p.sparse.kept(w, in); !ok {
				return
			}
		}
		w.unpack(a, func(lane, register, i, per int, v uint64) {
			x.a[(lane/4+8*(register&1))*depth+lane%4*per+i+4*per*(register>>1)] = v
		})
		w.unpack(b, func(lane, register, i, per int, v uint64) { x.b[lane/4*p.k+lane%4*per+i+4*per*register] = v })
		w.unpack(c, func(lane, register, i, per int, v uint64) { x.c[p.accumulator(lane, register*per+i)] = v })
		p.multiply(x)
		w.pack(d, func(lane, register, i, per int) uint64 { return x.c[p.accumulator(lane, register*per+i)] })
	}
	return first(metadata, lo.operands(operands, operands), lo.wholeWarp(), lo.tile(d, 0, true), lo.tile(a, 1, false), lo.tile(b, 2, false), lo.tile(c, 3, false))
}

// depth is how many elements of a row of A are stored.
func (p *matrixProduct) depth() int {
	if p.sparse != nil {
		return p.k / 2
	}
	return p.k
}

// accumulator is the place of element e of a lane in c and d.
func (p *matrixProduct) accumulator(lane, e int) int {
	return (lane/4+8*(e>>1))*p.n + lane%4*2 + e&1
}

// typed reports whether the types are a valid combination.
func (p *matrixProduct) typed() bool {
	switch p.of {
	case "f16":
		return p.ofB == p.of && (p.to == "f16" || p.to == "f32")
	case "bf16", "tf32":
		return p.ofB == p.of && p.to == "f32"
	case "s8", "u8":
		return (p.ofB == "s8" || p.ofB == "u8") && p.to == "s32"
	case "e4m3", "e5m2":
		return (p.ofB == "e4m3" || p.ofB == "e5m2") && (p.to == "f16" || p.to == "f32")
	}
	return p.of == "f64" && p.ofB == p.of && p.to == p.of
}

// multiply replaces c by a*b + c.
func (p *matrixProduct) multiply(x *matrices) {
	switch p.to {
	case "s32":
		products(p, x, x.a[:], x.b[:], p.integers)
		return
	case "f64":
		products(p, x, x.a[:], x.b[:], doubles)
		return
	}
	dot := func(a, b []arith.Term, c uint64) uint64 { return p.core.Fuse(c, a, b, p.of, p.to) }
	if p.of == "e4m3" || p.of == "e5m2" {
		p.fp8Terms(x)
		dot = p.fp8Dot()
	} else {
		f := arith.FormatOf(p.of)
		drop := 0
		if p.of == "tf32" {
			drop = 13
		}
		for i := range p.m * p.depth() {
			x.x[i] = arith.TermOf(x.a[i]>>drop, f)
		}
		for i := range p.n * p.k {
			x.y[i] = arith.TermOf(x.b[i]>>drop, f)
		}
	}
	products(p, x, x.x[:], x.y[:], dot)
}

// products applies a dot product to each row of a and column of b.
func products[T any](p *matrixProduct, x *matrices, a, b []T, dot func(a, b []T, c uint64) uint64) {
	depth := p.depth()
	var room [32]T
	for i := range p.m {
		row := a[i*depth : (i+1)*depth]
		for j := range p.n {
			column := b[j*p.k : (j+1)*p.k]
			if p.sparse != nil {
				column = matching(room[:depth], column, x.kept[i][:])
			}
			c := &x.c[i*p.n+j]
			*c = dot(row, column, *c)
		}
	}
}

// integers is a dot product of bytes.
func (p *matrixProduct) integers(a, b []uint64, c uint64) uint64 {
	sum := int64(int32(c))
	for i := range a {
		sum += int64(arith.AsInt(a[i], p.of)) * int64(arith.AsInt(b[i], p.ofB))
	}
	if p.saturated {
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

// together32 reports whether all 32 lanes of a warp run an instruction. If not, it is a
// fault.
func (w *warp) together32(in *instr, m uint32) bool {
	if m == all {
		return true
	}
	w.fail(in, lowest(m), gpu.ErrMask, "%d lanes of the warp run it, expected all 32", popcount(m))
	return false
}

// wholeWarp makes an instruction wait for all lanes of the warp.
func (lo *lowering) wholeWarp() error {
	lo.op.in.flow = warpSync
	lo.bind(&lo.extra().e, value{kind: constantValue, bits: all, width: word}, false)
	return nil
}

// matrices is the memory for the operands of a product.
func (w *warp) matrices() *matrices {
	if w.block.matrices == nil {
		w.block.matrices = &matrices{}
	}
	return w.block.matrices
}
