package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"warpbook/gpu/emu/arith"
)

// If the manual leaves a result open (division by zero, NaN, fields past the register),
// the references below are the results of an H200.

// opTest is one instruction with an independent reference. The text uses the
// registers %d, %a, %b, %c, of the given types.
type opTest struct {
	text  string
	types string // of %d, %a, %b, %c
	want  func(a, b, c uint64) uint64
}

func s32(a uint64) int32     { return int32(a) }
func s8(a uint64, i int) int { return int(int8(a >> (8 * i))) }
func s64(a uint64) int64     { return int64(a) }
func u32(a int64) uint64     { return uint64(uint32(a)) }

var opTests = []opTest{
	{"add.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(int64(s32(a)) + int64(s32(b))) }},
	{"sub.u32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(int64(a) - int64(b)) }},
	{"sub.u16 %d, %a, %b;", "b16 b16 b16", func(a, b, _ uint64) uint64 { return (a - b) & 0xffff }},
	{"add.sat.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 {
		return u32(min(max(int64(s32(a))+int64(s32(b)), math.MinInt32), math.MaxInt32))
	}},
	{"mul.lo.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(int64(s32(a)) * int64(s32(b))) }},
	{"mul.hi.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(int64(s32(a)) * int64(s32(b)) >> 32) }},
	{"mul.hi.u32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return a * b >> 32 }},
	{"mul.wide.s32 %d, %a, %b;", "b64 b32 b32", func(a, b, _ uint64) uint64 { return uint64(int64(s32(a)) * int64(s32(b))) }},
	{"mul.wide.u32 %d, %a, %b;", "b64 b32 b32", func(a, b, _ uint64) uint64 { return a * b }},
	{"mul.wide.s16 %d, %a, %b;", "b32 b16 b16", func(a, b, _ uint64) uint64 { return u32(int64(int16(a)) * int64(int16(b))) }},
	{"mul.lo.s16 %d, %a, %b;", "b16 b16 b16", func(a, b, _ uint64) uint64 { return a * b & 0xffff }},
	{"mul.hi.s64 %d, %a, %b;", "b64 b64 b64", bigHigh(true)},
	{"mul.hi.u64 %d, %a, %b;", "b64 b64 b64", bigHigh(false)},
	{"mad.lo.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return (a*b + c) & math.MaxUint32 }},
	{"mad.lo.s64 %d, %a, %b, %c;", "b64 b64 b64 b64", func(a, b, c uint64) uint64 { return a*b + c }},
	{"mad.wide.u32 %d, %a, %b, %c;", "b64 b32 b32 b64", func(a, b, c uint64) uint64 { return a*b + c }},
	{"mad.wide.s32 %d, %a, %b, %c;", "b64 b32 b32 b64", func(a, b, c uint64) uint64 { return uint64(int64(s32(a))*int64(s32(b)) + int64(c)) }},
	{"mul24.lo.u32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(int64(a % (1 << 24) * (b % (1 << 24)))) }},
	{"div.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 {
		if s32(b) == 0 {
			return math.MaxUint32
		}
		return u32(int64(s32(a)) / int64(s32(b)))
	}},
	{"div.u64 %d, %a, %b;", "b64 b64 b64", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return math.MaxUint64
		}
		return a / b
	}},
	{"rem.u32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return math.MaxUint32
		}
		return a % b
	}},
	{"rem.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 {
		if s32(b) == 0 {
			return math.MaxUint32
		}
		return u32(int64(s32(a)) % int64(s32(b)))
	}},
	{"abs.s32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return u32(max(int64(s32(a)), -int64(s32(a)))) }},
	{"neg.s64 %d, %a;", "b64 b64", func(a, _, _ uint64) uint64 { return uint64(-s64(a)) }},
	{"min.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(min(int64(s32(a)), int64(s32(b)))) }},
	{"max.u64 %d, %a, %b;", "b64 b64 b64", func(a, b, _ uint64) uint64 { return max(a, b) }},
	{"min.s16 %d, %a, %b;", "b16 b16 b16", func(a, b, _ uint64) uint64 { return uint64(uint16(min(int16(a), int16(b)))) }},
	{"sad.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		return u32(int64(math.Abs(float64(s32(a))-float64(s32(b)))) + int64(c))
	}},

	{"and.b32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return a & b }},
	{"or.b64 %d, %a, %b;", "b64 b64 b64", func(a, b, _ uint64) uint64 { return a | b }},
	{"xor.b16 %d, %a, %b;", "b16 b16 b16", func(a, b, _ uint64) uint64 { return a ^ b }},
	{"not.b32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return a ^ math.MaxUint32 }},
	{"cnot.b32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 {
		if a == 0 {
			return 1
		}
		return 0
	}},
	{"shl.b32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return shift(a, int64(b), 32) & math.MaxUint32 }},
	{"shl.b64 %d, %a, %b;", "b64 b64 b32", func(a, b, _ uint64) uint64 { return shift(a, int64(b), 64) }},
	{"shr.u32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return shift(a, -int64(b), 32) }},
	{"shr.s32 %d, %a, %b;", "b32 b32 b32", func(a, b, _ uint64) uint64 { return u32(int64(s32(a)) >> min(b, 31)) }},
	{"shr.s64 %d, %a, %b;", "b64 b64 b32", func(a, b, _ uint64) uint64 { return uint64(s64(a) >> min(b, 63)) }},
	{"shr.s16 %d, %a, %b;", "b16 b16 b32", func(a, b, _ uint64) uint64 { return uint64(uint16(int16(a) >> min(b, 15))) }},
	{"shf.l.wrap.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return u32(int64((b<<32 | a) << (c % 32) >> 32)) }},
	{"shf.r.clamp.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		if c >= 32 {
			return b
		}
		return u32(int64((b<<32 | a) >> c))
	}},
	{"popc.b64 %d, %a;", "b32 b64", func(a, _, _ uint64) uint64 { return uint64(strings.Count(fmt.Sprintf("%b", a), "1")) }},
	{"clz.b32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return uint64(32 - bits.Len32(uint32(a))) }},
	{"brev.b32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return reversed(a, 32) }},
	{"bfind.u32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return u32(int64(bits.Len32(uint32(a))) - 1) }},
	{"bfind.s32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 {
		if s32(a) < 0 {
			a = uint64(^uint32(a))
		}
		return u32(int64(bits.Len32(uint32(a))) - 1)
	}},
	{"bfind.shiftamt.u64 %d, %a;", "b32 b64", func(a, _, _ uint64) uint64 {
		if a == 0 {
			return math.MaxUint32
		}
		return uint64(bits.LeadingZeros64(a))
	}},
	{"bfe.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return fieldOf(a, b, c, 32, false) }},
	{"bfe.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return fieldOf(a, b, c, 32, true) }},
	{"bfe.s64 %d, %a, %b, %c;", "b64 b64 b32 b32", func(a, b, c uint64) uint64 { return fieldOf(a, b, c, 64, true) }},
	{"bfi.b32 %d, %a, %b, %c, 5;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		d := b
		for i := range uint64(5) {
			if at := c&0xff + i; at < 32 {
				d = d&^(1<<at) | a>>i&1<<at
			}
		}
		return d
	}},
	{"lop3.b32 %d, %a, %b, %c, 0xE8;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return a&b | a&c | b&c }},
	{"lop3.b32 %d, %a, %b, %c, 0x96;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return a ^ b ^ c }},
	{"prmt.b32 %d, %a, %b, 0x7F10;", "b32 b32 b32", func(a, b, _ uint64) uint64 {
		d := a&0xffff | b>>24<<24
		if b>>31 != 0 {
			d |= 0xff << 16
		}
		return d
	}},
	{"dp4a.s32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		sum := int64(c)
		for i := range 4 {
			sum += int64(int8(a>>(8*i))) * int64(int8(b>>(8*i)))
		}
		return u32(sum)
	}},
	{"vabsdiff4.u32.u32.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, _ uint64) uint64 {
		d := [4]byte{}
		for i, x := range [4]byte(binary.LittleEndian.AppendUint32(nil, uint32(a))) {
			y := byte(b >> (8 * i))
			d[i] = max(x, y) - min(x, y)
		}
		return uint64(binary.LittleEndian.Uint32(d[:]))
	}},
	{"vabsdiff4.u32.s32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, _ uint64) (d uint64) {
		for i := range 4 {
			d |= uint64(max(s8(a, i), s8(b, i))-min(s8(a, i), s8(b, i))) << (8 * i) // at most 255
		}
		return d
	}},
	{"vabsdiff4.s32.u32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, _ uint64) (d uint64) {
		for i := range 4 {
			u := int(a >> (8 * i) & 255)
			d |= uint64(max(u, s8(b, i))-min(u, s8(b, i))) & 255 << (8 * i) // at most 383
		}
		return d
	}},
	{"vabsdiff4.s32.s32.s32.sat %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, _ uint64) (d uint64) {
		for i := range 4 {
			d |= uint64(min(max(s8(a, i), s8(b, i))-min(s8(a, i), s8(b, i)), 127)) << (8 * i)
		}
		return d
	}},
	{"vabsdiff4.u32.u32.s32.sat %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, _ uint64) (d uint64) {
		for i := range 4 {
			u := int(a >> (8 * i) & 255)
			d |= uint64(min(max(u, s8(b, i))-min(u, s8(b, i)), 255)) << (8 * i)
		}
		return d
	}},
	{"vabsdiff4.s32.s32.s32.add %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		sum := int64(c)
		for i := range 4 {
			sum += int64(max(s8(a, i), s8(b, i)) - min(s8(a, i), s8(b, i)))
		}
		return u32(sum)
	}},
	{"vabsdiff2.s32.u32.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, _ uint64) uint64 {
		low, high := int64(a&0xffff)-int64(b&0xffff), int64(a>>16)-int64(b>>16)
		return uint64(max(low, -low)) | uint64(max(high, -high))<<16
	}},
	{"vabsdiff2.u32.u32.s32.add %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		low, high := int64(a&0xffff)-int64(int16(b)), int64(a>>16)-int64(s32(b)>>16)
		return u32(int64(c) + max(low, -low) + max(high, -high))
	}},
	{"{ .reg .b32 lo; add.cc.u32 lo, %a, %b; addc.u32 %d, %c, 0; }", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return u32(int64(c + (a+b)>>32)) }},
	{"{ .reg .b32 lo; sub.cc.u32 lo, %a, %b; subc.u32 %d, %c, 0; }", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		if a < b {
			c--
		}
		return u32(int64(c))
	}},

	{"{ .reg .pred p; setp.lt.s32 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 b32 b32", func(a, b, _ uint64) uint64 { return truth(s32(a) < s32(b)) }},
	{"{ .reg .pred p; setp.hs.u64 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 b64 b64", func(a, b, _ uint64) uint64 { return truth(a >= b) }},
	{"{ .reg .pred p, q; setp.gt.s16 p|q, %a, %b; selp.b32 %d, 1, 0, q; }", "b32 b16 b16", func(a, b, _ uint64) uint64 { return truth(int16(a) <= int16(b)) }},
	{"{ .reg .pred p, q; setp.ne.s32 q, %c, 0; setp.eq.and.s32 p, %a, %b, !q; selp.b32 %d, 1, 0, p; }", "b32 b32 b32 b32", func(a, b, c uint64) uint64 { return truth(a == b && c == 0) }},
	{"{ .reg .pred p; setp.le.f32 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 f32 f32", func(a, b, _ uint64) uint64 { return truth(arith.F32(a) <= arith.F32(b)) }},
	{"{ .reg .pred p; setp.leu.f32 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 f32 f32", func(a, b, _ uint64) uint64 { return truth(!(arith.F32(a) > arith.F32(b))) }},
	{"{ .reg .pred p; setp.ne.f64 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 f64 f64", func(a, b, _ uint64) uint64 {
		return truth(arith.F64(a) != arith.F64(b) && arith.F64(a) == arith.F64(a) && arith.F64(b) == arith.F64(b))
	}},
	{"{ .reg .pred p; setp.neu.f64 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 f64 f64", func(a, b, _ uint64) uint64 { return truth(arith.F64(a) != arith.F64(b)) }},
	{"{ .reg .pred p; setp.nan.f32 p, %a, %b; selp.b32 %d, 1, 0, p; }", "b32 f32 f32", func(a, b, _ uint64) uint64 {
		return truth(arith.F32(a) != arith.F32(a) || arith.F32(b) != arith.F32(b))
	}},
	{"set.lt.u32.f32 %d, %a, %b;", "b32 f32 f32", func(a, b, _ uint64) uint64 { return math.MaxUint32 * truth(arith.F32(a) < arith.F32(b)) }},
	{"slct.b32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", func(a, b, c uint64) uint64 {
		if s32(c) >= 0 {
			return a
		}
		return b
	}},

	{"add.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 { return rounded(float64(arith.F32(a)) + float64(arith.F32(b))) }},
	{"sub.rn.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 { return rounded(float64(arith.F32(a)) - float64(arith.F32(b))) }},
	{"mul.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 { return rounded(float64(arith.F32(a)) * float64(arith.F32(b))) }},
	{"mul.ftz.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 { return flushed(rounded(tiny(a) * tiny(b))) }},
	{"add.sat.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 {
		v := float64(arith.F32(a)) + float64(arith.F32(b))
		if !(v > 0) {
			return 0
		}
		return rounded(math.Min(v, 1))
	}},
	{"fma.rn.f32 %d, %a, %b, %c;", "f32 f32 f32 f32", exactFMA},
	{"div.rn.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 { return rounded(float64(arith.F32(a)) / float64(arith.F32(b))) }},
	{"rcp.rn.f32 %d, %a;", "f32 f32", func(a, _, _ uint64) uint64 { return rounded(1 / float64(arith.F32(a))) }},
	{"sqrt.rn.f32 %d, %a;", "f32 f32", func(a, _, _ uint64) uint64 { return rounded(math.Sqrt(float64(arith.F32(a)))) }},
	{"min.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 {
		switch x, y := arith.F32(a), arith.F32(b); {
		case x != x && y != y:
			return 0x7fffffff
		case x != x:
			return b
		case y != y:
			return a
		default:
			return rounded(math.Min(float64(x), float64(y)))
		}
	}},
	{"max.NaN.f32 %d, %a, %b;", "f32 f32 f32", func(a, b, _ uint64) uint64 {
		if arith.F32(a) != arith.F32(a) || arith.F32(b) != arith.F32(b) {
			return 0x7fffffff
		}
		return rounded(math.Max(float64(arith.F32(a)), float64(arith.F32(b))))
	}},
	{"add.f64 %d, %a, %b;", "f64 f64 f64", func(a, b, _ uint64) uint64 { return payload(arith.F64(a)+arith.F64(b), a, b) }},
	{"mul.rn.f64 %d, %a, %b;", "f64 f64 f64", func(a, b, _ uint64) uint64 { return payload(arith.F64(a)*arith.F64(b), a, b) }},
	{"fma.rn.f64 %d, %a, %b, %c;", "f64 f64 f64 f64", func(a, b, c uint64) uint64 {
		return payload(math.FMA(arith.F64(a), arith.F64(b), arith.F64(c)), a, c, b)
	}},
	{"neg.f64 %d, %a;", "f64 f64", func(a, _, _ uint64) uint64 { return payload(-arith.F64(a), a) }},

	{"cvt.u64.u32 %d, %a;", "b64 b32", func(a, _, _ uint64) uint64 { return a }},
	{"cvt.s64.s32 %d, %a;", "b64 b32", func(a, _, _ uint64) uint64 { return uint64(int64(s32(a))) }},
	{"cvt.u32.u64 %d, %a;", "b32 b64", func(a, _, _ uint64) uint64 { return a & math.MaxUint32 }},
	{"cvt.s32.s8 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return u32(int64(int8(a))) }},
	{"cvt.u8.u32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return a & 255 }},
	{"cvt.sat.u8.s32 %d, %a;", "b32 b32", func(a, _, _ uint64) uint64 { return uint64(min(max(s32(a), 0), 255)) }},
	{"cvt.sat.s32.u64 %d, %a;", "b32 b64", func(a, _, _ uint64) uint64 { return min(a, math.MaxInt32) }},
	{"cvt.rn.f32.s32 %d, %a;", "f32 b32", func(a, _, _ uint64) uint64 { return rounded(float64(s32(a))) }},
	{"cvt.rn.f32.u64 %d, %a;", "f32 b64", func(a, _, _ uint64) uint64 { return bigRound(new(big.Float).SetUint64(a)) }},
	{"cvt.rn.f64.s64 %d, %a;", "f64 b64", func(a, _, _ uint64) uint64 { return math.Float64bits(float64(s64(a))) }},
	{"cvt.rzi.s32.f32 %d, %a;", "b32 f32", func(a, _, _ uint64) uint64 { return clamped(math.Trunc(float64(arith.F32(a)))) }},
	{"cvt.rni.s32.f32 %d, %a;", "b32 f32", func(a, _, _ uint64) uint64 { return clamped(math.RoundToEven(float64(arith.F32(a)))) }},
	{"cvt.rzi.u16.f64 %d, %a;", "b16 f64", func(a, _, _ uint64) uint64 {
		v := math.Trunc(arith.F64(a))
		if v != v {
			return 0x8000
		}
		return uint64(min(max(v, 0), 65535))
	}},
	{"cvt.rzi.s64.f32 %d, %a;", "b64 f32", func(a, _, _ uint64) uint64 {
		switch v := math.Trunc(float64(arith.F32(a))); {
		case v != v:
			return 1 << 63
		case v >= 1<<63:
			return math.MaxInt64
		default:
			return uint64(int64(max(v, math.MinInt64)))
		}
	}},
	{"cvt.rmi.s32.f32 %d, %a;", "b32 f32", func(a, _, _ uint64) uint64 { return clamped(math.Floor(float64(arith.F32(a)))) }},
	{"cvt.rn.f32.f64 %d, %a;", "f32 f64", func(a, _, _ uint64) uint64 {
		if math.IsNaN(arith.F64(a)) {
			return a>>63<<31 | 0x7fc00000 | a>>29&0x3fffff
		}
		return rounded(arith.F64(a))
	}},
	{"cvt.f64.f32 %d, %a;", "f64 f32", func(a, _, _ uint64) uint64 {
		if v := float64(arith.F32(a)); v == v {
			return math.Float64bits(v)
		}
		return a>>31<<63 | 0x7ff8000000000000 | a&0x3fffff<<29
	}},
	{"cvt.rpi.f32.f32 %d, %a;", "f32 f32", func(a, _, _ uint64) uint64 { return rounded(math.Ceil(float64(arith.F32(a)))) }},
}

// The references below are written from the manual's formulas, not from the
// emulator's.

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// shift shifts left, or right if n is negative, to zero beyond the size.
func shift(a uint64, n, size int64) uint64 {
	switch {
	case n >= size || -n >= size:
		return 0
	case n < 0:
		return a >> -n
	}
	return a << n
}

func reversed(a uint64, size int) (d uint64) {
	for i := range size {
		d |= a >> i & 1 << (size - 1 - i)
	}
	return d
}

func bigHigh(signed bool) func(a, b, c uint64) uint64 {
	number := func(a uint64) *big.Int {
		if signed {
			return big.NewInt(int64(a))
		}
		return new(big.Int).SetUint64(a)
	}
	return func(a, b, _ uint64) uint64 {
		p := new(big.Int).Mul(number(a), number(b))
		p.Rsh(p, 64)
		return p.And(p, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
}

// fieldOf is bfe bit by bit.
func fieldOf(a, b, c uint64, size uint64, signed bool) (d uint64) {
	position, length := b, c
	if size == 32 {
		position, length = b&0xff, c&0xff
	}
	var sign uint64
	if signed && length > 0 {
		sign = a >> min(position+length-1, size-1) & 1 // what the manual calls sbit
	}
	for i := range size {
		v := sign
		if i < length && position+i < size {
			v = a >> (position + i) & 1
		}
		d |= v << i
	}
	return d
}

// rounded is a float64 rounded to f32, with the NaN that f32 results have.
func rounded(v float64) uint64 {
	if v != v {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(float32(v)))
}

func flushed(a uint64) uint64 {
	if a&0x7f800000 == 0 {
		return a & (1 << 31)
	}
	return a
}

// tiny is an f32 with subnormal numbers as zeros.
func tiny(a uint64) float64 { return float64(arith.F32(flushed(a))) }

// exactFMA computes with as many bits as necessary.
func exactFMA(a, b, c uint64) uint64 {
	x, y, z := float64(arith.F32(a)), float64(arith.F32(b)), float64(arith.F32(c))
	v := x*y + z
	if v != v || math.IsInf(v, 0) || math.IsInf(z, 0) || x*y == 0 && z == 0 {
		return rounded(v)
	}
	p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(x), big.NewFloat(y))
	p.Add(p, big.NewFloat(z))
	if p.Sign() == 0 {
		return 0
	}
	return bigRound(p)
}

func bigRound(p *big.Float) uint64 {
	v, _ := p.Float32()
	return uint64(math.Float32bits(v))
}

// payload is an f64 result; a NaN is the last NaN operand, made quiet.
func payload(v float64, operands ...uint64) uint64 {
	if v == v {
		return math.Float64bits(v)
	}
	for i := len(operands) - 1; i >= 0; i-- {
		if math.IsNaN(arith.F64(operands[i])) {
			return operands[i] | 1<<51
		}
	}
	return 0xfff8000000000000
}

func clamped(v float64) uint64 {
	if v != v {
		return 0
	}
	return u32(int64(min(max(v, math.MinInt32), math.MaxInt32)))
}
