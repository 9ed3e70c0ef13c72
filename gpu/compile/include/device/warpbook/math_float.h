// Mathematics of float. Every function stays within the errors that CUDA's documentation
// states; the tests of package clang compare each with a wider type. The coefficients
// interpolate their function at the Chebyshev nodes of the interval.
#pragma once

// c[0] + c[1] x + c[2] x^2 + ...
template <class T>
constexpr __WB T __wb_poly(T, T c) { return c; }
template <class T, class... Rest>
__WB T __wb_poly(T x, T c, Rest... rest) { return __builtin_elementwise_fma(__wb_poly(x, rest...), x, c); }

// Exact or rounded once: the hardware's own.
__WB float fabsf(float x) { return __builtin_fabsf(x); }
__WB float floorf(float x) { return __builtin_floorf(x); }
__WB float ceilf(float x) { return __builtin_ceilf(x); }
__WB float truncf(float x) { return __builtin_truncf(x); }
__WB float rintf(float x) { return __builtin_rintf(x); }
__WB float nearbyintf(float x) { return __builtin_rintf(x); }
__WB float roundf(float x) { return __builtin_fabsf(x) < 0x1p23f ? __builtin_copysignf(__builtin_truncf(__nvvm_add_rz_f(__builtin_fabsf(x), 0.5f)), x) : x; }
__WB float sqrtf(float x) { return __builtin_sqrtf(x); }
__WB float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
__WB float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__WB float fminf(float a, float b) { return __builtin_fminf(a, b); }
__WB float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
__WB float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
__WB float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
__WB float saturatef(float x) { return __nvvm_saturate_f(x); }
__WB float __saturatef(float x) { return __nvvm_saturate_f(x); }
__WB float fdividef(float a, float b) { return a / b; }
__WB long int lrintf(float x) { return (long)__nvvm_f2ll_rn(x); }
__WB long long int llrintf(float x) { return __nvvm_f2ll_rn(x); }
__WB long int lroundf(float x) { return (long)__nvvm_f2ll_rz(roundf(x)); }
__WB long long int llroundf(float x) { return __nvvm_f2ll_rz(roundf(x)); }

