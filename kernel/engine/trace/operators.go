//go:build edited

package trace

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"math"
	"reflect"
)

// operand is a number as an exact constant, with its type, nil for a literal. A NaN and
// an infinity have no constant.
func operand(v reflect.Value) (constant.Value, reflect.Type, error) {
	if !v.IsValid() {
		return nil, nil, fmt.Errorf("nil is no number")
	}
	if u, ok := v.Interface().(untyped); ok {
		return u.Value, nil, nil
	}
	switch {
	case v.CanInt():
		return constant.MakeInt64(v.Int()), v.Type(), nil
	case v.CanUint():
		return constant.MakeUint64(v.Uint()), v.Type(), nil
	case v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		return constant.MakeFloat64(v.Float()), v.Type(), nil
	}
	return nil, nil, fmt.Errorf("%s is no finite number", typeName(v.Type()))
}

// typed is a constant as a value of a type; nil keeps it a literal.
func typed(c constant.Value, t reflect.Type) (reflect.Value, error) {
	if t == nil {
		return reflect.ValueOf(untyped{c}), nil
	}
	v := reflect.New(t).Elem()
	switch {
	case v.CanInt():
		n, exact := constant.Int64Val(constant.ToInt(c))
		if !exact || v.OverflowInt(n) {
			return v, fmt.Errorf("%s does not fit %s", c, typeName(t))
		}
		v.SetInt(n)
	case v.CanUint():
		n, exact := constant.Uint64Val(constant.ToInt(c))
		if !exact || v.OverflowUint(n) {
			return v, fmt.Errorf("%s does not fit %s", c, typeName(t))
		}
		v.SetUint(n)
	case v.CanFloat():
		f, _ := constant.Float64Val(constant.ToFloat(c))
		v.SetFloat(f)
	default:
		return v, fmt.Errorf("%s is no number", typeName(t))
	}
	return v, nil
}

// defaulted is a value without literals: int or float64. That of 'a' is an int here.
func defaulted(v reflect.Value) reflect.Value {
	if !v.IsValid() || !v.CanInterface() {
		return v
	}
	u, ok := v.Interface().(untyped)
	if !ok {
		return v
	}
	if n, exact := constant.Int64Val(constant.ToInt(u.Value)); exact && u.Kind() == constant.Int {
		return reflect.ValueOf(int(n))
	}
	f, _ := constant.Float64Val(constant.ToFloat(u.Value))
	return reflect.ValueOf(f)
}

// converted is a value of a type that it can be assigned to.
func converted(v reflect.Value, t reflect.Type) (reflect.Value, error) {
	if !v.IsValid() {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
			return reflect.Zero(t), nil
		}
		return v, fmt.Errorf("nil is no %s", typeName(t))
	}
	if v.CanInterface() {
		if u, ok := v.Interface().(untyped); ok {
			if t.Kind() != reflect.Interface {
				return typed(u.Value, t)
			}
			v = defaulted(v)
		}
	}
	if v.Type().AssignableTo(t) {
		if t.Kind() == reflect.Interface {
			to := reflect.New(t).Elem()
			to.Set(v)
			return to, nil
		}
		return v, nil
	}
	if x := inside(v); x.IsValid() && x.Type().AssignableTo(t) {
		return x, nil
	}
	if v.Kind() == reflect.String && t.Kind() == reflect.String {
		return v.Convert(t), nil
	}
	return v, fmt.Errorf("%s cannot be assigned to %s", typeName(v.Type()), typeName(t))
}

func (e evaluator) binary(x *ast.BinaryExpr) (reflect.Value, error) {
	a, err := e.value(x.X)
	if err != nil {
		return a, err
	}
	a = inside(a)
	if x.Op == token.LAND || x.Op == token.LOR {
		return e.logical(x, a)
	}
	b, err := e.value(x.Y)
	if err != nil {
		return b, err
	}
	b = inside(b)
	if isNumber(a) && isNumber(b) {
		return numbers(x.Op, a, b)
	}
	if a.IsValid() && b.IsValid() && a.Kind() == reflect.String && b.Kind() == reflect.String {
		return texts(x.Op, a.String(), b.String())
	}
	return equal(x.Op, a, b)
}

func (e evaluator) logical(x *ast.BinaryExpr, a reflect.Value) (reflect.Value, error) {
	if !a.IsValid() || a.Kind() != reflect.Bool {
		return a, fmt.Errorf("%s: expected a boolean on its left", x.Op)
	}
	if a.Bool() == (x.Op == token.LOR) {
		return a, nil
	}
	b, err := e.value(x.Y)
	if err != nil {
		return b, err
	}
	if b = inside(b); !b.IsValid() || b.Kind() != reflect.Bool {
		return b, fmt.Errorf("%s: expected a boolean on its right", x.Op)
	}
	return b, nil
}

func isNumber(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}
	if v.CanInterface() {
		if _, ok := v.Interface().(untyped); ok {
			return true
		}
	}
	return v.CanInt() || v.CanUint() || v.CanFloat()
}

