// Intrinsics of integers and bits, and conversions that take bits as they are.
#pragma once

__WB int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
__WB int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
__WB int __popc(unsigned int x) { return __builtin_popcount(x); }
__WB int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__WB int __ffs(int x) { return __builtin_ffs(x); }
__WB int __ffsll(long long x) { return __builtin_ffsll(x); }
__WB unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
__WB unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
__WB unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) { return __nvvm_prmt(x, y, s & 0x7777); }
__WB unsigned int __fns(unsigned mask, unsigned base, int offset) { return __nvvm_fns(mask, base, offset); }
__WB int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
__WB unsigned int __umulhi(unsigned int x, unsigned int y) { return __nvvm_mulhi_ui(x, y); }
__WB long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
__WB unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return __nvvm_mulhi_ull(x, y); }
__WB int __mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
__WB unsigned int __umul24(unsigned int x, unsigned int y) { return __nvvm_mul24_ui(x, y); }
__WB unsigned int __sad(int x, int y, unsigned int z) { return __nvvm_sad_i(x, y, z); }
__WB unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return __nvvm_sad_ui(x, y, z); }
__WB int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
__WB int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
__WB unsigned int __uhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y) >> 1); }
__WB unsigned int __urhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y + 1) >> 1); }
__WB unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int n) {
  return (unsigned int)((((unsigned long long)hi << 32 | lo) << (n & 31)) >> 32);
}
__WB unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int n) {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
__WB unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int n) {
  return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
__WB unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int n) {
  return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}

#define __WB_DP(name, result, a, b, ptx)                                                    \
  __WB result name(a x, b y, result z) {                                                    \
    result r;                                                                               \
    asm(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));                         \
    return r;                                                                               \
  }
__WB_DP(__dp4a, int, int, int, "dp4a.s32.s32")
__WB_DP(__dp4a, unsigned int, unsigned int, unsigned int, "dp4a.u32.u32")
__WB_DP(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
__WB_DP(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
__WB_DP(__dp2a_lo, unsigned int, unsigned int, unsigned int, "dp2a.lo.u32.u32")
__WB_DP(__dp2a_hi, unsigned int, unsigned int, unsigned int, "dp2a.hi.u32.u32")
#undef __WB_DP
__WB int __dp4a(char4 x, char4 y, int z) { return __dp4a(__builtin_bit_cast(int, x), __builtin_bit_cast(int, y), z); }
__WB unsigned int __dp4a(uchar4 x, uchar4 y, unsigned int z) {
  return __dp4a(__builtin_bit_cast(unsigned int, x), __builtin_bit_cast(unsigned int, y), z);
}

// Bits of a floating-point number.
__WB int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__WB unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
__WB float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__WB float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
__WB long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__WB double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__WB int __double2loint(double x) { return (int)__double_as_longlong(x); }
__WB int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__WB double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)hi << 32 | (unsigned int)lo); }

// Conversions with a mode of rounding. Those to integers saturate, and NaN gives 0, or
// the lowest number for 64 bits.
#define __WB_CVT(name, to, ptx, constraint_to, from, constraint_from)                       \
  __WB to name(from x) {                                                                    \
    to r;                                                                                   \
    asm("cvt." ptx " %0, %1;" : "=" constraint_to(r) : constraint_from(x));                 \
    return r;                                                                               \
  }
#define __WB_CVT4(name, to, kinds, constraint_to, from, constraint_from, i)                 \
  __WB_CVT(name##_rn, to, "rn" i "." kinds, constraint_to, from, constraint_from)           \
  __WB_CVT(name##_rz, to, "rz" i "." kinds, constraint_to, from, constraint_from)           \
  __WB_CVT(name##_ru, to, "rp" i "." kinds, constraint_to, from, constraint_from)           \
  __WB_CVT(name##_rd, to, "rm" i "." kinds, constraint_to, from, constraint_from)
__WB_CVT4(__float2int, int, "s32.f32", "r", float, "f", "i")
__WB_CVT4(__float2uint, unsigned int, "u32.f32", "r", float, "f", "i")
__WB_CVT4(__float2ll, long long, "s64.f32", "l", float, "f", "i")
__WB_CVT4(__float2ull, unsigned long long, "u64.f32", "l", float, "f", "i")
__WB_CVT4(__double2int, int, "s32.f64", "r", double, "d", "i")
__WB_CVT4(__double2uint, unsigned int, "u32.f64", "r", double, "d", "i")
__WB_CVT4(__double2ll, long long, "s64.f64", "l", double, "d", "i")
__WB_CVT4(__double2ull, unsigned long long, "u64.f64", "l", double, "d", "i")
__WB_CVT4(__int2float, float, "f32.s32", "f", int, "r", )
__WB_CVT4(__uint2float, float, "f32.u32", "f", unsigned int, "r", )
__WB_CVT4(__ll2float, float, "f32.s64", "f", long long, "l", )
__WB_CVT4(__ull2float, float, "f32.u64", "f", unsigned long long, "l", )
__WB_CVT4(__ll2double, double, "f64.s64", "d", long long, "l", )
__WB_CVT4(__ull2double, double, "f64.u64", "d", unsigned long long, "l", )
__WB_CVT4(__double2float, float, "f32.f64", "f", double, "d", )
#undef __WB_CVT4
#undef __WB_CVT
__WB double __int2double_rn(int x) { return x; }
__WB double __uint2double_rn(unsigned int x) { return x; }

// Absolute values, minima and maxima of integers.
constexpr __WB int abs(int x) { return x < 0 ? -x : x; }
constexpr __WB long abs(long x) { return x < 0 ? -x : x; }
constexpr __WB long long abs(long long x) { return x < 0 ? -x : x; }
constexpr __WB long labs(long x) { return abs(x); }
constexpr __WB long long llabs(long long x) { return abs(x); }
#define __WB_MINMAX(type)                                                                   \
  constexpr __WB_BOTH type min(type a, type b) { return a < b ? a : b; }                         \
  constexpr __WB_BOTH type max(type a, type b) { return a > b ? a : b; }
__WB_MINMAX(int)
__WB_MINMAX(unsigned int)
__WB_MINMAX(long)
__WB_MINMAX(unsigned long)
__WB_MINMAX(long long)
__WB_MINMAX(unsigned long long)
#undef __WB_MINMAX
#define __WB_MIXED(result, a, b)                                                            \
  constexpr __WB_BOTH result min(a x, b y) { return min((result)x, (result)y); }                 \
  constexpr __WB_BOTH result max(a x, b y) { return max((result)x, (result)y); }
__WB_MIXED(unsigned int, int, unsigned int)
__WB_MIXED(unsigned int, unsigned int, int)
__WB_MIXED(unsigned long, long, unsigned long)
__WB_MIXED(unsigned long, unsigned long, long)
__WB_MIXED(unsigned long long, long long, unsigned long long)
__WB_MIXED(unsigned long long, unsigned long long, long long)
#undef __WB_MIXED
constexpr __WB_BOTH unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
constexpr __WB_BOTH unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
constexpr __WB_BOTH long long llmin(long long a, long long b) { return min(a, b); }
constexpr __WB_BOTH long long llmax(long long a, long long b) { return max(a, b); }
constexpr __WB_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
constexpr __WB_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
