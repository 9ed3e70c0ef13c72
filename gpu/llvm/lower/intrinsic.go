package lower

import (
	"fmt"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// ignored are intrinsics that need no instruction.
var ignored = []string{"lifetime.", "assume", "experimental.noalias.scope.decl", "dbg.", "donothing", "invariant.", "sideeffect"}

// intrinsic lowers a call of an intrinsic function, by its name after "llvm.".
func (f *fn) intrinsic(v *ir.Value, name string) {
	for _, i := range ignored {
		if strings.HasPrefix(name, i) {
			return
		}
	}
	if rest, ok := strings.CutPrefix(name, "nvvm."); ok {
		f.nvvm(v, rest)
		return
	}
	base, _ := typeSuffix(name)
	if form := memoryForms[base]; form != nil {
		form(f, v)
		return
	}
	args := *v
	args.Operands = v.Operands[1:]
	if op, ok := strings.CutSuffix(base, ".with.overflow"); ok {
		f.set(v, f.overflow(&args, op)...)
		return
	}
	form := numberForms[base]
	if form == nil {
		f.fail("unknown intrinsic @llvm.%s", name)
	}
	if v.Type.Kind == ir.Vector {
		if base == "fma" && packed(v.Type) && v.Type.Elem.Kind == ir.Half {
			f.set(v, f.pure(machine.B32, "fma.rn.f16x2 $0, $1, $2, $3", f.register(v.Operands[1]), f.register(v.Operands[2]), f.register(v.Operands[3])))
			return
		}
		args.Op = "intrinsic"
		f.elementwise(&args, func(one *ir.Value) operand { return form(f, one) })
		f.values[v] = f.values[&args]
		return
	}
	f.set(v, form(f, &args))
}

// typeSuffix is the name of an intrinsic without the types that end it.
func typeSuffix(name string) (base string, types []string) {
	parts := strings.Split(name, ".")
	for len(parts) > 1 {
		last := parts[len(parts)-1]
		if !isTypeWord(last) {
			break
		}
		types = append([]string{last}, types...)
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, "."), types
}

func isTypeWord(word string) bool {
	for _, prefix := range []string{"bf", "i", "f", "p", "v"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
	}
	return false
}

// A form is the result of an intrinsic of numbers.
type form func(f *fn, v *ir.Value) operand

var (
	numberForms map[string]form
	memoryForms map[string]func(f *fn, v *ir.Value)
)

func init() { // the tables and their functions refer to each other
	memoryForms = map[string]func(f *fn, v *ir.Value){
		"memset": (*fn).fill, "memcpy": (*fn).copyMemory, "memcpy.inline": (*fn).copyMemory, "memmove": (*fn).copyMemory,
		"trap": func(f *fn, v *ir.Value) { f.emit("trap", 0) }, "debugtrap": func(f *fn, v *ir.Value) { f.emit("brkpt", 0) },
		"expect": func(f *fn, v *ir.Value) { f.set(v, f.parts(v.Operands[1])...) },
	}
	numberForms = map[string]form{
		"umin": ordered("min.u", false), "umax": ordered("max.u", false), "smin": ordered("min.s", true), "smax": ordered("max.s", true),
		"ctpop": bitCount("popc"), "ctlz": bitCount("clz"), "cttz": bitCount("cttz"), "bitreverse": reversed, "bswap": swapped,
		"fshl": funnel("l"), "fshr": funnel("r"), "abs": absolute,
		"usub.sat": saturatedDifference, "uadd.sat": saturatedSum, "sadd.sat": saturated("add"), "ssub.sat": saturated("sub"),
		"fma": fused, "fmuladd": fused, "fabs": sign("abs"), "copysign": copySign,
		"is.fpclass": isClass, "sqrt": root, "floor": rounded("rmi"), "ceil": rounded("rpi"), "trunc": rounded("rzi"), "rint": rounded("rni"), "nearbyint": rounded("rni"), "roundeven": rounded("rni"),
		"maxnum": extreme("max"), "minnum": extreme("min"), "maximumnum": extreme("max"), "minimumnum": extreme("min"), "maximum": extreme("max.NaN"), "minimum": extreme("min.NaN"),
		"exp2": approximate("ex2.approx"), "log2": approximate("lg2.approx"), "sin": approximate("sin.approx"), "cos": approximate("cos.approx"), "tanh": approximate("tanh.approx"),
		"scmp": threeWay("s"), "ucmp": threeWay("u"),
		"vector.reduce.add": reduced("add"), "vector.reduce.or": reduced("or"), "vector.reduce.and": reduced("and"), "vector.reduce.xor": reduced("xor"),
	}
}

// ordered is the smaller or larger of two integers.
func ordered(word string, signed bool) form {
	return func(f *fn, v *ir.Value) operand {
		c := f.class(v.Type)
		return f.pure(c, fmt.Sprintf("%s%d $0, $1, $2", word, registerWidth(v.Type)), f.inRegister(f.extended(v.Operands[0], signed), c), f.extended(v.Operands[1], signed))
	}
}

// threeWay is -1, 0 or 1 where a number is below, equal to or above another.
func threeWay(kind string) form {
	return func(f *fn, v *ir.Value) operand {
		t := v.Operands[0].Type
		c, w := f.class(t), registerWidth(t)
		a, b := f.inRegister(f.extended(v.Operands[0], kind == "s"), c), f.inRegister(f.extended(v.Operands[1], kind == "s"), c)
		is := func(relation string) operand {
			return f.pure(machine.Pred, fmt.Sprintf("setp.%s.%s%d $0, $1, $2", relation, kind, w), a, b)
		}
		above := f.pure(machine.B32, "selp.b32 $0, 1, 0, $1", is("gt"))
		out := f.pure(machine.B32, "selp.b32 $0, -1, $1, $2", above, is("lt"))
		if to := registerWidth(v.Type); to != 32 {
			return f.pure(f.class(v.Type), fmt.Sprintf("cvt.s%d.s32 $0, $1", to), out)
		}
		return out
	}
}

// bitCount counts bits: the result of PTX has 32 bits.
func bitCount(word string) form {
	return func(f *fn, v *ir.Value) operand {
		t := v.Type
		w := max(32, registerWidth(t))
		o := f.inRegister(f.widened(v.Operands[0], false, w), classOfWidth(w))
		op := word
		if word == "cttz" {
			if t.Width() < w { // a bit above the number ends the count
				o = f.pure(classOfWidth(w), fmt.Sprintf("or.b%d $0, $1, %d", w, 1<<t.Width()), o)
			}
			o, op = f.pure(classOfWidth(w), fmt.Sprintf("brev.b%d $0, $1", w), o), "clz"
		}
		n := f.pure(machine.B32, fmt.Sprintf("%s.b%d $0, $1", op, w), o)
		if word == "clz" && t.Width() < w {
			n = f.pure(machine.B32, fmt.Sprintf("sub.s32 $0, $1, %d", w-t.Width()), n)
		}
		return f.resized(n, t)
	}
}

// resized is a number of 32 bits in the register of a type.
func (f *fn) resized(o operand, t *ir.Type) operand {
	if w := registerWidth(t); w != 32 {
		return f.pure(f.class(t), fmt.Sprintf("cvt.u%d.u32 $0, $1", w), o)
	}
	return o
}

func reversed(f *fn, v *ir.Value) operand {
	w := max(32, registerWidth(v.Type))
	o := f.pure(classOfWidth(w), fmt.Sprintf("brev.b%d $0, $1", w), f.inRegister(f.widened(v.Operands[0], false, w), classOfWidth(w)))
	if up := w - v.Type.Width(); up > 0 {
		o = f.pure(classOfWidth(w), fmt.Sprintf("shr.u%d $0, $1, %d", w, up), o)
		return f.truncated(f.temporary(ir.IntType(w), o), v.Type)
	}
	return o
}

func swapped(f *fn, v *ir.Value) operand {
	o := f.inRegister(f.widened(v.Operands[0], false, max(32, registerWidth(v.Type))), classOfWidth(max(32, registerWidth(v.Type))))
	swap := func(o operand, order int64) operand {
		return f.pure(machine.B32, "prmt.b32 $0, $1, 0, $2", o, number(order))
	}
	switch v.Type.Width() {
	case 16:
		return f.pure(machine.B16, "cvt.u16.u32 $0, $1", swap(o, 0x7701))
	case 32:
		return swap(o, 0x0123)
	case 64:
		half := f.pures([]machine.Class{machine.B32, machine.B32}, "mov.b64 {$0, $1}, $2", o)
		return f.pure(machine.B64, "mov.b64 $0, {$1, $2}", swap(half[1], 0x0123), swap(half[0], 0x0123))
	}
	f.fail("bswap of %v is not supported", v.Type)
	return operand{}
}

// funnel shifts two numbers of 32 bits as one of 64.
func funnel(side string) form {
	return func(f *fn, v *ir.Value) operand {
		high, low, by := v.Operands[0], v.Operands[1], v.Operands[2]
		w := v.Type.Width()
		if w == 32 {
			return f.pure(machine.B32, "shf."+side+".wrap.b32 $0, $1, $2, $3", f.register(low), f.register(high), f.one(by))
		}
		if w != 64 && w != 16 && w != 8 {
			f.fail("a funnel shift of %v is not supported", v.Type)
		}
		n, ok := by.Int()
		if n %= int64(w); !ok || w == 8 || n < 0 {
			return f.funnelBy(side, v)
		}
		if side == "r" {
			n = int64(w) - n
		}
		c := f.class(v.Type)
		switch n {
		case 0:
			return f.register(high)
		case int64(w):
			return f.register(low)
		}
		up := f.pure(c, fmt.Sprintf("shl.b%d $0, $1, %d", w, n), f.register(high))
		down := f.pure(c, fmt.Sprintf("shr.u%d $0, $1, %d", w, int64(w)-n), f.register(low))
		return f.pure(c, fmt.Sprintf("or.b%d $0, $1, $2", w), up, down)
	}
}

// funnelBy shifts two numbers as one of twice their width, by a variable.
func (f *fn) funnelBy(side string, v *ir.Value) operand {
	w, c := v.Type.Width(), f.class(v.Type)
	bits := registerWidth(v.Type)
	shift := func(word string, o, by operand) operand {
		return f.pure(c, fmt.Sprintf("%s%d $0, $1, $2", word, bits), o, by)
	}
	high, low := f.inRegister(f.extended(v.Operands[0], false), c), f.inRegister(f.extended(v.Operands[1], false), c)
	by := f.inRegister(f.widened(v.Operands[2], false, max(32, bits)), classOfWidth(max(32, bits)))
	if bits == 64 {
		by = f.pure(machine.B32, "cvt.u32.u64 $0, $1", by)
	}
	by = f.pure(machine.B32, "and.b32 $0, $1, $2", by, number(int64(w-1)))
	if w == 8 { // both in one register
		both := f.pure(c, "or.b16 $0, $1, $2", shift("shl.b", high, number(8)), low)
		if side == "r" {
			return shift("shr.u", both, by)
		}
		return shift("shr.u", shift("shl.b", both, by), number(8))
	}
	rest := f.pure(machine.B32, "sub.s32 $0, $1, $2", number(int64(w-1)), by)
	if side == "r" {
		return f.pure(c, fmt.Sprintf("or.b%d $0, $1, $2", w), shift("shl.b", shift("shl.b", high, number(1)), rest), shift("shr.u", low, by))
	}
	return f.pure(c, fmt.Sprintf("or.b%d $0, $1, $2", w), shift("shl.b", high, by), shift("shr.u", shift("shr.u", low, number(1)), rest))
}

func absolute(f *fn, v *ir.Value) operand {
	c := f.class(v.Type)
	return f.pure(c, fmt.Sprintf("abs.s%d $0, $1", registerWidth(v.Type)), f.inRegister(f.extended(v.Operands[0], true), c))
}