// Parts of a number.
__WB int __wb_isnan(float x) { return x != x; }
__WB int __isnanf(float x) { return x != x; }
__WB int __isinff(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
__WB int __finitef(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
__WB int __signbitf(float x) { return __float_as_int(x) < 0; }
__WB int ilogbf(float x) {
  int u = __float_as_int(x) & 0x7fffffff;
  if (u == 0) return -2147483647 - 1;
  if (u >= 0x7f800000) return u == 0x7f800000 ? 2147483647 : -2147483647 - 1;
  return u < 0x800000 ? -118 - __builtin_clz(u) : (u >> 23) - 127;
}
__WB float logbf(float x) {
  float a = __builtin_fabsf(x);
  return a == 0 ? -__builtin_inff() : a < __builtin_inff() ? (float)ilogbf(x) : x * x;
}
__WB float scalbnf(float x, int n) {
  n = n < -300 ? -300 : n > 300 ? 300 : n;
  // The first factors are exact: only the last product may be rounded.
  if (n > 127) { x *= 0x1p127f; n -= 127; if (n > 127) { x *= 0x1p127f; n -= 127; n = n > 127 ? 127 : n; } }
  if (n < -126) { x *= 0x1p-102f; n += 102; if (n < -126) { x *= 0x1p-102f; n += 102; n = n < -126 ? -126 : n; } }
  return x * __int_as_float((n + 127) << 23);
}
__WB float ldexpf(float x, int n) { return scalbnf(x, n); }
__WB float scalblnf(float x, long n) { return scalbnf(x, n < -300 ? -300 : n > 300 ? 300 : (int)n); }
__WB float frexpf(float x, int *e) {
  float a = __builtin_fabsf(x);
  if (a == 0 || !(a < __builtin_inff())) { *e = 0; return x + x; }
  *e = ilogbf(x) + 1;
  if (a < 0x1p-126f) x *= 0x1p24f;
  return __int_as_float((__float_as_int(x) & 0x807fffff) | 0x3f000000);
}
__WB float modff(float x, float *whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_fabsf(x) == __builtin_inff() ? 0.0f : x - *whole, x);
}
__WB float nextafterf(float x, float y) {
  int a = __float_as_int(x);
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __int_as_float(y < 0 ? (int)0x80000001 : 1);
  return __int_as_float((x < y) == (a >= 0) ? a + 1 : a - 1);
}
__WB float nanf(const char *) { return __int_as_float(0x7fffffff); }

// Intrinsics with a mode of rounding, and shorter, less exact functions.
#define __WB_ROUNDINGS(ending, mode)                                                        \
  __WB float __fadd_##ending(float a, float b) { return __nvvm_add_##mode##_f(a, b); }      \
  __WB float __fsub_##ending(float a, float b) { return __nvvm_add_##mode##_f(a, -b); }     \
  __WB float __fmul_##ending(float a, float b) { return __nvvm_mul_##mode##_f(a, b); }      \
  __WB float __fmaf_##ending(float a, float b, float c) { return __nvvm_fma_##mode##_f(a, b, c); } \
  __WB float __fdiv_##ending(float a, float b) { return __nvvm_div_##mode##_f(a, b); }      \
  __WB float __frcp_##ending(float a) { return __nvvm_rcp_##mode##_f(a); }                  \
  __WB float __fsqrt_##ending(float a) { return __nvvm_sqrt_##mode##_f(a); }
__WB_ROUNDINGS(rn, rn)
__WB_ROUNDINGS(rz, rz)
__WB_ROUNDINGS(ru, rp)
__WB_ROUNDINGS(rd, rm)
#undef __WB_ROUNDINGS
__WB float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
__WB float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
__WB float __expf(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
__WB float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 0x1.a934fp+1f); }
__WB float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
__WB float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e43p-1f; }
__WB float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f; }
__WB float __sinf(float x) { return __nvvm_sin_approx_f(x); }
__WB float __cosf(float x) { return __nvvm_cos_approx_f(x); }
__WB float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
__WB void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); }
__WB float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }

// Exponentials. x = n ln 2 + f, |f| <= ln 2 / 2. 2^n has two factors, because n may
// exceed the exponents of float.
__WB float __wb_scale(float x, int n) {
  return x * __int_as_float(((n >> 1) + 127) << 23) * __int_as_float((n - (n >> 1) + 127) << 23);
}
struct __wb_expsf { float p; int n; }; // p 2^n
__WB __wb_expsf __wb_exp_partsf(float x) {
  float n = __builtin_rintf(x * 0x1.715476p+0f);
  float f = __builtin_fmaf(n, -0x1.62e4p-1f, x);
  f = __builtin_fmaf(n, -0x1.7f7d1cp-20f, f);
  return {__nvvm_ex2_approx_ftz_f(f * 0x1.715476p+0f), (int)n};
}
__WB float __wb_expf(float x) {
  __wb_expsf e = __wb_exp_partsf(x);
  float r = __wb_scale(e.p, e.n);
  r = x > 89.0f ? __builtin_inff() : r;
  return x < -104.5f ? 0.0f : r;
}
__WB float __wb_half_expf(float x) { // e^x / 2, x >= 0
  __wb_expsf e = __wb_exp_partsf(x);
  return x > 90.0f ? __builtin_inff() : __wb_scale(e.p, e.n - 1);
}
__WB float __wb_exp10f(float x) {
  float n = __builtin_rintf(x * 0x1.a934fp+1f);
  float f = __builtin_fmaf(n, -0x1.344p-2f, x);
  f = __builtin_fmaf(n, -0x1.3509f8p-18f, f);
  float r = __wb_scale(__nvvm_ex2_approx_ftz_f(f * 0x1.a934fp+1f), (int)n);
  r = x > 38.6f ? __builtin_inff() : r;
  return x < -45.5f ? 0.0f : r;
}
__WB float exp2f(float x) {
  float half = x < -126.0f ? 0.5f : 1.0f; // 2^x is the square of 2^(x/2), which is normal
  float r = __nvvm_ex2_approx_ftz_f(x * half);
  return x < -126.0f ? r * r : r;
}
__WB float __wb_expm1f(float x) {
  float n = __builtin_rintf(x * 0x1.715476p+0f);
  float f = __builtin_fmaf(n, -0x1.62e4p-1f, x);
  f = __builtin_fmaf(n, -0x1.7f7d1cp-20f, f);
  float p = __builtin_fmaf(f * f, __wb_poly(f, 0x1p-1f, 0x1.555556p-3f, 0x1.5554eap-5f, 0x1.1110ep-7f, 0x1.6d4316p-10f, 0x1.a124e4p-13f), f);
  float s = __int_as_float(((int)n + 126) << 23); // 2^n / 2
  float r = __builtin_fmaf(p, s, s - 0.5f);
  return n == 0 ? p : r + r;
}
__WB float expm1f(float x) {
  float r = __wb_expm1f(x < -30.0f ? -30.0f : x > 89.0f ? 89.0f : x);
  r = x > 88.73f ? __builtin_inff() : r;
  return x == 0 ? x : r;
}

