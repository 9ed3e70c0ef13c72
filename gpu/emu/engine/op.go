package engine

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

// op is an instruction between text and instr: its operands are still values.
type op struct {
	in    instr
	binds []*bind
	move  bool  // it copies a to d and does nothing else
	pass  bool  // an unset source makes an unset destination and is no fault
	guard *bind // nil if it runs in all lanes
	label string
	table []string // of brx.idx

	dropped  bool // its destination is a known value
	constant bool // the same for each thread of a block: it runs before the program starts
	jumps    bool // not in the text: it goes to the block at an index of the text
	at       int
	checks   []instr  // run before it, for registers that may be unset
	parts    []*instr // further accesses of it, with the same line
}

// bind is an operand: its place in the instruction, and its value.
type bind struct {
	field *uint32
	value value
	def   bool
	kept  bool // a source that may be unset: it is passed on to a result
	part  part // of the 32-bit register on the other side, if the operand is a half of it
}

// part is a half of a 32-bit register, or all of it.
type part uint8

const (
	whole part = iota
	lowHalf
	highHalf
)

// halfOf makes the last bind that of a component of a packed value. Inlined, it would be
// code of a kilobyte in the forms that call it.
//
//go:noinline
func (lo *lowering) halfOf(packed ptx.Type, component int) {
	if packed.Bytes() == 4 {
		lo.op.binds[len(lo.op.binds)-1].part = part(component) + lowHalf
	}
}

// form lowers an instruction of an opcode.
type form func(*lowering) error

// lowering is an entry that is being lowered to a program.
type lowering struct {
	module  Module
	compute gpu.Compute // of the GPU
	fn      *ptx.Function
	prog    *Program
	symbols map[string]Symbol // of the function, then of the module
	forms   map[string]form   // by opcode
	op      *op               // the one that is being lowered
	ops     []*op
}

// error adds the place to a message.
func (lo *lowering) error(kind error, format string, args ...any) error {
	src := lo.op.in.src
	return fmt.Errorf("emu: %s at %s:%d: %w: %s", src.Name(), lo.prog.file, src.Pos.Line, kind, fmt.Sprintf(format, args...))
}

func (lo *lowering) malformed(format string, args ...any) error {
	return lo.error(gpu.ErrMalformed, format, args...)
}

// unsupported is the error for an instruction that is valid PTX, but not for the emulator.
func (lo *lowering) unsupported(format string, args ...any) error {
	return lo.error(gpu.ErrUnsupported, format+" on the emulator: run this entry on a GPU", args...)
}

// operands checks the number of operands.
func (lo *lowering) operands(least, most int) error {
	n := len(lo.op.in.src.Operands)
	for i, o := range lo.op.in.src.Operands {
		if o.Kind == ptx.RegisterOperand && o.Symbol != "" {
			return lo.unsupported("operand %d selects parts of a register, .%s", i+1, o.Symbol)
		}
	}
	if n >= least && n <= most {
		return nil
	}
	if least == most {
		return lo.malformed("%d operands, expected %d", n, least)
	}
	return lo.malformed("%d operands, expected %d to %d", n, least, most)
}

func (lo *lowering) operand(i int) ptx.Operand { return lo.op.in.src.Operands[i] }

// def binds operand i as a destination of a width.
func (lo *lowering) def(field *uint32, i int, w width) error {
	return lo.defOperand(field, lo.operand(i), fmt.Sprintf("operand %d", i+1), w)
}

func (lo *lowering) defOperand(field *uint32, o ptx.Operand, what string, w width) error {
	if o.Kind != ptx.RegisterOperand {
		return lo.malformed("%s is no register, expected one of %d bits", what, 8*w.bytes())
	}
	return lo.bindRegister(field, o.Reg, what, w, true)
}

func (lo *lowering) bindRegister(field *uint32, reg int, what string, w width, def bool) error {
	r := lo.fn.Registers[reg]
	if got := widthOf(r.Type); got != w {
		return lo.malformed("%s, %s, is .%s, expected %s", what, r.Name, r.Type, w)
	}
	lo.bind(field, value{kind: registerValue, reg: reg, width: w}, def)
	return nil
}

