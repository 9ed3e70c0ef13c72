package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// checkDivisor makes an integer division with a variable divisor check it for 0. Vector
// operations leave such divisors to exec.
func (lo *lowering) checkDivisor() {
	src := lo.op.in.src
	if src.Opcode != "div" && src.Opcode != "rem" || src.Operands[2].Kind != ptx.RegisterOperand {
		return
	}
	words := wordsOf(src)
	t := words.last()
	if arith.IsFloat(t) {
		return
	}
	divide, find := lo.op.in.exec, zeros[uint32]
	if widthOf(t) == double {
		find = zeros[uint64]
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		if zero := find(w, in.b) & m; zero != 0 && w.block.checks.Has(gpu.CheckDivision) {
			w.divisionByZero(in, zero, widthOf(t).bytes())
		}
		divide(w, in, m)
	}
}

// zeros are the lanes of a slot whose value is 0.
func zeros[T uint32 | uint64](w *warp, slot uint32) (m uint32) {
	for l, v := range lanes[T](w, slot) {
		if v == 0 {
			m |= 1 << l
		}
	}
	return m
}

func (w *warp) divisionByZero(in *instr, m uint32, bytes int) {
	w.warn(in, lowest(m), gpu.ErrDivision, "the divisor is 0, and the result %d ones, where Go panics: test the divisor before", 8*bytes)
}
