package lower

import (
	"fmt"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// convertNumber is the result of a conversion between numbers.
func (f *fn) convertNumber(v *ir.Value) operand {
	of := v.Operands[0]
	from, to := of.Type, v.Type
	switch v.Op {
	case "zext", "sext":
		return f.widened(of, v.Op == "sext", registerWidth(to))
	case "trunc":
		return f.truncated(of, to)
	case "fpext", "fptrunc":
		return f.convertFloat(f.register(of), from, to)
	case "fptoui", "fptosi":
		return f.toInteger(f.register(of), from, to, v.Op == "fptosi")
	}
	return f.fromInteger(of, to, v.Op == "sitofp")
}

func (f *fn) truncated(of *ir.Value, to *ir.Type) operand {
	w := registerWidth(of.Type)
	o := f.register(of)
	if to.IsBool() {
		c := f.class(of.Type)
		return f.pure(machine.Pred, fmt.Sprintf("setp.ne.b%d $0, $1, 0", w), f.pure(c, fmt.Sprintf("and.b%d $0, $1, 1", w), o))
	}
	if registerWidth(to) == w {
		return o
	}
	return f.pure(f.class(to), fmt.Sprintf("cvt.u%d.u%d $0, $1", registerWidth(to), w), o)
}

func (f *fn) convertFloat(o operand, from, to *ir.Type) operand {
	if from.Kind == ir.BFloat {
		o, from = f.floatOf(o), &ir.Type{Kind: ir.Float}
	}
	if from.Kind == to.Kind {
		return o
	}
	if to.Kind == ir.BFloat {
		if from.Kind == ir.Double {
			f.fail("a conversion of double to bfloat is not supported")
		}
		return f.fromFloat(o)
	}
	round := ""
	if to.Width() < from.Width() {
		round = ".rn"
	}
	flush := ""
	if from.Kind == ir.Float || to.Kind == ir.Float && from.Kind == ir.Double {
		flush = f.ftz(&ir.Type{Kind: ir.Float})
	}
	if to.Kind == ir.Half && from.Kind == ir.Double {
		flush = ""
	}
	return f.pure(f.class(to), "cvt"+round+flush+"."+suffix(to)+"."+suffix(from)+" $0, $1", o)
}

func (f *fn) toInteger(o operand, from, to *ir.Type, signed bool) operand {
	if from.Kind == ir.BFloat {
		o, from = f.floatOf(o), &ir.Type{Kind: ir.Float}
	}
	sign := map[bool]string{true: "s", false: "u"}[signed]
	if to.IsBool() {
		f.fail("a conversion of a float to i1 is not supported")
	}
	flush := ""
	if from.Kind == ir.Float {
		flush = f.ftz(from)
	}
	return f.pure(f.class(to), fmt.Sprintf("cvt.rzi%s.%s%d.%s $0, $1", flush, sign, registerWidth(to), suffix(from)), o)
}

func (f *fn) fromInteger(of *ir.Value, to *ir.Type, signed bool) operand {
	sign := map[bool]string{true: "s", false: "u"}[signed]
	w := registerWidth(of.Type)
	var o operand
	if of.Type.IsBool() {
		o, w = f.widened(of, signed, 32), 32
	} else {
		o = f.inRegister(f.extended(of, signed), f.class(of.Type))
	}
	if to.Kind == ir.BFloat {
		if w > 16 {
			f.fail("a conversion of %v to bfloat is not supported", of.Type)
		}
		return f.fromFloat(f.pure(machine.B32, fmt.Sprintf("cvt.rn.f32.%s%d $0, $1", sign, w), o))
	}
	return f.pure(f.class(to), fmt.Sprintf("cvt.rn.%s.%s%d $0, $1", suffix(to), sign, w), o)
}

// cast lowers conversions that keep the bits.
func (f *fn) cast(v *ir.Value) {
	of := v.Operands[0]
	switch v.Op {
	case "addrspacecast":
		if f.space(v) == f.space(of) {
			base, offset := f.address(of)
			f.values[v] = value{parts: []operand{base}, offset: offset}
			return
		}
		f.set(v, f.pointer(of, f.space(v)))
	case "ptrtoint", "ptrtoaddr":
		o := f.inRegister(f.pointer(of, of.Type.Space), machine.B64)
		if registerWidth(v.Type) < 64 {
			o = f.pure(f.class(v.Type), fmt.Sprintf("cvt.u%d.u64 $0, $1", registerWidth(v.Type)), o)
		}
		f.set(v, o)
	case "inttoptr":
		f.set(v, f.inRegister(f.widened(of, false, 64), machine.B64))
	case "freeze":
		if v.Type.Kind == ir.Pointer {
			base, offset := f.address(of)
			f.values[v] = value{parts: []operand{base}, offset: offset}
			return
		}
		f.set(v, f.parts(of)...)
	default:
		f.bitcast(v, of)
	}
}

// bitcast reads the bits of a value as another type.
func (f *fn) bitcast(v, of *ir.Value) {
	if v.Type.Kind == ir.Pointer {
		base, offset := f.address(of)
		f.values[v] = value{parts: []operand{base}, offset: offset}
		return
	}
	from, to := f.leaves(of.Type), f.leaves(v.Type)
	parts := f.parts(of)
	if len(from) == len(to) && from[0].Width() == to[0].Width() && f.class(from[0]) == f.class(to[0]) {
		outs := make([]operand, len(parts))
		for i, o := range parts {
			outs[i] = f.inRegister(o, f.class(from[i]))
		}
		f.set(v, outs...)
		return
	}
	f.set(v, f.recast(parts, from, to)...)
}

// recast reads the bits of leaves as leaves of another type, in units of 64 bits where they
// are more.
func (f *fn) recast(parts []operand, from, to []*ir.Type) (outs []operand) {
	in, out := len(from), len(to)
	if total := from[0].Width() * in; total > 64 {
		if total%64 != 0 || 64%from[0].Width() != 0 || 64%to[0].Width() != 0 {
			f.fail("a cast of %d bits is not supported, expected at most 64 or a multiple of them", total)
		}
		in, out = 64/from[0].Width(), 64/to[0].Width()
	}
	for len(parts) > 0 {
		outs = append(outs, f.splitBits(f.joinBits(parts[:in], from[:in]), to[:out])...)
		parts, from, to = parts[in:], from[in:], to[out:]
	}
	return outs
}

// joinBits packs leaves of one width into a register of 16, 32 or 64 bits, the first one
// lowest.
func (f *fn) joinBits(parts []operand, types []*ir.Type) operand {
	w := types[0].Width()
	total := w * len(parts)
	if total > 64 {
		f.fail("a cast of %d bits is not supported, expected at most 64", total)
	}
	if len(parts) == 1 {
		return f.inRegister(parts[0], f.class(types[0]))
	}
	if (w == 16 || w == 32) && (total == 32 || total == 64) {
		list := "$1"
		args := []operand{f.inRegister(parts[0], f.class(types[0]))}
		for i, p := range parts[1:] {
			list += fmt.Sprintf(", $%d", i+2)
			args = append(args, f.inRegister(p, f.class(types[0])))
		}
		return f.pure(classOfWidth(total), fmt.Sprintf("mov.b%d $0, {%s}", total, list), args...)
	}
	wide := max(32, registerWidth(ir.IntType(total)))
	var sum operand
	for i, p := range parts {
		one := f.widened(f.temporary(ir.IntType(w), p), false, wide)
		if i > 0 {
			one = f.pure(classOfWidth(wide), fmt.Sprintf("shl.b%d $0, $1, %d", wide, i*w), f.inRegister(one, classOfWidth(wide)))
			one = f.pure(classOfWidth(wide), fmt.Sprintf("or.b%d $0, $1, $2", wide), sum, one)
		}
		sum = f.inRegister(one, classOfWidth(wide))
	}
	if total <= 16 {
		return f.pure(machine.B16, fmt.Sprintf("cvt.u16.u%d $0, $1", wide), sum)
	}
	return sum
}

// splitBits takes a register apart into leaves of one width.
func (f *fn) splitBits(whole operand, types []*ir.Type) []operand {
	w := types[0].Width()
	total := w * len(types)
	c := f.class(types[0])
	if len(types) == 1 {
		return []operand{whole}
	}
	if (w == 16 || w == 32) && (total == 32 || total == 64) {
		list := "$0"
		classes := []machine.Class{c}
		for i := 1; i < len(types); i++ {
			list += fmt.Sprintf(", $%d", i)
			classes = append(classes, c)
		}
		return f.pures(classes, fmt.Sprintf("mov.b%d {%s}, $%d", total, list, len(types)), whole)
	}
	var outs []operand
	rw := registerWidth(ir.IntType(total))
	for i := range types {
		one := whole
		if i > 0 {
			one = f.pure(classOfWidth(rw), fmt.Sprintf("shr.u%d $0, $1, %d", rw, i*w), whole)
		}
		outs = append(outs, f.truncated(f.temporary(ir.IntType(total), one), ir.IntType(w)))
	}
	return outs
}

// elements are the elements of a vector, each in an operand of its own.
func (f *fn) elements(v *ir.Value) []operand {
	if !packed(v.Type) {
		return f.parts(v)
	}
	if v.Kind == ir.Aggregate {
		var list []operand
		for _, o := range v.Operands {
			list = append(list, f.one(o))
		}
		return list
	}
	types := make([]*ir.Type, v.Type.Len)
	for i := range types {
		types[i] = v.Type.Elem
	}
	return f.splitBits(f.register(v), types)
}

// packElements makes the leaves of a vector of its elements.
func (f *fn) packElements(t *ir.Type, list []operand) []operand {
	if !packed(t) {
		return list
	}
	types := make([]*ir.Type, t.Len)
	for i := range types {
		types[i] = t.Elem
	}
	return []operand{f.joinBits(list, types)}
}

// vector lowers the instructions that take vectors apart.
func (f *fn) vector(v *ir.Value) {
	list := append([]operand(nil), f.elements(v.Operands[0])...)
	switch v.Op {
	case "extractelement":
		i, ok := v.Operands[1].Int()
		if !ok {
			f.set(v, f.elementAt(v, list))
			return
		}
		if i < 0 || i >= int64(len(list)) {
			f.fail("element %d of %v", i, v.Operands[0].Type)
		}
		f.set(v, f.inRegister(list[i], f.class(v.Type)))
	case "insertelement":
		i, ok := v.Operands[2].Int()
		if !ok || i < 0 || i >= int64(len(list)) {
			f.fail("insertelement at a variable place is not supported")
		}
		list[i] = f.one(v.Operands[1])
		f.set(v, f.packElements(v.Type, list)...)
	default:
		list = append(list, f.elements(v.Operands[1])...)
		mask := f.mask(v.Operands[2])
		outs := make([]operand, len(mask))
		for i, m := range mask {
			outs[i] = list[m]
		}
		f.set(v, f.packElements(v.Type, outs)...)
	}
}

// elementAt is the element of a variable place.
func (f *fn) elementAt(v *ir.Value, list []operand) operand {
	at := f.widened(v.Operands[1], false, 32)
	out := list[0]
	for i, o := range list[1:] {
		p := f.pure(machine.Pred, "setp.eq.b32 $0, $1, $2", f.inRegister(at, machine.B32), number(int64(i+1)))
		out = f.chosen(v.Type, p, o, out)
	}
	return f.inRegister(out, f.class(v.Type))
}

// mask are the places that shufflevector takes its elements from. Undefined ones are 0.
func (f *fn) mask(v *ir.Value) []int {
	list := make([]int, v.Type.Len)
	for i, o := range v.Operands {
		n, _ := o.Int()
		list[i] = int(n)
	}
	return list
}

// part lowers extractvalue and insertvalue.
func (f *fn) part(v *ir.Value) {
	t, first := v.Operands[0].Type, 0
	for _, i := range v.Indices {
		for k := range i {
			first += len(f.leaves(t.Part(k)))
		}
		t = t.Part(i)
	}
	parts := f.parts(v.Operands[0])
	if v.Op == "extractvalue" {
		f.set(v, parts[first:first+len(f.leaves(t))]...)
		return
	}
	parts = append([]operand(nil), parts...)
	copy(parts[first:], f.parts(v.Operands[1]))
	f.set(v, parts...)
}
