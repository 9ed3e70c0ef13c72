// The two types of 16 bits have the same members and functions. These macros define them
// for a type T with its vector V of two, of clang's types N and NV.
#pragma once

#define __WB_HALF_TYPE(T, V, RAW, VRAW, N, NV)                                              \
  struct RAW { unsigned short x; };                                                         \
  struct __attribute__((aligned(4))) VRAW { unsigned short x, y; };                         \
  struct __attribute__((aligned(2))) T {                                                    \
    N v;                                                                                    \
    T() = default;                                                                          \
    __WB_MEMBER constexpr explicit T(N n) : v(n) {}                                         \
    __WB_MEMBER T(RAW r) : v(__builtin_bit_cast(N, r)) {}                                   \
    __WB_MEMBER constexpr T(float x) : v((N)x) {}                                           \
    __WB_MEMBER constexpr T(double x) : v((N)x) {}                                          \
    __WB_MEMBER constexpr T(short x) : v((N)x) {}                                           \
    __WB_MEMBER constexpr T(unsigned short x) : v((N)x) {}                                  \
    __WB_MEMBER constexpr T(int x) : v((N)x) {}                                             \
    __WB_MEMBER constexpr T(unsigned int x) : v((N)x) {}                                    \
    __WB_MEMBER constexpr T(long x) : v((N)x) {}                                            \
    __WB_MEMBER constexpr T(unsigned long x) : v((N)x) {}                                   \
    __WB_MEMBER constexpr T(long long x) : v((N)x) {}                                       \
    __WB_MEMBER constexpr T(unsigned long long x) : v((N)x) {}                              \
    __WB_MEMBER constexpr operator float() const { return (float)v; }                       \
    __WB_MEMBER operator RAW() const { return __builtin_bit_cast(RAW, v); }                 \
    __WB_MEMBER explicit operator bool() const { return (float)v != 0; }                    \
    __WB_MEMBER explicit operator signed char() const { return (signed char)(float)v; }     \
    __WB_MEMBER explicit operator unsigned char() const { return (unsigned char)(float)v; } \
    __WB_MEMBER explicit operator short() const { return (short)(float)v; }                 \
    __WB_MEMBER explicit operator unsigned short() const { return (unsigned short)(float)v; } \
    __WB_MEMBER explicit operator int() const { return (int)(float)v; }                     \
    __WB_MEMBER explicit operator unsigned int() const { return (unsigned int)(float)v; }   \
    __WB_MEMBER explicit operator long() const { return (long)(float)v; }                   \
    __WB_MEMBER explicit operator unsigned long() const { return (unsigned long)(float)v; } \
    __WB_MEMBER explicit operator long long() const { return (long long)(float)v; }         \
    __WB_MEMBER explicit operator unsigned long long() const { return (unsigned long long)(float)v; } \
  };                                                                                        \
  struct __attribute__((aligned(4))) V {                                                    \
    T x, y;                                                                                 \
    V() = default;                                                                          \
    __WB_MEMBER constexpr V(const T &a, const T &b) : x(a), y(b) {}                         \
    __WB_MEMBER explicit V(NV n) : x(n.x), y(n.y) {}                                        \
    __WB_MEMBER V(VRAW r) : x(__builtin_bit_cast(N, r.x)), y(__builtin_bit_cast(N, r.y)) {} \
    __WB_MEMBER operator VRAW() const { return __builtin_bit_cast(VRAW, *this); }           \
    __WB_MEMBER explicit operator NV() const { return __builtin_bit_cast(NV, *this); }      \
  };

#define __WB_HALF_BINARY(T, V, NV, name, op)                                                \
  __WB T name(T a, T b) { return T(a.v op b.v); }                                           \
  __WB V name##2(V a, V b) { return V((NV)a op(NV) b); }                                    \
  __WB T operator op(const T &a, const T &b) { return T(a.v op b.v); }                      \
  __WB V operator op(const V &a, const V &b) { return V((NV)a op(NV) b); }                  \
  __WB T &operator op##=(T & a, const T & b) { return a = T(a.v op b.v); }                  \
  __WB V &operator op##=(V & a, const V & b) { return a = V((NV)a op(NV) b); }