func (w width) String() string {
	if w == predicate {
		return ".pred"
	}
	return fmt.Sprintf("%d bits", 8*w.bytes())
}

func (lo *lowering) bind(field *uint32, v value, def bool) {
	lo.op.binds = append(lo.op.binds, &bind{field: field, value: v, def: def})
}

// use binds operand i as a source of a type.
func (lo *lowering) use(field *uint32, i int, t ptx.Type) error {
	return lo.useOperand(field, lo.operand(i), fmt.Sprintf("operand %d", i+1), t)
}

func (lo *lowering) useOperand(field *uint32, o ptx.Operand, what string, t ptx.Type) error {
	w := widthOf(t)
	if o.Kind == ptx.RegisterOperand {
		if r := lo.fn.Registers[o.Reg]; arith.IsFloat(t) != arith.IsFloat(r.Type) && !isBits(t) && !isBits(r.Type) && w != predicate {
			return lo.malformed("%s, %s, is .%s, expected .%s", what, r.Name, r.Type, t)
		}
		return lo.bindRegister(field, o.Reg, what, w, false)
	}
	v, err := lo.constant(o, what, t)
	if err != nil {
		return err
	}
	lo.bind(field, v, false)
	return nil
}

// constant is the value of an operand that is not a register.
func (lo *lowering) constant(o ptx.Operand, what string, t ptx.Type) (value, error) {
	w := widthOf(t)
	switch o.Kind {
	case ptx.ImmediateOperand:
		bits, ok := immediate(o, t)
		if !ok {
			return value{}, lo.malformed("%s does not fit .%s", what, t)
		}
		return value{kind: constantValue, bits: bits, width: w}, nil
	case ptx.SymbolOperand:
		s, ok := lo.symbols[o.Symbol]
		if !ok {
			return value{}, lo.unsupported("the address of %s", o.Symbol)
		}
		return value{kind: constantValue, bits: cut(s.Address+uint64(o.Offset), w), width: w}, nil
	case ptx.SpecialOperand:
		if !special.Known(o.Symbol) {
			return value{}, lo.unsupported("special register %s", o.Symbol)
		}
		return value{kind: specialValue, name: o.Symbol, width: w}, nil
	}
	return value{}, lo.malformed("%s is of the wrong kind, expected a register or a constant of %v", what, w)
}

// cut keeps the low bits of a width.
func cut(bits uint64, w width) uint64 {
	switch w {
	case predicate:
		return bits & 1
	case half:
		return bits & (1<<16 - 1)
	case word:
		return bits & all
	}
	return bits
}

// immediate is a literal as the bits of a type.
func immediate(o ptx.Operand, t ptx.Type) (uint64, bool) {
	switch {
	case o.Float == 0:
		return cut(o.Bits, widthOf(t)), !arith.IsFloat(t)
	case t == "f64" && o.Float == 32:
		return math.Float64bits(float64(math.Float32frombits(uint32(o.Bits)))), true
	case t == "f32" && o.Float == 64:
		return uint64(math.Float32bits(float32(math.Float64frombits(o.Bits)))), true
	case t == "f16" || t == "bf16":
		return 0, false
	}
	return o.Bits, t.Bytes() == int(o.Float)/8
}

func isBits(t ptx.Type) bool { return t[0] == 'b' && !arith.IsFloat(t) }

// predicateUse binds a predicate source that may be negated.
func (lo *lowering) predicateUse(field, flip *uint32, i int) error {
	o := lo.operand(i)
	if o.Negated {
		*flip = all
	}
	return lo.useOperand(field, o, fmt.Sprintf("operand %d", i+1), "pred")
}

// extra allocates the further operands.
func (lo *lowering) extra() *extra {
	if lo.op.in.x == nil {
		lo.op.in.x = &extra{}
	}
	return lo.op.in.x
}

// first is the first of several errors.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// operandsOf are the operands of an op, after their places are assigned.
func operandsOf(o *op) []operand {
	var all []operand
	for _, b := range o.binds {
		all = append(all, operand{*b.field, b.value.width == predicate, b.value.width == double, b.def, b == o.guard})
	}
	return all
}
