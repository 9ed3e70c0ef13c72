//go:build ignore

// The steps of package simd on 32 lanes, with SIMD128 of WebAssembly: the same as the
// assembly of other processors, see ../vector_ops_amd64.h and ../access_amd64.h. The
// results are those of the portable Go code, bit for bit.
//
// The module shares the memory of the Go program, and has no stack and no data there.
// Pointers of Go have 64 bits. layout.h is made from the Go types.

#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#include "layout.h"

typedef int32_t i32;
typedef uint32_t u32;
typedef uint64_t u64;
typedef v128_t v;

#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

// AT is what a pointer of Go points at.
#define AT(type, pointer) ((type *)(uintptr_t)(pointer))

enum { lanes = 32, all = -1 };

typedef struct {
	u32 Op, D, A, B, C, Guard, Flip, X;
} Step;

typedef struct {
	u64 Base, Written, Whole;
} Memory;

typedef struct {
	u64 Known[const_Ways];
	u32 Hits, Count, Regs[4];
	u64 Offset, Start, Room;
	Memory Own;
	u64 Window, Holder, Contents;
} Site;

typedef struct {
	u32 Mask, Low, How, Marks;
	int64_t Min;
	u64 Bytes, Ahead, Runs;
	i32 Delta[lanes];
	u32 Covered;
	i32 Words[lanes];
	u32 Bits[lanes];
	u32 Number;
	i32 First;
} Pattern;

typedef struct {
	u32 Epoch, Time, All, Warp;
} Stamp;

typedef struct {
	u64 Key;
	u32 Read, Written, Foreign, unused[3];
} Row;

typedef struct {
	u32 Pattern, Base;
	Stamp Stamp;
} Noted;

typedef struct {
	u64 Rows, RowCount, RowRoom, Log, LogCount, LogRoom; // slices of Go
	u32 Used, Room;
} Search;

typedef struct {
	u64 Steps, Slots, Preds;
	int64_t N;
	u32 Mask, Warp;
	u64 Sites, Global, Shared;
	u32 Ask;
	u64 Found, Search, Key;
	Stamp Stamp;
	u64 Base, At;
	u32 From, Ran, Most, Target, Branches, Shuffles;
} Run;

#define SAME(type, field) _Static_assert(offsetof(type, field) == type##_##field, #type "." #field " has another place in Go")
SAME(Step, Op); SAME(Step, D); SAME(Step, A); SAME(Step, B); SAME(Step, C); SAME(Step, Guard); SAME(Step, Flip); SAME(Step, X);
SAME(Memory, Base); SAME(Memory, Written); SAME(Memory, Whole);
SAME(Site, Known); SAME(Site, Hits); SAME(Site, Count); SAME(Site, Regs); SAME(Site, Offset); SAME(Site, Start); SAME(Site, Room);
SAME(Site, Own); SAME(Site, Window); SAME(Site, Holder); SAME(Site, Contents);
SAME(Pattern, Mask); SAME(Pattern, Low); SAME(Pattern, How); SAME(Pattern, Marks); SAME(Pattern, Min); SAME(Pattern, Bytes);
SAME(Pattern, Runs); SAME(Pattern, Delta); SAME(Pattern, Covered); SAME(Pattern, Words); SAME(Pattern, Bits); SAME(Pattern, Number); SAME(Pattern, First);
SAME(Run, Steps); SAME(Run, Slots); SAME(Run, Preds); SAME(Run, N); SAME(Run, Mask); SAME(Run, Warp); SAME(Run, Sites);
SAME(Run, Global); SAME(Run, Shared); SAME(Run, Ask); SAME(Run, Found); SAME(Run, Search);
SAME(Run, Key); SAME(Run, Stamp); SAME(Run, Base); SAME(Run, At); SAME(Run, From);
SAME(Run, Ran); SAME(Run, Most); SAME(Run, Target); SAME(Run, Branches); SAME(Run, Shuffles);
SAME(Row, Key); SAME(Row, Read); SAME(Row, Written); SAME(Row, Foreign); SAME(Noted, Pattern); SAME(Noted, Base); SAME(Noted, Stamp);
SAME(Search, Rows); SAME(Search, Log); SAME(Search, Used); SAME(Search, Room);
SAME(Stamp, Epoch); SAME(Stamp, Time); SAME(Stamp, All); SAME(Stamp, Warp);

#define SAMESIZE(type) _Static_assert(sizeof(type) == type##__size, #type " has another size in Go")
SAMESIZE(Step); SAMESIZE(Row); SAMESIZE(Noted);

