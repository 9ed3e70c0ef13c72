package inspect

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// number is a whole number of 64 bits, or a float.
type number struct {
	float, single, boolean bool
	unsigned               bool
	i                      int64
	f                      float64
}

func toNumber(t dwarf.Type, data []byte) (number, error) {
	switch t := t.(type) {
	case *dwarf.FloatType:
		switch len(data) {
		case 4:
			return number{float: true, single: true, f: float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))}, nil
		case 8:
			return number{float: true, f: math.Float64frombits(binary.LittleEndian.Uint64(data))}, nil
		}
	case *dwarf.BoolType:
		return number{boolean: true, i: wide(data, false)}, nil
	case *dwarf.IntType, *dwarf.CharType, *dwarf.EnumType:
		return number{i: wide(data, true)}, nil
	case *dwarf.UintType, *dwarf.UcharType, *dwarf.PtrType:
		return number{i: wide(data, false), unsigned: len(data) == 8}, nil
	default:
		return number{}, fmt.Errorf("%s is no number", t)
	}
	return number{}, fmt.Errorf("%s is no number", t)
}

// wide extends a whole number of up to 8 bytes.
func wide(data []byte, signed bool) int64 {
	var x uint64
	for i := min(len(data), 8) - 1; i >= 0; i-- {
		x = x<<8 | uint64(data[i])
	}
	if bits := 8 * min(len(data), 8); signed && bits > 0 && bits < 64 && x>>(bits-1) == 1 {
		x |= ^uint64(0) << bits
	}
	return int64(x)
}

func boolean(b bool) Value {
	data := []byte{0}
	if b {
		data[0] = 1
	}
	return Value{Type: boolType, Data: data}
}

func (n number) truth() bool { return n.float && n.f != 0 || !n.float && n.i != 0 }

func (n number) real() float64 {
	switch {
	case n.float:
		return n.f
	case n.unsigned:
		return float64(uint64(n.i))
	}
	return float64(n.i)
}

func (n number) whole() int64 {
	if n.float {
		return int64(n.f)
	}
	return n.i
}

func (n number) negated() number {
	n.i, n.f, n.boolean, n.unsigned = -n.i, -n.f, false, false
	return n
}

func (n number) String() string {
	switch {
	case n.boolean:
		return fmt.Sprint(n.i != 0)
	case n.float && n.single:
		return fmt.Sprint(float32(n.f))
	case n.float:
		return fmt.Sprint(n.f)
	case n.unsigned:
		return fmt.Sprint(uint64(n.i))
	}
	return fmt.Sprint(n.i)
}

// value is the number with a type that holds it.
func (n number) value() Value {
	switch {
	case n.boolean:
		return boolean(n.i != 0)
	case n.float && n.single:
		return n.as(floatType)
	case n.float:
		return n.as(doubleType)
	case n.unsigned:
		return n.as(ulongType)
	case n.i == int64(int32(n.i)):
		return n.as(intType)
	}
	return n.as(longType)
}

// as is the number converted to a basic type.
func (n number) as(t dwarf.Type) Value {
	bits := uint64(n.whole())
	if f, is := t.(*dwarf.FloatType); is {
		if bits = math.Float64bits(n.real()); f.ByteSize == 4 {
			bits = uint64(math.Float32bits(float32(n.real())))
		}
	}
	if _, is := t.(*dwarf.BoolType); is {
		return boolean(n.truth())
	}
	return Value{Type: t, Data: binary.LittleEndian.AppendUint64(nil, bits)[:t.Size()]}
}

// combine applies an operator to two numbers.
func combine(op string, a, b number) (number, error) {
	if a.float || b.float {
		return floats(op, a, b)
	}
	x, y := a.i, b.i
	n := number{unsigned: a.unsigned || b.unsigned}
	less := x < y
	if n.unsigned {
		less = uint64(x) < uint64(y)
	}
	switch op {
	case "+":
		n.i = x + y
	case "-":
		n.i = x - y
	case "*":
		n.i = x * y
	case "/", "%":
		return divided(op, n, x, y)
	case "&":
		n.i = x & y
	case "|":
		n.i = x | y
	case "^":
		n.i = x ^ y
	case "<<":
		n.i = x << (uint64(y) & 63)
	case ">>":
		if n.i = x >> (uint64(y) & 63); n.unsigned {
			n.i = int64(uint64(x) >> (uint64(y) & 63))
		}
	default:
		return compared(op, less, x == y), nil
	}
	return n, nil
}

func divided(op string, n number, x, y int64) (number, error) {
	switch {
	case y == 0:
		return n, errors.New("division by zero")
	case n.unsigned && op == "/":
		n.i = int64(uint64(x) / uint64(y))
	case n.unsigned:
		n.i = int64(uint64(x) % uint64(y))
	case op == "/":
		n.i = x / y
	default:
		n.i = x % y
	}
	return n, nil
}

// compared is the result of a comparison of numbers that are ordered.
func compared(op string, less, equal bool) number {
	truth := map[string]bool{"==": equal, "!=": !equal, "<": less, "<=": less || equal, ">": !less && !equal, ">=": !less}[op]
	n := number{boolean: true}
	if truth {
		n.i = 1
	}
	return n
}

func floats(op string, a, b number) (number, error) {
	x, y := a.real(), b.real()
	n := number{float: true, single: (a.single || !a.float) && (b.single || !b.float)}
	switch op {
	case "+":
		n.f = x + y
	case "-":
		n.f = x - y
	case "*":
		n.f = x * y
	case "/":
		n.f = x / y
	case "==", "!=", "<", "<=", ">", ">=":
		if math.IsNaN(x) || math.IsNaN(y) {
			return compared("==", false, op == "!="), nil
		}
		return compared(op, x < y, x == y), nil
	default:
		return n, fmt.Errorf("%s of floats", op)
	}
	return n, nil
}

// function is one of numbers.
type function struct {
	args int
	of   func(args []number) number
}

func test(f func(x float64) bool) function {
	return function{1, func(args []number) number {
		n := number{boolean: true}
		if f(args[0].real()) {
			n.i = 1
		}
		return n
	}}
}

func mathematical(f func(float64) float64) function {
	return function{1, func(args []number) number {
		return number{float: true, single: args[0].single, f: f(args[0].real())}
	}}
}

var functions = map[string]function{
	"isnan": test(math.IsNaN), "isinf": test(func(x float64) bool { return math.IsInf(x, 0) }),
	"isfinite": test(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }),
	"fabs":     mathematical(math.Abs), "fabsf": mathematical(math.Abs), "sqrt": mathematical(math.Sqrt), "sqrtf": mathematical(math.Sqrt),
	"abs": {1, func(args []number) number {
		if args[0].truth() && (args[0].float && args[0].f < 0 || !args[0].float && args[0].i < 0) {
			return args[0].negated()
		}
		return args[0]
	}},
	"min": chosen("<"), "max": chosen(">"),
}

// chosen is the one of two numbers that compares so with the other.
func chosen(op string) function {
	return function{2, func(args []number) number {
		if first, _ := combine(op, args[0], args[1]); first.i == 1 {
			return args[0]
		}
		return args[1]
	}}
}
