package bytecode

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// orders lowers cmp.Less and cmp.Compare, which are generic, and reports whether a call is
// one of them.
func (l *lowering) orders(in *ssa.Call, fn *ssa.Function) bool {
	name := origin(fn)
	if name != "cmp.Less" && name != "cmp.Compare" {
		return false
	}
	k, x, y := kindOf(in.Call.Args[0].Type()), l.reg(in.Call.Args[0]), l.reg(in.Call.Args[1])
	switch name {
	case "cmp.Less":
		l.totalLess(k, l.reg(in), x, y)
	case "cmp.Compare":
		before, after := l.fresh(number), l.fresh(number)
		l.totalLess(k, before, x, y)
		l.totalLess(k, after, y, x)
		l.emit(ins{op: opSub, a: l.reg(in), b: after, c: before})
	}
	return true
}

// totalLess sets d to whether x is less than y, with NaN less than all other numbers.
func (l *lowering) totalLess(k reflect.Kind, d, x, y int) {
	if !isFloat(k) {
		l.less(k, d, x, y)
		return
	}
	same := opFEq
	if k == reflect.Float32 {
		same = opFEq32
	}
	nan, other := l.fresh(number), l.fresh(number)
	l.emit(ins{op: same, a: nan, b: x, c: x})
	l.emit(ins{op: opNot, a: nan, b: nan})
	l.emit(ins{op: same, a: other, b: y, c: y})
	l.emit(ins{op: opAnd, a: nan, b: nan, c: other})
	l.less(k, other, x, y)
	l.emit(ins{op: opOr, a: d, b: nan, c: other})
}

// less sets d to whether x < y.
func (l *lowering) less(k reflect.Kind, d, x, y int) {
	o := opLtU
	switch {
	case k == reflect.String:
		o = opHLt
	case k == reflect.Float64:
		o = opFLt
	case k == reflect.Float32:
		o = opFLt32
	case isSigned(k):
		o = opLtS
	}
	l.emit(ins{op: o, a: d, b: x, c: y})
}
