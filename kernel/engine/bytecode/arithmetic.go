package bytecode

import (
	"go/token"
	"reflect"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// extension is the operation that extends the low bits of a register to a number of a
// kind, opInvalid if the kind uses all 64 bits.
func extension(k reflect.Kind) op {
	switch k {
	case reflect.Int8:
		return opS8
	case reflect.Int16:
		return opS16
	case reflect.Int32:
		return opS32
	case reflect.Uint8:
		return opU8
	case reflect.Uint16:
		return opU16
	case reflect.Uint32:
		return opU32
	}
	return opInvalid
}

// extend truncates a result to the bits of its kind.
func (l *lowering) extend(d int, k reflect.Kind) {
	if o := extension(k); o != opInvalid {
		l.emit(ins{op: o, a: d, b: d})
	}
}

var floatOps = map[token.Token]op{token.ADD: opFAdd, token.SUB: opFSub, token.MUL: opFMul, token.QUO: opFDiv}

var integerOps = map[token.Token]op{token.ADD: opAdd, token.SUB: opSub, token.MUL: opMul,
	token.AND: opAnd, token.OR: opOr, token.XOR: opXor, token.AND_NOT: opAndNot}

// grows reports whether a result may need more bits than its operands.
var grows = map[token.Token]bool{token.ADD: true, token.SUB: true, token.MUL: true, token.QUO: true, token.SHL: true}

func (l *lowering) binary(in *ssa.BinOp) {
	k := kindOf(in.X.Type())
	switch classOf(in.X.Type()) {
	case number:
		switch {
		case in.Op >= token.EQL && in.Op <= token.GTR || in.Op == token.NEQ || in.Op == token.LEQ || in.Op == token.GEQ:
			l.comparison(in)
		case k == reflect.Float64 && floatOps[in.Op] != opInvalid:
			l.emit(ins{op: floatOps[in.Op], a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Y)})
		case k == reflect.Float32 && floatOps[in.Op] != opInvalid:
			l.emit(ins{op: floatOps[in.Op] - opFAdd + opFAdd32, a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Y)})
		case isFloat(k) || k == reflect.Bool:
			l.byEngine(in)
		default:
			l.integer(in, k)
		}
	case pointer:
		l.samePointer(in)
	case header:
		if k == reflect.String {
			l.strings(in)
		} else {
			l.samePointer(in)
		}
	case dynamic:
		if isNil(in.X) || isNil(in.Y) { // its type is nil
			l.samePointer(in)
		} else {
			l.byEngine(in)
		}
	default:
		l.byEngine(in)
	}
}

func (l *lowering) integer(in *ssa.BinOp, k reflect.Kind) {
	switch in.Op {
	case token.SHL, token.SHR:
		l.shift(in, k)
	case token.QUO, token.REM:
		o := map[token.Token]op{token.QUO: opDivU, token.REM: opRemU}[in.Op]
		if isSigned(k) {
			o = map[token.Token]op{token.QUO: opDivS, token.REM: opRemS}[in.Op]
		}
		l.checked(ins{op: o, a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Y)}, in)
	default:
		o, ok := integerOps[in.Op]
		if !ok {
			l.byEngine(in)
			return
		}
		l.plain(in, o)
	}
	if grows[in.Op] {
		l.extend(l.reg(in), k)
	}
}

// plain is an operation that cannot fail, with an immediate constant if an operand has
// one.
func (l *lowering) plain(in *ssa.BinOp, o op) {
	d, x, y := l.reg(in), in.X, in.Y
	if _, ok := l.constant(x); ok && o != opSub && o != opAndNot {
		x, y = y, x
	}
	if n, ok := l.constant(y); ok {
		switch o {
		case opAdd:
			l.emit(ins{op: opAddI, a: d, b: l.reg(x), imm: n})
			return
		case opSub:
			l.emit(ins{op: opAddI, a: d, b: l.reg(x), imm: -n})
			return
		case opMul:
			l.emit(ins{op: opMulI, a: d, b: l.reg(x), imm: n})
			return
		case opAnd:
			l.emit(ins{op: opAndI, a: d, b: l.reg(x), imm: n})
			return
		}
	}
	if o == opAdd {
		for _, pair := range [][2]ssa.Value{{x, y}, {y, x}} {
			if m, ok := pair[0].(*ssa.BinOp); ok && l.skip[m] {
				l.emit(ins{op: opMulAdd, a: d, b: l.reg(m.X), c: l.reg(m.Y), imm: int64(l.reg(pair[1])), condition: true, uses: []int{l.reg(pair[1])}})
				return
			}
		}
	}
	l.emit(ins{op: o, a: d, b: l.reg(x), c: l.reg(y)})
}

