package lower

import (
	"fmt"
	"math"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

var text, number = machine.Text, machine.Number

// parts are the leaves of a value as operands: registers, or constants as text.
func (f *fn) parts(v *ir.Value) []operand {
	if v.Type.Kind == ir.Pointer {
		return []operand{f.pointer(v, v.Type.Space)}
	}
	if !v.IsConstant() {
		got, ok := f.values[v]
		if !ok {
			f.fail("%s is used before it is made", v.Name)
		}
		return got.parts
	}
	switch v.Kind {
	case ir.Constant:
		if isWide(v.Type) {
			return []operand{number(int64(v.Bits)), number(int64(v.High))}
		}
		return []operand{f.literal(v)}
	case ir.Zero, ir.Undef:
		var list []operand
		for _, t := range f.leaves(v.Type) {
			if t.Kind == ir.Pointer {
				list = append(list, number(0))
				continue
			}
			list = append(list, f.literal(&ir.Value{Type: t}))
		}
		return list
	case ir.Aggregate:
		var list []operand
		for _, o := range v.Operands {
			list = append(list, f.parts(o)...)
		}
		if packed(v.Type) {
			return []operand{f.packConstant(v)}
		}
		return list
	case ir.Expression:
		return []operand{f.expression(v)}
	}
	f.fail("a value of kind %d cannot be an operand", v.Kind)
	return nil
}

// one is the only leaf of a value.
func (f *fn) one(v *ir.Value) operand {
	parts := f.parts(v)
	if len(parts) != 1 {
		f.fail("a value of type %v, expected a number", v.Type)
	}
	return parts[0]
}

// register is the only leaf of a value in a register.
func (f *fn) register(v *ir.Value) operand { return f.inRegister(f.one(v), f.class(v.Type)) }

// inRegister is an operand in a register.
func (f *fn) inRegister(o operand, c machine.Class) operand {
	if o.Reg != 0 {
		return o
	}
	if c == machine.Pred {
		return f.boolReg(o)
	}
	return f.pure(c, "mov."+c.String()+" $0, $1", o)
}

// boolReg is a constant predicate in a register.
func (f *fn) boolReg(o operand) operand {
	if o.Reg != 0 {
		return o
	}
	return f.pure(machine.Pred, "mov.pred $0, $1", o)
}

// literal is a number as PTX writes it.
func (f *fn) literal(v *ir.Value) operand {
	switch v.Type.Kind {
	case ir.Int:
		n, _ := v.Int()
		if v.Type.Bits == 1 {
			n &= 1
		} else if v.Type.Bits > 64 {
			f.fail("a number of %d bits is not supported, expected at most 64", v.Type.Bits)
		}
		return number(n)
	case ir.Float:
		return text(fmt.Sprintf("0f%08X", uint32(v.Bits)))
	case ir.Double:
		return text(fmt.Sprintf("0d%016X", v.Bits))
	case ir.Half, ir.BFloat:
		return text(fmt.Sprintf("0x%04X", uint16(v.Bits)))
	case ir.Vector: // packed
		return number(int64(int32(v.Bits)))
	}
	f.fail("a constant of type %v is not supported", v.Type)
	return operand{}
}

func (f *fn) packConstant(v *ir.Value) operand {
	var bits uint64
	width := v.Type.Elem.Width()
	for i, o := range v.Operands {
		if o.Kind == ir.Constant {
			bits |= o.Bits & (1<<width - 1) << (i * width)
		}
	}
	return number(int64(int32(bits)))
}

// expression is the value of a constant expression that is no pointer.
func (f *fn) expression(v *ir.Value) operand {
	switch v.Op {
	case "ptrtoint", "ptrtoaddr":
		o := f.pointer(v.Operands[0], v.Operands[0].Type.Space)
		if v.Type.Width() < 64 {
			return f.pure(machine.B32, "cvt.u32.u64 $0, $1", o)
		}
		return o
	case "trunc":
		return f.pure(f.class(v.Type), fmt.Sprintf("cvt.u%d.u%d $0, $1", registerWidth(v.Type), registerWidth(v.Operands[0].Type)), f.register(v.Operands[0]))
	case "add", "sub":
		return f.pure(f.class(v.Type), fmt.Sprintf("%s.s%d $0, $1, $2", v.Op, registerWidth(v.Type)), f.register(v.Operands[0]), f.one(v.Operands[1]))
	}
	f.fail("constant expression %q is not supported", v.Op)
	return operand{}
}

// registerWidth is the width of the register of a number.
func registerWidth(t *ir.Type) int {
	switch w := t.Width(); {
	case w <= 16:
		return 16
	case w <= 32:
		return 32
	}
	return 64
}

// address is where a pointer points: a register or symbol and an offset, in its space.
func (f *fn) address(v *ir.Value) (base operand, offset int64) {
	switch v.Kind {
	case ir.Argument, ir.Instruction:
		got, ok := f.values[v]
		if !ok {
			f.fail("%s is used before it is made", v.Name)
		}
		return got.parts[0], got.offset
	case ir.Zero, ir.Undef:
		return number(0), 0
	case ir.Symbol:
		return f.symbolAddress(v.Name), 0
	case ir.Expression:
		switch v.Op {
		case "getelementptr":
			base, offset = f.address(v.Operands[0])
			n, ok := constantOffset(v)
			if !ok {
				f.fail("a constant address with a variable index is not supported")
			}
			return base, offset + n
		case "addrspacecast", "bitcast":
			of := v.Operands[0]
			if v.Type.Space == generic || v.Type.Space == f.space(of) {
				return f.address(of)
			}
			return f.pointer(of, v.Type.Space), 0
		case "inttoptr":
			return f.inRegister(f.one(v.Operands[0]), machine.B64), 0
		case "byval":
			return f.address(v.Operands[0])
		}
	}
	f.fail("a pointer of kind %d %s is not supported", v.Kind, v.Op)
	return operand{}, 0
}

// symbolAddress is a register with the address of a variable or function, set once.
func (f *fn) symbolAddress(name string) operand {
	if f.Vars[name] == nil && f.Of[name] == nil {
		f.fail("unknown symbol @%s", name)
	}
	f.note(name)
	return f.inEntry(func() operand { return f.pure(machine.B64, "mov.b64 $0, $1", text(symbol(name))) })
}

// constantOffset is the offset in bytes of a getelementptr whose indices are constants.
func constantOffset(v *ir.Value) (offset int64, ok bool) {
	t := v.Elem
	for i, index := range v.Operands[1:] {
		n, constant := index.Int()
		if !constant {
			return 0, false
		}
		if i == 0 {
			offset += n * int64(t.Size())
			continue
		}
		if t.Kind == ir.Struct {
			if n < 0 || n >= int64(len(t.Fields)) {
				return 0, false
			}
			offset += int64(t.Offset(int(n)))
		} else if t.Elem != nil {
			offset += n * int64(t.Elem.Size())
		} else {
			return 0, false
		}
		t = t.Part(min(int(n), max(0, t.Parts()-1)))
	}
	return offset, true
}

// pointer is a register with the address of a pointer in a space, generic or its own.
func (f *fn) pointer(v *ir.Value, space int) operand {
	if v.Kind == ir.Zero || v.Kind == ir.Undef {
		return number(0)
	}
	base, offset := f.address(v)
	whole := f.plus(base, offset)
	return f.convert(whole, f.space(v), space)
}

// plus is the sum of an address and an offset.
func (f *fn) plus(base operand, offset int64) operand {
	if offset == 0 {
		return base
	}
	if offset < math.MinInt32 || offset > math.MaxInt32 {
		return f.pure(machine.B64, "add.s64 $0, $1, $2", base, f.inRegister(number(offset), machine.B64))
	}
	return f.pure(machine.B64, "add.s64 $0, $1, $2", base, number(offset))
}

// convert is an address of one space in another. Global addresses are generic ones.
func (f *fn) convert(o operand, from, to int) operand {
	if from == to || from == generic && to == global || from == global && to == generic {
		return o
	}
	if o.Reg == 0 {
		o = f.inRegister(o, machine.B64)
	}
	switch {
	case from == param:
		f.fail("the address of a parameter is not supported here")
	case to == generic:
		return f.pure(machine.B64, "cvta"+spaceNames[from]+".u64 $0, $1", o)
	case from == generic:
		return f.pure(machine.B64, "cvta.to"+spaceNames[to]+".u64 $0, $1", o)
	}
	f.fail("a pointer to %s cannot be one to %s", spaceNames[from], spaceNames[to])
	return operand{}
}
