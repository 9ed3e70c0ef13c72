package lower

import (
	"math/bits"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// element lowers getelementptr: constants go to the offset, variable indices to the sum.
func (f *fn) element(v *ir.Value) {
	base, offset := f.address(v.Operands[0])
	t := v.Elem
	for i, index := range v.Operands[1:] {
		if n, ok := index.Int(); ok && i > 0 && t.Kind == ir.Struct {
			offset += int64(t.Offset(int(n)))
			t = t.Part(int(n))
			continue
		}
		if i > 0 {
			t = t.Elem
		}
		if t == nil || t.Kind == ir.Vector && i > 0 {
			f.fail("getelementptr of %v is not supported", v.Elem)
		}
		var plus int64
		base, plus = f.indexed(base, index, int64(t.Size()))
		offset += plus
	}
	f.values[v] = value{parts: []operand{base}, offset: offset}
}

// index is a term of an address: a number, widened to 64 bits, times a scale.
type index struct {
	of     *ir.Value
	widen  string // "": 64 bits; "u32" or "s32"
	offset int64  // added to of, in elements
}

// split takes constants out of an index: zext (x + 1) is zext x + 1 where x + 1 does not
// overflow.
func split(v *ir.Value) index {
	x := index{of: v}
	for v.Kind == ir.Instruction {
		inner := v
		if x.widen == "" && (v.Op == "zext" || v.Op == "sext") && v.Operands[0].Type.Bits == 32 {
			x.widen = map[string]string{"zext": "u32", "sext": "s32"}[v.Op]
			if v.Has(ir.NonNegative) && v.Operands[0].Kind == ir.Instruction && v.Operands[0].Has(ir.NoSignedWrap) && !v.Operands[0].Has(ir.NoUnsignedWrap) {
				x.widen = "s32"
			}
			v = v.Operands[0]
			x.of = v
			continue
		}
		n, ok := int64(0), false
		if len(v.Operands) == 2 {
			n, ok = v.Operands[1].Int()
		}
		exact := x.widen == "" || x.widen == "u32" && v.Has(ir.NoUnsignedWrap) && n >= 0 || x.widen == "s32" && v.Has(ir.NoSignedWrap)
		if !ok || v.Op != "add" && !(v.Op == "or" && v.Has(ir.Disjoint)) || !exact && v.Op == "add" || v.Op == "or" && x.widen == "s32" && n < 0 {
			return x
		}
		if x.widen == "u32" {
			n &= 1<<32 - 1
		}
		v = inner.Operands[0]
		x.of, x.offset = v, x.offset+n
	}
	return x
}

// indexed adds an index times the size of an element to a base.
func (f *fn) indexed(base operand, of *ir.Value, size int64) (sum operand, offset int64) {
	if n, ok := of.Int(); ok {
		return base, n * size
	}
	x := split(of)
	if n, ok := x.of.Int(); ok { // after its constants
		return base, (n + x.offset) * size
	}
	if base.Reg == 0 {
		base = f.inRegister(base, machine.B64)
	}
	return f.scaled(base, x, size), x.offset * size
}

func (f *fn) scaled(base operand, x index, size int64) operand {
	if x.widen == "" && x.of.Type.Bits < 64 {
		o := f.widened(x.of, true, 64)
		return f.multiplied(base, o, size)
	}
	o := f.register(x.of)
	switch {
	case x.widen == "":
		return f.multiplied(base, o, size)
	case size > 1 && size < 1<<31:
		return f.pure(machine.B64, "mad.wide."+x.widen+" $0, $1, $2, $3", o, number(size), base)
	}
	return f.multiplied(base, f.pure(machine.B64, "cvt."+map[string]string{"u32": "u", "s32": "s"}[x.widen]+"64."+x.widen+" $0, $1", o), size)
}

// multiplied is a base plus a number of 64 bits times a size.
func (f *fn) multiplied(base, o operand, size int64) operand {
	switch {
	case size == 0:
		return base
	case size == 1:
	case size&(size-1) == 0:
		o = f.pure(machine.B64, "shl.b64 $0, $1, $2", o, number(int64(bits.TrailingZeros64(uint64(size)))))
	default:
		return f.pure(machine.B64, "mad.lo.s64 $0, $1, $2, $3", o, number(size), base)
	}
	return f.pure(machine.B64, "add.s64 $0, $1, $2", base, o)
}