// A comparison is false with NaN, except for its form with u.
#define __WB_HALF_COMPARE(T, V, name, ordered, unordered)                                   \
  __WB bool __h##name(T a, T b) { return ordered; }                                         \
  __WB bool __h##name##u(T a, T b) { return unordered; }                                    \
  __WB V __h##name##2(V a, V b) { return V(T((float)__h##name(a.x, b.x)), T((float)__h##name(a.y, b.y))); } \
  __WB V __h##name##u2(V a, V b) { return V(T((float)__h##name##u(a.x, b.x)), T((float)__h##name##u(a.y, b.y))); } \
  __WB bool __hb##name##2(V a, V b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }  \
  __WB bool __hb##name##u2(V a, V b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); } \
  __WB unsigned int __h##name##2_mask(V a, V b) { return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0); } \
  __WB unsigned int __h##name##u2_mask(V a, V b) { return (__h##name##u(a.x, b.x) ? 0xffffu : 0) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0); }
#define __WB_HALF_OPERATOR(T, V, op)                                                        \
  __WB bool operator op(const T &a, const T &b) { return (float)a.v op(float) b.v; }        \
  __WB bool operator op(const V &a, const V &b) { return a.x op b.x && a.y op b.y; }
#define __WB_HALF_UNARY(T, V, name, expression)                                             \
  __WB T h##name(T a) {                                                                     \
    float x = a;                                                                            \
    return T(expression);                                                                   \
  }                                                                                         \
  __WB V h2##name(V a) { return V(h##name(a.x), h##name(a.y)); }
#define __WB_HALF_SHUFFLE(T, V, name, type)                                                 \
  __WB T name(unsigned int mask, T v, type d, int width = 32) {                             \
    return __builtin_bit_cast(T, (unsigned short)name(mask, (unsigned int)__builtin_bit_cast(unsigned short, v), d, width)); \
  }                                                                                         \
  __WB V name(unsigned int mask, V v, type d, int width = 32) {                             \
    return __builtin_bit_cast(V, name(mask, __builtin_bit_cast(unsigned int, v), d, width)); \
  }
#define __WB_HALF_BITS(T, V, short_name, bits, as)                                          \
  __WB as __##short_name##_as_##bits(T x) { return __builtin_bit_cast(as, x); }             \
  __WB T __##bits##_as_##short_name(as x) { return __builtin_bit_cast(T, x); }

