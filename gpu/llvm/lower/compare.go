package lower

import (
	"fmt"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// compare is the result of a comparison.
func (f *fn) compare(v *ir.Value) operand {
	a, b := v.Operands[0], v.Operands[1]
	if v.Op == "fcmp" {
		return f.compareFloats(v.Cond, a, b)
	}
	t := a.Type
	if t.IsBool() {
		return f.compareBools(v.Cond, a, b)
	}
	if t.Kind == ir.Pointer {
		space := generic
		if f.space(a) == f.space(b) {
			space = f.space(a)
		}
		return f.pure(machine.Pred, fmt.Sprintf("setp.%s.%s64 $0, $1, $2", conditionOf(v.Cond), kindOf(v.Cond)), f.inRegister(f.pointer(a, space), machine.B64), f.pointer(b, space))
	}
	signed := v.Cond[0] == 's'
	return f.pure(machine.Pred, fmt.Sprintf("setp.%s.%s%d $0, $1, $2", conditionOf(v.Cond), kindOf(v.Cond), registerWidth(t)),
		f.inRegister(f.extended(a, signed), f.class(t)), f.extended(b, signed))
}

// conditionOf is PTX's word of a predicate of integers, kindOf the kind of number.
func conditionOf(cond string) string { return cond[len(cond)-2:] }

func kindOf(cond string) string {
	switch cond[0] {
	case 's', 'u':
		return cond[:1]
	}
	return "b"
}

func (f *fn) compareBools(cond string, a, b *ir.Value) operand {
	if n, ok := b.Int(); ok && (cond == "eq" || cond == "ne") {
		if (n != 0) == (cond == "eq") {
			return f.boolReg(f.one(a))
		}
		return f.not(f.one(a))
	}
	x := f.pure(machine.Pred, "xor.pred $0, $1, $2", f.register(a), f.register(b))
	switch cond {
	case "ne":
		return x
	case "eq":
		return f.not(x)
	case "ult", "sgt":
		return f.pure(machine.Pred, "and.pred $0, $1, $2", x, f.register(b))
	case "ugt", "slt":
		return f.pure(machine.Pred, "and.pred $0, $1, $2", x, f.register(a))
	}
	f.fail("icmp %s of i1 is not supported", cond)
	return operand{}
}

// conditions are PTX's words of the predicates of floats.
var conditions = map[string]string{
	"oeq": "eq", "ogt": "gt", "oge": "ge", "olt": "lt", "ole": "le", "one": "ne", "ord": "num",
	"ueq": "equ", "ugt": "gtu", "uge": "geu", "ult": "ltu", "ule": "leu", "une": "neu", "uno": "nan",
}

func (f *fn) compareFloats(cond string, a, b *ir.Value) operand {
	word := conditions[cond]
	if word == "" {
		f.fail("fcmp %s is not supported", cond)
	}
	t := a.Type
	if t.Kind == ir.BFloat {
		return f.pure(machine.Pred, "setp."+word+".f32 $0, $1, $2", f.asFloat(a), f.asFloat(b))
	}
	return f.pure(machine.Pred, "setp."+word+f.ftz(t)+"."+suffix(t)+" $0, $1, $2", f.register(a), f.floatOperand(b))
}

// choose lowers select.
func (f *fn) choose(v *ir.Value) {
	cond := v.Operands[0]
	if cond.Type.Kind == ir.Vector {
		f.elementwise(v, func(v *ir.Value) operand {
			return f.chosen(v.Type, f.register(v.Operands[0]), f.one(v.Operands[1]), f.one(v.Operands[2]))
		})
		return
	}
	if v.Type.IsBool() {
		f.set(v, f.chooseBool(v))
		return
	}
	p := f.register(cond)
	if v.Type.Kind == ir.Pointer {
		space := f.space(v)
		f.set(v, f.chosen(v.Type, p, f.pointer(v.Operands[1], space), f.pointer(v.Operands[2], space)))
		return
	}
	yes, no := f.parts(v.Operands[1]), f.parts(v.Operands[2])
	var outs []operand
	for i, t := range f.leaves(v.Type) {
		outs = append(outs, f.chosen(t, p, yes[i], no[i]))
	}
	f.set(v, outs...)
}

func (f *fn) chosen(t *ir.Type, p, yes, no operand) operand {
	if t.IsBool() {
		yes, no = f.boolReg(yes), f.boolReg(no)
		return f.pure(machine.Pred, "or.pred $0, $1, $2", f.pure(machine.Pred, "and.pred $0, $1, $2", p, yes), f.pure(machine.Pred, "and.pred $0, $1, $2", f.not(p), no))
	}
	c := f.class(t)
	return f.pure(c, "selp."+c.String()+" $0, $1, $2, $3", yes, no, p)
}

// chooseBool is select of predicates, which LLVM also writes for && and ||.
func (f *fn) chooseBool(v *ir.Value) operand {
	p := f.register(v.Operands[0])
	yes, yesConstant := v.Operands[1].Int()
	no, noConstant := v.Operands[2].Int()
	switch {
	case yesConstant && yes != 0:
		return f.pure(machine.Pred, "or.pred $0, $1, $2", p, f.register(v.Operands[2]))
	case noConstant && no == 0:
		return f.pure(machine.Pred, "and.pred $0, $1, $2", p, f.register(v.Operands[1]))
	case yesConstant:
		return f.pure(machine.Pred, "and.pred $0, $1, $2", f.not(p), f.register(v.Operands[2]))
	case noConstant:
		return f.pure(machine.Pred, "or.pred $0, $1, $2", f.not(p), f.register(v.Operands[1]))
	}
	return f.chosen(v.Type, p, f.one(v.Operands[1]), f.one(v.Operands[2]))
}

// isClass reports whether a float is of one of the classes of llvm.is.fpclass: bits 0 and 1
// for NaN, then from -infinity by normal, subnormal and zero up to +infinity.
func isClass(f *fn, v *ir.Value) operand {
	t := v.Operands[0].Type
	w := t.Width()
	mantissa := map[ir.Kind]int{ir.Half: 10, ir.BFloat: 7, ir.Float: 23, ir.Double: 52}[t.Kind]
	mask, ok := v.Operands[1].Int()
	if !ok || mantissa == 0 || mask&3 == 1 || mask&3 == 2 {
		f.fail("is.fpclass of %v with the classes %#x is not supported", t, mask)
	}
	c, bits := f.class(t), f.register(v.Operands[0])
	least := int64(1) << mantissa
	infinite := (int64(1)<<(w-1) - 1) &^ (least - 1)
	size := f.pure(c, fmt.Sprintf("and.b%d $0, $1, $2", w), bits, number(int64(1)<<(w-1)-1))
	negative := f.pure(machine.Pred, fmt.Sprintf("setp.lt.s%d $0, $1, 0", w), bits)
	is := func(relation string, o operand, n int64) operand {
		return f.pure(machine.Pred, fmt.Sprintf("setp.%s.u%d $0, $1, $2", relation, w), o, number(n))
	}
	above := func(n int64) operand { // 0 and what is below it wrap around
		return f.pure(c, fmt.Sprintf("sub.s%d $0, $1, $2", w), size, number(n))
	}
	out := f.boolReg(number(0))
	join := func(p operand) { out = f.pure(machine.Pred, "or.pred $0, $1, $2", out, p) }
	if mask&3 == 3 {
		join(is("gt", size, infinite))
	}
	for i, class := range []func() operand{
		func() operand { return is("eq", size, infinite) },
		func() operand { return is("lt", above(least), infinite-least) },
		func() operand { return is("lt", above(1), least-1) },
		func() operand { return is("eq", size, 0) },
	} {
		below, over := mask>>(2+i)&1 == 1, mask>>(9-i)&1 == 1
		switch {
		case below && over:
			join(class())
		case below:
			join(f.pure(machine.Pred, "and.pred $0, $1, $2", class(), negative))
		case over:
			join(f.pure(machine.Pred, "and.pred $0, $1, $2", class(), f.not(negative)))
		}
	}
	return out
}