// Logarithms. x = 2^e (1 + f), 2/3 <= 1 + f < 4/3.
struct __wb_splitf { float e, f; };
__WB __wb_splitf __wb_split(float x) {
  float bias = 0;
  if (x < 0x1p-126f) { x *= 0x1p23f; bias = -23.0f; }
  int u = __float_as_int(x), i = (u - 0x3f2aaaab) & 0xff800000;
  return {bias + (float)(i >> 23), __int_as_float(u - i) - 1.0f};
}
// The values at and outside of the ends of the domain.
__WB float __wb_log_edges(float x, float r) {
  r = x == __builtin_inff() ? x : r;
  r = x == 0 ? -__builtin_inff() : r;
  return x < 0 ? __int_as_float(0x7fffffff) : x != x ? x + x : r;
}
__WB float __wb_log1p_of(float f) { return __builtin_fmaf(f * f, __wb_poly(f, -0x1p-1f, 0x1.55552cp-2f, -0x1.ffffb6p-3f, 0x1.99bf86p-3f, -0x1.557832p-3f, 0x1.1fdcfp-3f, -0x1.f75896p-4f, 0x1.1990bcp-3f, -0x1.fcd036p-4f), f); }
__WB float __wb_logf(float x) {
  __wb_splitf s = __wb_split(x);
  return __wb_log_edges(x, __builtin_fmaf(s.e, 0x1.62e43p-1f, __wb_log1p_of(s.f)));
}
__WB float __wb_log2f(float x) {
  __wb_splitf s = __wb_split(x);
  float hi = __nvvm_mul_rn_f(s.f, 0x1.715476p+0f);
  float lo = __builtin_fmaf(s.f, 0x1.715476p+0f, -hi);
  lo = __builtin_fmaf(s.f, 0x1.4ae0cp-26f, lo);
  lo = __builtin_fmaf(s.f * s.f, __wb_poly(s.f, -0x1.715476p-1f, 0x1.ec7062p-2f, -0x1.71544p-2f, 0x1.27922p-2f, -0x1.eca2eap-3f, 0x1.9f4c7p-3f, -0x1.6b166p-3f, 0x1.963684p-3f, -0x1.6f08p-3f), lo);
  float sum = __nvvm_add_rn_f(s.e, hi); // |e| >= |hi| or e = 0
  return __wb_log_edges(x, sum + (lo + (hi - (sum - s.e))));
}
__WB float __wb_log10f(float x) {
  __wb_splitf s = __wb_split(x);
  float r = __wb_log1p_of(s.f);
  float t = __builtin_fmaf(r, 0x1.bcb7b2p-2f, s.e * -0x1.ec10cp-27f);
  return __wb_log_edges(x, __builtin_fmaf(s.e, 0x1.344136p-2f, t));
}
__WB float log1pf(float x) {
  float u = __nvvm_add_rz_f(x, 1.0f);
  int i = (__float_as_int(u) - 0x3f400000) & 0xff800000;
  float e = (float)(i >> 23);
  float s = __int_as_float(0x40800000 - i); // 4 / 2^e
  // (1 + x) / 2^e - 1 without the rounding of 1 + x
  float f = __int_as_float(__float_as_int(x) - i);
  f += __builtin_fmaf(0.25f, s, -1.0f);
  float r = __builtin_fmaf(e, 0x1.62e43p-1f, __builtin_fmaf(f * f, __wb_poly(f, -0x1p-1f, 0x1.555556p-2f, -0x1.000066p-2f, 0x1.999936p-3f, -0x1.5520e8p-3f, 0x1.244252p-3f, -0x1.0414f4p-3f, 0x1.dfe454p-4f, -0x1.7c984ep-4f, 0x1.431c5ap-5f), f));
  r = __builtin_fabsf(x) < 0x1p-24f ? x : r;
  r = x == __builtin_inff() ? x : r;
  r = x == -1.0f ? -__builtin_inff() : r;
  return x < -1.0f ? __int_as_float(0x7fffffff) : x != x ? x + x : r;
}

