package emu

import "math/bits"

type unsigned interface{ uint16 | uint32 | uint64 }

// logicRows are the instructions on untyped bits.
func logicRows[T unsigned](t, w string) []row {
	three := w + w + w
	rows := []row{
		{name: "and." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return a & b }},
		{name: "or." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return a | b }},
		{name: "xor." + t, kinds: three, lane: func(_ *instr, a, b, _ uint64) uint64 { return a ^ b }},
		{name: "not." + t, kinds: w + w, lane: func(_ *instr, a, _, _ uint64) uint64 { return ^a }},
		{name: "cnot." + t, kinds: w + w, lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(bit(a == 0)) }},
		{name: "shl." + t, kinds: w + w + "w", lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(T(a) << b) }},
		{name: "shr." + t, kinds: w + w + "w", lane: func(_ *instr, a, b, _ uint64) uint64 { return uint64(T(a) >> b) }},
	}
	if w == "h" {
		return rows
	}
	for i, fast := range []execFunc{map2(andLoop[T]), map2(orLoop[T]), map2(xorLoop[T]), nil, nil, map2(shlLoop[T]), map2(shrBitsLoop[T])} {
		rows[i].fast = fast
	}
	return rows
}

// bit is 1 for true.
func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// predicateRows work on all lanes of a predicate at once.
var predicateRows = []row{
	{name: "and.pred", kinds: "ppp", lane: func(_ *instr, a, b, _ uint64) uint64 { return a & b }, fast: predicates(func(a, b uint32) uint32 { return a & b })},
	{name: "or.pred", kinds: "ppp", lane: func(_ *instr, a, b, _ uint64) uint64 { return a | b }, fast: predicates(func(a, b uint32) uint32 { return a | b })},
	{name: "xor.pred", kinds: "ppp", lane: func(_ *instr, a, b, _ uint64) uint64 { return a ^ b }, fast: predicates(func(a, b uint32) uint32 { return a ^ b })},
	{name: "not.pred", kinds: "pp", lane: func(_ *instr, a, _, _ uint64) uint64 { return ^a }, fast: predicates(func(a, _ uint32) uint32 { return ^a })},
}

func predicates(f func(a, b uint32) uint32) execFunc {
	return func(w *warp, in *instr, m uint32) {
		w.preds[in.d] = w.preds[in.d]&^m | f(w.preds[in.a], w.preds[in.b])&m
	}
}