// Lanes of a mask: of 4 lanes of 32 bits, or of 2 of 64 bits, from lane 4i or 2i on.
INLINE v some32(u32 m, int i) {
	v bits = wasm_i32x4_const(1, 2, 4, 8);
	return wasm_i32x4_eq(wasm_v128_and(wasm_i32x4_splat(m >> 4 * i), bits), bits);
}

INLINE v some64(u32 m, int i) {
	v bits = wasm_i64x2_const(1, 2);
	return wasm_i64x2_eq(wasm_v128_and(wasm_i64x2_splat(m >> 2 * i), bits), bits);
}

// one is the lanes of a comparison of 32 lanes, whose results are all ones or 0.
INLINE u32 bits32(const v *r) {
	v low = wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(r[0], r[1]), wasm_i16x8_narrow_i32x4(r[2], r[3]));
	v high = wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(r[4], r[5]), wasm_i16x8_narrow_i32x4(r[6], r[7]));
	return wasm_i8x16_bitmask(low) | wasm_i8x16_bitmask(high) << 16;
}

INLINE v low_halves(v a, v b) { return wasm_i32x4_shuffle(a, b, 0, 2, 4, 6); }

// Every NaN result is the same one.
INLINE v canonical(v y) { return wasm_v128_bitselect(y, wasm_i32x4_splat(0x7fffffff), wasm_f32x4_eq(y, y)); }

INLINE v uniform(const v *b) {
	v first = wasm_i32x4_splat(*(const i32 *)b), other = wasm_v128_xor(b[0], first);
	for (int i = 1; i < 8; i++) other = wasm_v128_or(other, wasm_v128_xor(b[i], first));
	return other;
}

// A sum of float64 that is inexact is replaced by the neighbour whose last bit is odd,
// which then rounds to float32 as the exact sum does.
INLINE v to_odd(v p, v z, v s) {
	v t = wasm_f64x2_sub(s, p);
	v lost = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, t)), wasm_f64x2_sub(z, t));
	v zero = wasm_f64x2_splat(0), one = wasm_i64x2_splat(1);
	v inexact = wasm_v128_or(wasm_f64x2_lt(lost, zero), wasm_f64x2_gt(lost, zero)); // not NaN
	v finite = wasm_f64x2_lt(wasm_f64x2_abs(s), wasm_f64x2_splat(__builtin_inf()));
	v even = wasm_i64x2_eq(wasm_v128_and(s, one), wasm_i64x2_splat(0));
	v away = wasm_i64x2_eq(wasm_f64x2_gt(lost, zero), wasm_f64x2_gt(s, zero));
	v step = wasm_v128_bitselect(one, wasm_i64x2_splat(-1), away);
	return wasm_i64x2_add(s, wasm_v128_and(step, wasm_v128_and(even, wasm_v128_and(inexact, finite))));
}

// Pair is a sum of two lanes in float64. The product of two float32 is exact there.
typedef struct {
	v product, summand, sum;
} Pair;

// widened converts two float32 of memory, which costs less than to move them within a vector.
// The empty assembly keeps the load apart: clang gives its own form of both no constant offset.
INLINE v widened(const v *at, int half) {
	v y = wasm_v128_load64_zero((const u64 *)at + half);
	__asm__("" : "+r"(y));
	return wasm_f64x2_promote_low_f32x4(y);
}

INLINE Pair pair(const v *a, const v *b, const v *c, int half) {
	v product = wasm_f64x2_mul(widened(a, half), widened(b, half)), summand = widened(c, half);
	return (Pair){product, summand, wasm_f64x2_add(product, summand)};
}

INLINE v narrowed(v a, v b) { return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(a), wasm_f32x4_demote_f64x2_zero(b), 0, 2); }

// fused_slowly is fused of 16 lanes. It rounds every sum to odd.
APART void fused_slowly(v *d, const v *a, const v *b, const v *c, u32 m) {
	for (int i = 0; i < 4; i++) {
		Pair low = pair(a + i, b + i, c + i, 0), high = pair(a + i, b + i, c + i, 1);
		v y = canonical(narrowed(to_odd(low.product, low.summand, low.sum), to_odd(high.product, high.summand, high.sum)));
		d[i] = wasm_v128_bitselect(y, d[i], some32(m, i));
	}
}