func (l *lowering) shift(in *ssa.BinOp, k reflect.Kind) {
	d, x := l.reg(in), l.reg(in.X)
	kinds := [...]struct{ checked, unsigned, constant op }{{opShl, opShlU, opShlI}, {opShr, opShrU, opShrI}, {opSar, opSarU, opSarI}}
	o := kinds[0]
	if in.Op == token.SHR {
		o = kinds[1]
		if isSigned(k) {
			o = kinds[2]
		}
	}
	if n, ok := l.constant(in.Y); ok && n >= 0 && n < 64 {
		l.emit(ins{op: o.constant, a: d, b: x, imm: n})
		return
	}
	if isSigned(kindOf(in.Y.Type())) {
		l.checked(ins{op: o.checked, a: d, b: x, c: l.reg(in.Y)}, in)
		return
	}
	l.emit(ins{op: o.unsigned, a: d, b: x, c: l.reg(in.Y)})
}

// compare is the branch instruction of a comparison of numbers, without its targets.
func (l *lowering) compare(in *ssa.BinOp) ins {
	o, x, y := in.Op, in.X, in.Y
	k := kindOf(x.Type())
	if isFloat(k) {
		out := ins{a: l.reg(x), b: l.reg(y)}
		switch o {
		case token.GTR, token.GEQ:
			out.a, out.b = out.b, out.a
		}
		out.op = map[token.Token]op{token.EQL: opBrFEq, token.NEQ: opBrFNe, token.LSS: opBrFLt, token.GTR: opBrFLt, token.LEQ: opBrFLe, token.GEQ: opBrFLe}[o]
		if k == reflect.Float32 {
			out.op += opBrFEq32 - opBrFEq
		}
		return out
	}
	if _, ok := l.constant(x); ok {
		x, y = y, x
		o = map[token.Token]token.Token{token.EQL: token.EQL, token.NEQ: token.NEQ, token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ}[o]
	}
	wide := !isSigned(k) && bitsOf(k) == 64 // compared as unsigned; narrower ones are positive
	if n, ok := l.constant(y); ok && n == int64(int16(n)) && (!wide || o == token.EQL || o == token.NEQ) {
		return ins{a: l.reg(x), c: int(n), op: map[token.Token]op{token.EQL: opBrEqI, token.NEQ: opBrNeI, token.LSS: opBrLtI, token.GTR: opBrGtI, token.LEQ: opBrLeI, token.GEQ: opBrGeI}[o]}
	}
	out := ins{a: l.reg(x), b: l.reg(y)}
	if o == token.GTR || o == token.GEQ {
		out.a, out.b = out.b, out.a
	}
	out.op = map[token.Token]op{token.EQL: opBrEq, token.NEQ: opBrNe, token.LSS: opBrLtS, token.GTR: opBrLtS, token.LEQ: opBrLeS, token.GEQ: opBrLeS}[o]
	if wide && (out.op == opBrLtS || out.op == opBrLeS) {
		out.op += opBrLtU - opBrLtS
	}
	return out
}

// comparison lowers a comparison of numbers whose result is used as a value.
func (l *lowering) comparison(in *ssa.BinOp) {
	k := kindOf(in.X.Type())
	out := ins{a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Y)}
	if in.Op == token.GTR || in.Op == token.GEQ {
		out.b, out.c = out.c, out.b
	}
	out.op = map[token.Token]op{token.EQL: opEq, token.NEQ: opNe, token.LSS: opLtS, token.GTR: opLtS, token.LEQ: opLeS, token.GEQ: opLeS}[in.Op]
	switch {
	case k == reflect.Float64:
		out.op = map[op]op{opEq: opFEq, opNe: opFNe, opLtS: opFLt, opLeS: opFLe}[out.op]
	case k == reflect.Float32:
		out.op = map[op]op{opEq: opFEq32, opNe: opFNe32, opLtS: opFLt32, opLeS: opFLe32}[out.op]
	case !isSigned(k) && bitsOf(k) == 64 && (out.op == opLtS || out.op == opLeS):
		out.op += opLtU - opLtS
	}
	l.emit(out)
}

