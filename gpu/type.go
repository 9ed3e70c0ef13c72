package gpu

import "fmt"

// Type is the data type of a buffer's elements.
type Type uint8

// The data types. Float16 and BFloat16 elements are uint16 on the host.
const (
	Invalid Type = iota
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float16
	BFloat16
	Float32
	Float64
)

var types = [...]struct {
	name  string
	bytes int
}{
	Invalid: {"invalid", 0},
	Int8:    {"int8", 1}, Uint8: {"uint8", 1},
	Int16: {"int16", 2}, Uint16: {"uint16", 2},
	Int32: {"int32", 4}, Uint32: {"uint32", 4},
	Int64: {"int64", 8}, Uint64: {"uint64", 8},
	Float16: {"float16", 2}, BFloat16: {"bfloat16", 2},
	Float32: {"float32", 4}, Float64: {"float64", 8},
}

// Bytes is the size of one element.
func (t Type) Bytes() int {
	if int(t) >= len(types) {
		return 0
	}
	return types[t].bytes
}

func (t Type) String() string {
	if int(t) >= len(types) {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return types[t].name
}