// bitRows count, find and move bits.
var bitRows = []row{
	{name: "popc.b32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{name: "popc.b64", kinds: "wd", lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{name: "clz.b32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
	{name: "clz.b64", kinds: "wd", lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
	{name: "brev.b32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
	{name: "brev.b64", kinds: "dd", lane: func(_ *instr, a, _, _ uint64) uint64 { return bits.Reverse64(a) }},
	{name: "bfind.u32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return highestBit(a) }},
	{name: "bfind.u64", kinds: "wd", lane: func(_ *instr, a, _, _ uint64) uint64 { return highestBit(a) }},
	{name: "bfind.s32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return highestBit(uint64(uint32(a) ^ uint32(int32(a)>>31))) }},
	{name: "bfind.s64", kinds: "wd", lane: func(_ *instr, a, _, _ uint64) uint64 { return highestBit(a ^ uint64(int64(a)>>63)) }},
	{name: "bfind.shiftamt.u32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return shiftTo(a, 31) }},
	{name: "bfind.shiftamt.u64", kinds: "wd", lane: func(_ *instr, a, _, _ uint64) uint64 { return shiftTo(a, 63) }},
	{name: "bfind.shiftamt.s32", kinds: "ww", lane: func(_ *instr, a, _, _ uint64) uint64 { return shiftTo(uint64(uint32(a)^uint32(int32(a)>>31)), 31) }},
	{name: "bfind.shiftamt.s64", kinds: "wd", lane: func(_ *instr, a, _, _ uint64) uint64 { return shiftTo(a^uint64(int64(a)>>63), 63) }},
	{name: "bfe.u32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return extract(a, b, c, 32, false) }},
	{name: "bfe.s32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return extract(a, b, c, 32, true) }},
	{name: "bfe.u64", kinds: "ddww", lane: func(_ *instr, a, b, c uint64) uint64 { return extract(a, b, c, 64, false) }},
	{name: "bfe.s64", kinds: "ddww", lane: func(_ *instr, a, b, c uint64) uint64 { return extract(a, b, c, 64, true) }},
	{name: "shf.l.wrap.b32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return funnelLeft(a, b, c&31) }},
	{name: "shf.l.clamp.b32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return funnelLeft(a, b, min(c, 32)) }},
	{name: "shf.r.wrap.b32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return (b<<32 | a) >> (c & 31) }},
	{name: "shf.r.clamp.b32", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return (b<<32 | a) >> min(c, 32) }},
	{name: "bmsk.clamp.b32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return fieldMask(min(a, 32), min(b, 32)) }},
	{name: "bmsk.wrap.b32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return fieldMask(a&31, b&31) }},
	{name: "szext.clamp.u32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return extract(a, 0, min(b, 32), 32, false) }},
	{name: "szext.clamp.s32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return extract(a, 0, min(b, 32), 32, true) }},
	{name: "szext.wrap.u32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return extract(a, 0, b&31, 32, false) }},
	{name: "szext.wrap.s32", kinds: "www", lane: func(_ *instr, a, b, _ uint64) uint64 { return extract(a, 0, b&31, 32, true) }},
	{name: "fns.b32", kinds: "wwww", lane: findNth},
	{name: "lop3.b32", kinds: "wwww", lane: logic3},
	{name: "prmt.b32", kinds: "wwww", lane: permute},
	{name: "prmt.b32.f4e", kinds: "wwww", lane: func(_ *instr, a, b, c uint64) uint64 { return (b<<32 | a) >> (c & 3 * 8) }},
	{name: "prmt.b32.b4e", kinds: "wwww", lane: func(in *instr, a, b, c uint64) uint64 {
		return permute(in, a, b, [...]uint64{0x5670, 0x6701, 0x7012, 0x0123}[c&3])
	}},
	{name: "prmt.b32.rc8", kinds: "wwww", lane: func(in *instr, a, b, c uint64) uint64 { return permute(in, a, b, c&3*0x1111) }},
	{name: "prmt.b32.ecl", kinds: "wwww", lane: func(in *instr, a, b, c uint64) uint64 {
		return permute(in, a, b, [...]uint64{0x3210, 0x3211, 0x3222, 0x3333}[c&3])
	}},
	{name: "prmt.b32.ecr", kinds: "wwww", lane: func(in *instr, a, b, c uint64) uint64 {
		return permute(in, a, b, [...]uint64{0x0000, 0x1110, 0x2210, 0x3210}[c&3])
	}},
	{name: "prmt.b32.rc16", kinds: "wwww", lane: func(in *instr, a, b, c uint64) uint64 {
		return permute(in, a, b, [...]uint64{0x1010, 0x3232}[c&1])
	}},
}

// fieldMask is bmsk: ones from a position on, so many as length says.
func fieldMask(position, length uint64) uint64 {
	return (1<<length - 1) << position & all
}

// findNth is fns: the position of the nth set bit from a position upward, or
// for a negative n downward; the position itself, if it is set, for 0.
func findNth(_ *instr, mask, from, nth uint64) uint64 {
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
	return all
}

// highestBit is the position of the highest set bit, all ones if there is none.
func highestBit(a uint64) uint64 { return uint64(bits.Len64(a)) - 1 }

// shiftTo is how far a must be shifted left to bring its highest bit to the top.
func shiftTo(a, top uint64) uint64 {
	if a == 0 {
		return 1<<64 - 1
	}
	return top - highestBit(a)
}

// extract is bfe: a field of a, extended by zeros, or by the field's highest
// bit that lies inside a. The 32-bit form looks at 8 bits of its position and
// length, the 64-bit form at all, as a GPU does.
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

// logic3 is lop3: in.imm is its table, indexed by the bits of a, b and c.
func logic3(in *instr, a, b, c uint64) (r uint64) {
	for i := range 8 {
		if in.imm>>i&1 == 0 {
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
func permute(_ *instr, a, b, selector uint64) (r uint64) {
	from := b<<32 | a&all
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