var comparisons = map[token.Token]bool{token.EQL: true, token.NEQ: true, token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true}

// numbers applies an operator to two numbers. Go's types must agree, as in Go.
func numbers(op token.Token, a, b reflect.Value) (reflect.Value, error) {
	x, t, errA := operand(a)
	y, u, errB := operand(b)
	if errA != nil || errB != nil {
		return floats(op, a, b)
	}
	shift := op == token.SHL || op == token.SHR
	if t == nil && !shift {
		t = u
	}
	if u != nil && t != u && !shift {
		return a, fmt.Errorf("%s: the types are %s and %s", op, typeName(t), typeName(u))
	}
	if comparisons[op] {
		return reflect.ValueOf(constant.Compare(x, op, y)), nil
	}
	integers := x.Kind() == constant.Int && y.Kind() == constant.Int && (t == nil || t.Kind() != reflect.Float32 && t.Kind() != reflect.Float64)
	switch op {
	case token.SHL, token.SHR:
		n, ok := constant.Uint64Val(constant.ToInt(y))
		if !ok || n > 63 {
			return a, fmt.Errorf("%s %s: expected a number of bits from 0 to 63", op, y)
		}
		return typed(constant.Shift(constant.ToInt(x), op, uint(n)), t)
	case token.QUO, token.REM:
		if constant.Sign(y) == 0 {
			return floatsOrZero(op, a, b, integers)
		}
		if integers && op == token.QUO {
			op = token.QUO_ASSIGN // as go/constant calls the division of integers
		}
	case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR, token.AND_NOT:
	default:
		return a, fmt.Errorf("%s is not evaluated here", op)
	}
	return typed(constant.BinaryOp(x, op, y), t)
}

func floatsOrZero(op token.Token, a, b reflect.Value, integers bool) (reflect.Value, error) {
	if integers {
		return a, fmt.Errorf("%s: division by zero", op)
	}
	return floats(op, a, b)
}

// floats applies an operator to numbers of which one is a NaN or infinite.
func floats(op token.Token, a, b reflect.Value) (reflect.Value, error) {
	t := reflect.TypeFor[float64]()
	x, errA := converted(asFloat(a), t)
	y, errB := converted(asFloat(b), t)
	if errA != nil || errB != nil {
		return a, fmt.Errorf("%s: expected two numbers of one type", op)
	}
	f, g := x.Float(), y.Float()
	switch op {
	case token.EQL:
		return reflect.ValueOf(f == g), nil
	case token.NEQ:
		return reflect.ValueOf(f != g), nil
	case token.LSS:
		return reflect.ValueOf(f < g), nil
	case token.LEQ:
		return reflect.ValueOf(f <= g), nil
	case token.GTR:
		return reflect.ValueOf(f > g), nil
	case token.GEQ:
		return reflect.ValueOf(f >= g), nil
	case token.ADD:
		return reflect.ValueOf(f + g), nil
	case token.SUB:
		return reflect.ValueOf(f - g), nil
	case token.MUL:
		return reflect.ValueOf(f * g), nil
	case token.QUO:
		return reflect.ValueOf(f / g), nil
	}
	return a, fmt.Errorf("%s is not evaluated here", op)
}

func asFloat(v reflect.Value) reflect.Value {
	if v.CanFloat() {
		return reflect.ValueOf(v.Float())
	}
	return v
}

func texts(op token.Token, a, b string) (reflect.Value, error) {
	switch op {
	case token.ADD:
		return reflect.ValueOf(a + b), nil
	case token.EQL:
		return reflect.ValueOf(a == b), nil
	case token.NEQ:
		return reflect.ValueOf(a != b), nil
	case token.LSS:
		return reflect.ValueOf(a < b), nil
	case token.LEQ:
		return reflect.ValueOf(a <= b), nil
	case token.GTR:
		return reflect.ValueOf(a > b), nil
	case token.GEQ:
		return reflect.ValueOf(a >= b), nil
	}
	return reflect.Value{}, fmt.Errorf("%s is not evaluated here", op)
}

// equal compares two values that are no numbers.
func equal(op token.Token, a, b reflect.Value) (reflect.Value, error) {
	if op != token.EQL && op != token.NEQ {
		return a, fmt.Errorf("%s: expected two numbers or two strings", op)
	}
	same := false
	switch {
	case !a.IsValid() && !b.IsValid():
		same = true
	case !a.IsValid():
		same = isNil(b)
	case !b.IsValid():
		same = isNil(a)
	case a.Type() != b.Type():
		return a, fmt.Errorf("%s: the types are %s and %s", op, typeName(a.Type()), typeName(b.Type()))
	default:
		same = a.Equal(b) // panics for types that Go does not compare
	}
	return reflect.ValueOf(same == (op == token.EQL)), nil
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		return v.IsNil()
	}
	return false
}
