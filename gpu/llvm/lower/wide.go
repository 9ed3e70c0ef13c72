package lower

import (
	"fmt"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/machine"
)

// A number of 128 bits is two leaves of 64, the lower one first.

var word64 = ir.IntType(64)

func isWide(t *ir.Type) bool { return t.Kind == ir.Int && t.Bits == 128 }

// wideInstruction lowers an instruction that makes or takes a number of 128 bits, and reports
// whether it is one.
func (f *fn) wideInstruction(v *ir.Value) bool {
	makes := v.Type != nil && isWide(v.Type)
	takes := len(v.Operands) > 0 && v.Operands[0].Type != nil && isWide(v.Operands[0].Type)
	switch v.Op {
	case "add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "urem", "sdiv", "srem":
		if makes {
			a, b := f.pair(v.Operands[0]), f.pair(v.Operands[1])
			f.set(v, f.wideInteger(v, a, b)...)
		}
		return makes
	case "zext", "sext":
		if makes {
			low := f.inRegister(f.widened(v.Operands[0], v.Op == "sext", 64), machine.B64)
			f.set(v, low, f.signOf(low, v.Op == "sext"))
		}
		return makes
	case "trunc":
		if takes {
			f.set(v, f.truncated(f.temporary(word64, f.pair(v.Operands[0])[0]), v.Type))
		}
		return takes
	case "icmp":
		if takes {
			f.set(v, f.wideCompare(v.Cond, f.pair(v.Operands[0]), f.pair(v.Operands[1])))
		}
		return takes
	case "uitofp", "sitofp", "fptoui", "fptosi", "switch":
		if makes || takes {
			f.fail("%s of a number of 128 bits is not supported", v.Op)
		}
	}
	return false
}

// pair are the halves of a number of 128 bits.
func (f *fn) pair(v *ir.Value) [2]operand {
	parts := f.parts(v)
	if len(parts) != 2 {
		f.fail("a value of type %v, expected i128", f.leaves(v.Type)[0])
	}
	return [2]operand{parts[0], parts[1]}
}

// signOf is the upper half of a number that was widened from 64 bits.
func (f *fn) signOf(low operand, signed bool) operand {
	if signed {
		return f.pure(machine.B64, "shr.s64 $0, $1, 63", low)
	}
	return number(0)
}

func (f *fn) wideInteger(v *ir.Value, a, b [2]operand) []operand {
	switch v.Op {
	case "add", "sub":
		return f.carried(v.Op, a, b)
	case "and", "or", "xor":
		var outs []operand
		for i := range a {
			outs = append(outs, f.pure(machine.B64, v.Op+".b64 $0, $1, $2", f.inRegister(a[i], machine.B64), b[i]))
		}
		return outs
	case "mul":
		low := f.inRegister(a[0], machine.B64)
		high := f.pure(machine.B64, "mul.hi.u64 $0, $1, $2", low, b[0])
		for i := range a {
			if b[1-i].Text != "0" && a[i].Text != "0" {
				high = f.pure(machine.B64, "mad.lo.s64 $0, $1, $2, $3", f.inRegister(a[i], machine.B64), b[1-i], high)
			}
		}
		return []operand{f.pure(machine.B64, "mul.lo.s64 $0, $1, $2", low, b[0]), high}
	case "shl", "lshr", "ashr":
		return f.wideShift(v, a, b[0])
	}
	return f.wideQuotient(v.Op, a, b)
}

// carried is a sum or difference. Both instructions are one statement, so that none that
// carries comes between them.
func (f *fn) carried(op string, a, b [2]operand) []operand {
	outs := []operand{{Reg: f.out.NewReg(machine.B64)}, {Reg: f.out.NewReg(machine.B64)}}
	args := append([]operand{}, outs...)
	for _, o := range []operand{a[0], b[0], a[1], b[1]} {
		args = append(args, f.inRegister(o, machine.B64))
	}
	f.emit(op+".cc.u64 $0, $2, $3;\n\t"+op+"c.u64 $1, $4, $5", 2, args...)
	f.cur.Instrs[len(f.cur.Instrs)-1].Early = true
	return outs
}

