package engine

import (
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// lop3Form moves the table from the operands to the row's constant.
func lop3Form(lo *lowering) error {
	if err := lo.operands(5, 5); err != nil {
		return err
	}
	table := lo.operand(4)
	if table.Kind != ptx.ImmediateOperand || table.Bits > 255 {
		return lo.malformed("operand 5 is no constant from 0 to 255")
	}
	if len(lo.op.in.src.Modifiers) != 1 {
		return lo.unsupported("lop3 with a predicate")
	}
	in := &lo.op.in
	in.operation.Table, in.lane, in.kinds, in.exec = uint8(table.Bits), arith.Logic3, "wwww", runLanes
	return lo.bindFirst("wwww", "b32")
}

// bindFirst binds the operands of a row and returns the remaining ones.
func (lo *lowering) bindFirst(kinds string, t ptx.Type) error {
	src := *lo.op.in.src
	whole := lo.op.in.src
	src.Operands = src.Operands[:len(kinds)]
	lo.op.in.src = &src
	defer func() { lo.op.in.src = whole }()
	return lo.bindKinds(kinds, t)
}

// bfiForm inserts the low bits of the first source into the second.
func bfiForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	t := w.last()
	if len(w) > 0 || t != "b32" && t != "b64" {
		return lo.unsupported("no such form of bfi")
	}
	if err := lo.operands(5, 5); err != nil {
		return err
	}
	in, x := &lo.op.in, lo.extra()
	keep := uint32(0xff) // of position and length, see extract
	if t == "b64" {
		keep = all
	}
	in.exec = func(w *warp, in *instr, m uint32) {
		w.gather(&w.tmp[0], width(in.kinds[0]), in.a)
		w.gather(&w.tmp[1], width(in.kinds[0]), in.b)
		from, length := lanes[uint32](w, in.c), lanes[uint32](w, in.x.e)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			mask := (uint64(1)<<(length[l]&keep) - 1) << (from[l] & keep)
			w.setLane(in, l, w.tmp[1][l]&^mask|w.tmp[0][l]<<(from[l]&keep)&mask)
		}
	}
	in.kinds = string(rune(widthOf(t)))
	return first(
		lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t), lo.use(&in.b, 2, t),
		lo.use(&in.c, 3, "b32"), lo.use(&x.e, 4, "b32"))
}
