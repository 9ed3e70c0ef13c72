//go:build edited

package trace

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"reflect"
)

// evaluator computes simple expressions over values: names, fields, elements,
// dereferences, literals, operators, len and cap. It calls no function of cells and
// compiles nothing, which suits conditions in loops.
type evaluator struct {
	lookup func(name string) (reflect.Value, bool)
}

// unsupported is an expression that the evaluator does not know.
type unsupported struct{ error }

// Evaluate computes a simple expression over values whose names lookup knows.
func Evaluate(text string, lookup func(string) (reflect.Value, bool)) (v reflect.Value, err error) {
	x, err := parser.ParseExpr(text)
	if err != nil {
		return v, unsupported{fmt.Errorf("%s: expected an expression of Go", text)}
	}
	defer func() {
		if failed := recover(); failed != nil {
			v, err = reflect.Value{}, fmt.Errorf("%s: %v", text, failed)
		}
	}()
	v, err = evaluator{lookup}.value(x)
	return defaulted(v), err
}

func refused(n ast.Node, what string) error {
	return unsupported{fmt.Errorf("%s is not evaluated here: expected names, fields, elements, literals, operators, len and cap", what)}
}

func (e evaluator) value(x ast.Expr) (reflect.Value, error) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.value(x.X)
	case *ast.BasicLit:
		return literalValue(x)
	case *ast.Ident:
		return e.name(x.Name)
	case *ast.SelectorExpr:
		return e.selector(x)
	case *ast.IndexExpr:
		return e.index(x)
	case *ast.SliceExpr:
		return e.slice(x)
	case *ast.StarExpr:
		return e.star(x)
	case *ast.UnaryExpr:
		return e.unary(x)
	case *ast.BinaryExpr:
		return e.binary(x)
	case *ast.CallExpr:
		return e.call(x)
	}
	return reflect.Value{}, refused(x, fmt.Sprintf("%T", x))
}

// untyped is the value of a literal: a number that takes the type of the other operand.
type untyped struct{ constant.Value }

func literalValue(x *ast.BasicLit) (reflect.Value, error) {
	c := constant.MakeFromLiteral(x.Value, x.Kind, 0)
	if c.Kind() == constant.Unknown {
		return reflect.Value{}, fmt.Errorf("%s: not a literal of Go", x.Value)
	}
	if c.Kind() == constant.String {
		return reflect.ValueOf(constant.StringVal(c)), nil
	}
	return reflect.ValueOf(untyped{c}), nil
}

func (e evaluator) name(name string) (reflect.Value, error) {
	if v, ok := e.lookup(name); ok {
		return v, nil
	}
	switch name {
	case "true", "false":
		return reflect.ValueOf(name == "true"), nil
	case "nil":
		return reflect.Value{}, nil
	}
	return reflect.Value{}, unsupported{fmt.Errorf("undefined: %s", name)}
}

// inside is the value in an interface.
func inside(v reflect.Value) reflect.Value {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// pointee is a value behind interfaces and pointers.
func pointee(v reflect.Value) (reflect.Value, error) {
	v = inside(v)
	for v.IsValid() && v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, fmt.Errorf("nil pointer of type %s", typeName(v.Type()))
		}
		v = inside(v.Elem())
	}
	if !v.IsValid() {
		return v, fmt.Errorf("nil has no parts")
	}
	return v, nil
}

func (e evaluator) selector(x *ast.SelectorExpr) (reflect.Value, error) {
	v, err := e.value(x.X)
	if err != nil {
		return v, err
	}
	if v, err = pointee(v); err != nil {
		return v, err
	}
	if v.Kind() != reflect.Struct {
		return v, unsupported{fmt.Errorf(".%s: %s has no fields", x.Sel.Name, typeName(v.Type()))}
	}
	f := addressable(v).FieldByName(x.Sel.Name)
	if !f.IsValid() {
		return f, unsupported{fmt.Errorf(".%s: %s has no such field", x.Sel.Name, typeName(v.Type()))}
	}
	return readable(f), nil
}