// fused is a fused multiply-add. A sum that is rounded to float64 and then to float32 is
// right unless it lies exactly between two float32 or is below the smallest normal one: see
// fma32 of package arith. A result of 0 is right, because its sum is exact: the product or the
// summand is 0, or they are within a factor of two of each other. Three values find doubtful
// sums and NaN among 16 lanes:
//
//	tie    the least of the 29 bits that float32 lacks, as the upper bits of a signed number:
//	       exactly between two float32 they are the smallest one
//	least  the least size of a result, less one, so that 0 becomes the largest
//	most   the largest size of a result; that of NaN is above that of infinity
APART void fused(v *d, const v *a, const v *b, const v *c, u32 m) {
	_Pragma("unroll") for (int n = 0; n < 8; n += 4) {
		v y[4], tie = wasm_i32x4_splat(0), least = wasm_i32x4_splat(-1), most = wasm_i32x4_splat(0);
		_Pragma("unroll") for (int i = 0; i < 4; i++) {
			v low = pair(a + n + i, b + n + i, c + n + i, 0).sum, high = pair(a + n + i, b + n + i, c + n + i, 1).sum;
			tie = wasm_i32x4_min(tie, wasm_i32x4_shl(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), 3));
			y[i] = narrowed(low, high);
			v size = wasm_i32x4_shl(y[i], 1);
			least = wasm_u32x4_min(least, wasm_i32x4_add(size, wasm_i32x4_splat(-1)));
			most = wasm_u32x4_max(most, size);
		}
		v doubt = wasm_v128_or(wasm_i32x4_eq(tie, wasm_i32x4_splat(1u << 31)), wasm_u32x4_lt(least, wasm_i32x4_splat(1 << 24)));
		doubt = wasm_v128_or(doubt, wasm_u32x4_gt(most, wasm_i32x4_splat(0xffu << 24)));
		if (wasm_v128_any_true(doubt)) fused_slowly(d + n, a + n, b + n, c + n, m >> 4 * n);
		else if (m == (u32)all) {
			_Pragma("unroll") for (int i = 0; i < 4; i++) d[n + i] = y[i];
		} else {
			_Pragma("unroll") for (int i = 0; i < 4; i++) d[n + i] = wasm_v128_bitselect(y[i], d[n + i], some32(m, n + i));
		}
	}
}

INLINE v upper(v a) { return wasm_i64x2_shuffle(a, a, 1, 1); }

// Integers of 32 bits are exact in float64, and so is the integer part of their quotient.
INLINE v quotient(v a, v b) {
	v low = wasm_f64x2_div(wasm_f64x2_convert_low_u32x4(a), wasm_f64x2_convert_low_u32x4(b));
	v high = wasm_f64x2_div(wasm_f64x2_convert_low_u32x4(upper(a)), wasm_f64x2_convert_low_u32x4(upper(b)));
	v q = wasm_i64x2_shuffle(wasm_u32x4_trunc_sat_f64x2_zero(low), wasm_u32x4_trunc_sat_f64x2_zero(high), 0, 2);
	return wasm_v128_or(q, wasm_i32x4_eq(b, wasm_i32x4_splat(0))); // by 0: all ones
}

INLINE v rest(v a, v b) { return wasm_v128_or(wasm_i32x4_sub(a, wasm_i32x4_mul(quotient(a, b), b)), wasm_i32x4_eq(b, wasm_i32x4_splat(0))); }

// Shifts by a number of each lane, where the lanes differ. to has room for all lanes.
enum { left, logical, arithmetic };

APART void shift32(u32 *d, const u32 *a, const u32 *b, u32 m, int way) {
	for (; m; m &= m - 1) {
		int l = __builtin_ctz(m);
		u32 n = b[l];
		if (way == arithmetic) d[l] = (i32)a[l] >> (n < 31 ? n : 31);
		else if (n > 31) d[l] = 0;
		else d[l] = way == left ? a[l] << n : a[l] >> n;
	}
}

APART void shift64(u64 *d, const u64 *a, const u32 *b, u32 m, int way) {
	for (; m; m &= m - 1) {
		int l = __builtin_ctz(m);
		u32 n = b[l];
		if (way == arithmetic) d[l] = (int64_t)a[l] >> (n < 63 ? n : 63);
		else if (n > 63) d[l] = 0;
		else d[l] = way == left ? a[l] << n : a[l] >> n;
	}
}

