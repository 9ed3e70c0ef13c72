package emu

import (
	"math/bits"
	"unsafe"
)

// integer is a PTX integer type.
type integer interface {
	uint16 | int16 | uint32 | int32 | uint64 | int64
}

// integerRows are the instructions that every integer type has. w is the
// letter of its width, high the upper half of a product.
func integerRows[T integer](t, w string, high laneFunc) []row {
	two, three, four := w+w, w+w+w, w+w+w+w
	rows := []row{
		{name: "add." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return a + b }},
		{name: "sub." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return a - b }},
		{name: "mul.lo." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return a * b }},
		{name: "mul.hi." + t, kinds: three, lane: high},
		{name: "mad.lo." + t, kinds: four, lane: func(_ *instr, a, b, c uint64) uint64 { return a*b + c }},
		{name: "mad.hi." + t, kinds: four, lane: func(in *instr, a, b, c uint64) uint64 { return high(in, a, b, 0) + c }},
		{name: "div." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(divide(T(a), T(b))) }},
		{name: "rem." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(remainder(T(a), T(b))) }},
		{name: "min." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(min(T(a), T(b))) }},
		{name: "max." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(max(T(a), T(b))) }},
		{name: "sad." + t, kinds: four, lane: func(_ *instr, a, b, c uint64) uint64 {
			return uint64(max(T(a), T(b))-min(T(a), T(b))) + c
		}},
		{name: "shr." + t, kinds: two + "w", lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(T(a) >> b) }},
	}
	if unsafe.Sizeof(T(0)) == 2 {
		return rows
	}
	fast := map[string]execFunc{
		"add": map2(addLoop[T]), "sub": map2(subLoop[T]), "mul.lo": map2(mulLoop[T]), "mad.lo": map3(madLoop[T]),
		"div": map2(divLoop[T]), "rem": map2(remLoop[T]), "min": map2(minLoop[T]), "max": map2(maxLoop[T]),
		"shr": map2(shrLoop[T]),
	}
	for i := range rows {
		rows[i].fast = fast[rows[i].name[:len(rows[i].name)-len(t)-1]]
	}
	return rows
}

// divide and remainder follow the GPU where the manual leaves the result
// open: by zero, both are all ones.
func divide[T integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

func remainder[T integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a % b
}

func mulHigh16U(_ *instr, a, b, _ uint64) uint64 { return a * b >> 16 }
func mulHigh32U(_ *instr, a, b, _ uint64) uint64 { return a * b >> 32 }
func mulHigh16S(_ *instr, a, b, _ uint64) uint64 {
	return uint64(int64(int16(a)) * int64(int16(b)) >> 16)
}
func mulHigh32S(_ *instr, a, b, _ uint64) uint64 {
	return uint64(int64(int32(a)) * int64(int32(b)) >> 32)
}

func mulHigh64U(_ *instr, a, b, _ uint64) uint64 {
	high, _ := bits.Mul64(a, b)
	return high
}

func mulHigh64S(_ *instr, a, b, _ uint64) uint64 {
	high, _ := bits.Mul64(a, b)
	return high - a&uint64(int64(b)>>63) - b&uint64(int64(a)>>63)
}

// signedRows are the instructions that only signed types have.
func signedRows[T int16 | int32 | int64](t, w string) []row {
	return []row{
		{name: "neg." + t, kinds: w + w, lane: func(_ *instr, a, _, _ uint64) uint64 { return -a }},
		{name: "abs." + t, kinds: w + w, lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(max(T(a), -T(a))) }},
	}
}

