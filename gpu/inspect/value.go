package inspect

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"warpbook/gpu/emu/mem"
)

// Value is a value of the source: in memory, or bytes.
type Value struct {
	Type    dwarf.Type
	Address uint64 // generic, if it is in memory
	Memory  bool
	Data    []byte // otherwise
}

const sharedAddress = mem.SharedWindow << mem.WindowBits

func isShared(address uint64) bool { return address>>mem.WindowBits == mem.SharedWindow }

func isLocal(address uint64) bool { return address>>mem.WindowBits == mem.LocalWindow }

// basic is a type of numbers.
func basic(name string, bytes int64) dwarf.BasicType {
	return dwarf.BasicType{CommonType: dwarf.CommonType{Name: name, ByteSize: bytes}}
}

var (
	floatType  = &dwarf.FloatType{BasicType: basic("float", 4)}
	doubleType = &dwarf.FloatType{BasicType: basic("double", 8)}
	intType    = &dwarf.IntType{BasicType: basic("int", 4)}
	longType   = &dwarf.IntType{BasicType: basic("long", 8)}
	uintType   = &dwarf.UintType{BasicType: basic("unsigned int", 4)}
	ulongType  = &dwarf.UintType{BasicType: basic("unsigned long", 8)}
	charType   = &dwarf.IntType{BasicType: basic("signed char", 1)}
	byteType   = &dwarf.UintType{BasicType: basic("unsigned char", 1)}
	boolType   = &dwarf.BoolType{BasicType: basic("bool", 1)}
	dim3Type   = &dwarf.StructType{CommonType: dwarf.CommonType{ByteSize: 12}, StructName: "uint3", Kind: "struct", Field: []*dwarf.StructField{
		{Name: "x", Type: uintType}, {Name: "y", Type: uintType, ByteOffset: 4}, {Name: "z", Type: uintType, ByteOffset: 8}}}
)

// named types of a cast.
var casts = map[string]dwarf.Type{"float": floatType, "double": doubleType, "int": intType, "long": longType, "unsigned": uintType, "bool": boolType, "size_t": ulongType,
	"unsigned int": uintType, "long long": longType, "unsigned long long": ulongType, "int32_t": intType, "uint32_t": uintType, "int64_t": longType, "uint64_t": ulongType,
	"char": charType, "unsigned char": byteType, "int8_t": charType, "uint8_t": byteType}

func pointerTo(t dwarf.Type) dwarf.Type {
	return &dwarf.PtrType{CommonType: dwarf.CommonType{ByteSize: 8}, Type: t}
}

func arrayOf(t dwarf.Type, n int) dwarf.Type {
	return &dwarf.ArrayType{CommonType: dwarf.CommonType{ByteSize: t.Size() * int64(n)}, Type: t, Count: int64(n)}
}

// strip is a type without its names and qualifiers.
func strip(t dwarf.Type) dwarf.Type {
	for {
		switch x := t.(type) {
		case *dwarf.TypedefType:
			t = x.Type
		case *dwarf.QualType:
			t = x.Type
		default:
			return t
		}
	}
}

// TypeName is a type as C++ writes it.
func (v Value) TypeName() string {
	if v.Type == nil {
		return ""
	}
	return strings.TrimPrefix(v.Type.String(), "struct ")
}

func integer(n int64) Value {
	return Value{Type: intType, Data: binary.LittleEndian.AppendUint32(nil, uint32(n))}
}

// bytes are those of a value as a lane sees it.
func (v *View) bytes(x Value) ([]byte, error) {
	n := int(max(x.Type.Size(), 0))
	if !x.Memory {
		if len(x.Data) < n {
			return nil, fmt.Errorf("the value of type %s is not known", x.TypeName())
		}
		return x.Data[:n], nil
	}
	data, written := v.Stop.Read(v.Lane, x.Address, n)
	switch {
	case len(data) < n:
		return nil, fmt.Errorf("address %#x is outside of all memory", x.Address)
	case !written && isScalar(x.Type):
		return nil, errUnwritten
	}
	return data, nil
}

var errUnwritten = fmt.Errorf("not written yet")

func isScalar(t dwarf.Type) bool {
	switch strip(t).(type) {
	case *dwarf.ArrayType, *dwarf.StructType:
		return false
	}
	return true
}

// Text is a value in one short line.
func (v *View) Text(x Value) string {
	switch t := strip(x.Type).(type) {
	case *dwarf.ArrayType:
		return v.listed(x, int(t.Count), func(i int) Value { return element(x, t.Type, int64(i)) })
	case *dwarf.StructType:
		return v.fields(x, t)
	}
	data, err := v.bytes(x)
	if err != nil {
		return err.Error()
	}
	return v.scalar(x.Type, data)
}

