package engine

import (
	"fmt"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/ptx"
)

// wgmma is a product of a warpgroup and the places of its further operands.
type wgmma struct {
	*matrix.Warpgroup
	aAt, bAt  uint32 // slots of descriptors
	add, flip uint32 // predicate: d is added
}

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
	lo.extra().wait = warpgroupWait{}
	return nil
}

// commitProducts ends a group of products. A product is one of all four warps, so it
// ends when all of them have executed it.
func (w *warp) commitProducts() {
	now := uint32(0)
	if r := w.block.races; r != nil {
		now = r.Tick() // what the warp does from now on is not before it
	}
	w.products = append(w.products, now)
}

// warpgroupWait is a wait for groups of products of the warpgroup.
type warpgroupWait struct{}

func (g warpgroupWait) wait(w *warp, f *fragment, in *instr, _ uint32) bool {
	if !g.met(w, f, in) {
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
			r.Warps.Join(1<<other.index, other.products[ended-1], 1<<w.index)
		}
	}
	return true
}

// met reports whether all warps of the warpgroup have executed the products that a wait asks
// for.
func (warpgroupWait) met(w *warp, _ *fragment, in *instr) bool {
	for _, other := range w.warpgroup() {
		if other.alive != 0 && len(other.products) < len(w.products)-int(in.sub) {
			return false
		}
	}
	return true
}

// wgmmaProduct lowers wgmma.mma_async.
func (lo *lowering) wgmmaProduct(w words) error {
	p := &matrix.Warpgroup{Saturated: w.has("satfinite")}
	if w.has("sp") {
		p.Sparse = &matrix.Sparsity{}
	}
	if len(w) != 4 {
		return lo.unsupported("no such form of wgmma")
	}
	var m int
	if _, err := fmt.Sscanf(w[0], "m%dn%dk%d", &m, &p.N, &p.K); err != nil {
		return lo.malformed("shape %s", w[0])
	}
	p.To, p.Of, p.OfB = ptx.Type(w[1]), ptx.Type(w[2]), ptx.Type(w[3])
	if m != 64 || !p.Valid() {
		return lo.unsupported("no such form of wgmma")
	}
	registers := lo.operand(1).Kind == ptx.VectorOperand
	p.Prepare(lo.compute, registers)
	var constants []*bool
	if !p.Integer() {
		constants = []*bool{&p.MinusA, &p.MinusB}
	}
	if p.Of.Bytes() == 2 {
		if !registers {
			constants = append(constants, &p.TransA)
		}
		constants = append(constants, &p.TransB)
	}
	x := &wgmma{Warpgroup: p}
	behind := 3 // where the operands behind the factors begin
	if p.Sparse != nil {
		behind = 5
	}
	n := behind + 1 + len(constants)
	if err := first(lo.operands(n, n), lo.wholeWarp(), lo.tile(p.D, 0, true), lo.kept(p.D, 0)); err != nil {
		return err
	}
	if registers {
		if err := lo.tile(p.A, 1, false); err != nil {
			return err
		}
	} else if err := lo.use(&x.aAt, 1, "b64"); err != nil {
		return err
	}
	if err := first(lo.use(&x.bAt, 2, "b64"), lo.predicateUse(&x.add, &x.flip, behind)); err != nil {
		return err
	}
	if p.Sparse != nil {
		p.Sparse.Of, p.Sparse.K = p.Of, p.K
		if err := lo.sparseOperands(p.Sparse, 3); err != nil {
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
	lo.op.in.exec = x.run
	lo.op.in.mem = &access{kind: load, space: ptx.Shared, bytes: 8, size: 16, count: 2, uncounted: true}
	return nil
}

// kept binds the registers of a tile as sources that may be unset: a predicate decides
// whether they are used.
func (lo *lowering) kept(t *matrix.Tile, i int) error {
	from := len(lo.op.binds)
	err := lo.tile(t, i, false)
	for _, b := range lo.op.binds[from:] {
		b.kept = true
	}
	return err
}

func (x *wgmma) run(w *warp, in *instr, m uint32) {
	unit := &w.block.matrices
	if !w.together32(in, m) || !w.keepStored(in, x.Sparse) {
		return
	}
	a := uint64(0)
	if x.A == nil {
		a = lanes[uint64](w, x.aAt)[0]
	}
	b := lanes[uint64](w, x.bAt)[0]
	if !w.loaded(in, unit.LoadA(w.slots, x.Warpgroup, w.index, a, w.partOf(in, a))) || !w.loaded(in, unit.LoadB(x.Warpgroup, b, w.partOf(in, b))) {
		return
	}
	if r := w.block.races; r != nil {
		r.Tick() // later writes are known from earlier ones, see keptUntilRead
	}
	unit.Warpgroup(w.slots, x.Warpgroup, (w.preds[x.add]^x.flip)&1 != 0)
}

// loaded reports whether a factor was loaded; if not, that is a fault.
func (w *warp) loaded(in *instr, err error) bool {
	if err != nil && err != matrix.ErrNoPart {
		w.fail(in, 0, gpu.ErrUnsupported, "%s", err)
	}
	return err == nil
}

// partOf reads the parts of the tile that a descriptor names, checks that a product may
// read them and notes that it does.
func (w *warp) partOf(in *instr, descriptor uint64) matrix.Reader {
	return func(at uint64) unsafe.Pointer {
		if !w.readsPart(in, at, descriptor) {
			return nil
		}
		return unsafe.Add(w.block.shared.Base, at)
	}
}

// readsPart checks and notes that a product reads a part of a tile.
func (w *warp) readsPart(in *instr, at, descriptor uint64) bool {
	b := w.block
	if b.shared == nil || at+matrix.PartBytes > uint64(len(b.shared.Data)) {
		w.fail(in, 0, gpu.ErrOutOfBounds, "%d bytes at shared address %#x of the tile that descriptor %#x names, expected them in the %d bytes of the block", matrix.PartBytes, at, descriptor, b.sharedBytes())
		return false
	}
	if !b.shared.Written.Has(int(at), 1<<matrix.PartBytes-1) && b.checks.Has(gpu.CheckUninitialized) {
		w.addr[0] = at
		w.unwritten(&instr{src: in.src, mem: &access{size: matrix.PartBytes}}, place{space: ptx.Shared, contents: b.shared}, 0)
		if b.fault != nil {
			return false
		}
	}
	if !w.fencedAsync(in, 0, at, matrix.PartBytes) {
		return false
	}
	w.readsProduct(in, at)
	return true
}

// warpgroup is the four warps that multiply together.
func (w *warp) warpgroup() []*warp {
	first := w.index &^ 3
	return w.block.warps[first:min(first+4, len(w.block.warps))]
}
