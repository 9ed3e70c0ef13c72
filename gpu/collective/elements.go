package collective

import (
	"math"

	"warpbook/gpu"
)

// number are the Go types of elements.
type number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// reduced combines the inputs of a call element by element, in the order of the ranks.
func reduced(w what, inputs []any) any {
	op := w.op
	switch w.typ {
	case gpu.Float16:
		return combinedHalves(op, inputs, float16, ofFloat16)
	case gpu.BFloat16:
		return combinedHalves(op, inputs, bfloat16, ofBFloat16)
	}
	switch inputs[0].(type) {
	case []int8:
		return combined[int8](op, inputs)
	case []uint8:
		return combined[uint8](op, inputs)
	case []int16:
		return combined[int16](op, inputs)
	case []uint16:
		return combined[uint16](op, inputs)
	case []int32:
		return combined[int32](op, inputs)
	case []uint32:
		return combined[uint32](op, inputs)
	case []int64:
		return combined[int64](op, inputs)
	case []uint64:
		return combined[uint64](op, inputs)
	case []float32:
		return combined[float32](op, inputs)
	}
	return combined[float64](op, inputs)
}

// combined is reduced of one type; it reuses the first slice.
func combined[T number](op Op, inputs []any) any {
	all := inputs[0].([]T)
	for _, input := range inputs[1:] {
		for i, v := range input.([]T) {
			switch op {
			case Sum:
				all[i] += v
			case Max:
				all[i] = max(all[i], v)
			case Min:
				all[i] = min(all[i], v)
			}
		}
	}
	return all
}

// combinedHalves is combined of 16-bit floats. float32 has more than twice their digits, so
// rounding its sum gives the sum that a device rounds once.
func combinedHalves(op Op, inputs []any, to func(float32) uint16, of func(uint16) float32) any {
	all := inputs[0].([]uint16)
	for _, input := range inputs[1:] {
		for i, v := range input.([]uint16) {
			a, b := of(all[i]), of(v)
			switch op {
			case Sum:
				all[i] = to(a + b)
			case Max:
				all[i] = to(max(a, b))
			case Min:
				all[i] = to(min(a, b))
			}
		}
	}
	return all
}

// ofFloat16 is a float16 as a float32.
func ofFloat16(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case 0:
		return float32(math.Copysign(float64(fraction)*0x1p-24, -float64(h>>15)+0.5))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// float16 rounds to the nearest float16, halves to even.
func float16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign, magnitude := uint16(bits>>16)&0x8000, bits&^(1<<31)
	switch {
	case magnitude > 0xff<<23:
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // 65520, from where on it rounds to infinity
		return sign | 0x7c00
	case magnitude < 0x38800000: // 2^-14: adding 0.5 leaves multiples of 2^-24
		return sign | uint16(math.Float32bits(math.Float32frombits(magnitude)+0.5)-0x3f000000)
	}
	magnitude += 0xfff + magnitude>>13&1
	return sign | uint16(magnitude>>13-112<<10)
}

// ofBFloat16 is a bfloat16 as a float32.
func ofBFloat16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// bfloat16 rounds to the nearest bfloat16, halves to even.
func bfloat16(f float32) uint16 {
	bits := math.Float32bits(f)
	if f != f {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