// shuffle is shfl of all lanes. Those that read outside of their segments keep their own.
APART void shuffle(u32 *d, const u32 *a, const v *b, const v *c, int mode) {
	v r[8], limit = wasm_i32x4_splat(31);
	_Pragma("unroll") for (int i = 0; i < 8; i++) {
		v lane = wasm_i32x4_add(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat(4 * i));
		v by = wasm_v128_and(b[i], limit), segment = wasm_v128_and(wasm_u32x4_shr(c[i], 8), limit);
		v last = wasm_v128_bitselect(lane, wasm_v128_and(c[i], limit), segment), from, outside;
		switch (mode) {
		case 0: from = wasm_i32x4_add(lane, by); break;
		case 1: from = wasm_i32x4_sub(lane, by); break;
		case 2: from = wasm_v128_xor(lane, by); break;
		default: from = wasm_v128_bitselect(lane, by, segment);
		}
		outside = mode == 1 ? wasm_i32x4_lt(from, last) : wasm_i32x4_gt(from, last);
		from = wasm_v128_bitselect(lane, from, outside);
		r[i] = wasm_v128_load32_zero(a + wasm_i32x4_extract_lane(from, 0));
		r[i] = wasm_v128_load32_lane(a + wasm_i32x4_extract_lane(from, 1), r[i], 1);
		r[i] = wasm_v128_load32_lane(a + wasm_i32x4_extract_lane(from, 2), r[i], 2);
		r[i] = wasm_v128_load32_lane(a + wasm_i32x4_extract_lane(from, 3), r[i], 3);
	}
	for (int i = 0; i < 8; i++) ((v *)d)[i] = r[i];
}

// differ32 and differ64 report whether lanes of m have other addresses than those at the
// distances of a pattern from the first.
INLINE int differ32(const v *a, u32 first, const v *delta, u32 m) {
	v base = wasm_i32x4_splat(first), other = wasm_i32x4_splat(0);
	if (m == (u32)all) {
		for (int i = 0; i < 8; i++) other = wasm_v128_or(other, wasm_v128_xor(wasm_i32x4_sub(a[i], base), delta[i]));
	} else {
		for (int i = 0; i < 8; i++) other = wasm_v128_or(other, wasm_v128_and(some32(m, i), wasm_v128_xor(wasm_i32x4_sub(a[i], base), delta[i])));
	}
	return wasm_v128_any_true(other);
}

INLINE int differ64(const v *a, u64 first, const v *delta, u32 m) {
	v base = wasm_i64x2_splat(first), other = wasm_i32x4_splat(0);
	for (int i = 0; i < 8; i++) {
		v d0 = wasm_v128_xor(wasm_i64x2_sub(a[2 * i], base), wasm_i64x2_extend_low_i32x4(delta[i]));
		v d1 = wasm_v128_xor(wasm_i64x2_sub(a[2 * i + 1], base), wasm_i64x2_extend_high_i32x4(delta[i]));
		if (m != (u32)all) {
			d0 = wasm_v128_and(d0, some64(m, 2 * i));
			d1 = wasm_v128_and(d1, some64(m, 2 * i + 1));
		}
		other = wasm_v128_or(other, wasm_v128_or(d0, d1));
	}
	return wasm_v128_any_true(other);
}

INLINE void transpose(v *y) {
	v a = wasm_i32x4_shuffle(y[0], y[1], 0, 4, 1, 5), b = wasm_i32x4_shuffle(y[0], y[1], 2, 6, 3, 7);
	v c = wasm_i32x4_shuffle(y[2], y[3], 0, 4, 1, 5), d = wasm_i32x4_shuffle(y[2], y[3], 2, 6, 3, 7);
	y[0] = wasm_i64x2_shuffle(a, c, 0, 2);
	y[1] = wasm_i64x2_shuffle(a, c, 1, 3);
	y[2] = wasm_i64x2_shuffle(b, d, 0, 2);
	y[3] = wasm_i64x2_shuffle(b, d, 1, 3);
}