// samePointer compares pointers, or a slice or an interface with nil.
func (l *lowering) samePointer(in *ssa.BinOp) {
	o, ok := map[token.Token]op{token.EQL: opPEq, token.NEQ: opPNe}[in.Op]
	if !ok || classOf(in.X.Type()) != classOf(in.Y.Type()) {
		l.byEngine(in)
		return
	}
	l.emit(ins{op: o, a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Y)})
}

func (l *lowering) strings(in *ssa.BinOp) {
	out := ins{a: l.reg(in), b: l.reg(in.X), c: l.reg(in.Y)}
	switch in.Op {
	case token.EQL:
		out.op = opHEq
	case token.NEQ:
		out.op = opHNe
	case token.LSS:
		out.op = opHLt
	case token.LEQ:
		out.op = opHLe
	case token.GTR:
		out.op, out.b, out.c = opHLt, out.c, out.b
	case token.GEQ:
		out.op, out.b, out.c = opHLe, out.c, out.b
	case token.ADD:
		l.concat(in)
		return
	default:
		l.byEngine(in)
		return
	}
	l.emit(out)
}

// concat lowers a concatenation of strings, with those that are its operands only.
func (l *lowering) concat(in *ssa.BinOp) {
	var list []int
	var operands func(v ssa.Value)
	operands = func(v ssa.Value) {
		if sum, ok := v.(*ssa.BinOp); ok && (sum == in || l.skip[sum]) {
			operands(sum.X)
			operands(sum.Y)
			return
		}
		list = append(list, l.reg(v))
	}
	operands(in)
	l.concats = append(l.concats, list)
	l.emit(ins{op: opConcat, a: l.reg(in), imm: int64(len(l.concats) - 1), uses: slices.Clone(list)})
}

func (l *lowering) unary(in *ssa.UnOp) {
	k := kindOf(in.X.Type())
	isNumber := classOf(in.X.Type()) == number
	switch {
	case in.Op == token.MUL:
		l.load(in)
	case !isNumber || in.Op == token.ARROW:
		l.byEngine(in)
	case in.Op == token.NOT:
		l.emit(ins{op: opNot, a: l.reg(in), b: l.reg(in.X)})
	case in.Op == token.SUB && k == reflect.Float64:
		l.emit(ins{op: opFNeg, a: l.reg(in), b: l.reg(in.X)})
	case in.Op == token.SUB && k == reflect.Float32:
		l.emit(ins{op: opFNeg32, a: l.reg(in), b: l.reg(in.X)})
	case in.Op == token.SUB:
		l.emit(ins{op: opNeg, a: l.reg(in), b: l.reg(in.X)})
		l.extend(l.reg(in), k)
	case in.Op == token.XOR:
		l.emit(ins{op: opCom, a: l.reg(in), b: l.reg(in.X)})
		l.extend(l.reg(in), k)
	default:
		l.byEngine(in)
	}
}

type valueInstruction interface {
	ssa.Value
	ssa.Instruction
}

// changeType gives a value another type of the same layout.
func (l *lowering) changeType(in valueInstruction, x ssa.Value) {
	k := classOf(in.Type())
	if k == boxed || classOf(x.Type()) != k {
		l.byEngine(in)
		return
	}
	l.emit(ins{op: moves[k], a: l.reg(in), b: l.reg(x)})
}

func (l *lowering) convert(in *ssa.Convert) {
	if classOf(in.Type()) != number || classOf(in.X.Type()) != number {
		l.byEngine(in)
		return
	}
	from, to := kindOf(in.X.Type()), kindOf(in.Type())
	out := ins{a: l.reg(in), b: l.reg(in.X), op: opConvert, imm: int64(conversion(from, to))}
	fits := isSigned(from) || !isFloat(from) && bitsOf(from) < 64 // in an int64
	switch {
	case from == to:
		out.op = opMov
	case !isFloat(from) && !isFloat(to):
		if out.op = extension(to); out.op == opInvalid {
			out.op = opMov
		}
	case fits && to == reflect.Float64:
		out.op = opItoF
	case fits && to == reflect.Float32:
		out.op = opItoF32
	case from == reflect.Float64 && (to == reflect.Int || to == reflect.Int64):
		out.op = opFtoI
	case from == reflect.Float32 && to == reflect.Float64:
		out.op = opF32to64
	case from == reflect.Float64 && to == reflect.Float32:
		out.op = opF64to32
	}
	if out.op == opConvert && conversions[out.imm] == nil {
		l.byEngine(in)
		return
	}
	l.emit(out)
}