// shown is how many elements one line has.
const shown = 8

func (v *View) listed(x Value, n int, at func(int) Value) string {
	var parts []string
	for i := range min(n, shown) {
		parts = append(parts, v.Text(at(i)))
	}
	if n > shown {
		parts = append(parts, fmt.Sprintf("… %d", n))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (v *View) fields(x Value, t *dwarf.StructType) string {
	var parts []string
	for _, f := range t.Field {
		parts = append(parts, f.Name+": "+v.Text(field(x, f)))
	}
	if len(parts) > shown {
		parts = append(parts[:shown], "…")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// scalar is a number, a pointer or a character as text.
func (v *View) scalar(t dwarf.Type, data []byte) string {
	t = strip(t)
	switch t := t.(type) {
	case *dwarf.PtrType:
		return v.pointer(binary.LittleEndian.Uint64(data))
	case *dwarf.EnumType:
		n := wide(data, true)
		for _, e := range t.Val {
			if e.Val == n {
				return e.Name
			}
		}
		return fmt.Sprint(n)
	case *dwarf.BoolType:
		return fmt.Sprint(data[0] != 0)
	case *dwarf.CharType:
		if c := data[0]; c >= ' ' && c < 0x7f {
			return fmt.Sprintf("%d '%c'", int8(c), c)
		}
	case *dwarf.FloatType:
		if len(data) == 4 {
			return fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32(data)))
		}
	}
	n, err := toNumber(t, data)
	if err != nil {
		return fmt.Sprintf("%x", data)
	}
	return n.String()
}

// pointer names the memory that a pointer points to.
func (v *View) pointer(address uint64) string {
	text := fmt.Sprintf("%#x", address)
	if name, at, ok := v.Stop.Buffer(address); ok {
		return fmt.Sprintf("%s (%s + %d bytes)", text, name, at)
	}
	switch address >> mem.WindowBits {
	case mem.SharedWindow:
		return fmt.Sprintf("%s (shared + %d bytes)", text, address&mem.OffsetMask)
	case mem.LocalWindow:
		return fmt.Sprintf("%s (local + %d bytes)", text, address&mem.OffsetMask)
	}
	return text
}

// Parts are the elements of an array, the fields of a struct, or the value that a pointer
// points to; from says where they begin, and at most is their number.
func (v *View) Parts(x Value, from, most int) (list []Named) {
	switch t := strip(x.Type).(type) {
	case *dwarf.ArrayType:
		for i := from; i < int(t.Count) && i < from+most; i++ {
			list = append(list, Named{fmt.Sprintf("[%d]", i), element(x, t.Type, int64(i))})
		}
	case *dwarf.StructType:
		for _, f := range t.Field {
			list = append(list, Named{f.Name, field(x, f)})
		}
	case *dwarf.PtrType:
		data, err := v.bytes(x)
		if err != nil || t.Type == nil || t.Type.Size() <= 0 {
			return nil
		}
		address := binary.LittleEndian.Uint64(data)
		for i := from; i < from+min(most, 32); i++ {
			e := Value{Type: t.Type, Address: address + uint64(int64(i)*t.Type.Size()), Memory: true}
			if part, _ := v.Stop.Read(v.Lane, e.Address, 1); part == nil {
				break
			}
			list = append(list, Named{fmt.Sprintf("[%d]", i), e})
		}
	}
	return list
}

// Count is the number of elements of an array, 0 of another value, and whether it has
// parts.
func (x Value) Count() (n int, parts bool) {
	switch t := strip(x.Type).(type) {
	case *dwarf.ArrayType:
		return int(max(t.Count, 0)), t.Count > 0
	case *dwarf.StructType:
		return 0, len(t.Field) > 0
	case *dwarf.PtrType:
		return 0, true
	}
	return 0, false
}

// element is that of an array at an index.
func element(x Value, t dwarf.Type, i int64) Value { return part(x, t, i*t.Size()) }

func field(x Value, f *dwarf.StructField) Value { return part(x, f.Type, f.ByteOffset) }

func part(x Value, t dwarf.Type, at int64) Value {
	if x.Memory {
		return Value{Type: t, Address: x.Address + uint64(at), Memory: true}
	}
	return Value{Type: t, Data: x.Data[min(max(at, 0), int64(len(x.Data))):]}
}