// Trigonometry. x = q pi/2 + r.
struct __wb_turnf { float r; int q; };
__device__ __attribute__((noinline, nodebug, unused)) static __wb_turnf __wb_far_turn(float x);
__WB __wb_turnf __wb_turn(float x) {
  float j = __builtin_rintf(x * 0x1.45f306p-1f);
  float r = __builtin_fmaf(j, -0x1.921fb4p+0f, x);
  r = __builtin_fmaf(j, -0x1.4442dp-24f, r);
  r = __builtin_fmaf(j, -0x1.84698ap-48f, r);
  if (__builtin_fabsf(x) > 40000.0f) return __wb_far_turn(x);
  return {r, (int)j};
}
__WB float __wb_sin_of(float r) {
  float u = r * r;
  return __builtin_fmaf(__wb_poly(u, -0x1.555552p-3f, 0x1.110c28p-7f, -0x1.9ac9bp-13f) * u, r, r);
}
__WB float __wb_cos_of(float r) {
  float u = r * r;
  return __builtin_fmaf(u * u, __wb_poly(u, 0x1.555554p-5f, -0x1.6c12d2p-10f, 0x1.9bd89cp-16f), __builtin_fmaf(u, -0.5f, 1.0f));
}
__WB float __wb_sin_quarter(float r, int q) {
  float s = q & 1 ? __wb_cos_of(r) : __wb_sin_of(r);
  return q & 2 ? -s : s;
}
__WB float __wb_sinf(float x) { __wb_turnf t = __wb_turn(x); return x == 0 ? x : __wb_sin_quarter(t.r, t.q); }
__WB float __wb_cosf(float x) { __wb_turnf t = __wb_turn(x); return __wb_sin_quarter(t.r, t.q + 1); }
__WB float __wb_tanf(float x) {
  __wb_turnf t = __wb_turn(x);
  float s = __wb_sin_of(t.r), c = __wb_cos_of(t.r);
  return x == 0 ? x : t.q & 1 ? -c / s : s / c;
}
// x = q/2 + r, exactly.
__WB __wb_turnf __wb_half_turn(float x) {
  if (!(__builtin_fabsf(x) < 0x1p24f)) return {x - x, 0}; // an even number
  float j = __builtin_rintf(x + x);
  return {__builtin_fmaf(j, -0.5f, x), (int)j};
}
__WB float __wb_times_pi(float r) { return __builtin_fmaf(r, 0x1.921fb6p+1f, r * -0x1.777a5cp-24f); }
__WB float sinpif(float x) {
  __wb_turnf t = __wb_half_turn(x);
  return x == __builtin_truncf(x) ? x * 0.0f : __wb_sin_quarter(__wb_times_pi(t.r), t.q);
}
__WB float cospif(float x) {
  __wb_turnf t = __wb_half_turn(x);
  return __wb_sin_quarter(__wb_times_pi(t.r), t.q + 1) + 0.0f; // -0 becomes 0
}
__WB void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }

__WB float __wb_asin_of(float a) { // |a| <= 1/2
  float u = a * a;
  return __builtin_fmaf(a * u, __wb_poly(u, 0x1.55555ep-3f, 0x1.332732p-4f, 0x1.70a6bcp-5f, 0x1.b311d2p-6f, 0x1.37fe16p-5f), a);
}
__WB float asinf(float x) {
  float a = __builtin_fabsf(x);
  float r = a <= 0.5f ? __wb_asin_of(a) : __builtin_fmaf(-2.0f, __wb_asin_of(__builtin_sqrtf(__builtin_fmaf(-0.5f, a, 0.5f))), 0x1.921fb6p+0f);
  return __builtin_copysignf(r, x);
}
__WB float acosf(float x) {
  float a = __builtin_fabsf(x);
  if (a <= 0.5f) return 0x1.921fb6p+0f - (__wb_asin_of(x) + 0x1.777a5cp-25f);
  float r = 2.0f * __wb_asin_of(__builtin_sqrtf(__builtin_fmaf(-0.5f, a, 0.5f)));
  return x < 0 ? 0x1.921fb6p+1f - r : r;
}
__WB float __wb_atan_of(float a) { // |a| <= 1
  float u = a * a;
  return __builtin_fmaf(a * u, __wb_poly(u, -0x1.555554p-2f, 0x1.99983cp-3f, -0x1.246cd2p-3f, 0x1.c3f168p-4f, -0x1.6295f8p-4f, 0x1.0001c6p-4f, -0x1.25dc12p-5f, 0x1.ba9f66p-7f, -0x1.38de56p-9f), a);
}
__WB float atanf(float x) {
  float a = __builtin_fabsf(x);
  float r = a <= 1.0f ? __wb_atan_of(a) : 0x1.921fb6p+0f - __wb_atan_of(1.0f / a);
  return __builtin_copysignf(x != x ? x : r, x);
}
__WB float atan2f(float y, float x) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
  float big = __builtin_fmaxf(ax, ay), small = __builtin_fminf(ax, ay);
  float q = big == 0 ? 0.0f : small == __builtin_inff() ? 1.0f : small / big;
  float r = __wb_atan_of(q);
  r = ay > ax ? 0x1.921fb6p+0f - r : r;
  r = __float_as_int(x) < 0 ? 0x1.921fb6p+1f - r : r;
  return x != x || y != y ? x + y : __builtin_copysignf(r, y);
}