// wideShift is a shift by a number below 128. PTX shifts by more than the width to 0, or to
// the sign; so each half is the sum of what comes of both halves.
func (f *fn) wideShift(v *ir.Value, a [2]operand, by operand) []operand {
	by = f.pure(machine.B32, "cvt.u32.u64 $0, $1", f.inRegister(by, machine.B64))
	rest := func(left bool) operand {
		if left {
			return f.pure(machine.B32, "sub.s32 $0, $1, $2", f.inRegister(number(64), machine.B32), by)
		}
		return f.pure(machine.B32, "add.s32 $0, $1, -64", by)
	}
	if n, ok := v.Operands[1].Int(); ok && n >= 0 && n < 128 {
		return f.wideShiftBy(v.Op, a, n)
	}
	shift := func(word string, o, by operand) operand {
		return f.pure(machine.B64, word+"64 $0, $1, $2", f.inRegister(o, machine.B64), by)
	}
	or := func(x, y operand) operand { return f.pure(machine.B64, "or.b64 $0, $1, $2", x, y) }
	if v.Op == "shl" {
		high := or(shift("shl.b", a[1], by), shift("shr.u", a[0], rest(true)))
		return []operand{shift("shl.b", a[0], by), or(high, shift("shl.b", a[0], rest(false)))}
	}
	low := or(shift("shr.u", a[0], by), shift("shl.b", a[1], rest(true)))
	if v.Op == "lshr" {
		return []operand{or(low, shift("shr.u", a[1], rest(false))), shift("shr.u", a[1], by)}
	}
	far := shift("shr.s", a[1], rest(false))
	low = f.chosen(word64, f.pure(machine.Pred, "setp.lt.u32 $0, $1, 64", by), low, far)
	return []operand{low, shift("shr.s", a[1], by)}
}

// wideShiftBy is a shift by a constant.
func (f *fn) wideShiftBy(op string, a [2]operand, n int64) []operand {
	shift := func(word string, o operand, by int64) operand {
		if by == 0 {
			return o
		}
		return f.pure(machine.B64, word+"64 $0, $1, $2", f.inRegister(o, machine.B64), number(by))
	}
	joined := func(x, y operand) operand { return f.pure(machine.B64, "or.b64 $0, $1, $2", x, y) }
	right := map[string]string{"lshr": "shr.u", "ashr": "shr.s"}[op]
	switch {
	case n == 0:
		return a[:]
	case op == "shl" && n >= 64:
		return []operand{number(0), shift("shl.b", a[0], n-64)}
	case op == "shl":
		return []operand{shift("shl.b", a[0], n), joined(shift("shl.b", a[1], n), shift("shr.u", a[0], 64-n))}
	case n >= 64:
		return []operand{shift(right, a[1], n-64), f.signOf(f.inRegister(a[1], machine.B64), op == "ashr")}
	}
	return []operand{joined(shift("shr.u", a[0], n), shift("shl.b", a[1], 64-n)), shift(right, a[1], n)}
}

// wideCompare compares the upper halves, and where they are equal the lower ones.
func (f *fn) wideCompare(cond string, a, b [2]operand) operand {
	test := func(cond, kind string, i int) operand {
		return f.pure(machine.Pred, fmt.Sprintf("setp.%s.%s64 $0, $1, $2", cond, kind), f.inRegister(a[i], machine.B64), b[i])
	}
	join := func(word string, x, y operand) operand {
		return f.pure(machine.Pred, word+".pred $0, $1, $2", x, y)
	}
	switch cond {
	case "eq":
		return join("and", test("eq", "b", 0), test("eq", "b", 1))
	case "ne":
		return join("or", test("ne", "b", 0), test("ne", "b", 1))
	}
	equal := join("and", test("eq", "b", 1), test(conditionOf(cond), "u", 0))
	return join("or", test(conditionOf(cond)[:1]+"t", kindOf(cond), 1), equal)
}

