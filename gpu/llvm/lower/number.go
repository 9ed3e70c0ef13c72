package lower

import (
	"fmt"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// saturatedDifference is a - b, at least 0.
func saturatedDifference(f *fn, v *ir.Value) operand {
	c, w := f.class(v.Type), registerWidth(v.Type)
	a, b := f.inRegister(f.extended(v.Operands[0], false), c), f.extended(v.Operands[1], false)
	return f.pure(c, fmt.Sprintf("sub.s%d $0, $1, $2", w), f.pure(c, fmt.Sprintf("max.u%d $0, $1, $2", w), a, b), b)
}

// saturatedSum is a + b, at most the largest number.
func saturatedSum(f *fn, v *ir.Value) operand {
	c, w := f.class(v.Type), registerWidth(v.Type)
	if v.Type.Width() != w {
		f.fail("saturating arithmetic of %v is not supported", v.Type)
	}
	b := f.register(v.Operands[1])
	room := f.pure(c, fmt.Sprintf("not.b%d $0, $1", w), b)
	return f.pure(c, fmt.Sprintf("add.s%d $0, $1, $2", w), f.pure(c, fmt.Sprintf("min.u%d $0, $1, $2", w), f.register(v.Operands[0]), room), b)
}

// saturated is signed arithmetic of 32 bits that stays at the ends.
func saturated(word string) form {
	return func(f *fn, v *ir.Value) operand {
		if v.Type.Width() != 32 {
			f.fail("saturating arithmetic of %v is not supported", v.Type)
		}
		return f.pure(machine.B32, word+".sat.s32 $0, $1, $2", f.register(v.Operands[0]), f.one(v.Operands[1]))
	}
}

// overflow is arithmetic with a predicate that tells whether the result does not fit.
func (f *fn) overflow(v *ir.Value, op string) []operand {
	t := v.Operands[0].Type
	c, w := f.class(t), registerWidth(t)
	if t.Width() != w || w == 16 {
		f.fail("arithmetic of %v with overflow is not supported", t)
	}
	a, b := f.register(v.Operands[0]), f.register(v.Operands[1])
	binary := func(word string, x, y operand) operand {
		return f.pure(c, fmt.Sprintf("%s%d $0, $1, $2", word, w), x, y)
	}
	test := func(cond string, x, y operand) operand {
		return f.pure(machine.Pred, fmt.Sprintf("setp.%s%d $0, $1, $2", cond, w), x, y)
	}
	switch op {
	case "uadd":
		sum := binary("add.s", a, b)
		return []operand{sum, test("lt.u", sum, a)}
	case "usub":
		return []operand{binary("sub.s", a, b), test("lt.u", a, b)}
	case "umul":
		return []operand{binary("mul.lo.s", a, b), test("ne.u", binary("mul.hi.u", a, b), number(0))}
	case "smul":
		low := binary("mul.lo.s", a, b)
		return []operand{low, test("ne.s", binary("mul.hi.s", a, b), f.pure(c, fmt.Sprintf("shr.s%d $0, $1, %d", w, w-1), low))}
	case "sadd", "ssub":
		r := binary(op[1:]+".s", a, b)
		less := test("lt.s", r, a)
		cond := map[string]string{"sadd": "lt.s", "ssub": "gt.s"}[op]
		return []operand{r, f.pure(machine.Pred, "xor.pred $0, $1, $2", less, test(cond, b, number(0)))}
	}
	f.fail("unknown intrinsic @llvm.%s.with.overflow", op)
	return nil
}

// fused is a product and sum with one rounding.
func fused(f *fn, v *ir.Value) operand {
	t := v.Type
	if t.Kind == ir.BFloat {
		return f.fromFloat(f.pure(machine.B32, "fma.rn.f32 $0, $1, $2, $3", f.asFloat(v.Operands[0]), f.asFloat(v.Operands[1]), f.asFloat(v.Operands[2])))
	}
	return f.pure(f.class(t), "fma.rn"+f.ftz(t)+"."+suffix(t)+" $0, $1, $2, $3", f.register(v.Operands[0]), f.floatOperand(v.Operands[1]), f.floatOperand(v.Operands[2]))
}

// sign is an instruction that changes the sign of a float.
func sign(word string) form {
	return func(f *fn, v *ir.Value) operand {
		o := f.register(v.Operands[0])
		if v.Type.Width() == 16 {
			return f.pure(machine.B16, "and.b16 $0, $1, 32767", o)
		}
		return f.pure(f.class(v.Type), word+f.ftz(v.Type)+"."+suffix(v.Type)+" $0, $1", o)
	}
}

// copySign is the first number with the sign of the second.
func copySign(f *fn, v *ir.Value) operand {
	t := v.Type
	if t.Width() > 16 {
		return f.pure(f.class(t), "copysign."+suffix(t)+" $0, $1, $2", f.register(v.Operands[1]), f.register(v.Operands[0]))
	}
	size := f.pure(machine.B16, "and.b16 $0, $1, 32767", f.register(v.Operands[0]))
	return f.pure(machine.B16, "or.b16 $0, $1, $2", size, f.pure(machine.B16, "and.b16 $0, $1, -32768", f.register(v.Operands[1])))
}

// inFloat runs a step of floats on numbers of 16 bits, exact where the step is.
func (f *fn) inFloat(v *ir.Value, step func(args []operand) operand) operand {
	single := &ir.Type{Kind: ir.Float}
	var args []operand
	for _, o := range v.Operands {
		args = append(args, f.convertFloat(f.register(o), o.Type, single))
	}
	return f.convertFloat(step(args), single, v.Type)
}

func root(f *fn, v *ir.Value) operand {
	t := v.Type
	if t.Width() == 16 {
		return f.inFloat(v, func(args []operand) operand { return f.pure(machine.B32, "sqrt.rn.f32 $0, $1", args[0]) })
	}
	form := "sqrt.rn"
	if t.Kind == ir.Float && (f.options.Fast || v.Has(ir.Approximate)) {
		form = "sqrt.approx"
	}
	return f.pure(f.class(t), form+f.ftz(t)+"."+suffix(t)+" $0, $1", f.register(v.Operands[0]))
}

// rounded is a float rounded to a whole number.
func rounded(mode string) form {
	return func(f *fn, v *ir.Value) operand {
		t := v.Type
		if t.Kind == ir.BFloat {
			return f.inFloat(v, func(args []operand) operand { return f.pure(machine.B32, "cvt."+mode+".f32.f32 $0, $1", args[0]) })
		}
		flush := ""
		if t.Kind == ir.Float {
			flush = f.ftz(t)
		}
		return f.pure(f.class(t), "cvt."+mode+flush+"."+suffix(t)+"."+suffix(t)+" $0, $1", f.register(v.Operands[0]))
	}
}

// extreme is the larger or smaller of two floats.
func extreme(word string) form {
	return func(f *fn, v *ir.Value) operand {
		t := v.Type
		if t.Width() == 16 && (f.options.Arch < 80 || t.Kind == ir.BFloat && word[3:] != "") {
			return f.inFloat(v, func(args []operand) operand { return f.pure(machine.B32, word+".f32 $0, $1, $2", args...) })
		}
		return f.pure(f.class(t), word+f.ftz(t)+"."+suffix(t)+" $0, $1, $2", f.register(v.Operands[0]), f.floatOperand(v.Operands[1]))
	}
}

// approximate is a function of the special function units.
func approximate(word string) form {
	return func(f *fn, v *ir.Value) operand {
		if v.Type.Kind != ir.Float {
			f.fail("%s of %v is not supported", word, v.Type)
		}
		return f.pure(machine.B32, word+f.ftz(v.Type)+".f32 $0, $1", f.register(v.Operands[0]))
	}
}

// reduced joins the elements of a vector.
func reduced(word string) form {
	return func(f *fn, v *ir.Value) operand {
		of := v.Operands[0]
		list := f.elements(of)
		sum := f.temporary(of.Type.Elem, list[0])
		for _, o := range list[1:] {
			one := &ir.Value{Kind: ir.Instruction, Op: word, Type: of.Type.Elem, Operands: []*ir.Value{sum, f.temporary(of.Type.Elem, o)}, Block: f.block}
			f.set(one, f.integer(one))
			sum = one
		}
		return f.one(sum)
	}
}