// Hyperbolic functions.
__WB float sinhf(float x) {
  float a = __builtin_fabsf(x), u = x * x;
  float e = __wb_half_expf(a);
  float r = a < 1.0f ? __builtin_fmaf(a * u, __wb_poly(u, 0x1.555556p-3f, 0x1.11111ep-7f, 0x1.a009p-13f, 0x1.78a70ep-19f), a) : e - 0.25f / e;
  return __builtin_copysignf(r, x);
}
__WB float coshf(float x) {
  float e = __wb_half_expf(__builtin_fabsf(x));
  return e + 0.25f / e;
}
__WB float __wb_tanhf(float x) {
  float a = __builtin_fabsf(x), u = x * x;
  float r = a < 0.6f ? __builtin_fmaf(a * u, __wb_poly(u, -0x1.555554p-2f, 0x1.110eep-3f, -0x1.b955dcp-5f, 0x1.59e1c8p-6f, -0x1.9ada6p-8f), a) : 1.0f - 2.0f / (__wb_expf(a + a) + 1.0f);
  return __builtin_copysignf(r, x);
}
__WB float asinhf(float x) {
  float a = __builtin_fabsf(x);
  float r = a > 0x1p13f ? __wb_logf(a) + 0x1.62e43p-1f : log1pf(a + a * a / (1.0f + __builtin_sqrtf(__builtin_fmaf(a, a, 1.0f))));
  return __builtin_copysignf(r, x);
}
__WB float acoshf(float x) {
  float t = x - 1.0f;
  if (x < 1) return __int_as_float(0x7fffffff);
  return x > 0x1p13f ? __wb_logf(x) + 0x1.62e43p-1f : log1pf(t + __builtin_sqrtf(__builtin_fmaf(t, t, t + t)));
}
__WB float atanhf(float x) {
  float a = __builtin_fabsf(x);
  return __builtin_copysignf(0.5f * log1pf((a + a) / (1.0f - a)), x);
}

