package engine

import (
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/ptx"
)

// ldmatrixForm lowers ldmatrix: lanes 8i to 8i+7 hold the addresses of the rows of
// matrix i, each of 8 elements of 16 bits; lane l gets elements 2(l%4) and the next of
// row l/4 of each matrix, or of column l/4 if it is transposed.
func ldmatrixForm(lo *lowering) error { return lo.rowsForm(load) }

// stmatrixForm lowers stmatrix, the other way.
func stmatrixForm(lo *lowering) error { return lo.rowsForm(store) }

// movmatrixForm lowers movmatrix: it transposes 8 x 8 elements of 16 bits in a register.
func movmatrixForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	whole := w.has("sync") && w.has("aligned") && w.has("m8n8") && w.has("trans")
	if t := w.last(); !whole || t != "b16" || len(w) > 0 {
		return lo.unsupported("no such form of movmatrix")
	}
	from, to := matrix.NewTile("b16", 64), matrix.NewTile("b16", 64)
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		if !w.together32(in, m) {
			return
		}
		var rows [8][8]uint64
		from.Unpack(w.slots, func(lane, _, i, _ int, v uint64) { rows[lane/4][lane%4*2+i] = v })
		to.Pack(w.slots, func(lane, _, i, _ int) uint64 { return rows[lane%4*2+i][lane/4] })
	}
	return first(lo.target(75), lo.operands(2, 2), lo.wholeWarp(), lo.tile(to, 0, true), lo.tile(from, 1, false))
}

func (lo *lowering) rowsForm(kind accessKind) error {
	w := wordsOf(lo.op.in.src)
	whole := w.has("sync") && w.has("aligned") && w.has("m8n8")
	count := map[string]int{"x1": 1, "x2": 2, "x4": 4}[w.take("x1", "x2", "x4")]
	trans := w.has("trans")
	named := w.take("shared", "shared::cta")
	if t := w.last(); !whole || count == 0 || t != "b16" || len(w) > 0 {
		return lo.unsupported("no such form of %s", lo.op.in.src.Opcode)
	}
	registers, address := 0, 1
	if kind == store {
		registers, address = 1, 0
	}
	base, _, err := lo.addressPart(address)
	if err != nil {
		return err
	}
	space := ptx.Shared
	if named == "" {
		space = ptx.Generic
	}
	mv := &rowsTransfer{Tile: matrix.NewTile("b16", 64*count), base: base, rows: 1<<(8*count) - 1, trans: trans, part: lo.part(kind, space, 16)}
	lo.op.in.mem, lo.op.parts, lo.op.in.exec = mv.part.mem, nil, mv.load
	if kind == store {
		lo.op.in.exec = mv.store
	}
	return first(lo.operands(2, 2), lo.wholeWarp(), lo.tile(mv.Tile, registers, kind == load))
}

// rowsTransfer moves matrices between registers and rows in memory.
type rowsTransfer struct {
	*matrix.Tile
	base  func(w *warp, m uint32)
	rows  uint32 // lanes that hold the address of a row
	trans bool
	part  *instr
}

func (t *rowsTransfer) load(w *warp, in *instr, m uint32) {
	if !w.together32(in, m) {
		return
	}
	w.block.cnt.MatrixLoads++
	t.base(w, m)
	if w.runPart(t.part, t.rows); w.block.fault != nil {
		return
	}
	t.Pack(w.slots, func(lane, r, i, _ int) uint64 {
		row, col := elementOf(lane, i, t.trans)
		return w.scratch(t.part, col/4)[8*r+row] >> (col % 4 * 16) & 0xffff
	})
}

func (t *rowsTransfer) store(w *warp, in *instr, m uint32) {
	if !w.together32(in, m) {
		return
	}
	*w.scratch(t.part, 0), *w.scratch(t.part, 1) = [32]uint64{}, [32]uint64{}
	t.Unpack(w.slots, func(lane, r, i, _ int, v uint64) {
		row, col := elementOf(lane, i, t.trans)
		w.scratch(t.part, col/4)[8*r+row] |= v << (col % 4 * 16)
	})
	t.base(w, m)
	w.runPart(t.part, t.rows)
}

// elementOf is the row and column in memory of element i of a lane.
func elementOf(lane, i int, trans bool) (row, col int) {
	if trans {
		return lane%4*2 + i, lane / 4
	}
	return lane / 4, lane%4*2 + i
}