// integer evaluates an index.
func (e evaluator) integer(x ast.Expr) (int, error) {
	v, err := e.value(x)
	if err != nil {
		return 0, err
	}
	if v, err = converted(v, reflect.TypeFor[int]()); err != nil {
		return 0, err
	}
	return int(v.Int()), nil
}

func (e evaluator) index(x *ast.IndexExpr) (reflect.Value, error) {
	v, err := e.value(x.X)
	if err != nil {
		return v, err
	}
	if v = inside(v); v.IsValid() && v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Array {
		v = v.Elem()
	}
	if !v.IsValid() {
		return v, fmt.Errorf("nil has no elements")
	}
	if v.Kind() == reflect.Map {
		return e.entry(v, x.Index)
	}
	if k := v.Kind(); k != reflect.Slice && k != reflect.Array && k != reflect.String {
		return v, fmt.Errorf("%s has no elements", typeName(v.Type()))
	}
	i, err := e.integer(x.Index)
	if err != nil {
		return v, err
	}
	if i < 0 || i >= v.Len() {
		return v, fmt.Errorf("index %d: the length is %d", i, v.Len())
	}
	return readable(v.Index(i)), nil
}

// entry is the value of a key of a map.
func (e evaluator) entry(v reflect.Value, index ast.Expr) (found reflect.Value, err error) {
	key, err := e.value(index)
	if err == nil {
		key, err = converted(key, v.Type().Key())
	}
	if err != nil {
		return v, err
	}
	if found = steady(v).MapIndex(key); !found.IsValid() {
		found = reflect.Zero(v.Type().Elem())
	}
	return found, nil
}

func (e evaluator) slice(x *ast.SliceExpr) (reflect.Value, error) {
	v, err := e.value(x.X)
	if err != nil {
		return v, err
	}
	v = inside(v)
	if k := v.Kind(); k != reflect.Slice && k != reflect.String || x.Slice3 {
		return v, refused(x, "this slice expression")
	}
	lo, hi := 0, v.Len()
	if x.Low != nil {
		lo, err = e.integer(x.Low)
	}
	if x.High != nil && err == nil {
		hi, err = e.integer(x.High)
	}
	if err != nil {
		return v, err
	}
	if lo < 0 || hi > v.Len() || lo > hi {
		return v, fmt.Errorf("[%d:%d]: the length is %d", lo, hi, v.Len())
	}
	return v.Slice(lo, hi), nil
}

func (e evaluator) star(x *ast.StarExpr) (reflect.Value, error) {
	v, err := e.value(x.X)
	if err != nil {
		return v, err
	}
	if v = inside(v); !v.IsValid() || v.Kind() != reflect.Pointer {
		return v, fmt.Errorf("*: expected a pointer")
	}
	if v.IsNil() {
		return v, fmt.Errorf("nil pointer of type %s", typeName(v.Type()))
	}
	return v.Elem(), nil
}

func (e evaluator) unary(x *ast.UnaryExpr) (reflect.Value, error) {
	v, err := e.value(x.X)
	if err != nil {
		return v, err
	}
	v = inside(v)
	if x.Op == token.NOT && v.IsValid() && v.Kind() == reflect.Bool {
		return reflect.ValueOf(!v.Bool()).Convert(v.Type()), nil
	}
	c, t, err := operand(v)
	if err != nil || x.Op != token.SUB && x.Op != token.ADD && x.Op != token.XOR {
		return v, refused(x, x.Op.String()+" of this operand")
	}
	return typed(constant.UnaryOp(x.Op, c, 0), t)
}

func (e evaluator) call(x *ast.CallExpr) (reflect.Value, error) {
	f, ok := x.Fun.(*ast.Ident)
	if !ok || len(x.Args) != 1 || f.Name != "len" && f.Name != "cap" {
		return reflect.Value{}, refused(x, "a call")
	}
	v, err := e.value(x.Args[0])
	if err != nil {
		return v, err
	}
	v = inside(v)
	if f.Name == "cap" {
		return reflect.ValueOf(v.Cap()), nil
	}
	return reflect.ValueOf(v.Len()), nil
}