// wideRows multiply to twice the width, or use part of it.
var wideRows = []row{
	{name: "mul.wide.u16", kinds: "whh", lane: func(_ *instr, a, b, _ uint64) uint64 { return a * b }},
	{name: "mul.wide.s16", kinds: "whh", lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(int64(int16(a)) * int64(int16(b))) }},
	{name: "mul.wide.u32", kinds: "dww", lane: func(_ *instr, a, b, _ uint64) uint64 { return a * b }, fast: map2(mulWideU)},
	{name: "mul.wide.s32", kinds: "dww", lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }, fast: map2(mulWideS)},
	{name: "mad.wide.u16", kinds: "whhw", lane: func(_ *instr, a, b, c uint64) uint64 { return a*b + c }},
	{name: "mad.wide.s16", kinds: "whhw", lane: func(_ *instr, a, b, c uint64) uint64 { return uint64(int64(int16(a))*int64(int16(b))) + c }},
	{name: "mad.wide.u32", kinds: "dwwd", lane: func(_ *instr, a, b, c uint64) uint64 { return a*b + c }},
	{name: "mad.wide.s32", kinds: "dwwd", lane: func(_ *instr, a, b, c uint64) uint64 { return uint64(int64(int32(a))*int64(int32(b))) + c }},
	{name: "mul24.lo.u32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return low24(a) * low24(b) }},
	{name: "mul24.lo.s32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return signed24(a) * signed24(b) }},
	{name: "mad24.lo.u32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return low24(a)*low24(b) + c }},
	{name: "mad24.lo.s32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return signed24(a)*signed24(b) + c }},
	{name: "mul24.hi.u32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return low24(a) * low24(b) >> 16 }},
	{name: "mul24.hi.s32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return signed24(a) * signed24(b) >> 16 }},
	{name: "mad24.hi.u32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return low24(a)*low24(b)>>16 + c }},
	{name: "mad24.hi.s32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return signed24(a)*signed24(b)>>16 + c }},
	{name: "mad.hi.sat.s32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 {
		return clamp32(int64(int32(a))*int64(int32(b))>>32 + int64(int32(c)))
	}},
	{name: "add.sat.s32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return clamp32(int64(int32(a)) + int64(int32(b))) }},
	{name: "sub.sat.s32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return clamp32(int64(int32(a)) - int64(int32(b))) }},
	{name: "dp2a.lo.u32.u32", kinds: "wwww", lane: dot2(0, false, false)}, {name: "dp2a.hi.u32.u32", kinds: "wwww", lane: dot2(16, false, false)},
	{name: "dp2a.lo.s32.s32", kinds: "wwww", lane: dot2(0, true, true)}, {name: "dp2a.hi.s32.s32", kinds: "wwww", lane: dot2(16, true, true)},
	{name: "dp2a.lo.u32.s32", kinds: "wwww", lane: dot2(0, false, true)}, {name: "dp2a.hi.u32.s32", kinds: "wwww", lane: dot2(16, false, true)},
	{name: "dp2a.lo.s32.u32", kinds: "wwww", lane: dot2(0, true, false)}, {name: "dp2a.hi.s32.u32", kinds: "wwww", lane: dot2(16, true, false)},
	{name: "dp4a.u32.u32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return dot4(a, b, c, false, false) }},
	{name: "dp4a.s32.s32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return dot4(a, b, c, true, true) }},
	{name: "dp4a.u32.s32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return dot4(a, b, c, false, true) }},
	{name: "dp4a.s32.u32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return dot4(a, b, c, true, false) }},
}

func low24(a uint64) uint64    { return a & (1<<24 - 1) }
func signed24(a uint64) uint64 { return uint64(int64(int32(a<<8) >> 8)) }

func clamp32(v int64) uint64 { return uint64(max(-1<<31, min(v, 1<<31-1))) }

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
func dot2(shift int, signedA, signedB bool) laneFunc {
	return func(_ *instr, a, b, c uint64) uint64 {
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
func pairRows[T uint16 | int16](t string) []row {
	both := func(f func(a, b T) T) laneFunc {
		return func(_ *instr, a, b, _ uint64) uint64 {
			return uint64(uint16(f(T(a), T(b)))) | uint64(uint16(f(T(a>>16), T(b>>16))))<<16
		}
	}
	return []row{
		{name: "add." + t, kinds: "www", lane: both(func(a, b T) T { return a + b })},
		{name: "min." + t, kinds: "www", lane: both(func(a, b T) T { return min(a, b) })},
		{name: "max." + t, kinds: "www", lane: both(func(a, b T) T { return max(a, b) })},
	}
}

func addLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] + b[l]
	}
}

func subLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] - b[l]
	}
}

func mulLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] * b[l]
	}
}

func madLoop[T integer](d, a, b, c *[32]T) {
	for l := range d {
		d[l] = a[l]*b[l] + c[l]
	}
}

func divLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = divide(a[l], b[l])
	}
}

func remLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = remainder(a[l], b[l])
	}
}

func minLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = min(a[l], b[l])
	}
}

func maxLoop[T integer](d, a, b *[32]T) {
	for l := range d {
		d[l] = max(a[l], b[l])
	}
}

func shrLoop[T integer](d, a *[32]T, b *[32]uint32) {
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
