package lower

import (
	"fmt"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// instruction lowers one instruction of a block.
func (f *fn) instruction(v *ir.Value) {
	if f.wideInstruction(v) {
		return
	}
	switch v.Op {
	case "phi": // has its registers
	case "getelementptr":
		f.element(v)
	case "load":
		f.load(v)
	case "store":
		f.store(v)
	case "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor":
		f.elementwise(v, f.integer)
	case "fadd", "fsub", "fmul", "fdiv", "frem", "fneg":
		f.elementwise(v, f.float)
	case "icmp", "fcmp":
		f.elementwise(v, f.compare)
	case "select":
		f.choose(v)
	case "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp":
		f.elementwise(v, f.convertNumber)
	case "bitcast", "ptrtoint", "ptrtoaddr", "inttoptr", "addrspacecast", "freeze":
		f.cast(v)
	case "alloca":
		f.alloca(v)
	case "extractvalue", "insertvalue":
		f.part(v)
	case "extractelement", "insertelement", "shufflevector":
		f.vector(v)
	case "call":
		f.call(v)
	case "atomicrmw":
		f.update(v)
	case "cmpxchg":
		f.exchange(v)
	case "fence":
		f.fence(v)
	case "br", "switch", "ret", "unreachable":
		f.leave(v)
	default:
		f.fail("unknown instruction %q", v.Op)
	}
}

// elementwise runs a step for a number, or for each element of a vector. Operands that are
// no vectors, such as the flags of intrinsics, are those of each element.
func (f *fn) elementwise(v *ir.Value, step func(v *ir.Value) operand) {
	if v.Type.Kind != ir.Vector || f.packedForm(v) {
		f.set(v, step(v))
		return
	}
	columns := make([][]operand, len(v.Operands))
	for i, o := range v.Operands {
		if o.Type.Kind == ir.Vector {
			columns[i] = f.elements(o)
		}
	}
	var outs []operand
	for i := range v.Type.Len {
		one := *v
		one.Type, one.Operands = v.Type.Elem, nil
		for k, o := range v.Operands {
			if columns[k] != nil {
				part := f.temporary(o.Type.Elem, columns[k][i])
				part.Operands = []*ir.Value{o}
				o = part
			}
			one.Operands = append(one.Operands, o)
		}
		f.users[&one] = f.users[v]
		f.apart[element{of: &one}] = f.apart[element{v, uint64(i)}]
		outs = append(outs, step(&one))
	}
	f.set(v, f.packElements(v.Type, outs)...)
}

// temporary is a value that stands for an operand.
func (f *fn) temporary(t *ir.Type, o operand) *ir.Value {
	v := &ir.Value{Kind: ir.Instruction, Op: "element", Type: t, Block: f.block}
	f.set(v, o)
	return v
}

// packedForm reports whether an instruction of two halves has one of PTX.
func (f *fn) packedForm(v *ir.Value) bool {
	if !packed(v.Type) {
		return false
	}
	switch v.Op {
	case "fadd", "fsub", "fmul":
		return v.Type.Elem.Kind == ir.Half
	case "and", "or", "xor":
		return true
	}
	return false
}

// integer is the result of an instruction of integers.
func (f *fn) integer(v *ir.Value) operand {
	a, b := v.Operands[0], v.Operands[1]
	c := f.class(v.Type)
	w := registerWidth(v.Type)
	if v.Type.IsBool() {
		return f.logic(v)
	}
	switch v.Op {
	case "add", "sub":
		if o, ok := f.multiplyAdd(v, c, w); ok {
			return o
		}
		return f.pure(c, fmt.Sprintf("%s.s%d $0, $1, $2", v.Op, w), f.register(a), f.one(b))
	case "mul":
		if o, ok := f.wide(v); ok {
			return o
		}
		return f.pure(c, fmt.Sprintf("mul.lo.s%d $0, $1, $2", w), f.register(a), f.one(b))
	case "udiv", "urem", "sdiv", "srem":
		word := map[string]string{"udiv": "div.u", "urem": "rem.u", "sdiv": "div.s", "srem": "rem.s"}[v.Op]
		signed := v.Op[0] == 's'
		return f.pure(c, fmt.Sprintf("%s%d $0, $1, $2", word, w), f.inRegister(f.extended(a, signed), c), f.extended(b, signed))
	case "and", "or", "xor":
		if n, ok := b.Int(); ok && n == -1 && v.Op == "xor" {
			return f.pure(c, fmt.Sprintf("not.b%d $0, $1", w), f.register(a))
		}
		return f.pure(c, fmt.Sprintf("%s.b%d $0, $1, $2", v.Op, w), f.register(a), f.one(b))
	}
	return f.shift(v, c, w)
}

func (f *fn) shift(v *ir.Value, c machine.Class, w int) operand {
	a, b := v.Operands[0], v.Operands[1]
	if v.Op == "shl" {
		if o, ok := f.wide(v); ok {
			return o
		}
	}
	by := f.one(b)
	if by.Reg != 0 {
		by = f.widened(b, false, 32)
	}
	switch v.Op {
	case "lshr":
		return f.pure(c, fmt.Sprintf("shr.u%d $0, $1, $2", w), f.inRegister(f.extended(a, false), c), by)
	case "ashr":
		return f.pure(c, fmt.Sprintf("shr.s%d $0, $1, $2", w), f.inRegister(f.extended(a, true), c), by)
	}
	return f.pure(c, fmt.Sprintf("shl.b%d $0, $1, $2", w), f.register(a), by)
}

// logic is an instruction of predicates.
func (f *fn) logic(v *ir.Value) operand {
	a, b := v.Operands[0], v.Operands[1]
	if n, ok := b.Int(); ok && n != 0 && (v.Op == "xor" || v.Op == "add" || v.Op == "sub") {
		return f.not(f.one(a))
	}
	word := map[string]string{"and": "and", "or": "or", "xor": "xor", "add": "xor", "sub": "xor", "mul": "and"}[v.Op]
	if word == "" {
		f.fail("%s of i1 is not supported", v.Op)
	}
	return f.pure(machine.Pred, word+".pred $0, $1, $2", f.register(a), f.register(b))
}

func (f *fn) not(o operand) operand { return f.pure(machine.Pred, "not.pred $0, $1", f.boolReg(o)) }

// extended is a number whose register has the bits above it set to 0 or to its sign.
func (f *fn) extended(v *ir.Value, signed bool) operand {
	o := f.one(v)
	bits, w := v.Type.Width(), registerWidth(v.Type)
	if bits == w || v.Type.IsBool() {
		return o
	}
	if o.Reg == 0 {
		n, _ := v.Int()
		if !signed {
			n &= 1<<bits - 1
		}
		return number(n)
	}
	c := f.class(v.Type)
	if !signed {
		if clean := f.clean[o.Reg]; clean > 0 && clean <= bits {
			return o
		}
		r := f.pure(c, fmt.Sprintf("and.b%d $0, $1, %d", w, uint64(1)<<bits-1), o)
		f.clean[r.Reg] = bits
		return r
	}
	if bits == 8 {
		return f.pure(c, fmt.Sprintf("cvt.s%d.s8 $0, $1", w), o)
	}
	up := f.pure(c, fmt.Sprintf("shl.b%d $0, $1, %d", w, w-bits), o)
	return f.pure(c, fmt.Sprintf("shr.s%d $0, $1, %d", w, w-bits), up)
}

// widened is a number in a register of another width.
func (f *fn) widened(v *ir.Value, signed bool, width int) operand {
	o := f.extended(v, signed)
	from := registerWidth(v.Type)
	if v.Type.IsBool() {
		one := "1"
		if signed {
			one = "-1"
		}
		return f.pure(classOfWidth(width), fmt.Sprintf("selp.b%d $0, %s, 0, $1", width, one), f.boolReg(o))
	}
	if from == width {
		return o
	}
	o = f.inRegister(o, f.class(v.Type))
	sign := map[bool]string{true: "s", false: "u"}[signed]
	return f.pure(classOfWidth(width), fmt.Sprintf("cvt.%s%d.%s%d $0, $1", sign, width, sign, from), o)
}

func classOfWidth(width int) machine.Class {
	switch {
	case width <= 16:
		return machine.B16
	case width <= 32:
		return machine.B32
	}
	return machine.B64
}

// multiplyAdd is a sum with a product that has no other use.
func (f *fn) multiplyAdd(v *ir.Value, c machine.Class, w int) (operand, bool) {
	if v.Op != "add" || w == 16 {
		return operand{}, false
	}
	for i, m := range v.Operands {
		if m.Kind != ir.Instruction || m.Op != "mul" || f.users[m] != 1 || m.Block != v.Block {
			continue
		}
		if _, wide := f.widenedPair(m); wide {
			continue
		}
		return f.pure(c, fmt.Sprintf("mad.lo.s%d $0, $1, $2, $3", w), f.register(m.Operands[0]), f.one(m.Operands[1]), f.one(v.Operands[1-i])), true
	}
	return operand{}, false
}

// wide is a product of 64 bits of two numbers of 32 bits.
func (f *fn) wide(v *ir.Value) (operand, bool) {
	sign, ok := f.widenedPair(v)
	if !ok {
		return operand{}, false
	}
	a := f.register(v.Operands[0].Operands[0])
	if n, ok := v.Operands[1].Int(); ok {
		if v.Op == "shl" {
			n = 1 << n
		}
		return f.pure(machine.B64, "mul.wide."+sign+" $0, $1, $2", a, number(n)), true
	}
	return f.pure(machine.B64, "mul.wide."+sign+" $0, $1, $2", a, f.one(v.Operands[1].Operands[0])), true
}

// widenedPair tells how both factors were widened from 32 bits, if they were.
func (f *fn) widenedPair(v *ir.Value) (sign string, ok bool) {
	if v.Type.Bits != 64 || v.Operands[0].Kind != ir.Instruction {
		return "", false
	}
	a, b := v.Operands[0], v.Operands[1]
	if a.Op != "zext" && a.Op != "sext" || a.Operands[0].Type.Bits != 32 {
		return "", false
	}
	sign = map[string]string{"zext": "u32", "sext": "s32"}[a.Op]
	if n, constant := b.Int(); constant {
		if v.Op == "shl" {
			return sign, n < 31
		}
		return sign, n >= 0 && n < 1<<31
	}
	return sign, v.Op == "mul" && b.Kind == ir.Instruction && b.Op == a.Op && b.Operands[0].Type.Bits == 32
}
