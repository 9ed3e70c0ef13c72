package arith

import (
	"math/bits"
	"unsafe"
)

// Integer is a PTX integer type.
type Integer interface {
	uint16 | int16 | uint32 | int32 | uint64 | int64
}

// integerRows are the instructions of every integer type. w is the letter of its width,
// high the upper half of a product.
func integerRows[T Integer](t, w string, high Lane) []Row {
	two, three, four := w+w, w+w+w, w+w+w+w
	rows := []Row{
		{Name: "add." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a + b }},
		{Name: "sub." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a - b }},
		{Name: "mul.lo." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a * b }},
		{Name: "mul.hi." + t, Kinds: three, Lane: high},
		{Name: "mad.lo." + t, Kinds: four, Lane: func(_ *Operation, a, b, c uint64) uint64 { return a*b + c }},
		{Name: "mad.hi." + t, Kinds: four, Lane: func(o *Operation, a, b, c uint64) uint64 { return high(o, a, b, 0) + c }},
		{Name: "div." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(divide(T(a), T(b))) }},
		{Name: "rem." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(remainder(T(a), T(b))) }},
		{Name: "min." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(min(T(a), T(b))) }},
		{Name: "max." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(max(T(a), T(b))) }},
		{Name: "sad." + t, Kinds: four, Lane: func(_ *Operation, a, b, c uint64) uint64 {
			return uint64(max(T(a), T(b))-min(T(a), T(b))) + c
		}},
		{Name: "shr." + t, Kinds: two + "w", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(T(a) >> b) }},
	}
	if unsafe.Sizeof(T(0)) == 2 {
		return rows
	}
	loops := map[string]loop{
		"add": loop2(addLoop[T]), "sub": loop2(subLoop[T]), "mul.lo": loop2(mulLoop[T]), "mad.lo": loop3(madLoop[T]),
		"div": loop2(divLoop[T]), "rem": loop2(remLoop[T]), "min": loop2(minLoop[T]), "max": loop2(maxLoop[T]),
		"shr": loop2(shrLoop[T]),
	}
	for i := range rows {
		rows[i].Loop = loops[rows[i].Name[:len(rows[i].Name)-len(t)-1]]
	}
	return rows
}

// divide and remainder follow the GPU where the manual leaves the result open: division
// by zero gives all ones.
func divide[T Integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

func remainder[T Integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a % b
}

func mulHigh16U(_ *Operation, a, b, _ uint64) uint64 { return a * b >> 16 }
func MulHigh32U(_ *Operation, a, b, _ uint64) uint64 { return a * b >> 32 }
func mulHigh16S(_ *Operation, a, b, _ uint64) uint64 {
	return uint64(int64(int16(a)) * int64(int16(b)) >> 16)
}
func MulHigh32S(_ *Operation, a, b, _ uint64) uint64 {
	return uint64(int64(int32(a)) * int64(int32(b)) >> 32)
}

func MulHigh64U(_ *Operation, a, b, _ uint64) uint64 {
	high, _ := bits.Mul64(a, b)
	return high
}

func MulHigh64S(_ *Operation, a, b, _ uint64) uint64 {
	high, _ := bits.Mul64(a, b)
	return high - a&uint64(int64(b)>>63) - b&uint64(int64(a)>>63)
}

// signedRows are the instructions of signed types only.
func signedRows[T int16 | int32 | int64](t, w string) []Row {
	return []Row{
		{Name: "neg." + t, Kinds: w + w, Lane: func(_ *Operation, a, _, _ uint64) uint64 { return -a }},
		{Name: "abs." + t, Kinds: w + w, Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(max(T(a), -T(a))) }},
	}
}

