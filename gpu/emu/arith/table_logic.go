package arith

import "math/bits"

type unsigned interface{ uint16 | uint32 | uint64 }

// logicRows are the instructions on untyped bits.
func logicRows[T unsigned](t, w string) []Row {
	three := w + w + w
	rows := []Row{
		{Name: "and." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a & b }},
		{Name: "or." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a | b }},
		{Name: "xor." + t, Kinds: three, Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a ^ b }},
		{Name: "not." + t, Kinds: w + w, Lane: func(_ *Operation, a, _, _ uint64) uint64 { return ^a }},
		{Name: "cnot." + t, Kinds: w + w, Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(Bit(a == 0)) }},
		{Name: "shl." + t, Kinds: w + w + "w", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(T(a) << b) }},
		{Name: "shr." + t, Kinds: w + w + "w", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return uint64(T(a) >> b) }},
	}
	if w == "h" {
		return rows
	}
	for i, f := range []loop{loop2(andLoop[T]), loop2(orLoop[T]), loop2(xorLoop[T]), nil, nil, loop2(shlLoop[T]), loop2(shrBitsLoop[T])} {
		rows[i].Loop = f
	}
	return rows
}

// Bit is 1 for true.
func Bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// predicateRows work on all lanes of a predicate at once.
var predicateRows = []Row{
	{Name: "and.pred", Kinds: "ppp", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a & b }},
	{Name: "or.pred", Kinds: "ppp", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a | b }},
	{Name: "xor.pred", Kinds: "ppp", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return a ^ b }},
	{Name: "not.pred", Kinds: "pp", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return ^a }},
}