// move moves the data of an access; at is the place of the lowest active lane.
INLINE void move(const Site *site, const Pattern *p, char *slots, char *at, u32 m) {
	const i32 *delta = p->Delta;
	switch (p->How) {
	case const_MoveLoadQuads:
	case const_MoveLoadHalves:
	case const_MoveLoadTwice:
	case const_MoveStoreQuads: {
		v *r0 = (v *)(slots + site->Regs[0]), *r1 = (v *)(slots + site->Regs[1]), *r2 = (v *)(slots + site->Regs[2]), *r3 = (v *)(slots + site->Regs[3]);
		for (int i = 0; i < 8; i++) {
			v y[4];
			if (p->How != const_MoveStoreQuads) {
				for (int k = 0; k < 4; k++) y[k] = wasm_v128_load(at + delta[4 * i + k]);
				transpose(y);
				r0[i] = y[0], r1[i] = y[1], r2[i] = y[2], r3[i] = y[3];
			} else {
				y[0] = r0[i], y[1] = r1[i], y[2] = r2[i], y[3] = r3[i];
				transpose(y);
				for (int k = 0; k < 4; k++) wasm_v128_store(at + delta[4 * i + k], y[k]);
			}
		}
		return;
	}
	case const_MoveLoadUnit:
		if (m == (u32)all) {
			v *r = (v *)(slots + site->Regs[0]);
			for (int i = 0; i < 8; i++) r[i] = wasm_v128_load(at + 16 * i);
			return;
		}
		break;
	case const_MoveStoreUnit:
		if (m == (u32)all) {
			const v *r = (const v *)(slots + site->Regs[0]);
			for (int i = 0; i < 8; i++) wasm_v128_store(at + 16 * i, r[i]);
			return;
		}
		break;
	case const_MoveBroadcast:
		for (u32 k = 0; k < site->Count; k++) {
			v y = wasm_v128_load32_splat(at + 4 * k), *r = (v *)(slots + site->Regs[k]);
			for (int i = 0; i < 8; i++) r[i] = y;
		}
		return;
	}
	int loads = p->How == const_MoveLoadUnit || p->How == const_MoveGather;
	for (u32 k = 0; k < site->Count; k++, at += 4) {
		u32 *r = (u32 *)(slots + site->Regs[k]);
		if (loads && m == (u32)all) {
			for (int l = 0; l < lanes; l++) r[l] = *(u32 *)(at + delta[l]);
		} else if (loads) {
			for (u32 x = m; x; x &= x - 1) {
				int l = __builtin_ctz(x);
				r[l] = *(u32 *)(at + delta[l]);
			}
		} else {
			for (u32 x = m; x; x &= x - 1) { // of lanes with the same address, the highest wins
				int l = __builtin_ctz(x);
				*(u32 *)(at + delta[l]) = r[l];
			}
		}
	}
}

// pass notes an access at an offset of shared memory if surely no earlier access of the
// phase races with it, as Search.Pass of package simd does.
INLINE int pass(Search *search, const Run *run, const Pattern *p, u64 base) {
	if (search->Used >= search->Room || p->First == const_Clash) return 0;
	u64 key = run->Key, same = key | (u64)const_uneven << const_skewBits;
	if (p->First >= 0) same = key | (u64)(((u32)p->First - (u32)(base >> 2)) % 32) << const_skewBits;
	Row *rows = AT(Row, search->Rows) + (base >> 5);
	for (u32 i = 0; i < p->Covered; i++) {
		Row *r = rows + p->Words[i];
		u32 bits = p->Bits[i];
		int own = r->Key == same;
		if (own) {
		} else if (r->Key >> 32 != same >> 32) {
			own = p->First >= 0;
			r->Key = own ? same : key | (u64)const_noSkew << const_skewBits;
			r->Read = r->Written = r->Foreign = 0;
		} else if ((uint8_t)r->Key != (uint8_t)same) {
			r->Key = r->Key >> 32 << 32 | const_manyKey;
			r->Foreign = r->Read | r->Written;
		}
		u32 race = r->Written;
		if (own) {
			race = p->Marks ? r->Foreign : race & r->Foreign;
		} else if (p->Marks) {
			race |= r->Read;
		}
		if (race & bits) return 0;
		*(p->Marks ? &r->Written : &r->Read) |= bits;
		if (!own) r->Foreign |= bits;
	}
	Noted *noted = AT(Noted, search->Log + search->Used);
	noted->Pattern = p->Number;
	noted->Base = (u32)base;
	noted->Stamp = run->Stamp;
	search->Used += const_notedBytes;
	return 1;
}