// wideRows multiply to twice the width, or use part of it.
var wideRows = []Row{
	{Name: "mul.wide.u16", Kinds: "whh", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a * b }},
	{Name: "mul.wide.s16", Kinds: "whh", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(int64(int16(a)) * int64(int16(b))) }},
	{Name: "mul.wide.u32", Kinds: "dww", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a * b }, Loop: loop2(mulWideU)},
	{Name: "mul.wide.s32", Kinds: "dww", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }, Loop: loop2(mulWideS)},
	{Name: "mad.wide.u16", Kinds: "whhw", Lane: func(_ *Operation, a, b, c uint64) uint64 { return a*b + c }},
	{Name: "mad.wide.s16", Kinds: "whhw", Lane: func(_ *Operation, a, b, c uint64) uint64 { return uint64(int64(int16(a))*int64(int16(b))) + c }},
	{Name: "mad.wide.u32", Kinds: "dwwd", Lane: func(_ *Operation, a, b, c uint64) uint64 { return a*b + c }},
	{Name: "mad.wide.s32", Kinds: "dwwd", Lane: func(_ *Operation, a, b, c uint64) uint64 { return uint64(int64(int32(a))*int64(int32(b))) + c }},
	{Name: "mul24.lo.u32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return low24(a) * low24(b) }},
	{Name: "mul24.lo.s32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return signed24(a) * signed24(b) }},
	{Name: "mad24.lo.u32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return low24(a)*low24(b) + c }},
	{Name: "mad24.lo.s32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return signed24(a)*signed24(b) + c }},
	{Name: "mul24.hi.u32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return low24(a) * low24(b) >> 16 }},
	{Name: "mul24.hi.s32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return signed24(a) * signed24(b) >> 16 }},
	{Name: "mad24.hi.u32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return low24(a)*low24(b)>>16 + c }},
	{Name: "mad24.hi.s32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return signed24(a)*signed24(b)>>16 + c }},
	{Name: "mad.hi.sat.s32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 {
		return Clamp32(int64(int32(a))*int64(int32(b))>>32 + int64(int32(c)))
	}},
	{Name: "add.sat.s32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return Clamp32(int64(int32(a)) + int64(int32(b))) }},
	{Name: "sub.sat.s32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return Clamp32(int64(int32(a)) - int64(int32(b))) }},
	{Name: "dp2a.lo.u32.u32", Kinds: "wwww", Lane: dot2(0, false, false)}, {Name: "dp2a.hi.u32.u32", Kinds: "wwww", Lane: dot2(16, false, false)},
	{Name: "dp2a.lo.s32.s32", Kinds: "wwww", Lane: dot2(0, true, true)}, {Name: "dp2a.hi.s32.s32", Kinds: "wwww", Lane: dot2(16, true, true)},
	{Name: "dp2a.lo.u32.s32", Kinds: "wwww", Lane: dot2(0, false, true)}, {Name: "dp2a.hi.u32.s32", Kinds: "wwww", Lane: dot2(16, false, true)},
	{Name: "dp2a.lo.s32.u32", Kinds: "wwww", Lane: dot2(0, true, false)}, {Name: "dp2a.hi.s32.u32", Kinds: "wwww", Lane: dot2(16, true, false)},
	{Name: "dp4a.u32.u32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return dot4(a, b, c, false, false) }},
	{Name: "dp4a.s32.s32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return dot4(a, b, c, true, true) }},
	{Name: "dp4a.u32.s32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return dot4(a, b, c, false, true) }},
	{Name: "dp4a.s32.u32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return dot4(a, b, c, true, false) }},
}

func low24(a uint64) uint64    { return a & (1<<24 - 1) }
func signed24(a uint64) uint64 { return uint64(int64(int32(a<<8) >> 8)) }

func Clamp32(v int64) uint64 { return uint64(max(-1<<31, min(v, 1<<31-1))) }

// dot4 adds the products of the four bytes of a and b to c.
func dot4(a, b, c uint64, signedA, signedB bool) uint64 {
	for i := 0; i < 32; i += 8 {
		c += uint64(byteAt(a, i, signedA) * byteAt(b, i, signedB))
	}
	return c
}

func byteAt(a uint64, shift int, signed bool) int64 {
	if signed {
		return int64(int8(a >> shift))
	}
	return int64(uint8(a >> shift))
}

// dot2 adds the products of the halves of a and two bytes of b, from bit shift
// on, to c.
func dot2(shift int, signedA, signedB bool) Lane {
	return func(_ *Operation, a, b, c uint64) uint64 {
		for i := range 2 {
			half := int64(uint16(a >> (16 * i)))
			if signedA {
				half = int64(int16(half))
			}
			c += uint64(half * byteAt(b, shift+8*i, signedB))
		}
		return c
	}
}

// pairRows are the instructions on two 16-bit integers in a register.
func pairRows[T uint16 | int16](t string) []Row {
	both := func(f func(a, b T) T) Lane {
		return func(_ *Operation, a, b, _ uint64) uint64 {
			return uint64(uint16(f(T(a), T(b)))) | uint64(uint16(f(T(a>>16), T(b>>16))))<<16
		}
	}
	return []Row{
		{Name: "add." + t, Kinds: "www", Lane: both(func(a, b T) T { return a + b })},
		{Name: "min." + t, Kinds: "www", Lane: both(func(a, b T) T { return min(a, b) })},
		{Name: "max." + t, Kinds: "www", Lane: both(func(a, b T) T { return max(a, b) })},
	}
}

func addLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] + b[l]
	}
}

func subLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] - b[l]
	}
}

func mulLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] * b[l]
	}
}

func madLoop[T Integer](d, a, b, c *[32]T) {
	for l := range d {
		d[l] = a[l]*b[l] + c[l]
	}
}

func divLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = divide(a[l], b[l])
	}
}

func remLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = remainder(a[l], b[l])
	}
}

func minLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = min(a[l], b[l])
	}
}

func maxLoop[T Integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = max(a[l], b[l])
	}
}

func shrLoop[T Integer](d, a *[32]T, b *[32]uint32) {
	for l := range d {
		d[l] = a[l] >> b[l]
	}
}

func mulWideU(d *[32]uint64, a, b *[32]uint32) {
	for l := range d {
		d[l] = uint64(a[l]) * uint64(b[l])
	}
}

func mulWideS(d *[32]int64, a, b *[32]int32) {
	for l := range d {
		d[l] = int64(a[l]) * int64(b[l])
	}
}