// Powers and roots.
__WB float __wb_powf(float x, float y) {
  float a = __builtin_fabsf(x);
  // log2 a in two parts: 1 + f = (1 + t) / (1 - t), t = f / (2 + f), and 2 atanh t
  __wb_splitf s = __wb_split(a);
  float d = 2.0f + s.f, inverse = __nvvm_rcp_rn_f(d);
  float t = __nvvm_mul_rn_f(s.f, inverse);
  float rest = __builtin_fmaf(-t, d, s.f);                        // of the quotient
  rest = (rest - t * (s.f - (d - 2.0f))) * inverse;              // and of its divisor
  float u = t * t;
  float hi = 2.0f * t, lo = __builtin_fmaf(t * u, __wb_poly(u, 0x1.555556p-1f, 0x1.999a6cp-2f, 0x1.242c5ap-2f, 0x1.e66d7p-3f), 2.0f * rest);
  float top = __nvvm_add_rn_f(hi, lo);
  lo = lo - (top - hi);
  float m = __nvvm_mul_rn_f(top, 0x1.715476p+0f); // times log2 e
  float ml = __builtin_fmaf(top, 0x1.715476p+0f, -m);
  ml = __builtin_fmaf(top, 0x1.4ae0cp-26f, ml);
  ml = __builtin_fmaf(lo, 0x1.715476p+0f, ml);
  float l = __nvvm_add_rn_f(s.e, m); // |e| > |m| or e = 0
  float ll = (m - (l - s.e)) + ml;
  // 2^(y log2 a)
  y = __builtin_fabsf(y) > 0x1p32f ? __builtin_copysignf(0x1p32f, y) : y;
  float p = __nvvm_mul_rn_f(l, y);
  float pl = __builtin_fmaf(l, y, -p);
  pl = __builtin_fmaf(ll, y, pl);
  float n = __builtin_rintf(p);
  float g = (p - n) + pl;
  float r = __wb_scale(__nvvm_ex2_approx_ftz_f(g), n < -250.0f ? -250 : n > 250.0f ? 250 : (int)n);
  r = p > 129.0f ? __builtin_inff() : r;
  return p < -151.0f ? 0.0f : r;
}
__WB float __wb_pow_edges(float x, float y) {
  float a = __builtin_fabsf(x), ay = __builtin_fabsf(y);
  if (x == 1 || y == 0) return 1.0f;
  if (x != x || y != y) return x + y;
  bool whole = ay >= 0x1p23f || y == __builtin_truncf(y);
  bool odd = whole && ay < 0x1p24f && ((int)ay & 1);
  if (ay == __builtin_inff()) return a == 1 ? 1.0f : (a > 1) == (y > 0) ? __builtin_inff() : 0.0f;
  if (a == 0 || a == __builtin_inff()) {
    float r = (a == 0) == (y > 0) ? 0.0f : __builtin_inff();
    return odd ? __builtin_copysignf(r, x) : r;
  }
  if (x < 0 && !whole) return __int_as_float(0x7fffffff);
  float r = __wb_powf(a, y);
  return x < 0 && odd ? -r : r;
}
__WB float cbrtf(float x) {
  float a = __builtin_fabsf(x);
  bool tiny = a < 0x1p-126f;
  float s = tiny ? a * 0x1p24f : a;
  float y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f(s) * 0x1.555556p-2f);
  double d = y;
  y = y - (float)(d * d * d - (double)s) / (3.0f * y * y);
  y = tiny ? y * 0x1p-8f : y;
  return a > 0 && a < __builtin_inff() ? __builtin_copysignf(y, x) : x + x;
}
__WB float rcbrtf(float x) {
  float a = __builtin_fabsf(x);
  bool tiny = a < 0x1p-126f;
  float s = tiny ? a * 0x1p24f : a;
  float y = __nvvm_ex2_approx_ftz_f(__nvvm_lg2_approx_ftz_f(s) * -0x1.555556p-2f);
  double d = y;
  y = __builtin_fmaf(y, (float)(1.0 - (double)s * d * d * d) * 0x1.555556p-2f, y);
  y = tiny ? y * 0x1p8f : y;
  return a > 0 && a < __builtin_inff() ? __builtin_copysignf(y, x) : 1.0f / x;
}
__WB float hypotf(float x, float y) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
  float big = __builtin_fmaxf(ax, ay), small = __builtin_fminf(ax, ay);
  if (big == __builtin_inff()) return big;
  float q = big == 0 ? 0.0f : small / big;
  return x != x || y != y ? x + y : big * __builtin_sqrtf(__builtin_fmaf(q, q, 1.0f));
}
__WB float rhypotf(float x, float y) {
  double s = (double)x * x + (double)y * y;
  return __builtin_fabsf(x) == __builtin_inff() || __builtin_fabsf(y) == __builtin_inff() ? 0.0f : (float)(1.0 / __builtin_sqrt(s));
}
__WB float norm3df(float a, float b, float c) {
  double s = (double)a * a + (double)b * b + (double)c * c;
  return __isinff(a) || __isinff(b) || __isinff(c) ? __builtin_inff() : (float)__builtin_sqrt(s);
}
__WB float rnorm3df(float a, float b, float c) {
  double s = (double)a * a + (double)b * b + (double)c * c;
  return __isinff(a) || __isinff(b) || __isinff(c) ? 0.0f : (float)(1.0 / __builtin_sqrt(s));
}
__WB float norm4df(float a, float b, float c, float d) {
  double s = (double)a * a + (double)b * b + (double)c * c + (double)d * d;
  return __isinff(a) || __isinff(b) || __isinff(c) || __isinff(d) ? __builtin_inff() : (float)__builtin_sqrt(s);
}
__WB float rnorm4df(float a, float b, float c, float d) {
  double s = (double)a * a + (double)b * b + (double)c * c + (double)d * d;
  return __isinff(a) || __isinff(b) || __isinff(c) || __isinff(d) ? 0.0f : (float)(1.0 / __builtin_sqrt(s));
}

// The error function: erf = 1 - 2^-p(a) away from 0.
__WB float erff(float x) {
  float a = __builtin_fabsf(x), u = x * x;
  float b = a > 4.0f ? 4.0f : a;
  float r = a < 0.875f ? __builtin_fmaf(a, __wb_poly(u, 0x1.06eba8p-3f, -0x1.812744p-2f, 0x1.ce2e8ap-4f, -0x1.b81a2ap-6f, 0x1.553fc8p-8f, -0x1.aeae1ap-11f, 0x1.6c802p-14f), a) : 1.0f - __nvvm_ex2_approx_ftz_f(-__wb_poly(b, -0x1.2f5076p-12f, 0x1.a1335ep+0f, 0x1.d3bdeap-1f, 0x1.3fcbeap-3f, -0x1.25ebe4p-5f, 0x1.6f74ecp-8f, -0x1.8f2d3ep-12f, -0x1.d6e51cp-15f, 0x1.28c682p-16f, -0x1.fdf476p-20f, 0x1.545702p-24f));
  return __builtin_copysignf(x != x ? x : r, x);
}