#define __WB_HALF_FUNCTIONS(T, V, RAW, N, NV, s, s2)                                        \
  __WB_HALF_BINARY(T, V, NV, __hadd, +)                                                     \
  __WB_HALF_BINARY(T, V, NV, __hsub, -)                                                     \
  __WB_HALF_BINARY(T, V, NV, __hmul, *)                                                     \
  __WB T operator/(const T &a, const T &b) { return T((float)a.v / (float)b.v); }           \
  __WB V operator/(const V &a, const V &b) { return V(a.x / b.x, a.y / b.y); }              \
  __WB T &operator/=(T & a, const T & b) { return a = a / b; }                              \
  __WB V &operator/=(V & a, const V & b) { return a = a / b; }                              \
  __WB T __hdiv(T a, T b) { return a / b; }                                                 \
  __WB V __h2div(V a, V b) { return a / b; }                                                \
  __WB T operator+(const T &a) { return a; }                                                \
  __WB V operator+(const V &a) { return a; }                                                \
  __WB T operator-(const T &a) { return T(-a.v); }                                          \
  __WB V operator-(const V &a) { return V(-(NV)a); }                                        \
  __WB V __hneg2(V a) { return V(-(NV)a); }                                                 \
  __WB T &operator++(T & a) { return a = a + T(1); }                                        \
  __WB T &operator--(T & a) { return a = a - T(1); }                                        \
  __WB bool __hisnan(T a) { return (float)a.v != (float)a.v; }                              \
  __WB T __wb_nan(T) { return __builtin_bit_cast(T, (unsigned short)0x7fff); }              \
  __WB T __hneg(T a) { return T(-a.v); }                                                    \
  __WB T __habs(T a) { return __builtin_bit_cast(T, (unsigned short)(__builtin_bit_cast(unsigned short, a) & 0x7fff)); } \
  __WB V __habs2(V a) { return V(__habs(a.x), __habs(a.y)); }                               \
  __WB T __hadd_rn(T a, T b) { return T(__nvvm_add_rn_f((float)a.v, (float)b.v)); }         \
  __WB T __hsub_rn(T a, T b) { return T(__nvvm_add_rn_f((float)a.v, -(float)b.v)); }        \
  __WB T __hmul_rn(T a, T b) { return T(__nvvm_mul_rn_f((float)a.v, (float)b.v)); }         \
  __WB T __wb_saturate(T a) { float x = a; return T(x > 0 ? (x < 1 ? x : 1.0f) : 0.0f); }   \
  __WB T __hadd_sat(T a, T b) { return __wb_saturate(a + b); }                              \
  __WB T __hsub_sat(T a, T b) { return __wb_saturate(a - b); }                              \
  __WB T __hmul_sat(T a, T b) { return __wb_saturate(a * b); }                              \
  __WB V __hadd2_sat(V a, V b) { return V(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)); }    \
  __WB V __hsub2_sat(V a, V b) { return V(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)); }    \
  __WB V __hmul2_sat(V a, V b) { return V(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)); }    \
  __WB T __hfma(T a, T b, T c) { return T(__builtin_elementwise_fma(a.v, b.v, c.v)); }      \
  __WB V __hfma2(V a, V b, V c) { return V(__builtin_elementwise_fma((NV)a, (NV)b, (NV)c)); } \
  __WB T __hfma_sat(T a, T b, T c) { return __wb_saturate(__hfma(a, b, c)); }               \
  __WB V __hfma2_sat(V a, V b, V c) { return V(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); } \
  __WB T __hfma_relu(T a, T b, T c) { T r = __hfma(a, b, c); return r.v > 0 || r.v != r.v ? r : T(0.0f); } \
  __WB_HALF_COMPARE(T, V, eq, (float)a.v == (float)b.v, !((float)a.v < (float)b.v || (float)a.v > (float)b.v)) \
  __WB_HALF_COMPARE(T, V, ne, (float)a.v < (float)b.v || (float)a.v > (float)b.v, (float)a.v != (float)b.v) \
  __WB_HALF_COMPARE(T, V, lt, (float)a.v < (float)b.v, !((float)a.v >= (float)b.v)) \
  __WB_HALF_COMPARE(T, V, le, (float)a.v <= (float)b.v, !((float)a.v > (float)b.v)) \
  __WB_HALF_COMPARE(T, V, gt, (float)a.v > (float)b.v, !((float)a.v <= (float)b.v)) \
  __WB_HALF_COMPARE(T, V, ge, (float)a.v >= (float)b.v, !((float)a.v < (float)b.v)) \
  __WB_HALF_OPERATOR(T, V, ==)                                                              \
  __WB_HALF_OPERATOR(T, V, <)                                                               \
  __WB_HALF_OPERATOR(T, V, <=)                                                              \
  __WB_HALF_OPERATOR(T, V, >)                                                               \
  __WB_HALF_OPERATOR(T, V, >=)                                                              \
  __WB bool operator!=(const T &a, const T &b) { return (float)a.v != (float)b.v; }         \
  __WB bool operator!=(const V &a, const V &b) { return __hbneu2(a, b); /* both halves */ } \
  __WB int __hisinf(T a) { float x = a; return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0; } \
  __WB V __hisnan2(V a) { return V(T((float)__hisnan(a.x)), T((float)__hisnan(a.y))); }     \
  __WB T __hmax(T a, T b) { return T(__builtin_fmaxf(a, b)); }                              \
  __WB T __hmin(T a, T b) { return T(__builtin_fminf(a, b)); }                              \
  __WB V __hmax2(V a, V b) { return V(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                \
  __WB V __hmin2(V a, V b) { return V(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                \
  __WB T __hmax_nan(T a, T b) { return __hisnan(a) || __hisnan(b) ? __wb_nan(a) : __hmax(a, b); } \
  __WB T __hmin_nan(T a, T b) { return __hisnan(a) || __hisnan(b) ? __wb_nan(a) : __hmin(a, b); } \
  __WB V __hmax2_nan(V a, V b) { return V(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }    \
  __WB V __hmin2_nan(V a, V b) { return V(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }    \
  __WB T __low2##s(V a) { return a.x; }                                                     \
  __WB T __high2##s(V a) { return a.y; }                                                    \
  __WB float __low2float(V a) { return (float)a.x.v; }                                      \
  __WB float __high2float(V a) { return (float)a.y.v; }                                     \
  __WB V __low2##s2(V a) { return V(a.x, a.x); }                                            \
  __WB V __high2##s2(V a) { return V(a.y, a.y); }                                           \
  __WB V __lows2##s2(V a, V b) { return V(a.x, b.x); }                                      \
  __WB V __highs2##s2(V a, V b) { return V(a.y, b.y); }                                     \
  __WB V __lowhigh2highlow(V a) { return V(a.y, a.x); }                                     \
  __WB V __##s##2##s2(T a) { return V(a, a); }                                              \
  __WB V __halves2##s2(T a, T b) { return V(a, b); }                                        \
  __WB V make_##s2(T a, T b) { return V(a, b); }                                            \
  __WB_HALF_BITS(T, V, s, short, short)                                                     \
  __WB_HALF_BITS(T, V, s, ushort, unsigned short)                                           \
  __WB_HALF_UNARY(T, V, sqrt, __builtin_sqrtf(x))                                           \
  __WB_HALF_UNARY(T, V, rsqrt, __nvvm_rsqrt_approx_f(x))                                    \
  __WB_HALF_UNARY(T, V, rcp, 1.0f / x)                                                      \
  __WB_HALF_UNARY(T, V, exp, expf(x))                                                       \
  __WB_HALF_UNARY(T, V, exp2, exp2f(x))                                                     \
  __WB_HALF_UNARY(T, V, exp10, exp10f(x))                                                   \
  __WB_HALF_UNARY(T, V, log, logf(x))                                                       \
  __WB_HALF_UNARY(T, V, log2, log2f(x))                                                     \
  __WB_HALF_UNARY(T, V, log10, log10f(x))                                                   \
  __WB_HALF_UNARY(T, V, sin, sinf(x))                                                       \
  __WB_HALF_UNARY(T, V, cos, cosf(x))                                                       \
  __WB_HALF_UNARY(T, V, ceil, __builtin_ceilf(x))                                           \
  __WB_HALF_UNARY(T, V, floor, __builtin_floorf(x))                                         \
  __WB_HALF_UNARY(T, V, trunc, __builtin_truncf(x))                                         \
  __WB_HALF_UNARY(T, V, rint, __builtin_rintf(x))                                           \
  __WB_HALF_SHUFFLE(T, V, __shfl_sync, int)                                                 \
  __WB_HALF_SHUFFLE(T, V, __shfl_up_sync, unsigned int)                                     \
  __WB_HALF_SHUFFLE(T, V, __shfl_down_sync, unsigned int)                                   \
  __WB_HALF_SHUFFLE(T, V, __shfl_xor_sync, int)                                             \
  __WB_ACCESS_BITS(T, unsigned short)                                                       \
  __WB_ACCESS_BITS(V, unsigned int)                                                         \
  __WB V atomicAdd(V *p, V v) {                                                             \
    unsigned int old = *(volatile unsigned int *)p, assumed;                                \
    do {                                                                                    \
      assumed = old;                                                                        \
      old = atomicCAS((unsigned int *)p, assumed, __builtin_bit_cast(unsigned int, __builtin_bit_cast(V, assumed) + v)); \
    } while (old != assumed);                                                               \
    return __builtin_bit_cast(V, old);                                                      \
  }                                                                                         \
  __WB T atomicAdd(T *p, T v) {                                                             \
    unsigned short old = *(volatile unsigned short *)p, assumed;                            \
    do {                                                                                    \
      assumed = old;                                                                        \
      old = atomicCAS((unsigned short *)p, assumed, __builtin_bit_cast(unsigned short, __builtin_bit_cast(T, assumed) + v)); \
    } while (old != assumed);                                                               \
    return __builtin_bit_cast(T, old);                                                      \
  }

// Conversions from and to integers.
#define __WB_HALF_INTEGER(s, T, N, word, type)                                              \
  __WB T __##word##2##s##_rn(type x) { return T((N)x); }                                    \
  __WB T __##word##2##s(type x) { return T((N)x); }                                         \
  __WB type __##s##2##word##_rz(T x) { return (type)(float)x.v; }                           \
  __WB type __##s##2##word##_rn(T x) { return (type)__builtin_rintf((float)x.v); }          \
  __WB type __##s##2##word##_rd(T x) { return (type)__builtin_floorf((float)x.v); }         \
  __WB type __##s##2##word##_ru(T x) { return (type)__builtin_ceilf((float)x.v); }
#define __WB_HALF_INTEGERS(s, T, N)                                                         \
  __WB_HALF_INTEGER(s, T, N, short, short)                                                  \
  __WB_HALF_INTEGER(s, T, N, ushort, unsigned short)                                        \
  __WB_HALF_INTEGER(s, T, N, int, int)                                                      \
  __WB_HALF_INTEGER(s, T, N, uint, unsigned int)                                            \
  __WB_HALF_INTEGER(s, T, N, ll, long long)                                                 \
  __WB_HALF_INTEGER(s, T, N, ull, unsigned long long)