// access runs a load or store of the lanes in m, unless Go has to: then it has changed
// nothing that matters, and returns 0.
INLINE int access(Run *run, const Step *s, char *slots, u32 m, u32 op) {
	if (!(op == const_AccessGlobal ? run->Global : run->Shared)) return 0;
	Site *site = AT(Site, run->Sites + s->D);
	char *addresses = slots + s->A;
	int l = __builtin_ctz(m);
	u64 first, at;
	u32 low;
	if (op == const_AccessShared) {
		first = ((u32 *)addresses)[l];
		at = (u32)first + (u32)site->Offset;
	} else {
		first = ((u64 *)addresses)[l];
		at = first + site->Offset;
	}
	low = (u32)at & (op == const_AccessGlobal ? 127 : 31);
	u32 way = (m * (u32)const_wayFactor >> 27 ^ low >> 2) % const_Ways;
	Pattern *p;
	for (u32 other = way ^ 1;; way = other) {
		p = AT(Pattern, site->Known[way]);
		if (p && p->Mask == m && p->Low == low &&
			!(op == const_AccessShared ? differ32((v *)addresses, (u32)first, (v *)p->Delta, m) : differ64((v *)addresses, first, (v *)p->Delta, m))) break;
		if (way == other) return 0;
	}
	Memory *memory = op == const_AccessGlobal ? &site->Own : AT(Memory, run->Shared);
	if (op == const_AccessGlobal) {
		at -= site->Window;
		if (!site->Holder || *AT(u64, site->Holder) != site->Contents) return 0;
	}
	if (site->Room < p->Bytes || at + (u64)p->Min - site->Start > site->Room - p->Bytes) return 0;
	if (!*AT(u32, memory->Whole)) {
		u32 *written = AT(u32, memory->Written) + (i32)(at >> 5);
		for (u32 i = 0; i < p->Covered; i++) {
			u32 *word = written + p->Words[i], missing = p->Bits[i] & ~*word;
			if (!missing) continue;
			if (!p->Marks) return 0;
			*word |= missing;
		}
	}
	if (op != const_AccessGlobal && (run->Ask || (run->Search && !pass(AT(Search, run->Search), run, p, at)))) {
		run->Found = (uintptr_t)p;
		return 0;
	}
	p->Runs++;
	site->Hits++;
	move(site, p, slots, AT(char, memory->Base + at), m);
	return 1;
}

APART int access_global(Run *run, const Step *s, char *slots, u32 m) { return access(run, s, slots, m, const_AccessGlobal); }
APART int access_shared(Run *run, const Step *s, char *slots, u32 m) { return access(run, s, slots, m, const_AccessShared); }
APART int access_shared_wide(Run *run, const Step *s, char *slots, u32 m) { return access(run, s, slots, m, const_AccessSharedWide); }

// EACH computes y of the vectors number i of the sources, for i below n, and keeps the
// lanes that do not run.
#define EACH(n, some, ...)                                        \
	if (m == (u32)all) {                                          \
		_Pragma("unroll") for (int i = 0; i < n; i++) {           \
			__VA_ARGS__;                                          \
			d[i] = y;                                             \
		}                                                         \
	} else {                                                      \
		_Pragma("unroll") for (int i = 0; i < n; i++) {           \
			__VA_ARGS__;                                          \
			d[i] = wasm_v128_bitselect(y, d[i], some(m, i));      \
		}                                                         \
	}                                                             \
	break;
#define OP32(op, value) case const_##op: EACH(8, some32, v y = value)
#define OP64(op, value) case const_##op: EACH(16, some64, v y = value)

// SHIFT is a shift by the same number in all lanes, or by one of each.
#define SHIFT(op, n, some, apart, type, value, way)                      \
	case const_##op:                                                     \
		if (wasm_v128_any_true(uniform(b))) {                            \
			apart((type *)d, (type *)a, (u32 *)b, m, way);               \
			break;                                                       \
		} else {                                                         \
			u32 by = *(u32 *)b;                                          \
			EACH(n, some, v y = value)                                   \
		}

// HALVES computes 64 bits of the 4 lanes of 32 bits in the vectors number i.
#define HALVES(op, low, high)                                                             \
	case const_##op:                                                                      \
		_Pragma("unroll") for (int i = 0; i < 8; i++) {                                   \
			v y0 = low, y1 = high;                                                        \
			if (m != (u32)all) {                                                          \
				y0 = wasm_v128_bitselect(y0, d[2 * i], some64(m, 2 * i));                 \
				y1 = wasm_v128_bitselect(y1, d[2 * i + 1], some64(m, 2 * i + 1));         \
			}                                                                             \
			d[2 * i] = y0;                                                                \
			d[2 * i + 1] = y1;                                                            \
		}                                                                                 \
		break;

#define PREDICATE(op, value) \
	case const_##op:         \
		bits = value;        \
		goto predicate;
#define COMPARE32(op, value)                                       \
	case const_##op: {                                             \
		v r[8];                                                    \
		_Pragma("unroll") for (int i = 0; i < 8; i++) r[i] = value; \
		bits = bits32(r);                                          \
		goto predicate;                                            \
	}
