package programs

import "math/rand/v2"

// Values at which instructions differ: of integers, and of the float types as
// bits: zeros, subnormal numbers, ones and their neighbours, the largest
// numbers, infinities, NaN with and without a payload, bounds of integers.
var (
	corners = []uint64{0, 1, 2, 3, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1<<15 - 1, 1 << 15, 1<<16 - 1,
		1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	corners16 = []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7f, 0x80, 0x3c00, 0xbc00, 0x3c01, 0x3f80, 0x3f81, 0x7bff, 0xfbff,
		0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe01, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x7fff, 0xffff, 0x7f7f, 0x3555, 0x4248}
	corners32 = []uint64{0, 1 << 31, 1, 0x80000001, 0x7fffff, 0x800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,
		0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0xffffffff, 0x3f000000, 0x3fc00000,
		0x40200000, 0x4b800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x33800000, 0x7e800000, 0x00400000}
	corners64 = []uint64{0, 1 << 63, 1, 0xfffffffffffff, 1 << 52, 0x3ff0000000000000, 0xbff0000000000001, 0x3fefffffffffffff, 0x7fefffffffffffff,
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8000000012345, 0xffffffffffffffff, 0x3fe0000000000000,
		0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000, 0x36a0000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
		0x3690000000000000, 0x3690000000000001, 0x3810000000000000, 0x380fffffffffffff}
)

func cornersOf(typ string) []uint64 {
	switch typ {
	case "f16", "f16x2":
		return corners16
	case "f32":
		return corners32
	case "f64":
		return corners64
	}
	return corners
}

// operands makes the values of one operand of each thread: the first half covers all
// pairs of corners, the others are random, and every second of these floats is close to
// 1.
func operands(r *rand.Rand, typ string, operand, size int) []uint64 {
	v := make([]uint64, size)
	from := cornersOf(typ)
	for i := range v {
		switch {
		case i < size/2 && operand == 0:
			v[i] = from[i/len(from)%len(from)]
		case i < size/2:
			v[i] = from[(i+operand*i/7)%len(from)]
		case i%2 == 0:
			v[i] = r.Uint64()
		default:
			v[i] = near(r, typ)
		}
		if typ == "f16x2" && i < size/2 {
			v[i] |= pick(r, from...) << 16
		}
	}
	return v
}

// near is a float between 1/1000 and 1000 of either sign, or an integer of any
// size.
func near(r *rand.Rand, typ string) uint64 {
	v := r.Uint64()
	switch typ {
	case "f32":
		return v&0x807fffff | uint64(117+r.IntN(20))<<23
	case "f64":
		return v&(1<<63|1<<52-1) | uint64(1013+r.IntN(20))<<52
	case "f16", "f16x2":
		return v&0x83ff83ff | uint64(10+r.IntN(10))<<10 | uint64(10+r.IntN(10))<<26
	}
	return v >> r.UintN(64)
}
