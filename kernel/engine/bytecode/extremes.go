package bytecode

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// extreme lowers min and max, and reports whether a call is one of them.
func (l *lowering) extreme(in *ssa.Call, name string) bool {
	class, k := classOf(in.Type()), kindOf(in.Type())
	if name != "min" && name != "max" || class != number && k != reflect.String {
		return false
	}
	x := l.fresh(class) // the result may be in the register of an argument
	l.emit(ins{op: moves[class], a: x, b: l.reg(in.Call.Args[0])})
	for _, v := range in.Call.Args[1:] {
		y := l.reg(v)
		if isFloat(k) {
			l.extremeFloat(k, name, x, y)
			continue
		}
		other, changed, rest := l.fresh(number), &block{}, &block{}
		if l.order = append(l.order, changed, rest); name == "min" {
			l.less(k, other, y, x)
		} else {
			l.less(k, other, x, y)
		}
		l.emit(ins{op: opBranch, a: other, yes: changed, no: rest})
		l.now = changed
		l.emit(ins{op: moves[class], a: x, b: y})
		l.resume(rest)
	}
	l.emit(ins{op: moves[class], a: l.reg(in), b: x})
	return true
}

// extremeFloat sets x to the least or largest of two floats. It is NaN if one of them is.
func (l *lowering) extremeFloat(k reflect.Kind, name string, x, y int) {
	f := func(x, y float64) float64 { return min(x, y) }
	if name == "max" {
		f = func(x, y float64) float64 { return max(x, y) }
	}
	a, b := x, y
	if k == reflect.Float32 {
		a, b = l.fresh(number), l.fresh(number)
		l.emit(ins{op: opF32to64, a: a, b: x})
		l.emit(ins{op: opF32to64, a: b, b: y})
	}
	l.math2 = append(l.math2, f)
	l.emit(ins{op: opMath2, a: a, b: a, c: b, imm: int64(len(l.math2) - 1)})
	if k == reflect.Float32 {
		l.emit(ins{op: opF64to32, a: x, b: a})
	}
}
