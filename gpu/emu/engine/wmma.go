package engine

import (
	"fmt"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// The manual does not define which lane holds which element of a wmma fragment. In the
// emulator they lie in the order of memory, lane by lane; if there are more places than
// elements, lanes 16 to 31 (or more) hold copies.

// wmmaFragment is one operand of wmma.
type wmmaFragment struct {
	*tile
	rows, cols int
	across     bool // it lies column by column
}

// elements is the number of elements in each lane.
func (f *wmmaFragment) elements() int { return len(f.slots) * f.per() }

// index is the row and column of element e of a lane.
func (f *wmmaFragment) index(lane, e int) (row, col int) {
	n := (lane*f.elements() + e) % (f.rows * f.cols)
	if f.across {
		return n % f.rows, n / f.rows
	}
	return n / f.cols, n % f.cols
}

// wmmaForm lowers wmma.load, wmma.store and wmma.mma.
func wmmaForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	op := w.take("load", "store", "mma")
	if !w.has("sync") || !w.has("aligned") {
		return lo.unsupported("no such form of wmma")
	}
	switch op {
	case "load", "store":
		return lo.wmmaMove(w, op == "store")
	case "mma":
		return lo.wmmaProduct(w)
	}
	return lo.unsupported("no such form of wmma")
}

// wmmaShape is the shape of all three matrices, if PTX has such a product.
func (lo *lowering) wmmaShape(name string, of ptx.Type) (*matrixProduct, error) {
	p := &matrixProduct{of: of, ofB: of, core: arith.TensorCoreOf(lo.compute)}
	_, err := fmt.Sscanf(name, "m%dn%dk%d", &p.m, &p.n, &p.k)
	k := map[ptx.Type]int{"f16": 16, "bf16": 16, "s8": 16, "u8": 16, "tf32": 8, "f64": 4}[of]
	known := p.k == 16 && (p.m == 16 && p.n == 16 || p.m == 32 && p.n == 8 || p.m == 8 && p.n == 32) ||
		p.k == 8 && p.m == 16 && p.n == 16 || p.k == 4 && p.m == 8 && p.n == 8
	if err != nil || !known || of != "" && p.k != k {
		return nil, lo.unsupported("no such form of wmma")
	}
	if of == "" {
		return p, nil
	}
	return p, lo.target(p.matrixTarget(true))
}

// fragment is the operand a, b or c of a product, in a type.
func (p *matrixProduct) fragment(which string, of ptx.Type, layout string) *wmmaFragment {
	f := &wmmaFragment{across: layout == "col"}
	switch which {
	case "a":
		f.rows, f.cols = p.m, p.k
	case "b":
		f.rows, f.cols = p.k, p.n
	default:
		f.rows, f.cols, f.across = p.m, p.n, false
	}
	n := f.rows * f.cols
	if of == "f16" && which != "c" && which != "d" {
		n = 512 // always 8 registers
	}
	f.tile = tileOf(of, n)
	return f
}

// wmmaMove lowers wmma.load and wmma.store.
func (lo *lowering) wmmaMove(w words, storing bool) error {
	which, layout := w.take("a", "b", "c", "d"), w.take("row", "col")
	space := spaces[w.take("global", "shared", "shared::cta")]
	of := w.last()
	if len(w) != 1 || which == "" || layout == "" {
		return lo.unsupported("no such form of wmma")
	}
	factor := of
	if which == "c" || which == "d" {
		factor = ""
	}
	p, err := lo.wmmaShape(w[0], factor)
	if err != nil {
		return err
	}
	f := p.fragment(which, of, layout)
	registers, address, kind := 0, 1, load
	if storing {
		registers, address, kind = 1, 0, store
	}
	mv := &wmmaTransfer{f: f, across: layout == "col", packed: f.across == (layout == "col"), storing: storing}
	if mv.base, mv.space, err = lo.addressPart(address); err != nil {
		return err
	}
	if space != ptx.Generic {
		mv.space = space
	}
	machine := mv.machineLayout(which)
	if mv.requests = machine.requests(); machine.byMatrix(which) && !storing {
		mv.matrices = machine.matrices()
	}
	mv.part = lo.part(kind, mv.space, mv.chunk())
	mv.part.mem.uncounted = true
	lo.op.in.mem, lo.op.parts = mv.part.mem, nil
	lo.op.in.exec = mv.run
	return first(lo.operands(2, 3), lo.wholeWarp(), lo.tile(f.tile, registers, !storing), lo.wmmaStride(mv))
}

// wmmaStride binds the number of elements between rows or columns.
func (lo *lowering) wmmaStride(mv *wmmaTransfer) error {
	if len(lo.op.in.src.Operands) == 3 {
		return lo.use(&mv.stride, 2, "b32")
	}
	tight := mv.f.cols
	if mv.across {
		tight = mv.f.rows
	}
	lo.bind(&mv.stride, value{kind: constantValue, bits: uint64(tight), width: word}, false)
	return nil
}
