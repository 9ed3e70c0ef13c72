package lower

import (
	"fmt"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// suffix is the type of an instruction of floats.
func suffix(t *ir.Type) string {
	switch {
	case t.Kind == ir.Vector:
		return suffix(t.Elem) + "x2"
	case t.Kind == ir.BFloat:
		return "bf16"
	}
	return fmt.Sprintf("f%d", t.Width())
}

// float is the result of an instruction of floats. Sums fuse products by their registers,
// which elements of vectors keep.
func (f *fn) float(v *ir.Value) operand {
	if v.Op == "fmul" && f.isOne(v.Operands[1]) { // of some elements of a vector
		return f.register(v.Operands[0])
	}
	out := f.floatResult(v)
	if v.Op == "fmul" {
		f.products[out.Reg] = v
	}
	return out
}

func (f *fn) floatResult(v *ir.Value) operand {
	if v.Type.Kind == ir.BFloat {
		return f.bfloat(v)
	}
	c, t := f.class(v.Type), v.Type
	args := func() (list []operand) {
		for _, o := range v.Operands {
			list = append(list, f.floatOperand(o))
		}
		return list
	}
	rn := ""
	if !v.Has(ir.Contract) {
		rn = ".rn"
	}
	switch v.Op {
	case "fneg":
		if t.Kind == ir.Half {
			return f.pure(c, "xor.b16 $0, $1, -32768", args()...)
		}
		return f.pure(c, "neg"+f.ftz(t)+"."+suffix(t)+" $0, $1", args()...)
	case "fadd", "fsub":
		if o, ok := f.fused(v); ok {
			return o
		}
		return f.pure(c, v.Op[1:]+rn+f.ftz(t)+"."+suffix(t)+" $0, $1, $2", args()...)
	case "fmul":
		return f.pure(c, "mul"+rn+f.ftz(t)+"."+suffix(t)+" $0, $1, $2", args()...)
	case "fdiv":
		return f.divide(v)
	case "frem":
		return f.remainder(v)
	}
	f.fail("%s is not supported", v.Op)
	return operand{}
}

// isOne reports whether a float or double is the constant 1.
func (f *fn) isOne(v *ir.Value) bool {
	if v.Type.Kind != ir.Float && v.Type.Kind != ir.Double {
		return false
	}
	text := f.one(v).Text
	return text == "0f3F800000" || text == "0d3FF0000000000000"
}

// remainder is a - trunc(a / b) * b, and a where b is infinite, as LLVM's back end has it.
func (f *fn) remainder(v *ir.Value) operand {
	t := v.Type
	if t.Width() == 16 {
		f.fail("frem of %v is not supported", t)
	}
	c, s := f.class(t), f.ftz(t)+"."+suffix(t)
	a, b := f.register(v.Operands[0]), f.register(v.Operands[1])
	whole := f.pure(c, "cvt.rzi"+s+"."+suffix(t)+" $0, $1", f.pure(c, "div.rn"+s+" $0, $1, $2", a, b))
	rest := f.pure(c, "fma.rn"+s+" $0, $1, $2, $3", f.pure(c, "neg"+s+" $0, $1", whole), b, a)
	return f.chosen(t, f.pure(machine.Pred, "testp.infinite."+suffix(t)+" $0, $1", b), a, rest)
}

// floatOperand is a float as an operand: 16 bits need a register.
func (f *fn) floatOperand(v *ir.Value) operand {
	if v.Type.Width() == 16 || v.Type.Kind == ir.Vector {
		return f.register(v)
	}
	return f.one(v)
}

// ftz is the modifier of functions that flush numbers below the normal ones to 0.
func (f *fn) ftz(t *ir.Type) string {
	if f.flush && (t.Kind == ir.Float || t.Kind == ir.Half || t.Kind == ir.Vector) {
		return ".ftz"
	}
	return ""
}

func (f *fn) divide(v *ir.Value) operand {
	c, t := f.class(v.Type), v.Type
	a, b := v.Operands[0], v.Operands[1]
	if t.Kind == ir.Half { // by way of float, whose quotient rounds to the same half
		x, y := f.pure(machine.B32, "cvt.f32.f16 $0, $1", f.register(a)), f.pure(machine.B32, "cvt.f32.f16 $0, $1", f.register(b))
		return f.pure(c, "cvt.rn.f16.f32 $0, $1", f.pure(machine.B32, "div.rn.f32 $0, $1, $2", x, y))
	}
	form := ".rn"
	if t.Kind == ir.Float && (f.options.Fast || v.Has(ir.Approximate)) {
		form = ".approx"
	}
	if f.isOne(a) {
		return f.pure(c, "rcp"+form+f.ftz(t)+"."+suffix(t)+" $0, $1", f.register(b))
	}
	return f.pure(c, "div"+form+f.ftz(t)+"."+suffix(t)+" $0, $1, $2", f.register(a), f.one(b))
}

// product is the product that a sum may fuse, or nil: one of the same block, or one that
// nothing else uses. Elements of vectors are products, too.
func (f *fn) product(v, in *ir.Value) *ir.Value {
	element := v.Op == "element" || v.Op == "extractelement"
	if element {
		v = f.products[f.one(v).Reg]
	}
	if v == nil || v.Kind != ir.Instruction || v.Op != "fmul" || !v.Has(ir.Contract) || v.Block != in.Block && (element || f.users[v] != 1) {
		return nil
	}
	return v
}

// factor chooses the product that a sum or difference fuses, as LLVM's back end does: the one
// that is a product before vectors are taken apart, else the one with fewer uses then, else the
// first. One of the results is nil, both without such a product.
func (f *fn) factor(v *ir.Value) (a, b *ir.Value) {
	if !v.Has(ir.Contract) {
		return nil, nil
	}
	a, b = f.product(v.Operands[0], v), f.product(v.Operands[1], v)
	if a == nil || b == nil {
		return a, b
	}
	whole := isProduct(v.Operands[0])
	if whole != isProduct(v.Operands[1]) {
		if whole {
			return a, nil
		}
		return nil, b
	}
	users := func(p *ir.Value) int {
		if whole {
			return f.users[p]
		}
		return f.users[p] + f.apart[element{of: p}]
	}
	if users(a) > users(b) {
		return nil, b
	}
	return a, nil
}

// isProduct reports whether a term is a product, or an element in a sum of vectors whose term
// is one.
func isProduct(v *ir.Value) bool {
	return v.Op == "fmul" || v.Op == "element" && len(v.Operands) > 0 && v.Operands[0].Op == "fmul"
}

// fused is a sum or difference with a product as one instruction.
func (f *fn) fused(v *ir.Value) (operand, bool) {
	a, b := v.Operands[0], v.Operands[1]
	pa, pb := f.factor(v)
	if pa == nil && pb == nil {
		return operand{}, false
	}
	multiply := func(x, y, z operand) (operand, bool) {
		t := v.Type
		return f.pure(f.class(t), "fma.rn"+f.ftz(t)+"."+suffix(t)+" $0, $1, $2, $3", x, y, z), true
	}
	switch {
	case pa != nil && v.Op == "fadd":
		return multiply(f.factors(pa, false, b))
	case v.Op == "fadd":
		return multiply(f.factors(pb, false, a))
	case pa != nil:
		x, y, z := f.factors(pa, false, b)
		return multiply(x, y, f.negated(v.Type, z))
	}
	return multiply(f.factors(pb, true, a))
}

// factors are the operands of a product, the first one negated if wanted, and of the term
// that is added to it.
func (f *fn) factors(product *ir.Value, negate bool, term *ir.Value) (x, y, z operand) {
	x, y, z = f.floatOperand(product.Operands[0]), f.floatOperand(product.Operands[1]), f.floatOperand(term)
	if negate && x.Reg == 0 {
		x, y = y, x
	}
	if negate {
		if y.Reg == 0 && strings.HasPrefix(y.Text, "0f") || strings.HasPrefix(y.Text, "0d") {
			return x, f.negated(product.Type, y), z
		}
		x = f.negated(product.Type, x)
	}
	return f.inRegister(x, f.class(product.Type)), y, z
}

// negated is a float with the other sign.
func (f *fn) negated(t *ir.Type, o operand) operand {
	if o.Reg == 0 {
		var bits uint64
		if _, err := fmt.Sscanf(o.Text[2:], "%X", &bits); err == nil {
			v := &ir.Value{Type: t, Bits: bits ^ 1<<(t.Width()-1)}
			return f.literal(v)
		}
		o = f.inRegister(o, f.class(t))
	}
	switch t.Kind {
	case ir.Half, ir.BFloat:
		return f.pure(machine.B16, "xor.b16 $0, $1, -32768", o)
	case ir.Vector:
		return f.pure(machine.B32, "xor.b32 $0, $1, -2147450880", o)
	}
	return f.pure(f.class(t), "neg"+f.ftz(t)+"."+suffix(t)+" $0, $1", o)
}
