package engine

import (
	"fmt"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/ptx"
)

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
func (lo *lowering) wmmaShape(name string, of ptx.Type) (*matrix.Product, error) {
	p := &matrix.Product{Of: of, OfB: of, Core: arith.TensorCoreOf(lo.compute)}
	if _, err := fmt.Sscanf(name, "m%dn%dk%d", &p.M, &p.N, &p.K); err != nil || !p.WholeShape() {
		return nil, lo.unsupported("no such form of wmma")
	}
	if of == "" {
		return p, nil
	}
	return p, lo.target(p.Target(true))
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
	f := p.Fragment(which, of, layout)
	registers, address, kind := 0, 1, load
	if storing {
		registers, address, kind = 1, 0, store
	}
	mv := &wmmaTransfer{f: f, across: layout == "col", packed: f.Across == (layout == "col"), storing: storing}
	if mv.base, mv.space, err = lo.addressPart(address); err != nil {
		return err
	}
	if space != ptx.Generic {
		mv.space = space
	}
	machine := f.MachineLayout(which, mv.across)
	if mv.requests = machine.Requests(); machine.ByMatrix(which) && !storing {
		mv.matrices = machine.Matrices()
	}
	mv.part = lo.part(kind, mv.space, mv.chunk())
	mv.part.mem.uncounted = true
	lo.op.in.mem, lo.op.parts = mv.part.mem, nil
	lo.op.in.exec = mv.run
	return first(lo.operands(2, 3), lo.wholeWarp(), lo.tile(f.Tile, registers, !storing), lo.wmmaStride(mv))
}

// wmmaStride binds the number of elements between rows or columns.
func (lo *lowering) wmmaStride(mv *wmmaTransfer) error {
	if len(lo.op.in.src.Operands) == 3 {
		return lo.use(&mv.stride, 2, "b32")
	}
	tight := mv.f.Cols
	if mv.across {
		tight = mv.f.Rows
	}
	lo.bind(&mv.stride, value{kind: constantValue, bits: uint64(tight), width: word}, false)
	return nil
}