// division divides $4:$5 by $6:$7, whole numbers of 128 bits: the quotient is $0:$1, the
// rest $2:$3, each with its lower half first. Numbers of 64 bits take PTX's instruction; others a step per bit.
const division = `{
	.reg .pred 	%%wp, %%wq;
	.reg .b32 	%%wi, %%wb;
	.reg .b64 	%%wn, %%wm, %%wr, %%ws, %%wt, %%wu, %%wc;
	mov.b64 %%wr, 0;
	mov.b64 %%ws, 0;
	mov.b64 %%wn, $4;
	mov.b64 %%wm, $5;
	or.b64 %%wt, %%wm, $7;
	setp.ne.b64 %%wp, %%wt, 0;
	@%%wp bra wide_%[1]s;
	div.u64 %%wn, $4, $6;
	rem.u64 %%wr, $4, $6;
	bra done_%[1]s;
wide_%[1]s:
	mov.b32 %%wi, 128;
next_%[1]s:
	setp.lt.s64 %%wq, %%ws, 0;
	shl.b64 %%ws, %%ws, 1;
	shr.u64 %%wc, %%wr, 63;
	or.b64 %%ws, %%ws, %%wc;
	shl.b64 %%wr, %%wr, 1;
	shr.u64 %%wc, %%wm, 63;
	or.b64 %%wr, %%wr, %%wc;
	shl.b64 %%wm, %%wm, 1;
	shr.u64 %%wc, %%wn, 63;
	or.b64 %%wm, %%wm, %%wc;
	shl.b64 %%wn, %%wn, 1;
	sub.cc.u64 %%wt, %%wr, $6;
	subc.cc.u64 %%wu, %%ws, $7;
	subc.u32 %%wb, 0, 0;
	setp.eq.b32 %%wp, %%wb, 0;
	or.pred %%wp, %%wp, %%wq;
	@%%wp mov.b64 %%wr, %%wt;
	@%%wp mov.b64 %%ws, %%wu;
	@%%wp or.b64 %%wn, %%wn, 1;
	sub.s32 %%wi, %%wi, 1;
	setp.ne.b32 %%wp, %%wi, 0;
	@%%wp bra next_%[1]s;
done_%[1]s:
	mov.b64 $0, %%wn;
	mov.b64 $1, %%wm;
	mov.b64 $2, %%wr;
	mov.b64 $3, %%ws;
}`

// wideQuotient is a quotient or rest. Signed ones are of the sizes, with the sign of the
// quotient, or of the number that is divided.
func (f *fn) wideQuotient(op string, a, b [2]operand) []operand {
	sign := func(x [2]operand) operand {
		return f.pure(machine.B64, "shr.s64 $0, $1, 63", f.inRegister(x[1], machine.B64))
	}
	negated := func(x [2]operand, by operand) [2]operand { // x if by is 0, -x if it is -1
		for i, o := range x {
			x[i] = f.pure(machine.B64, "xor.b64 $0, $1, $2", f.inRegister(o, machine.B64), by)
		}
		outs := f.carried("sub", x, [2]operand{by, by})
		return [2]operand{outs[0], outs[1]}
	}
	var result operand // the sign
	if op[0] == 's' {
		left, right := sign(a), sign(b)
		a, b = negated(a, left), negated(b, right)
		if result = left; op == "sdiv" {
			result = f.pure(machine.B64, "xor.b64 $0, $1, $2", left, right)
		}
	}
	f.uid++
	args := make([]operand, 4, 8)
	for i := range args {
		args[i] = operand{Reg: f.out.NewReg(machine.B64)}
	}
	for _, o := range []operand{a[0], a[1], b[0], b[1]} {
		args = append(args, f.inRegister(o, machine.B64))
	}
	f.statements(fmt.Sprintf(division, fmt.Sprintf("%d_%d", f.index, f.uid)), 4, args...)
	f.cur.Instrs[len(f.cur.Instrs)-1].Early = true
	out := [2]operand{args[0], args[1]}
	if op[1:] == "rem" {
		out = [2]operand{args[2], args[3]}
	}
	if op[0] == 's' {
		out = negated(out, result)
	}
	return out[:]
}
