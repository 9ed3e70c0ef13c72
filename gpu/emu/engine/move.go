package engine

import (
	"time"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

func move32(w *warp, in *instr, m uint32) {
	d, a := lanes[uint32](w, in.d), lanes[uint32](w, in.a)
	if m == all {
		*d = *a
		return
	}
	simd.Blend(d, a, m)
}

func move64(w *warp, in *instr, m uint32) {
	d, a := lanes[uint64](w, in.d), lanes[uint64](w, in.a)
	if m == all {
		*d = *a
		return
	}
	simd.Blend(d, a, m)
}

func movePredicate(w *warp, in *instr, m uint32) {
	w.preds[in.d] = w.preds[in.d]&^m | w.preds[in.a]&m
}

// move makes the instruction a copy.
func (in *instr) move(w width) {
	in.vector.op = vectorMoves[w]
	switch w {
	case double:
		in.exec = move64
	case predicate:
		in.exec = movePredicate
	default:
		in.exec = move32
	}
}

// movForm copies a register, a constant, an address or a special register, or
// packs and unpacks registers.
func movForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	t := w.last()
	if len(w) > 0 || widthOf(t) == 0 {
		return lo.unsupported("no such form of mov")
	}
	if err := lo.operands(2, 2); err != nil {
		return err
	}
	from, to := lo.operand(1), lo.operand(0)
	switch {
	case to.Kind == ptx.VectorOperand:
		return lo.unpack(t, to, from)
	case from.Kind == ptx.VectorOperand:
		return lo.pack(t, from)
	case from.Kind == ptx.SpecialOperand && special.Clocks[from.Symbol]:
		return lo.clock(from.Symbol, t)
	}
	in := &lo.op.in
	in.move(widthOf(t))
	lo.op.move, lo.op.pass = true, true
	return first(lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t))
}

// clock reads a clock: it counts the instructions of the warp's block, or
// nanoseconds.
func (lo *lowering) clock(name string, t ptx.Type) error {
	in := &lo.op.in
	in.kinds = string(rune(widthOf(t)))
	in.exec = func(w *warp, in *instr, m uint32) {
		v := w.block.clock.now(in.src, &w.block.cnt)
		if name[:3] == "%gl" {
			v = uint64(time.Now().UnixNano())
		}
		if n := len(name) - 3; name[n:] == "_hi" {
			v >>= 32
		}
		for x := m; x != 0; x &= x - 1 {
			w.setLane(in, lowest(x), v)
		}
	}
	return lo.def(&in.d, 0, widthOf(t))
}

// pack puts registers side by side into a wider one, the first lowest.
func (lo *lowering) pack(t ptx.Type, from ptx.Operand) error {
	in := &lo.op.in
	part, err := lo.partOf(t, from)
	if err != nil {
		return err
	}
	slots := make([]uint32, len(from.Elems))
	in.kinds = string(rune(widthOf(t)))
	lo.op.pass = true
	if err := lo.def(&in.d, 0, widthOf(t)); err != nil {
		return err
	}
	for i, e := range from.Elems {
		if err := lo.useOperand(&slots[i], e, "a component of operand 2", part); err != nil {
			return err
		}
		lo.halfOf(t, i)
	}
	size := part.Bytes() * 8
	in.exec = func(w *warp, in *instr, m uint32) {
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			var v uint64
			for i, s := range slots {
				v |= w.lane(part, s, l) << (i * size)
			}
			w.setLane(in, l, v)
		}
	}
	return nil
}

// lane is the value of one lane of a slot.
func (w *warp) lane(t ptx.Type, slot uint32, l int) uint64 {
	if t.Bytes() == 8 {
		return lanes[uint64](w, slot)[l]
	}
	return uint64(lanes[uint32](w, slot)[l])
}

// unpack splits a register into parts.
func (lo *lowering) unpack(t ptx.Type, to, from ptx.Operand) error {
	in := &lo.op.in
	part, err := lo.partOf(t, to)
	if err != nil {
		return err
	}
	slots := make([]uint32, len(to.Elems))
	lo.op.pass = true
	for i, e := range to.Elems {
		if e.Kind == ptx.IgnoreOperand {
			continue
		}
		if err := lo.defOperand(&slots[i], e, "a component of operand 1", widthOf(part)); err != nil {
			return err
		}
		lo.halfOf(t, i)
	}
	size := part.Bytes() * 8
	in.exec = func(w *warp, in *instr, m uint32) {
		for i, s := range slots {
			if to.Elems[i].Kind == ptx.IgnoreOperand {
				continue
			}
			for x := m; x != 0; x &= x - 1 {
				l := lowest(x) & 31
				lanes[uint32](w, s)[l] = uint32(w.lane(t, in.a, l)>>(i*size)) & widthOf(part).mask()
			}
		}
	}
	return lo.use(&in.a, 1, t)
}

// partOf is the type of the components of a packed value.
func (lo *lowering) partOf(t ptx.Type, v ptx.Operand) (ptx.Type, error) {
	if n := len(v.Elems); n > 0 {
		switch t.Bytes() / n {
		case 2:
			return "b16", nil
		case 4:
			return "b32", nil
		}
	}
	return "", lo.unsupported("%d components of .%s", len(v.Elems), t)
}

// windows are the starts of the spaces in the generic address space.
var windows = map[string]uint64{
	"global": 0, "const": 0,
	"shared": mem.SharedWindow << mem.WindowBits, "shared::cta": mem.SharedWindow << mem.WindowBits,
	"local": mem.LocalWindow << mem.WindowBits, "param": mem.ParamWindow << mem.WindowBits,
	"param::entry": mem.ParamWindow << mem.WindowBits,
}

// cvtaForm converts an address of a space to a generic one, or back.
func cvtaForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	back := w.has("to")
	t := w.last()
	if len(w) != 1 || t.Bytes() < 4 {
		return lo.unsupported("no such form of cvta")
	}
	base, ok := windows[w[0]]
	if !ok {
		return lo.unsupported("cvta of space .%s", w[0])
	}
	in := &lo.op.in
	in.move(widthOf(t))
	if base == 0 {
		lo.op.move, lo.op.pass = true, true
	} else {
		if widthOf(t) != double {
			return lo.unsupported("32-bit generic addresses")
		}
		if back {
			base = -base
		}
		in.vector = vectorForm{}
		in.exec = map1(func(d, a *[32]uint64) {
			for l := range d {
				d[l] = a[l] + base
			}
		})
	}
	return first(lo.operands(2, 2), lo.def(&in.d, 0, widthOf(t)), lo.use(&in.a, 1, t))
}

// isspacepForm tests whether a generic address lies in a space.
func isspacepForm(lo *lowering) error {
	space, ok := map[string]ptx.Space{"global": ptx.Global, "shared": ptx.Shared, "shared::cta": ptx.Shared,
		"local": ptx.Local, "param": ptx.Parameter}[lo.op.in.src.Modifiers[0]]
	if !ok {
		return lo.unsupported("isspacep of this space")
	}
	in := &lo.op.in
	in.kinds, in.exec = "pd", runLanes
	in.lane = func(_ *arith.Operation, a, _, _ uint64) uint64 {
		s, _ := spaceOf(a)
		return uint64(arith.Bit(s == space))
	}
	return first(lo.operands(2, 2), lo.def(&in.d, 0, predicate), lo.use(&in.a, 1, "b64"))
}