// Remainders are exact: the bits of the quotient are found one by one, on the mantissas.
struct __wb_mantissaf { unsigned int m; int e; }; // m 2^e, m has 24 bits
__WB __wb_mantissaf __wb_mantissa(float a) {
  int u = __float_as_int(a), e = (u >> 23) - 150, m = (u & 0x7fffff) | 0x800000;
  if (e == -150) {
    int shift = __builtin_clz(u) - 8;
    return {(unsigned int)u << shift, -149 - shift};
  }
  return {(unsigned int)m, e};
}
// a mod b for 0 <= a < inf, 0 < b < inf, with the low bits of the quotient.
__device__ __attribute__((noinline, nodebug, unused)) static float __wb_modulo(float a, float b, unsigned int *quotient) {
  *quotient = 0;
  if (a < b) return a;
  __wb_mantissaf x = __wb_mantissa(a), y = __wb_mantissa(b);
  unsigned int q = 0;
  for (int n = x.e - y.e;; n--) {
    q <<= 1;
    if (x.m >= y.m) { x.m -= y.m; q |= 1; }
    if (n == 0) break;
    x.m <<= 1;
  }
  *quotient = q;
  return scalbnf((float)x.m, y.e);
}
__WB float fmodf(float x, float y) {
  float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  if (!(a < __builtin_inff()) || y != y || b == 0) return (x * y) / (x * y);
  unsigned int q;
  return b == __builtin_inff() ? x : __builtin_copysignf(__wb_modulo(a, b, &q), x);
}
__WB float remquof(float x, float y, int *quotient) {
  float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  *quotient = 0;
  if (!(a < __builtin_inff()) || y != y || b == 0) return (x * y) / (x * y);
  if (b == __builtin_inff()) return x;
  unsigned int q;
  float r = __wb_modulo(a, b, &q), up = b - r;
  if (up < r || up == r && (q & 1)) { r = -up; q++; }
  *quotient = (__float_as_int(x) ^ __float_as_int(y)) < 0 ? -(int)(q & 7) : (int)(q & 7);
  return r == 0 ? __builtin_copysignf(0.0f, x) : __float_as_int(x) < 0 ? -r : r;
}
__WB float remainderf(float x, float y) { int q; return remquof(x, y, &q); }

// The names that --use_fast_math gives shorter functions.
#ifdef __USE_FAST_MATH__
#define __WB_FAST(name) __##name
#else
#define __WB_FAST(name) __wb_##name
#endif
__WB float expf(float x) { return __WB_FAST(expf)(x); }
__WB float exp10f(float x) { return __WB_FAST(exp10f)(x); }
__WB float logf(float x) { return __WB_FAST(logf)(x); }
__WB float log2f(float x) { return __WB_FAST(log2f)(x); }
__WB float log10f(float x) { return __WB_FAST(log10f)(x); }
__WB float sinf(float x) { return __WB_FAST(sinf)(x); }
__WB float cosf(float x) { return __WB_FAST(cosf)(x); }
__WB float tanf(float x) { return __WB_FAST(tanf)(x); }
__WB float tanhf(float x) { return __wb_tanhf(x); }
__WB void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
#ifdef __USE_FAST_MATH__
__WB float powf(float x, float y) { return __powf(x, y); }
#else
__WB float powf(float x, float y) { return __wb_pow_edges(x, y); }
#endif
#undef __WB_FAST
