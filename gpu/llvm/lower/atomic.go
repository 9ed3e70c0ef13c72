package lower

import (
	"fmt"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// updates are PTX's words of the operations of atomicrmw, with the kind of number.
var updates = map[string][2]string{
	"add": {"add", "u"}, "sub": {"add", "u"}, "and": {"and", "b"}, "or": {"or", "b"}, "xor": {"xor", "b"}, "xchg": {"exch", "b"},
	"max": {"max", "s"}, "min": {"min", "s"}, "umax": {"max", "u"}, "umin": {"min", "u"},
	"uinc_wrap": {"inc", "u"}, "udec_wrap": {"dec", "u"}, "fadd": {"add", "f"},
}

func (f *fn) update(v *ir.Value) {
	word, ok := updates[v.Cond]
	width := v.Type.Width()
	switch {
	case v.Type.Kind == ir.Int && width < 32:
		f.updateNarrow(v)
		return
	case !ok:
		f.fail("atomicrmw %s of %v is not supported", v.Cond, v.Type)
	}
	by := f.register(v.Operands[1])
	switch {
	case v.Cond == "sub":
		by = f.pure(f.class(v.Type), fmt.Sprintf("neg.s%d $0, $1", width), by)
	case width == 16:
		word[0] += ".noftz"
		if v.Type.Kind == ir.BFloat {
			word[1] = "bf"
		}
	case v.Type.Kind == ir.Vector:
		word[0] += ".noftz"
		f.fail("atomicrmw of %v is not supported", v.Type)
	}
	out := operand{Reg: f.out.NewReg(f.class(v.Type))}
	f.atomic(v, fmt.Sprintf("%s.%s%d", word[0], word[1], width), out, by)
	f.set(v, out)
}

func (f *fn) exchange(v *ir.Value) {
	t := v.Operands[1].Type
	if t.Width() < 16 {
		f.exchangeNarrow(v)
		return
	}
	expected, desired := f.register(v.Operands[1]), f.register(v.Operands[2])
	out := operand{Reg: f.out.NewReg(f.class(t))}
	f.atomic(v, fmt.Sprintf("cas.b%d", t.Width()), out, expected, desired)
	f.set(v, out, f.pure(machine.Pred, fmt.Sprintf("setp.eq.b%d $0, $1, $2", t.Width()), out, expected))
}

// atomic emits an atomic instruction between the fences that its order asks for.
func (f *fn) atomic(v *ir.Value, operation string, out operand, by ...operand) {
	space, base, offset := f.atomicPlace(v)
	format := "atom" + space + f.scopeWord(v) + "." + operation + " $0, [$1" + plusOffset(offset) + "]"
	for i := range by {
		format += fmt.Sprintf(", $%d", i+2)
	}
	f.fenced(v, func() { f.emit(format, 1, append([]operand{out, f.inRegister(base, machine.B64)}, by...)...) })
}

// atomicPlace is the address of an atomic instruction, and the word of its space.
func (f *fn) atomicPlace(v *ir.Value) (space string, base operand, offset int64) {
	address := v.Operands[0]
	base, offset = f.address(address)
	switch s := f.space(address); s {
	case global, shared:
		return spaceNames[s], base, offset
	}
	return "", f.pointer(address, generic), 0 // PTX has no form for the others
}

func (f *fn) scopeWord(v *ir.Value) string {
	if v.Scope == "" {
		return ""
	}
	return "." + f.scope(v)
}

// fenced runs a step between the fences that the order of an instruction asks for.
func (f *fn) fenced(v *ir.Value, step func()) {
	fence := "fence.acq_rel." + f.scope(v)
	if v.Order == "seq_cst" {
		fence = "fence.sc." + f.scope(v)
	}
	if v.Order == "release" || v.Order == "acq_rel" || v.Order == "seq_cst" {
		f.emit(fence, 0)
	}
	step()
	if v.Order == "acquire" || v.Order == "acq_rel" || v.Order == "seq_cst" {
		f.emit("fence.acq_rel."+f.scope(v), 0)
	}
}

func plusOffset(offset int64) string {
	if offset == 0 {
		return ""
	}
	return fmt.Sprintf("+%d", offset)
}

func (f *fn) fence(v *ir.Value) {
	if v.Order == "seq_cst" {
		f.emit("fence.sc."+f.scope(v), 0)
		return
	}
	f.emit("fence.acq_rel."+f.scope(v), 0)
}