#define COMPARE64(op, value)                                        \
	case const_##op: {                                              \
		v r[16];                                                    \
		_Pragma("unroll") for (int i = 0; i < 16; i++) r[i] = value; \
		_Pragma("unroll") for (int i = 0; i < 8; i++) r[i] = low_halves(r[2 * i], r[2 * i + 1]); \
		bits = bits32(r);                                           \
		goto predicate;                                             \
	}

#define MUST(ran) \
	if (m && !(ran)) goto end; \
	break;

// run runs the steps of a Run: r->N is the number of steps that are left.
__attribute__((export_name("run"))) void run(Run *r) {
	const Step *s = AT(Step, r->Steps);
	char *slots = AT(char, r->Slots), *preds = AT(char, r->Preds);
	u32 mask = r->Mask;
	i32 n = (i32)r->N;
	for (;;) {
		u32 op = s->Op, bits;
		u32 m = mask & (*(u32 *)(preds + s->Guard) ^ s->Flip);
		if (op == const_Guarded) op = s->X;
		v *d = (v *)(slots + s->D);
		const v *a = (v *)(slots + s->A), *b = (v *)(slots + s->B), *c = (v *)(slots + s->C);
		switch (op) {
			OP32(Mov32, a[i])
			OP32(Not32, wasm_v128_not(a[i]))
			OP32(Add32, wasm_i32x4_add(a[i], b[i]))
			OP32(Sub32, wasm_i32x4_sub(a[i], b[i]))
			OP32(Mul32, wasm_i32x4_mul(a[i], b[i]))
			OP32(Mad32, wasm_i32x4_add(wasm_i32x4_mul(a[i], b[i]), c[i]))
			OP32(MinS32, wasm_i32x4_min(a[i], b[i]))
			OP32(MaxS32, wasm_i32x4_max(a[i], b[i]))
			OP32(MinU32, wasm_u32x4_min(a[i], b[i]))
			OP32(MaxU32, wasm_u32x4_max(a[i], b[i]))
			OP32(And32, wasm_v128_and(a[i], b[i]))
			OP32(Or32, wasm_v128_or(a[i], b[i]))
			OP32(Xor32, wasm_v128_xor(a[i], b[i]))
			SHIFT(Shl32, 8, some32, shift32, u32, by > 31 ? wasm_i32x4_splat(0) : wasm_i32x4_shl(a[i], by), left)
			SHIFT(ShrU32, 8, some32, shift32, u32, by > 31 ? wasm_i32x4_splat(0) : wasm_u32x4_shr(a[i], by), logical)
			SHIFT(ShrS32, 8, some32, shift32, u32, wasm_i32x4_shr(a[i], by > 31 ? 31 : by), arithmetic)
			OP32(DivU32, quotient(a[i], b[i]))
			OP32(RemU32, rest(a[i], b[i]))
			OP32(AddF32, canonical(wasm_f32x4_add(a[i], b[i])))
			OP32(SubF32, canonical(wasm_f32x4_sub(a[i], b[i])))
			OP32(MulF32, canonical(wasm_f32x4_mul(a[i], b[i])))
		case const_FmaRow: // the same first source is of no use here
		case const_FmaF32:
			fused(d, a, b, c, m);
			break;
			OP32(FloatS32, wasm_f32x4_convert_i32x4(a[i]))
			OP32(FloatU32, wasm_f32x4_convert_u32x4(a[i]))
		case const_Select32: {
			u32 chosen = *(u32 *)(preds + s->C);
			EACH(8, some32, v y = wasm_v128_bitselect(a[i], b[i], some32(chosen, i)))
		}
		case const_Select64: {
			u32 chosen = *(u32 *)(preds + s->C);
			EACH(16, some64, v y = wasm_v128_bitselect(a[i], b[i], some64(chosen, i)))
		}
			OP32(Trunc, low_halves(a[2 * i], a[2 * i + 1]))

			OP64(Mov64, a[i])
			OP64(Not64, wasm_v128_not(a[i]))
			OP64(Add64, wasm_i64x2_add(a[i], b[i]))
			OP64(Sub64, wasm_i64x2_sub(a[i], b[i]))
			OP64(And64, wasm_v128_and(a[i], b[i]))
			OP64(Or64, wasm_v128_or(a[i], b[i]))
			OP64(Xor64, wasm_v128_xor(a[i], b[i]))
			OP64(Mul64, wasm_i64x2_mul(a[i], b[i]))
			OP64(Mad64, wasm_i64x2_add(wasm_i64x2_mul(a[i], b[i]), c[i]))
			SHIFT(Shl64, 16, some64, shift64, u64, by > 63 ? wasm_i64x2_splat(0) : wasm_i64x2_shl(a[i], by), left)
			SHIFT(ShrU64, 16, some64, shift64, u64, by > 63 ? wasm_i64x2_splat(0) : wasm_u64x2_shr(a[i], by), logical)
			SHIFT(ShrS64, 16, some64, shift64, u64, wasm_i64x2_shr(a[i], by > 63 ? 63 : by), arithmetic)
			HALVES(MulWideU, wasm_u64x2_extmul_low_u32x4(a[i], b[i]), wasm_u64x2_extmul_high_u32x4(a[i], b[i]))
			HALVES(MulWideS, wasm_i64x2_extmul_low_i32x4(a[i], b[i]), wasm_i64x2_extmul_high_i32x4(a[i], b[i]))
			HALVES(MadWideU, wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(a[i], b[i]), c[2 * i]), wasm_i64x2_add(wasm_u64x2_extmul_high_u32x4(a[i], b[i]), c[2 * i + 1]))
			HALVES(MadWideS, wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(a[i], b[i]), c[2 * i]), wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(a[i], b[i]), c[2 * i + 1]))
			HALVES(ExtendU, wasm_u64x2_extend_low_u32x4(a[i]), wasm_u64x2_extend_high_u32x4(a[i]))
			HALVES(ExtendS, wasm_i64x2_extend_low_i32x4(a[i]), wasm_i64x2_extend_high_i32x4(a[i]))

			COMPARE32(Equal32, wasm_i32x4_eq(a[i], b[i]))
			COMPARE32(LessS32, wasm_i32x4_lt(a[i], b[i]))
			COMPARE32(LessU32, wasm_u32x4_lt(a[i], b[i]))
			COMPARE64(Equal64, wasm_i64x2_eq(a[i], b[i]))
			COMPARE64(LessS64, wasm_i64x2_lt(a[i], b[i]))
			COMPARE64(LessU64, wasm_i64x2_lt(wasm_v128_xor(a[i], wasm_i64x2_splat(1ull << 63)), wasm_v128_xor(b[i], wasm_i64x2_splat(1ull << 63))))
			COMPARE32(EqualF32, wasm_f32x4_eq(a[i], b[i]))
			COMPARE32(LessF32, wasm_f32x4_lt(a[i], b[i]))
			COMPARE32(LessEqualF32, wasm_f32x4_le(a[i], b[i]))
			COMPARE32(UnequalF32, wasm_v128_or(wasm_f32x4_lt(a[i], b[i]), wasm_f32x4_gt(a[i], b[i])))
			COMPARE32(NumberF32, wasm_v128_and(wasm_f32x4_eq(a[i], a[i]), wasm_f32x4_eq(b[i], b[i])))
			PREDICATE(MovPred, *(u32 *)(preds + s->A))
			PREDICATE(AndPred, *(u32 *)(preds + s->A) & *(u32 *)(preds + s->B))
			PREDICATE(OrPred, *(u32 *)(preds + s->A) | *(u32 *)(preds + s->B))
			PREDICATE(XorPred, *(u32 *)(preds + s->A) ^ *(u32 *)(preds + s->B))
			PREDICATE(NotPred, ~*(u32 *)(preds + s->A))
		predicate: {
			u32 *p = (u32 *)(preds + s->D);
			*p ^= (*p ^ bits ^ s->X) & m;
			break;
		}

		case const_Branch:
			if (!m) {
				r->Branches++;
				break;
			}
			if (m != mask) goto parted;
			r->Branches++;
			// fallthrough
		case const_Jump:
			r->Ran += s->X - r->From;
			r->From = s->B;
			r->Target = s->D;
			n = s->C;
			s = AT(Step, r->Base + s->D);
			if (n == 0 || r->Ran >= r->Most) goto parted;
			continue;

		case const_AccessGlobal:
			MUST(access_global(r, s, slots, m))
		case const_AccessShared:
			MUST(access_shared(r, s, slots, m))
		case const_AccessSharedWide:
			MUST(access_shared_wide(r, s, slots, m))

		case const_StepDown:
		case const_StepUp:
		case const_StepButterfly:
		case const_StepIndex:
			if (m != (u32)all) goto end;
			r->Shuffles++;
			shuffle((u32 *)d, (u32 *)a, b, c, op - const_StepDown);
			break;

		default:
			goto end;
		}
		s++;
		if (--n == 0) goto parted;
	}
parted:
	n = 0;
end:
	r->N = n;
	r->At = (u64)(uintptr_t)s - r->Base;
}
