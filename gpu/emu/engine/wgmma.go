package engine

import (
	"fmt"
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

// warpgroupProduct is d = a*b + d of a warpgroup, and its operands.
type warpgroupProduct struct {
	n, k           int
	of, ofB, to    ptx.Type
	d, a           *tile  // a is nil if it lies in shared memory
	aAt, bAt       uint32 // slots of descriptors
	add, flip      uint32 // predicate: d is added
	transA, transB bool
	minusA, minusB bool
	saturated      bool      // of integers
	sparse         *sparsity // nil if all elements of A are stored
	core           *arith.TensorCore
}

// warpgroupRoom is the memory for the operands of one warp's product.
type warpgroupRoom struct {
	a [16 * 32]arith.Term
	b [256 * 64]arith.Term
	d [16 * 256]uint64
}

// wgmmaDepth is the k of a dense instruction, 32 bytes. A sparse one has twice as many, and
// stores 32 bytes of A.
var wgmmaDepth = map[ptx.Type]int{"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}

// wgmmaForm lowers wgmma and related instructions.
func wgmmaForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	if err := lo.target(90); err != nil {
		return err
	}
	whole := w.has("sync") && w.has("aligned")
	switch op := w.take("fence", "commit_group", "wait_group", "mma_async"); {
	case !whole:
	case op == "mma_async":
		return lo.wgmmaProduct(w)
	case op == "wait_group" && len(w) == 0:
		return lo.wgmmaWait()
	case op == "commit_group" && len(w) == 0:
		lo.op.in.exec = func(w *warp, _ *instr, _ uint32) { w.commitProducts() }
		return lo.operands(0, 0)
	case op == "fence" && len(w) == 0:
		return first(lo.operands(0, 0), nothingForm(lo))
	}
	return lo.unsupported("no such form of wgmma")
}

// wgmmaWait lowers wgmma.wait_group.
func (lo *lowering) wgmmaWait() error {
	if err := lo.operands(1, 1); err != nil {
		return err
	}
	n := lo.operand(0)
	if n.Kind != ptx.ImmediateOperand || n.Bits > 7 {
		return lo.malformed("operand 1, expected a constant from 0 to 7")
	}
	in := &lo.op.in
	in.flow, in.sub, in.exec = groupSync, uint8(n.Bits), func(*warp, *instr, uint32) {}
	return nil
}

// commitProducts ends a group of products. A product is one of all four warps, so it
// ends when all of them have executed it.
func (w *warp) commitProducts() {
	now := uint32(0)
	if r := w.block.races; r != nil {
		r.warps.now++ // what the warp does from now on is not before it
		now = r.warps.now
	}
	w.products = append(w.products, now)
}

// waitWarpgroup makes a warp wait for groups of products of its warpgroup.
func (w *warp) waitWarpgroup(f *fragment, in *instr) bool {
	if !w.warpgroupMet(in) {
		f.state = atGroup
		return false
	}
	w.count(f, f.pc, f.pc+1)
	ended := len(w.products) - int(in.sub)
	w.endProducts(ended)
	r := w.block.races
	if r == nil || ended <= 0 {
		return true
	}
	for _, other := range w.warpgroup() {
		if other != w && ended <= len(other.products) {
			r.warps.join(1<<other.index, other.products[ended-1], 1<<w.index)
		}
	}
	return true
}

// warpgroup is the four warps that multiply together.
func (w *warp) warpgroup() []*warp {
	first := w.index &^ 3
	return w.block.warps[first:min(first+4, len(w.block.warps))]
}

// warpgroupMet reports whether all warps of the warpgroup have executed the products
// that a wait asks for.
func (w *warp) warpgroupMet(in *instr) bool {
	for _, other := range w.warpgroup() {
		if other.alive != 0 && len(other.products) < len(w.products)-int(in.sub) {
			return false
		}
	}
	return true
}

// wgmmaProduct lowers wgmma.mma_async.
func (lo *lowering) wgmmaProduct(w words) error {
	p := &warpgroupProduct{saturated: w.has("satfinite")}
	if w.has("sp") {
		p.sparse = &sparsity{}
	}
	if len(w) != 4 {
		return lo.unsupported("no such form of wgmma")
	}
	var m int
	if _, err := fmt.Sscanf(w[0], "m%dn%dk%d", &m, &p.n, &p.k); err != nil {
		return lo.malformed("shape %s", w[0])
	}
	p.to, p.of, p.ofB = ptx.Type(w[1]), ptx.Type(w[2]), ptx.Type(w[3])
	if m != 64 || !p.typed() || !p.shaped() {
		return lo.unsupported("no such form of wgmma")
	}
	if p.core = arith.TensorCoreOf(lo.compute); p.isFP8() {
		p.core = arith.FP8Core(lo.compute)
	}
	p.d = tileOf(p.to, 16*p.n)
	registers := lo.operand(1).Kind == ptx.VectorOperand
	var constants []*bool
	if !p.integer() {
		constants = []*bool{&p.minusA, &p.minusB}
	}
	if p.of.Bytes() == 2 {
		if !registers {
			constants = append(constants, &p.transA)
		}
		constants = append(constants, &p.transB)
	}
	behind := 3 // where the operands behind the factors begin
	if p.sparse != nil {
		behind = 5
	}
	n := behind + 1 + len(constants)
	if err := first(lo.operands(n, n), lo.wholeWarp(), lo.tile(p.d, 0, true), lo.kept(p.d, 0)); err != nil {
		return err
	}
	if registers {
		p.a = tileOf(p.of, 16*p.depth())
		if err := lo.tile(p.a, 1, false); err != nil {
			return err
		}
	} else if err := lo.use(&p.aAt, 1, "b64"); err != nil {
		return err
	}
	if err := first(lo.use(&p.bAt, 2, "b64"), lo.predicateUse(&p.add, &p.flip, behind)); err != nil {
		return err
	}
	if p.sparse != nil {
		p.sparse.of, p.sparse.k = p.of, p.k
		if err := lo.sparseOperands(p.sparse, 3); err != nil {
			return err
		}
	}
	for i, c := range constants {
		o := lo.operand(behind + 1 + i)
		v := int64(o.Bits)
		if o.Kind != ptx.ImmediateOperand || i < 2 && v != 1 && v != -1 || i >= 2 && v != 0 && v != 1 {
			return lo.malformed("operand %d, expected a constant: 1 or -1 for a sign, 0 or 1 for a transposition", behind+2+i)
		}
		*c = v == -1 || i >= 2 && v == 1
	}
	lo.op.in.exec = p.run
	lo.op.in.mem = &access{kind: load, space: ptx.Shared, bytes: 8, size: 16, count: 2, uncounted: true}
	return nil
}

func (p *warpgroupProduct) integer() bool { return p.to == "s32" }

func (p *warpgroupProduct) isFP8() bool { return !p.integer() && p.of.Bytes() == 1 }

// depth is how many elements of a row of A are stored.
func (p *warpgroupProduct) depth() int { return wgmmaDepth[p.of] }

// typed reports whether the types go together.
func (p *warpgroupProduct) typed() bool {
	same := matrixProduct{of: p.of, ofB: p.ofB, to: p.to}
	return wgmmaDepth[p.of] != 0 && same.typed() && (!p.saturated || p.integer())
}

// shaped reports whether there is such a shape. Those of integers are fewer.
func (p *warpgroupProduct) shaped() bool {
	k := p.depth()
	if p.sparse != nil {
		k *= 2
	}
	if p.integer() && p.n > 32 && p.n%16 != 0 {
		return false
	}
	return p.k == k && p.n >= 8 && p.n <= 256 && p.n%8 == 0
}

// kept binds the registers of a tile as sources that may be unset: a predicate decides
// whether they are used.
func (lo *lowering) kept(t *tile, i int) error {
	from := len(lo.op.binds)
	err := lo.tile(t, i, false)
	for _, b := range lo.op.binds[from:] {
		b.kept = true
	}
	return err
}

func (p *warpgroupProduct) run(w *warp, in *instr, m uint32) {
	if !w.together32(in, m) {
		return
	}
	if w.block.warpgroup == nil {
		w.block.warpgroup = &warpgroupRoom{}
	}
	x := w.block.warpgroup
	var kept *keptElements
	if p.sparse != nil {
		var ok bool
		if kept, ok = p.sparse.kept(w, in); !ok {
			return
		}
	}
	if !p.loadA(w, in, x) || !p.loadB(w, in, x) {
		return
	}
	if r := w.block.races; r != nil {
		r.warps.now++ // later writes are known from earlier ones, see keptUntilRead
	}
	add := (w.preds[p.add]^p.flip)&1 != 0
	w.unpack(p.d, func(lane, register, i, per int, v uint64) {
		if !add {
			v = 0
		}
		x.d[p.element(lane, register*per+i)] = v
	})
	depth := p.depth()
	var room [32]arith.Term
	for i := range 16 {
		row := x.a[i*depth : (i+1)*depth]
		for j := range p.n {
			column := x.b[j*p.k : (j+1)*p.k]
			if kept != nil {
				column = matching(room[:depth], column, kept[i][:])
			}
			d := &x.d[i*p.n+j]
			*d = p.dot(*d, row, column)
		}
	}
	w.pack(p.d, func(lane, register, i, per int) uint64 { return x.d[p.element(lane, register*per+i)] })
}

// dot is a dot product and d. That fp8 is added as published, and a sparse product
// as one of the elements that are stored, is not compared with a GPU yet.
func (p *warpgroupProduct) dot(d uint64, a, b []arith.Term) uint64 {
	switch {
	case p.integer():
		sum := int64(int32(d)) + arith.Dot(a, b)
		if p.saturated {
			return arith.Clamp32(sum)
		}
		return uint64(uint32(sum))
	case p.isFP8():
		return p.core.Fuse(d, a, b, "e4m3", p.to)
	}
	return p.core.Fuse(d, a, b, p.of, p.to)
}

// element is the place of element e of a lane in the 16 rows of d.
func (p *warpgroupProduct) element(lane, e int) int {
	return (lane/4+8*(e>>1&1))*p.n + e>>2*8 + lane%4*2 + e&1
}

// loadA returns the warp's 16 rows of a.
func (p *warpgroupProduct) loadA(w *warp, in *instr, x *warpgroupRoom) bool {
	rows := tileRows{of: p.of, depth: p.depth(), from: w.index % 4 * 16, count: 16, trans: p.transA, minus: p.minusA}
	if p.a == nil {
		return rows.load(w, in, x.a[:], lanes[uint64](w, p.aAt)[0])
	}
	term := rows.term()
	w.unpack(p.a, func(lane, register, i, per int, v uint64) {
		x.a[(lane/4+8*(register&1))*rows.depth+lane%4*per+i+4*per*(register>>1)] = term(v)
	})
	return true
}

// loadB finds the columns of b.
func (p *warpgroupProduct) loadB(w *warp, in *instr, x *warpgroupRoom) bool {
	rows := tileRows{of: p.ofB, depth: p.k, count: p.n, trans: p.transB, minus: p.minusB}
	return rows.load(w, in, x.b[:], lanes[uint64](w, p.bAt)[0])
}

// tileRows are rows of a or columns of b, each with all its k.
type tileRows struct {
	of           ptx.Type
	depth        int // elements of each
	from, count  int
	trans, minus bool
}

// term returns the function that decomposes a factor.
func (t *tileRows) term() func(v uint64) arith.Term {
	switch t.of {
	case "s8":
		return func(v uint64) arith.Term { return arith.Number(int32(int8(v))) }
	case "u8":
		return func(v uint64) arith.Term { return arith.Number(int32(v)) }
	}
	minus, format := uint64(0), arith.FormatOf(t.of)
	if t.minus {
		minus = 1 << (8*t.of.Bytes() - 1)
	}
	switch {
	case t.of.Bytes() == 1:
		return func(v uint64) arith.Term { return arith.FP8Term(v^minus, t.of) }
	case t.of == "tf32":
		return func(v uint64) arith.Term { return arith.TermOf((v^minus)>>13, format) }
	}
	return func(v uint64) arith.Term { return arith.TermOf(v^minus, format) }
}

// load reads the rows from the tile that a descriptor names, in parts of 16 bytes.
func (t *tileRows) load(w *warp, in *instr, to []arith.Term, descriptor uint64) bool {
	l := layoutOf(descriptor)
	size := t.of.Bytes()
	switch {
	case descriptor>>49&7 != 0:
		w.fail(in, 0, gpu.ErrUnsupported, "a matrix descriptor with a base offset of %d, on the emulator: align the tile to 1024 bytes, or run this entry on a GPU", descriptor>>49&7)
		return false
	case !t.trans && l.span != 0 && l.span < uint64(t.depth*size):
		w.fail(in, 0, gpu.ErrUnsupported, "a matrix descriptor with a swizzle of %d bytes for rows of %d, on the emulator: use a wider swizzle, or run this entry on a GPU", l.span, t.depth*size)
		return false
	}
	// A part has elements of a row, or, transposed, an element of each of some rows.
	per := matrixPart / size
	rows, elements, stride := 1, per, 1
	if t.trans {
		rows, elements, stride = per, 1, t.depth
	}
	term := t.term()
	for r := 0; r < t.count; r += rows {
		for k := 0; k < t.depth; k += elements {
			at := l.place(uint64(t.from+r), uint64(k), uint64(size), t.trans)
			if !w.readsPart(in, at, descriptor) {
				return false
			}
			from, to := unsafe.Add(w.block.shared.Base, at), to[r*t.depth+k:]
			for i := range per {
				var v uint64
				switch size {
				case 1:
					v = uint64(*(*uint8)(unsafe.Add(from, i)))
				case 2:
					v = uint64(*(*uint16)(unsafe.Add(from, 2*i)))
				default:
					v = uint64(*(*uint32)(unsafe.Add(from, 4*i)))
				}
				to[i*stride] = term(v)
			}
		}
	}
	return true
}

// matrixPart is the bytes that lie in one piece wherever a tile is laid out.
const matrixPart = 16

// readsPart checks and notes that a product reads a part of a tile.
func (w *warp) readsPart(in *instr, at, descriptor uint64) bool {
	b := w.block
	if b.shared == nil || at+matrixPart > uint64(len(b.shared.Data)) {
		w.fail(in, 0, gpu.ErrOutOfBounds, "%d bytes at shared address %#x of the tile that descriptor %#x names, expected them in the %d bytes of the block", matrixPart, at, descriptor, b.sharedBytes())
		return false
	}
	if !b.shared.Written.Has(int(at), 1<<matrixPart-1) && b.checks.Has(gpu.CheckUninitialized) {
		w.addr[0] = at
		w.unwritten(&instr{src: in.src, mem: &access{size: matrixPart}}, place{space: ptx.Shared, contents: b.shared}, 0)
		if b.fault != nil {
			return false
		}
	}
	if !w.fencedAsync(in, 0, at, matrixPart) {
		return false
	}
	w.readsProduct(in, at)
	return true
}

// matrixLayout is a decoded matrix descriptor: the start of a tile, the distances of its
// parts, and the bytes of the span in which 16-byte parts are swizzled, 0 for none.
type matrixLayout struct {
	start, leading, stride uint64
	span                   uint64
}

func layoutOf(descriptor uint64) matrixLayout {
	return matrixLayout{
		start: descriptor & 0x3fff << 4, leading: descriptor >> 16 & 0x3fff << 4, stride: descriptor >> 32 & 0x3fff << 4,
		span: [...]uint64{0, 128, 64, 32}[descriptor>>62],
	}
}

// place is the offset of element k of row r of a tile, whose elements have size bytes;
// trans means that rows, and not k, are contiguous.
func (l matrixLayout) place(r, k, size uint64, trans bool) uint64 {
	per := 16 / size // elements of 16 bytes
	at := l.start
	switch {
	case l.span == 0 && !trans:
		at += r%8*16 + r/8*l.stride + k/per*l.leading + k%per*size
	case l.span == 0:
		at += r%per*size + r/per*l.stride + k%8*16 + k/8*l.leading
	case !trans:
		at += r%8*l.span + r/8*l.stride + k*size
	default:
		wide := l.span / size // elements of a span
		at += r%wide*size + r/wide*l.leading + k%8*l.span + k/8*l.stride
	}
	return swizzled(at, int(l.span))
}
