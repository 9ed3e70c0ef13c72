package engine

// This file finds loads whose value is not used. Without optimisation, compilers write a
// bit field of a new struct by loading its word, replacing the bits of the field and
// storing it: that such a load reads local memory that was never written is no defect.
// They also copy structs word by word, including words that were never written; then the
// copy counts as never written, too (unset_bits.go).
import "warpbook/gpu/ptx"

// markUseless marks these loads, and the stores of copies.
func (lo *lowering) markUseless() {
	if lo.prog.localBytes == 0 {
		return
	}
	uses := usesOf(lo.fn)
	ops := map[*ptx.Instruction]*op{}
	for _, o := range lo.ops {
		ops[o.in.src] = o
	}
	for _, o := range lo.ops {
		in := o.in.src
		if o.in.mem == nil || in.Opcode != "ld" || in.Operands[0].Kind != ptx.RegisterOperand {
			continue
		}
		last := uses.only(in.Operands[0].Reg)
		if last != nil && last.Opcode == "st" && uses.moves(in, last) {
			from, to := o.in.mem, ops[last].in.mem
			lo.markCopy(from, to)
			from.passed = to.space == ptx.Local || from.copy > 0
			continue
		}
		if last == nil || last.Opcode != "and" || last.Operands[2].Kind != ptx.ImmediateOperand {
			continue
		}
		if or := uses.only(last.Operands[0].Reg); or != nil && or.Opcode == "or" {
			last = or
		}
		st := uses.only(last.Operands[0].Reg)
		o.in.mem.field = st != nil && st.Opcode == "st" && sameAddress(st.Operands[0], in.Operands[1])
	}
}

// markCopy pairs a load with the store of its value, if both may access local memory.
func (lo *lowering) markCopy(from, to *access) {
	local := func(mem *access) bool {
		return (mem.space == ptx.Local || mem.space == ptx.Generic) && mem.count == 1 && !mem.strong
	}
	if local(from) && local(to) && from.bytes == to.bytes {
		lo.prog.copies++
		from.copy, to.copy = lo.prog.copies, lo.prog.copies
	}
}

func sameAddress(a, b ptx.Operand) bool {
	return a.Kind == b.Kind && a.Reg == b.Reg && a.Symbol == b.Symbol && a.Offset == b.Offset
}

// uses are the instructions that read each register, and the number that write it.
type uses struct {
	by     map[int][]*ptx.Instruction
	writes map[int]int
}

func usesOf(fn *ptx.Function) uses {
	u := uses{map[int][]*ptx.Instruction{}, map[int]int{}}
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Guard >= 0 {
			u.by[in.Guard] = append(u.by[in.Guard], in)
		}
		for k, o := range in.Operands {
			if k > 0 || o.Kind != ptx.RegisterOperand {
				u.add(o, in)
			} else {
				u.writes[o.Reg]++
			}
		}
	}
	return u
}

func (u uses) add(o ptx.Operand, in *ptx.Instruction) {
	switch o.Kind {
	case ptx.RegisterOperand, ptx.AddressOperand:
		u.by[o.Reg] = append(u.by[o.Reg], in)
	}
	for _, e := range o.Elems {
		u.add(e, in)
	}
}

// only is the one instruction that reads a register, or nil.
func (u uses) only(r int) *ptx.Instruction {
	if len(u.by[r]) != 1 {
		return nil
	}
	return u.by[r][0]
}

// moves reports whether a store always stores exactly the value of a load.
func (u uses) moves(load, st *ptx.Instruction) bool {
	r, v := load.Operands[0].Reg, st.Operands[1]
	return load.Guard < 0 && u.writes[r] == 1 && v.Kind == ptx.RegisterOperand && v.Reg == r
}
