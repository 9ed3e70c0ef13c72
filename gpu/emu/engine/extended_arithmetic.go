package engine

import (
	"math/bits"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// carryForm lowers additions, subtractions and multiply-adds that read or write the
// carry flag. They compute numbers wider than a register in parts.
func carryForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	opcode := lo.op.in.src.Opcode
	keeps, part, t := w.has("cc"), w.take("lo", "hi"), w.last()
	base := opcode
	uses := opcode == "addc" || opcode == "subc" || opcode == "madc"
	if uses {
		base = opcode[:3]
	}
	if len(w) > 0 || t.Bytes() < 4 || arith.IsFloat(t) || isBits(t) || (base == "mad") != (part != "") {
		return lo.unsupported("no such form of %s", opcode)
	}
	sum := carrySum(base, part, t)
	letter := string(rune(widthOf(t)))
	kinds := letter + letter + letter
	if base == "mad" {
		kinds += letter
	}
	in := &lo.op.in
	in.kinds = kinds
	in.exec = func(w *warp, in *instr, m uint32) {
		w.sources(in)
		for x := m; x != 0; x &= x - 1 {
			l := lowest(x) & 31
			var carry uint64
			if uses {
				carry = uint64(w.carry >> l & 1)
			}
			v, out := sum(w.tmp[0][l], w.tmp[1][l], w.tmp[2][l], carry)
			w.setLane(in, l, v)
			if keeps {
				w.carry = w.carry&^(1<<l) | uint32(out)<<l
			}
		}
	}
	return lo.bindKinds(kinds, t)
}

// carrySum is the operation with a carry, or a borrow, in and out.
func carrySum(base, part string, t ptx.Type) func(a, b, c, carry uint64) (v, out uint64) {
	wide := t.Bytes() == 8
	high := map[ptx.Type]arith.Lane{"u32": arith.MulHigh32U, "s32": arith.MulHigh32S, "u64": arith.MulHigh64U, "s64": arith.MulHigh64S}[t]
	return func(a, b, c, carry uint64) (v, out uint64) {
		if base == "mad" {
			if part == "hi" {
				a = high(nil, a, b, 0)
			} else {
				a *= b
			}
			b = c
		}
		if !wide {
			a, b = a&all, b&all
		}
		if base == "sub" {
			v, out = bits.Sub64(a, b, carry)
			return v, out // a 32-bit borrow is a 64-bit one, too
		}
		v, out = bits.Add64(a, b, carry)
		if !wide {
			out = v >> 32
		}
		return v, out
	}
}
