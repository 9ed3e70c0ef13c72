package ir

import (
	"fmt"
	"strings"
)

// Kind is the kind of a type.
type Kind uint8

const (
	Void Kind = iota
	Int
	Half
	BFloat
	Float
	Double
	Pointer
	Vector
	Array
	Struct
	Function
	Other // labels and metadata
)

// Type is a type of the intermediate code.
type Type struct {
	Kind   Kind
	Bits   int     // of an integer
	Space  int     // address space of a pointer
	Len    int     // of vectors and arrays
	Elem   *Type   // of vectors and arrays; result of functions
	Fields []*Type // of structs; parameters of functions
	Packed bool    // of structs
	Dots   bool    // of functions: more arguments may follow
}

var floats = map[string]*Type{
	"half": {Kind: Half}, "bfloat": {Kind: BFloat}, "float": {Kind: Float}, "double": {Kind: Double},
	"void": {Kind: Void}, "label": {Kind: Other}, "metadata": {Kind: Other}, "token": {Kind: Other},
}

// IntType is the integer type of a width.
func IntType(bits int) *Type { return &Type{Kind: Int, Bits: bits} }

// IsFloat reports whether a type is a floating-point number.
func (t *Type) IsFloat() bool { return t.Kind >= Half && t.Kind <= Double }

// IsAggregate reports whether a type is an array or a struct.
func (t *Type) IsAggregate() bool { return t.Kind == Array || t.Kind == Struct }

// IsBool reports whether a type is i1.
func (t *Type) IsBool() bool { return t.Kind == Int && t.Bits == 1 }

// Width is the number of bits of a number or pointer.
func (t *Type) Width() int {
	switch t.Kind {
	case Int:
		return t.Bits
	case Half, BFloat:
		return 16
	case Float:
		return 32
	case Double, Pointer:
		return 64
	}
	return t.Size() * 8
}

// Size is the number of bytes that a value takes in memory, padding between elements
// included.
func (t *Type) Size() int {
	switch t.Kind {
	case Int:
		size := (t.Bits + 7) / 8
		return roundUp(size, t.Align())
	case Half, BFloat:
		return 2
	case Float:
		return 4
	case Double, Pointer:
		return 8
	case Vector:
		return roundUp((t.Len*t.Elem.Width()+7)/8, t.Align())
	case Array:
		return t.Len * t.Elem.Size()
	case Struct:
		return roundUp(t.end(len(t.Fields)), t.Align())
	}
	return 0
}

// Align is the alignment in bytes that a type has in memory.
func (t *Type) Align() int {
	switch t.Kind {
	case Int:
		align := 1
		for align*8 < t.Bits && align < 16 {
			align *= 2
		}
		return align
	case Vector:
		align := 1
		for align*8 < t.Len*t.Elem.Width() {
			align *= 2
		}
		return align
	case Array:
		return t.Elem.Align()
	case Struct:
		align := 1
		for _, f := range t.Fields {
			if !t.Packed {
				align = max(align, f.Align())
			}
		}
		return align
	}
	return max(1, t.Size())
}

// Offset is the place in bytes of a field or element.
func (t *Type) Offset(i int) int {
	if t.Kind != Struct {
		return i * t.Elem.Size()
	}
	offset := t.end(i)
	if !t.Packed {
		offset = roundUp(offset, t.Fields[i].Align())
	}
	return offset
}

// end is the number of bytes up to the end of the first n fields.
func (t *Type) end(n int) (end int) {
	for _, f := range t.Fields[:n] {
		if !t.Packed {
			end = roundUp(end, f.Align())
		}
		end += f.Size()
	}
	return end
}

// Part is the type of a field or element.
func (t *Type) Part(i int) *Type {
	if t.Kind == Struct {
		return t.Fields[i]
	}
	return t.Elem
}

// Parts is the number of fields or elements.
func (t *Type) Parts() int {
	if t.Kind == Struct {
		return len(t.Fields)
	}
	return t.Len
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// String is the type as LLVM writes it.
func (t *Type) String() string {
	switch t.Kind {
	case Int:
		return fmt.Sprintf("i%d", t.Bits)
	case Pointer:
		if t.Space != 0 {
			return fmt.Sprintf("ptr addrspace(%d)", t.Space)
		}
		return "ptr"
	case Vector:
		return fmt.Sprintf("<%d x %v>", t.Len, t.Elem)
	case Array:
		return fmt.Sprintf("[%d x %v]", t.Len, t.Elem)
	case Struct:
		var list []string
		for _, f := range t.Fields {
			list = append(list, f.String())
		}
		return "{ " + strings.Join(list, ", ") + " }"
	}
	for name, f := range floats {
		if f.Kind == t.Kind {
			return name
		}
	}
	return "function"
}
