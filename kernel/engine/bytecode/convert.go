package bytecode

import (
	"reflect"
	"unsafe"
)

// conversions are functions from one kind of number to another, as Go converts.
var conversions [32 * 32]func(uint64) uint64

func conversion(from, to reflect.Kind) int { return int(from)*32 + int(to) }

type real interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func init() {
	from[int8](reflect.Int8)
	from[int16](reflect.Int16)
	from[int32](reflect.Int32)
	from[int64](reflect.Int64)
	from[int64](reflect.Int)
	from[uint8](reflect.Uint8)
	from[uint16](reflect.Uint16)
	from[uint32](reflect.Uint32)
	from[uint64](reflect.Uint64)
	from[uint64](reflect.Uint)
	from[uint64](reflect.Uintptr)
	from[float32](reflect.Float32)
	from[float64](reflect.Float64)
}

func from[F real](k reflect.Kind) {
	to[F, int8](k, reflect.Int8)
	to[F, int16](k, reflect.Int16)
	to[F, int32](k, reflect.Int32)
	to[F, int64](k, reflect.Int64)
	to[F, int64](k, reflect.Int)
	to[F, uint8](k, reflect.Uint8)
	to[F, uint16](k, reflect.Uint16)
	to[F, uint32](k, reflect.Uint32)
	to[F, uint64](k, reflect.Uint64)
	to[F, uint64](k, reflect.Uint)
	to[F, uint64](k, reflect.Uintptr)
	to[F, float32](k, reflect.Float32)
	to[F, float64](k, reflect.Float64)
}

func to[F, T real](from, to reflect.Kind) {
	conversions[conversion(from, to)] = func(x uint64) uint64 {
		y := T(*(*F)(unsafe.Pointer(&x))) // on a little-endian machine the low bytes are the value
		return load(to, unsafe.Pointer(&y))
	}
}