// bitRows count, find and move bits.
var bitRows = []Row{
	{Name: "popc.b32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{Name: "popc.b64", Kinds: "wd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{Name: "clz.b32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
	{Name: "clz.b64", Kinds: "wd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
	{Name: "brev.b32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
	{Name: "brev.b64", Kinds: "dd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return bits.Reverse64(a) }},
	{Name: "bfind.u32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return highestBit(a) }},
	{Name: "bfind.u64", Kinds: "wd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return highestBit(a) }},
	{Name: "bfind.s32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return highestBit(uint64(uint32(a) ^ uint32(int32(a)>>31))) }},
	{Name: "bfind.s64", Kinds: "wd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return highestBit(a ^ uint64(int64(a)>>63)) }},
	{Name: "bfind.shiftamt.u32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return shiftTo(a, 31) }},
	{Name: "bfind.shiftamt.u64", Kinds: "wd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return shiftTo(a, 63) }},
	{Name: "bfind.shiftamt.s32", Kinds: "ww", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return shiftTo(uint64(uint32(a)^uint32(int32(a)>>31)), 31) }},
	{Name: "bfind.shiftamt.s64", Kinds: "wd", Lane: func(_ *Operation, a, _, _ uint64) uint64 { return shiftTo(a^uint64(int64(a)>>63), 63) }},
	{Name: "bfe.u32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return extract(a, b, c, 32, false) }},
	{Name: "bfe.s32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return extract(a, b, c, 32, true) }},
	{Name: "bfe.u64", Kinds: "ddww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return extract(a, b, c, 64, false) }},
	{Name: "bfe.s64", Kinds: "ddww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return extract(a, b, c, 64, true) }},
	{Name: "shf.l.wrap.b32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return funnelLeft(a, b, c&31) }},
	{Name: "shf.l.clamp.b32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return funnelLeft(a, b, min(c, 32)) }},
	{Name: "shf.r.wrap.b32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return (b<<32 | a) >> (c & 31) }},
	{Name: "shf.r.clamp.b32", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return (b<<32 | a) >> min(c, 32) }},
	{Name: "bmsk.clamp.b32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return fieldMask(min(a, 32), min(b, 32)) }},
	{Name: "bmsk.wrap.b32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return fieldMask(a&31, b&31) }},
	{Name: "szext.clamp.u32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return extract(a, 0, min(b, 32), 32, false) }},
	{Name: "szext.clamp.s32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return extract(a, 0, min(b, 32), 32, true) }},
	{Name: "szext.wrap.u32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return extract(a, 0, b&31, 32, false) }},
	{Name: "szext.wrap.s32", Kinds: "www", Lane: func(_ *Operation, a, b, _ uint64) uint64 { return extract(a, 0, b&31, 32, true) }},
	{Name: "fns.b32", Kinds: "wwww", Lane: findNth},
	{Name: "lop3.b32", Kinds: "wwww", Lane: Logic3},
	{Name: "prmt.b32", Kinds: "wwww", Lane: permute},
	{Name: "prmt.b32.f4e", Kinds: "wwww", Lane: func(_ *Operation, a, b, c uint64) uint64 { return (b<<32 | a) >> (c & 3 * 8) }},
	{Name: "prmt.b32.b4e", Kinds: "wwww", Lane: func(o *Operation, a, b, c uint64) uint64 {
		return permute(o, a, b, [...]uint64{0x5670, 0x6701, 0x7012, 0x0123}[c&3])
	}},
	{Name: "prmt.b32.rc8", Kinds: "wwww", Lane: func(o *Operation, a, b, c uint64) uint64 { return permute(o, a, b, c&3*0x1111) }},
	{Name: "prmt.b32.ecl", Kinds: "wwww", Lane: func(o *Operation, a, b, c uint64) uint64 {
		return permute(o, a, b, [...]uint64{0x3210, 0x3211, 0x3222, 0x3333}[c&3])
	}},
	{Name: "prmt.b32.ecr", Kinds: "wwww", Lane: func(o *Operation, a, b, c uint64) uint64 {
		return permute(o, a, b, [...]uint64{0x0000, 0x1110, 0x2210, 0x3210}[c&3])
	}},
	{Name: "prmt.b32.rc16", Kinds: "wwww", Lane: func(o *Operation, a, b, c uint64) uint64 {
		return permute(o, a, b, [...]uint64{0x1010, 0x3232}[c&1])
	}},
}

// fieldMask is bmsk: length ones from a position on.
func fieldMask(position, length uint64) uint64 {
	return (1<<length - 1) << position & (1<<32 - 1)
}

// findNth is fns: the position of the nth set bit from a position upward, or
// for a negative n downward; the position itself, if it is set, for 0.
func findNth(_ *Operation, mask, from, nth uint64) uint64 {
	n, at := int32(nth), int(from)
	step := 1
	switch {
	case n == 0:
		n = 1
		mask &= 1 << at
	case n < 0:
		n, step = -n, -1
	}
	for ; at >= 0 && at < 32; at += step {
		if mask>>at&1 == 0 {
			continue
		}
		if n--; n == 0 {
			return uint64(at)
		}
	}
	return 1<<32 - 1
}

// highestBit is the position of the highest set bit, all ones if there is none.
func highestBit(a uint64) uint64 { return uint64(bits.Len64(a)) - 1 }

// shiftTo is the left shift that moves the highest bit of a to the top.
func shiftTo(a, top uint64) uint64 {
	if a == 0 {
		return 1<<64 - 1
	}
	return top - highestBit(a)
}

// extract is bfe: a field of a, extended by zeros, or by the highest bit of the field
// that lies inside a. The 32-bit form reads 8 bits of its position and length, the
// 64-bit form all bits, as a GPU does.
func extract(a, position, length uint64, size uint64, signed bool) uint64 {
	if size == 32 {
		position, length = position&0xff, length&0xff
	}
	if length == 0 {
		return 0
	}
	field, fill := a>>position, uint64(0)
	if signed {
		if size == 32 {
			a = uint64(int64(int32(a)))
		}
		field = uint64(int64(a) >> position)
		fill = -(a >> min(position+length-1, size-1) & 1)
	}
	if length >= 64 {
		return field
	}
	mask := uint64(1)<<length - 1
	return field&mask | fill&^mask
}

func funnelLeft(a, b, n uint64) uint64 { return (b<<32 | a) << n >> 32 }

// Logic3 is lop3: o.table is its table, indexed by the bits of a, b and c.
func Logic3(o *Operation, a, b, c uint64) (r uint64) {
	for i := range 8 {
		if o.Table>>i&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if i&4 == 0 {
			x = ^a
		}
		if i&2 == 0 {
			y = ^b
		}
		if i&1 == 0 {
			z = ^c
		}
		r |= x & y & z
	}
	return r
}

// permute is prmt: each nibble of the selector picks a byte of b:a, or its
// sign.
func permute(_ *Operation, a, b, selector uint64) (r uint64) {
	from := b<<32 | a&(1<<32-1)
	for i := range 4 {
		s := selector >> (4 * i)
		v := from >> (s & 7 * 8) & 0xff
		if s&8 != 0 {
			v = uint64(uint8(int8(v) >> 7))
		}
		r |= v << (8 * i)
	}
	return r
}

func andLoop[T unsigned](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] & b[l]
	}
}

func orLoop[T unsigned](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] | b[l]
	}
}

func xorLoop[T unsigned](d, a, b *[32]T) {
	for l := range d {
		d[l] = a[l] ^ b[l]
	}
}

func shlLoop[T unsigned](d, a *[32]T, b *[32]uint32) {
	for l := range d {
		d[l] = a[l] << b[l]
	}
}

func shrBitsLoop[T unsigned](d, a *[32]T, b *[32]uint32) {
	for l := range d {
		d[l] = a[l] >> b[l]
	}
}
