package lower

import (
	"fmt"
	"strings"

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

// field is a number of 8 or 16 bits in the word of 32 bits around it, which atomic
// instructions change in its place.
type field struct {
	atom, load string  // words of instructions on its space
	at         operand // address of the word
	shift      operand
	mask, rest operand // bits of the field in the word, and the others
	width      int
}

func (f *fn) field(v *ir.Value, t *ir.Type) field {
	space, base, offset := f.atomicPlace(v)
	whole := f.plus(f.inRegister(base, machine.B64), offset)
	low := f.pure(machine.B32, "and.b32 $0, $1, 3", f.pure(machine.B32, "cvt.u32.u64 $0, $1", whole))
	l := field{atom: "atom" + space + f.scopeWord(v), load: "ld" + space, width: t.Width()}
	l.at = f.pure(machine.B64, "and.b64 $0, $1, -4", whole)
	l.shift = f.pure(machine.B32, "shl.b32 $0, $1, 3", low)
	l.mask = f.pure(machine.B32, "shl.b32 $0, $1, $2", f.inRegister(number(1<<l.width-1), machine.B32), l.shift)
	l.rest = f.pure(machine.B32, "not.b32 $0, $1", l.mask)
	return l
}

// placed is a number at the place of the field, between zeros.
func (f *fn) placed(l field, v *ir.Value) operand {
	return f.pure(machine.B32, "shl.b32 $0, $1, $2", f.inRegister(f.widened(v, false, 32), machine.B32), l.shift)
}

// taken is the field of a word.
func (f *fn) taken(l field, t *ir.Type, word operand) operand {
	return f.truncated(f.temporary(ir.IntType(32), f.pure(machine.B32, "shr.u32 $0, $1, $2", word, l.shift)), t)
}

// updateNarrow is an atomicrmw of 8 or 16 bits. What has no instruction on the word is
// computed of the word that a thread saw, until no other thread changed it meanwhile.
func (f *fn) updateNarrow(v *ir.Value) {
	l := f.field(v, v.Type)
	by := f.placed(l, v.Operands[1])
	out := operand{Reg: f.out.NewReg(machine.B32)}
	step := ""
	switch v.Cond {
	case "and":
		by = f.pure(machine.B32, "or.b32 $0, $1, $2", by, l.rest)
		fallthrough
	case "or", "xor":
		f.fenced(v, func() { f.emit(l.atom+"."+v.Cond+".b32 $0, [$1], $2", 1, out, l.at, by) })
		f.set(v, f.taken(l, v.Type, out))
		return
	case "add", "sub":
		step = v.Cond + ".s32 %new, $0, $2; "
	case "xchg":
		step = "mov.b32 %new, $2; "
	case "nand":
		step = "and.b32 %new, $0, $2; not.b32 %new, %new; "
	case "umax", "umin":
		step = "and.b32 %new, $0, $3; " + v.Cond[1:] + ".u32 %new, %new, $2; "
	case "max", "min": // with the sign in the highest bit
		by = f.pure(machine.B32, fmt.Sprintf("shl.b32 $0, $1, %d", 32-l.width), f.inRegister(f.widened(v.Operands[1], false, 32), machine.B32))
		step = fmt.Sprintf("shr.u32 %%new, $0, $5; shl.b32 %%new, %%new, %[1]d; %[2]s.s32 %%new, %%new, $2; shr.u32 %%new, %%new, %[1]d; shl.b32 %%new, %%new, $5; ", 32-l.width, v.Cond)
	default:
		f.fail("atomicrmw %s of %v is not supported", v.Cond, v.Type)
	}
	f.fenced(v, func() {
		f.retry("{ .reg .pred %again; .reg .b32 %new, %old; "+l.load+".b32 $0, [$1]; LOOP: "+step+
			"and.b32 %new, %new, $3; and.b32 %old, $0, $4; or.b32 %new, %new, %old; mov.b32 %old, $0; "+
			l.atom+".cas.b32 $0, [$1], %old, %new; setp.ne.b32 %again, $0, %old; @%again bra LOOP; }", out, l.at, by, l.mask, l.rest, l.shift)
	})
	f.set(v, f.taken(l, v.Type, out))
}

// exchangeNarrow is a cmpxchg of 8 bits, tried again where another thread changed the
// bits around it.
func (f *fn) exchangeNarrow(v *ir.Value) {
	t := v.Operands[1].Type
	l := f.field(v, t)
	expected, desired := f.placed(l, v.Operands[1]), f.placed(l, v.Operands[2])
	out := operand{Reg: f.out.NewReg(machine.B32)}
	f.fenced(v, func() {
		f.retry("{ .reg .pred %done, %again; .reg .b32 %rest, %old, %new; "+l.load+".b32 %rest, [$1]; and.b32 %rest, %rest, $4; LOOP: "+
			"or.b32 %old, %rest, $2; or.b32 %new, %rest, $3; "+l.atom+".cas.b32 $0, [$1], %old, %new; setp.eq.b32 %done, $0, %old; @%done bra DONE; "+
			"and.b32 %old, $0, $4; setp.ne.b32 %again, %old, %rest; mov.b32 %rest, %old; @%again bra LOOP; DONE: }", out, l.at, expected, desired, l.rest)
	})
	found := f.pure(machine.B32, "and.b32 $0, $1, $2", out, l.mask)
	f.set(v, f.taken(l, t, out), f.pure(machine.Pred, "setp.eq.b32 $0, $1, $2", found, expected))
}

// retry emits statements with labels of their own, which write their first operand before they
// have read the others.
func (f *fn) retry(text string, args ...operand) {
	f.uid++
	for _, label := range []string{"LOOP", "DONE"} {
		text = strings.ReplaceAll(text, label, fmt.Sprintf("%s_%d_%d", label, f.index, f.uid))
	}
	f.statements(text, 1, args...)
	f.cur.Instrs[len(f.cur.Instrs)-1].Early = true
}
