// Mathematics of double, as math_float.h has it for float.
#pragma once

__WB double fabs(double x) { return __builtin_fabs(x); }
__WB double floor(double x) { return __builtin_floor(x); }
__WB double ceil(double x) { return __builtin_ceil(x); }
__WB double trunc(double x) { return __builtin_trunc(x); }
__WB double rint(double x) { return __builtin_rint(x); }
__WB double nearbyint(double x) { return __builtin_rint(x); }
__WB double round(double x) { return __builtin_fabs(x) < 0x1p52 ? __builtin_copysign(__builtin_trunc(__nvvm_add_rz_d(__builtin_fabs(x), 0.5)), x) : x; }
__WB double sqrt(double x) { return __builtin_sqrt(x); }
__WB double rsqrt(double x) {
  if (!(x > 0) || x == __builtin_inf()) return 1.0 / __builtin_sqrt(x);
  double y = 1.0 / __builtin_sqrt(x); // twice rounded: one step of Newton's
  double s = x < 0x1p-1000 ? 0x1p60 : 1.0, xs = x * s * s, ys = y / s;
  return __builtin_fma(ys * 0.5, __builtin_fma(-xs * ys, ys, 1.0), ys) * s;
}
__WB double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
__WB double fmin(double a, double b) { return __builtin_fmin(a, b); }
__WB double fmax(double a, double b) { return __builtin_fmax(a, b); }
__WB double copysign(double a, double b) { return __builtin_copysign(a, b); }
__WB double fdim(double a, double b) { return a <= b ? 0.0 : a - b; }
__WB long int lrint(double x) { return (long)__nvvm_d2ll_rn(x); }
__WB long long int llrint(double x) { return __nvvm_d2ll_rn(x); }
__WB long int lround(double x) { return (long)__nvvm_d2ll_rz(round(x)); }
__WB long long int llround(double x) { return __nvvm_d2ll_rz(round(x)); }

__WB int __isnand(double x) { return x != x; }
__WB int __isinfd(double x) { return __builtin_fabs(x) == __builtin_inf(); }
__WB int __signbitd(double x) { return __double_as_longlong(x) < 0; }
__WB int ilogb(double x) {
  long long u = __double_as_longlong(x) & 0x7fffffffffffffff;
  if (u == 0) return -2147483647 - 1;
  if (u >= 0x7ff0000000000000) return u == 0x7ff0000000000000 ? 2147483647 : -2147483647 - 1;
  return u < 0x10000000000000 ? -1011 - __builtin_clzll(u) : (int)(u >> 52) - 1023;
}
__WB double logb(double x) {
  double a = __builtin_fabs(x);
  return a == 0 ? -__builtin_inf() : a < __builtin_inf() ? (double)ilogb(x) : x * x;
}
__WB double scalbn(double x, int n) {
  n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
  if (n > 1023) { x *= 0x1p1023; n -= 1023; if (n > 1023) { x *= 0x1p1023; n -= 1023; n = n > 1023 ? 1023 : n; } }
  if (n < -1022) { x *= 0x1p-969; n += 969; if (n < -1022) { x *= 0x1p-969; n += 969; n = n < -1022 ? -1022 : n; } }
  return x * __longlong_as_double((long long)(n + 1023) << 52);
}
__WB double ldexp(double x, int n) { return scalbn(x, n); }
__WB double scalbln(double x, long n) { return scalbn(x, n < -2200 ? -2200 : n > 2200 ? 2200 : (int)n); }
__WB double frexp(double x, int *e) {
  double a = __builtin_fabs(x);
  if (a == 0 || !(a < __builtin_inf())) { *e = 0; return x + x; }
  *e = ilogb(x) + 1;
  if (a < 0x1p-1022) x *= 0x1p53;
  return __longlong_as_double((__double_as_longlong(x) & 0x800fffffffffffff) | 0x3fe0000000000000);
}
__WB double modf(double x, double *whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_fabs(x) == __builtin_inf() ? 0.0 : x - *whole, x);
}
__WB double nextafter(double x, double y) {
  long long a = __double_as_longlong(x);
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __longlong_as_double(y < 0 ? (long long)0x8000000000000001 : 1);
  return __longlong_as_double((x < y) == (a >= 0) ? a + 1 : a - 1);
}
__WB double nan(const char *) { return __longlong_as_double(0x7ff8000000000000); }

#define __WB_ROUNDINGS(ending, mode)                                                        \
  __WB double __dadd_##ending(double a, double b) { return __nvvm_add_##mode##_d(a, b); }   \
  __WB double __dsub_##ending(double a, double b) { return __nvvm_add_##mode##_d(a, -b); }  \
  __WB double __dmul_##ending(double a, double b) { return __nvvm_mul_##mode##_d(a, b); }   \
  __WB double __fma_##ending(double a, double b, double c) { return __nvvm_fma_##mode##_d(a, b, c); } \
  __WB double __ddiv_##ending(double a, double b) { return __nvvm_div_##mode##_d(a, b); }   \
  __WB double __drcp_##ending(double a) { return __nvvm_rcp_##mode##_d(a); }                \
  __WB double __dsqrt_##ending(double a) { return __nvvm_sqrt_##mode##_d(a); }
__WB_ROUNDINGS(rn, rn)
__WB_ROUNDINGS(rz, rz)
__WB_ROUNDINGS(ru, rp)
__WB_ROUNDINGS(rd, rm)
#undef __WB_ROUNDINGS

// Exponentials.
__WB double __wb_scale(double x, int n) {
  return x * __longlong_as_double((long long)((n >> 1) + 1023) << 52) * __longlong_as_double((long long)(n - (n >> 1) + 1023) << 52);
}
__WB double __wb_expm1_of(double r) { return __builtin_fma(r * r, __wb_poly(r, 0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100bep-7, 0x1.6c16c16c162c3p-10, 0x1.a01a01abf85abp-13, 0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19, 0x1.27e4db46cddd1p-22, 0x1.af4e554377204p-26, 0x1.1f7340dbc337dp-29), r); }
__WB double __wb_reduce_exp(double x, double *n) {
  *n = __builtin_rint(x * 0x1.71547652b82fep+0);
  return __builtin_fma(*n, -0x1.ef35793c7673p-45, __builtin_fma(*n, -0x1.62e42fefa38p-1, x));
}
// e^(x + low) 2^more
__WB double __wb_exp(double x, double low = 0, int more = 0) {
  double n, c = x > 712 ? 712.0 : x < -750 ? -750.0 : x;
  double r = __wb_reduce_exp(c, &n) + low;
  return x != x ? x : __wb_scale(1.0 + __wb_expm1_of(r), (int)n + more);
}
__WB double exp(double x) { return __wb_exp(x); }
__WB double exp2(double x) {
  double c = x > 1030 ? 1030.0 : x < -1080 ? -1080.0 : x;
  double n = __builtin_rint(c), f = c - n;
  double r = __builtin_fma(f, 0x1.62e42fefa39efp-1, f * 0x1.abc9e3b39803fp-56);
  return x != x ? x : __wb_scale(1.0 + __wb_expm1_of(r), (int)n);
}
__WB double exp10(double x) {
  double c = x > 310 ? 310.0 : x < -330 ? -330.0 : x;
  double n = __builtin_rint(c * 0x1.a934f0979a371p+1);
  double f = __builtin_fma(n, -0x1.fef311f12b358p-46, __builtin_fma(n, -0x1.34413509f78p-2, c));
  double r = __builtin_fma(f, 0x1.26bb1bbb55516p+1, f * -0x1.f48ad494ea3e9p-53);
  return x != x ? x : __wb_scale(1.0 + __wb_expm1_of(r), (int)n);
}
__WB double expm1(double x) {
  double n, c = x > 712 ? 712.0 : x < -60 ? -60.0 : x;
  double p = __wb_expm1_of(__wb_reduce_exp(c, &n));
  double s = __longlong_as_double((long long)((int)n + 1022) << 52); // 2^n / 2
  double r = __builtin_fma(p, s, s - 0.5);
  r = n == 0 ? p : r + r;
  r = x > 709.8 ? __builtin_inf() : r;
  return x == 0 || x != x ? x : r;
}

// Logarithms. x = 2^e (1 + f), 2/3 <= 1 + f < 4/3; t = f / (2 + f).
struct __wb_split_t { double e, f; };
__WB __wb_split_t __wb_split(double x) {
  double bias = 0;
  if (x < 0x1p-1022) { x *= 0x1p54; bias = -54; }
  long long u = __double_as_longlong(x), i = (u - 0x3fe5555555555555) & 0xfff0000000000000;
  return {bias + (double)(int)(i >> 52), __longlong_as_double(u - i) - 1.0};
}
__WB double __wb_log_edges(double x, double r) {
  r = x == __builtin_inf() ? x : r;
  r = x == 0 ? -__builtin_inf() : r;
  return x < 0 ? __longlong_as_double(0xfff8000000000000) : x != x ? x + x : r;
}
// log(1 + f) + e ln 2 + low
__WB double __wb_log_of(double e, double f, double low) {
  double t = f / (2.0 + f), h = 0.5 * f * f;
  double r = t * (h + __wb_poly(t * t, 0x1.2bffb4eb92ebdp-62, 0x1.555555555554cp-1, 0x1.999999999c993p-2, 0x1.24924921944c2p-2, 0x1.c71c74c3e66cfp-3, 0x1.745c413b1dfb8p-3, 0x1.3b36c3c4d4c0cp-3, 0x1.0dbd251282cb8p-3, 0x1.1bd6784baa2d1p-3));
  return __builtin_fma(e, 0x1.62e42fefa38p-1, f - (h - (r + __builtin_fma(e, 0x1.ef35793c7673p-45, low))));
}
__WB double log(double x) {
  __wb_split_t s = __wb_split(x);
  return __wb_log_edges(x, __wb_log_of(s.e, s.f, 0));
}
// log(1 + f) in two parts
__WB double __wb_log_parts(double f, double *low) {
  double t = f / (2.0 + f), h = __nvvm_mul_rn_d(0.5 * f, f);
  double r = t * (h + __wb_poly(t * t, 0x1.2bffb4eb92ebdp-62, 0x1.555555555554cp-1, 0x1.999999999c993p-2, 0x1.24924921944c2p-2, 0x1.c71c74c3e66cfp-3, 0x1.745c413b1dfb8p-3, 0x1.3b36c3c4d4c0cp-3, 0x1.0dbd251282cb8p-3, 0x1.1bd6784baa2d1p-3));
  double hi = __nvvm_add_rn_d(f, -h);
  *low = ((f - hi) - h) - __builtin_fma(0.5 * f, f, -h) + r;
  return hi;
}
// e + log(1 + f) times the constant c + cl
__WB double __wb_log_times(double e, double f, double c, double cl) {
  double low, hi = __wb_log_parts(f, &low);
  double p = __nvvm_mul_rn_d(hi, c);
  double pl = __builtin_fma(hi, c, -p) + __builtin_fma(hi, cl, low * c);
  double sum = __nvvm_add_rn_d(e, p);
  return sum + (((e - sum) + p) + pl);
}
__WB double log2(double x) {
  __wb_split_t s = __wb_split(x);
  return __wb_log_edges(x, __wb_log_times(s.e, s.f, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
}
__WB double log10(double x) {
  __wb_split_t s = __wb_split(x);
  double low, hi = __wb_log_parts(s.f, &low);
  double e = s.e * 0x1.34413509f78p-2; // exact
  double p = __nvvm_mul_rn_d(hi, 0x1.bcb7b1526e50ep-2);
  double pl = __builtin_fma(hi, 0x1.bcb7b1526e50ep-2, -p) + __builtin_fma(hi, 0x1.95355baaafad3p-57, low * 0x1.bcb7b1526e50ep-2);
  double sum = __nvvm_add_rn_d(e, p);
  return __wb_log_edges(x, sum + (((e - sum) + p) + __builtin_fma(s.e, 0x1.fef311f12b358p-46, pl)));
}
__WB double log1p(double x) {
  double u = 1.0 + x;
  __wb_split_t s = __wb_split(u);
  double low = s.e == 0 ? 0.0 : (u >= 2 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
  double r = __wb_log_of(s.e, s.e == 0 ? x : s.f, low);
  r = __builtin_fabs(x) < 0x1p-54 ? x : r;
  return __builtin_fabs(x) < 0x1p-54 ? x : __wb_log_edges(x == __builtin_inf() ? x : u, r);
}

// Trigonometry. x = q pi/2 + r.
struct __wb_turn_t { double r; int q; };
// Of numbers with many turns: the fraction of x 2/pi is found among the bits of 2/pi.
__device__ __attribute__((noinline, nodebug, unused)) static __wb_turn_t __wb_far_turn(double x) {
  static const unsigned long long two_over_pi[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
      0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
      0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  unsigned long long u = __double_as_longlong(x), m = (u & 0xfffffffffffff) | 0x10000000000000;
  int e = (int)(u >> 52 & 0x7ff);
  if (e == 0x7ff) return {x - x, 0};
  e -= 1075; // |x| = m 2^e
  // 192 bits of 2/pi, from the first whose product is below 4.
  int skip = e > 2 ? e - 2 : 0, word = skip >> 6, bit = skip & 63;
  unsigned long long g[3];
  for (int i = 0; i < 3; i++) {
    g[i] = two_over_pi[word + i] << bit;
    if (bit) g[i] |= two_over_pi[word + i + 1] >> (64 - bit);
  }
  unsigned long long p3 = g[2] * m;
  unsigned long long p2 = g[1] * m + __nvvm_mulhi_ull(g[2], m), c2 = p2 < __nvvm_mulhi_ull(g[2], m);
  unsigned long long p1 = g[0] * m + __nvvm_mulhi_ull(g[1], m), c1 = p1 < __nvvm_mulhi_ull(g[1], m);
  p1 += c2;
  c1 += p1 < c2;
  unsigned long long p0 = __nvvm_mulhi_ull(g[0], m) + c1;
  int right = e < 2 ? 2 - e : 0; // x may be short
  if (right >= 64) { p3 = p2; p2 = p1; p1 = p0; p0 = 0; right -= 64; }
  if (right) {
    p3 = p3 >> right | p2 << (64 - right);
    p2 = p2 >> right | p1 << (64 - right);
    p1 = p1 >> right | p0 << (64 - right);
  }
  int q = (int)(p1 >> 62);
  unsigned long long hi = p1 << 2 | p2 >> 62, lo = p2 << 2 | p3 >> 62;
  bool up = hi >> 63; // the nearest multiple is the next one
  if (up) {
    q++;
    hi = ~hi + (lo == 0);
    lo = 0 - lo;
  }
  int zeros = hi ? __builtin_clzll(hi) : 63;
  if (zeros) {
    hi = hi << zeros | lo >> (64 - zeros);
    lo <<= zeros;
  }
  double fh = (double)(hi >> 11), fl = (double)(hi << 53 >> 1) * 0x1p-63 + (double)(lo >> 11) * 0x1p-64; // hi = fh 2^11 + ...
  fl = (double)(long long)(hi & 0x7ff) * 0x1p-11 + (double)(lo >> 11) * 0x1p-64;
  double r = fh * 0x1.921fb54442d18p+0;
  double rl = __builtin_fma(fh, 0x1.921fb54442d18p+0, -r) + __builtin_fma(fh, 0x1.1a62633145c07p-54, fl * 0x1.921fb54442d18p+0);
  r = (r + rl) * __longlong_as_double((long long)(1023 - 53 - zeros) << 52);
  r = up ? -r : r;
  return (long long)u < 0 ? __wb_turn_t{-r, -q} : __wb_turn_t{r, q};
}
__device__ __attribute__((noinline, nodebug, unused)) static __wb_turnf __wb_far_turn(float x) {
  __wb_turn_t t = __wb_far_turn((double)x);
  return {(float)t.r, t.q};
}
__WB __wb_turn_t __wb_turn(double x) {
  double j = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  double r = __builtin_fma(j, -0x1.921fb54442d18p+0, x);
  r = __builtin_fma(j, -0x1.1a62633145c06p-54, r);
  r = __builtin_fma(j, -0x1.c1cd129024e09p-107, r);
  if (__builtin_fabs(x) > 0x1p30) return __wb_far_turn(x);
  return {r, (int)j};
}
__WB double __wb_sin_of(double r) {
  double u = r * r;
  return __builtin_fma(__wb_poly(u, -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a01992fp-13, 0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33, -0x1.ab16f5caa198ap-41) * u, r, r);
}
__WB double __wb_cos_of(double r) {
  double u = __nvvm_mul_rn_d(r, r), h = 0.5 * u, w = 1.0 - h;
  double low = (1.0 - w) - h - 0.5 * __builtin_fma(r, r, -u);
  return w + __builtin_fma(u * u, __wb_poly(u, 0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d06p-16, -0x1.27e4fb77125c5p-22, 0x1.1eed8deac3dfep-29, -0x1.9394b8bd50ae1p-37, 0x1.ab779550c8d9bp-45), low);
}
__WB double __wb_sin_quarter(double r, int q) {
  double s = q & 1 ? __wb_cos_of(r) : __wb_sin_of(r);
  return q & 2 ? -s : s;
}
__WB double sin(double x) { __wb_turn_t t = __wb_turn(x); return x == 0 ? x : __wb_sin_quarter(t.r, t.q); }
__WB double cos(double x) { __wb_turn_t t = __wb_turn(x); return __wb_sin_quarter(t.r, t.q + 1); }
__WB void sincos(double x, double *s, double *c) {
  __wb_turn_t t = __wb_turn(x);
  *s = x == 0 ? x : __wb_sin_quarter(t.r, t.q);
  *c = __wb_sin_quarter(t.r, t.q + 1);
}
// The quotient of sine and cosine in two parts each, corrected by one step.
__WB double tan(double x) {
  __wb_turn_t turn = __wb_turn(x);
  double r = turn.r, u = __nvvm_mul_rn_d(r, r), h = 0.5 * u, w = 1.0 - h;
  double sl = __wb_poly(u, -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a01992fp-13, 0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33, -0x1.ab16f5caa198ap-41) * u * r, s = r + sl;
  double cl = __builtin_fma(u * u, __wb_poly(u, 0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d06p-16, -0x1.27e4fb77125c5p-22, 0x1.1eed8deac3dfep-29, -0x1.9394b8bd50ae1p-37, 0x1.ab779550c8d9bp-45), (1.0 - w) - h - 0.5 * __builtin_fma(r, r, -u)), c = w + cl;
  sl = (r - s) + sl;
  cl = (w - c) + cl;
  bool odd = turn.q & 1;
  double n = odd ? -c : s, nl = odd ? -cl : sl, d = odd ? s : c, dl = odd ? sl : cl;
  double q = n / d;
  q = q + (__builtin_fma(-q, d, n) + (nl - q * dl)) / d;
  return x == 0 ? x : q;
}
__WB __wb_turn_t __wb_half_turn(double x) {
  if (!(__builtin_fabs(x) < 0x1p53)) return {x - x, 0}; // an even number
  double j = __builtin_rint(x + x);
  return {__builtin_fma(j, -0.5, x), (int)(long long)j};
}
__WB double __wb_times_pi(double r) { return __builtin_fma(r, 0x1.921fb54442d18p+1, r * 0x1.1a62633145c07p-53); }
__WB double sinpi(double x) {
  __wb_turn_t t = __wb_half_turn(x);
  return x == __builtin_trunc(x) ? x * 0.0 : __wb_sin_quarter(__wb_times_pi(t.r), t.q);
}
__WB double cospi(double x) {
  __wb_turn_t t = __wb_half_turn(x);
  return __wb_sin_quarter(__wb_times_pi(t.r), t.q + 1) + 0.0; // -0 becomes 0
}
__WB void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }

__WB double __wb_asin_of(double a) { // |a| <= 1/2
  double u = a * a;
  return __builtin_fma(a * u, __wb_poly(u, 0x1.5555555555555p-3, 0x1.3333333333388p-4, 0x1.6db6db6dac1ep-5, 0x1.f1c71c7a52ba3p-6, 0x1.6e8ba123e494cp-6, 0x1.1c4efce23019fp-6, 0x1.c990ad3d8fdcap-7, 0x1.7b027ee1dd585p-7, 0x1.3b49de7121487p-7, 0x1.31622469ce5adp-7, 0x1.8f193743418ffp-9, 0x1.406192d124629p-6, -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6), a);
}
__WB double asin(double x) {
  double a = __builtin_fabs(x);
  double r = a <= 0.5 ? __wb_asin_of(a) : 0x1.921fb54442d18p+0 - __builtin_fma(2.0, __wb_asin_of(__builtin_sqrt(__builtin_fma(-0.5, a, 0.5))), -0x1.1a62633145c07p-54);
  return __builtin_copysign(r, x);
}
__WB double acos(double x) {
  double a = __builtin_fabs(x);
  if (a <= 0.5) return 0x1.921fb54442d18p+0 - (__wb_asin_of(x) - 0x1.1a62633145c07p-54);
  double r = 2.0 * __wb_asin_of(__builtin_sqrt(__builtin_fma(-0.5, a, 0.5)));
  return x < 0 ? 0x1.921fb54442d18p+1 - (r - 0x1.1a62633145c07p-53) : r;
}
__WB double __wb_atan_of(double a) { // 0 <= a <= 1
  double b = a > 0x1.a827999fcef32p-2 ? (a - 1.0) / (a + 1.0) : a, u = b * b;
  double r = b * u * __wb_poly(u, -0x1.5555555555555p-2, 0x1.9999999999997p-3, -0x1.24924924920acp-3, 0x1.c71c71c6dda8cp-4, -0x1.745d17355fb4p-4, 0x1.3b13aea92b8p-4, -0x1.1110ced7ae904p-4, 0x1.e1d8e7e3671b7p-5, -0x1.aebd0d9afbb7ap-5, 0x1.829c6fefc6aacp-5, -0x1.503a72dea3f41p-5, 0x1.f5e70778c399ap-6, -0x1.c80183a6f4d8cp-7);
  return a > 0x1.a827999fcef32p-2 ? 0x1.921fb54442d18p-1 + (b + (r + 0x1.1a62633145c07p-55)) : b + r;
}
__WB double atan(double x) {
  double a = __builtin_fabs(x);
  double r = a <= 1.0 ? __wb_atan_of(a) : 0x1.921fb54442d18p+0 - (__wb_atan_of(1.0 / a) - 0x1.1a62633145c07p-54);
  return __builtin_copysign(x != x ? x : r, x);
}
__WB double atan2(double y, double x) {
  double ax = __builtin_fabs(x), ay = __builtin_fabs(y);
  double big = __builtin_fmax(ax, ay), small = __builtin_fmin(ax, ay);
  double q = big == 0 ? 0.0 : small == __builtin_inf() ? 1.0 : small / big;
  double r = __wb_atan_of(q);
  r = ay > ax ? 0x1.921fb54442d18p+0 - (r - 0x1.1a62633145c07p-54) : r;
  r = __double_as_longlong(x) < 0 ? 0x1.921fb54442d18p+1 - (r - 0x1.1a62633145c07p-53) : r;
  return x != x || y != y ? x + y : __builtin_copysign(r, y);
}

// Hyperbolic functions.
__WB double sinh(double x) {
  double a = __builtin_fabs(x), u = x * x, e = __wb_exp(a, 0, -1);
  double r = a < 1.0 ? __builtin_fma(a * u, __wb_poly(u, 0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a01a001p-13, 0x1.71de3a556f96cp-19, 0x1.ae6456792a77fp-26, 0x1.612467ccb226p-33, 0x1.ae777c36fd5b6p-41, 0x1.99f0806c2628dp-49), a) : e - 0.25 / e;
  return __builtin_copysign(r, x);
}
__WB double cosh(double x) {
  double e = __wb_exp(__builtin_fabs(x), 0, -1);
  return e + 0.25 / e;
}
__WB double tanh(double x) {
  double a = __builtin_fabs(x), u = x * x;
  double r = a < 0.55 ? __builtin_fma(a * u, __wb_poly(u, -0x1.5555555555555p-2, 0x1.1111111111111p-3, -0x1.ba1ba1ba1b95bp-5, 0x1.664f4882ba306p-6, -0x1.226e355c62325p-7, 0x1.d6d3d028aad5bp-9, -0x1.7da34f4c64329p-10, 0x1.3556886ef1283p-11, -0x1.f5520c3b9ff15p-13, 0x1.94e894340e4bp-14, -0x1.3f58d7db175f6p-15, 0x1.bfb8722b58696p-17, -0x1.93edec43fd5a2p-19), a) : 1.0 - 2.0 / (__wb_exp(a + a) + 1.0);
  return __builtin_copysign(r, x);
}
__WB double asinh(double x) {
  double a = __builtin_fabs(x);
  double r = a > 0x1p28 ? log(a) + 0x1.62e42fefa39efp-1 : log1p(a + a * a / (1.0 + __builtin_sqrt(__builtin_fma(a, a, 1.0))));
  return __builtin_copysign(r, x);
}
__WB double acosh(double x) {
  double t = x - 1.0;
  if (x < 1) return __longlong_as_double(0xfff8000000000000);
  return x > 0x1p28 ? log(x) + 0x1.62e42fefa39efp-1 : log1p(t + __builtin_sqrt(__builtin_fma(t, t, t + t)));
}
__WB double atanh(double x) {
  double a = __builtin_fabs(x);
  return __builtin_copysign(0.5 * log1p((a + a) / (1.0 - a)), x);
}

// Powers and roots.
__WB double __wb_pow(double x, double y) {
  // ln x in two parts: 2t + 2/3 t^3 + t^5 (...), t and t^2 in two parts.
  __wb_split_t s = __wb_split(x);
  double d = 2.0 + s.f, inverse = 1.0 / d, t = __nvvm_mul_rn_d(s.f, inverse);
  double tl = (__builtin_fma(-t, d, s.f) - t * (s.f - (d - 2.0))) * inverse;
  double u = __nvvm_mul_rn_d(t, t), ul = __builtin_fma(t, t, -u) + 2.0 * t * tl;
  double v = __nvvm_mul_rn_d(t, u), vl = __builtin_fma(t, u, -v) + __builtin_fma(t, ul, tl * u);
  double w = __nvvm_mul_rn_d(v, 0x1.5555555555555p-1);
  double wl = __builtin_fma(v, 0x1.5555555555555p-1, -w) + __builtin_fma(v, 0x1.5555555555555p-55, vl * 0x1.5555555555555p-1);
  wl = __builtin_fma(v * u, __wb_poly(u, 0x1.999999999999ap-2, 0x1.2492492492492p-2, 0x1.c71c71c71c5f8p-3, 0x1.745d1745e8367p-3, 0x1.3b13b12cb5184p-3, 0x1.111116453aefdp-3, 0x1.e1df97c4e0ff6p-4, 0x1.af77ee1ccd51bp-4, 0x1.7f9fbbcbda961p-4, 0x1.ad7f724fe783ep-4), wl);
  double hi = __nvvm_add_rn_d(2.0 * t, w);
  double lo = (2.0 * t - hi) + w + (2.0 * tl + wl);
  double e = s.e * 0x1.62e42fefa38p-1; // exact
  double l = __nvvm_add_rn_d(e, hi);
  double ll = (e - l) + hi + __builtin_fma(s.e, 0x1.ef35793c7673p-45, lo);
  double sum = __nvvm_add_rn_d(l, ll);
  ll = ll - (sum - l);
  l = sum;
  y = __builtin_fabs(y) > 0x1p64 ? __builtin_copysign(0x1p64, y) : y;
  double p = __nvvm_mul_rn_d(l, y), pl = __builtin_fma(l, y, -p) + ll * y;
  return __builtin_fabs(p) > 800 ? (p > 0 ? __builtin_inf() : 0.0) : __wb_exp(p, pl);
}
__WB double pow(double x, double y) {
  double a = __builtin_fabs(x), ay = __builtin_fabs(y);
  if (x == 1 || y == 0) return 1.0;
  if (x != x || y != y) return x + y;
  bool whole = ay >= 0x1p52 || y == __builtin_trunc(y);
  bool odd = whole && ay < 0x1p53 && ((long long)ay & 1);
  if (ay == __builtin_inf()) return a == 1 ? 1.0 : (a > 1) == (y > 0) ? __builtin_inf() : 0.0;
  if (a == 0 || a == __builtin_inf()) {
    double r = (a == 0) == (y > 0) ? 0.0 : __builtin_inf();
    return odd ? __builtin_copysign(r, x) : r;
  }
  if (x < 0 && !whole) return __longlong_as_double(0xfff8000000000000);
  double r = __wb_pow(a, y);
  return x < 0 && odd ? -r : r;
}
__WB double cbrt(double x) {
  double a = __builtin_fabs(x);
  if (!(a > 0 && a < __builtin_inf())) return x + x;
  int e = ilogb(a), third = (e + 3000) / 3 - 1000;
  double s = scalbn(a, -3 * third); // 1 <= s < 8
  double y = cbrtf((float)s);
  y = y - (y * y * y - s) / (3.0 * y * y);
  double q = __nvvm_mul_rn_d(y, y), ql = __builtin_fma(y, y, -q);
  double c = __nvvm_mul_rn_d(q, y), cl = __builtin_fma(q, y, -c) + ql * y;
  y = y - ((c - s) + cl) / (3.0 * q);
  return __builtin_copysign(scalbn(y, third), x);
}
__WB double rcbrt(double x) {
  double a = __builtin_fabs(x);
  if (!(a > 0 && a < __builtin_inf())) return 1.0 / x;
  int e = ilogb(a), third = (e + 3000) / 3 - 1000;
  double s = scalbn(a, -3 * third);
  double y = rcbrtf((float)s);
  y = __builtin_fma(y * 0x1.5555555555555p-2, __builtin_fma(-s * y, y * y, 1.0), y);
  double q = __nvvm_mul_rn_d(y, y), ql = __builtin_fma(y, y, -q);
  double c = __nvvm_mul_rn_d(q, y), cl = __builtin_fma(q, y, -c) + ql * y;
  y = __builtin_fma(y * 0x1.5555555555555p-2, __builtin_fma(-s, c, 1.0) - s * cl, y);
  return __builtin_copysign(scalbn(y, -third), x);
}
// Adds x^2 to a sum in two parts.
__WB void __wb_add_square(double x, double *s, double *low) {
  double p = __nvvm_mul_rn_d(x, x), sum = __nvvm_add_rn_d(*s, p), of = sum - *s;
  *low += (*s - (sum - of)) + (p - of) + __builtin_fma(x, x, -p);
  *s = sum;
}
// The root of a sum of squares, scaled by a power of two.
__WB double __wb_norm(double a, double b, double c, double d, bool inverse) {
  double top = __builtin_fmax(__builtin_fmax(__builtin_fabs(a), __builtin_fabs(b)), __builtin_fmax(__builtin_fabs(c), __builtin_fabs(d)));
  if (top == __builtin_inf()) return inverse ? 0.0 : top;
  double sum = a + b + c + d;
  if (sum != sum) return sum;
  if (top == 0) return inverse ? __builtin_inf() : 0.0;
  int e = ilogb(top);
  a = scalbn(a, -e); b = scalbn(b, -e); c = scalbn(c, -e); d = scalbn(d, -e);
  double s = __nvvm_mul_rn_d(a, a), sl = __builtin_fma(a, a, -s);
  __wb_add_square(b, &s, &sl);
  __wb_add_square(c, &s, &sl);
  __wb_add_square(d, &s, &sl);
  if (!inverse) return scalbn(__builtin_sqrt(s + sl), e);
  double y = rsqrt(s);
  return scalbn(__builtin_fma(y * -0.5, sl * y * y, y), -e);
}
__WB double hypot(double x, double y) { return __wb_norm(x, y, 0, 0, false); }
__WB double rhypot(double x, double y) { return __wb_norm(x, y, 0, 0, true); }
__WB double norm3d(double a, double b, double c) { return __wb_norm(a, b, c, 0, false); }
__WB double rnorm3d(double a, double b, double c) { return __wb_norm(a, b, c, 0, true); }
__WB double norm4d(double a, double b, double c, double d) { return __wb_norm(a, b, c, d, false); }
__WB double rnorm4d(double a, double b, double c, double d) { return __wb_norm(a, b, c, d, true); }

// erfc(a) = e^(-a^2) / (1 + 2a) P((a - 4) / (a + 4))
__WB double __wb_erfc_of(double a) {
  a = a > 28 ? 28.0 : a;
  double t = (a - 4.0) / (a + 4.0);
  double p = __wb_poly(t, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28fp-3, 0x1.f7f5df66fb854p-7, 0x1.16ecefcfa561fp-4, -0x1.9ddb23c3dbf0bp-4, 0x1.7fee004e0be8fp-4, -0x1.0fb06dff5c307p-4, 0x1.3079edf737b36p-5, -0x1.09623856924e6p-6, 0x1.49c672665b02ap-8, -0x1.8d4abed67f3cap-11, -0x1.a1df229c3fca2p-13, 0x1.3be288cd2912cp-13, -0x1.9957017d4a669p-16, -0x1.78e279f8d2dd6p-17, 0x1.7ef940b732176p-18, 0x1.4cb3925b760fdp-22, -0x1.b78b7b957e642p-21, 0x1.fa28de8d7a072p-25, 0x1.b54978dd360d8p-24, -0x1.463a19c498136p-27, -0x1.3279e61e30ef1p-27) / __builtin_fma(2.0, a, 1.0);
  double q = __nvvm_mul_rn_d(a, a), ql = __builtin_fma(a, a, -q);
  // e^(-a^2) may be subnormal where the product is, and must not be rounded before.
  return __wb_exp(-q, -ql, q > 600 ? 100 : 0) * p * (q > 600 ? 0x1p-100 : 1.0);
}
__WB double __wb_erf_of(double x) { return __builtin_fma(x, __wb_poly(x * x, 0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042be2p-4, -0x1.b82ce31288b47p-6, 0x1.565bcd0e6a2eep-8, -0x1.c02db40035f1ep-11, 0x1.f9a326f7ac5b1p-14, -0x1.f4d25bf9af03ap-17, 0x1.b9e6c38e5cf3dp-20, -0x1.5f73c3bf14b91p-23, 0x1.fcbb312b48443p-27, -0x1.517ce02f1265fp-30, 0x1.9a0fcb5e22c5bp-34, -0x1.b40e7abf9fp-38, 0x1.3c01fd3a74542p-42), x); }
__WB double erf(double x) {
  double a = __builtin_fabs(x);
  double r = a < 1.0 ? __wb_erf_of(a) : 1.0 - __wb_erfc_of(a);
  return __builtin_copysign(x != x ? x : r, x);
}
__WB double erfc(double x) {
  double a = __builtin_fabs(x);
  if (x != x) return x;
  if (a < 0.75) return 1.0 - __wb_erf_of(x);
  double r = __wb_erfc_of(a);
  return x < 0 ? 2.0 - r : r;
}
__WB float erfcf(float x) { return (float)erfc((double)x); }

// Remainders.
struct __wb_mantissa_t { unsigned long long m; int e; }; // m 2^e, m has 53 bits
__WB __wb_mantissa_t __wb_mantissa(double a) {
  long long u = __double_as_longlong(a);
  int e = (int)(u >> 52) - 1075;
  if (e == -1075) {
    int shift = __builtin_clzll(u) - 11;
    return {(unsigned long long)u << shift, -1074 - shift};
  }
  return {(unsigned long long)(u & 0xfffffffffffff) | 0x10000000000000, e};
}
__device__ __attribute__((noinline, nodebug, unused)) static double __wb_modulo(double a, double b, unsigned int *quotient) {
  *quotient = 0;
  if (a < b) return a;
  __wb_mantissa_t x = __wb_mantissa(a), y = __wb_mantissa(b);
  unsigned int q = 0;
  for (int n = x.e - y.e;; n--) {
    q <<= 1;
    if (x.m >= y.m) { x.m -= y.m; q |= 1; }
    if (n == 0) break;
    x.m <<= 1;
  }
  *quotient = q;
  return scalbn((double)x.m, y.e);
}
__WB double fmod(double x, double y) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  if (!(a < __builtin_inf()) || y != y || b == 0) return (x * y) / (x * y);
  unsigned int q;
  return b == __builtin_inf() ? x : __builtin_copysign(__wb_modulo(a, b, &q), x);
}
__WB double remquo(double x, double y, int *quotient) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  *quotient = 0;
  if (!(a < __builtin_inf()) || y != y || b == 0) return (x * y) / (x * y);
  if (b == __builtin_inf()) return x;
  unsigned int q;
  double r = __wb_modulo(a, b, &q), up = b - r;
  if (up < r || up == r && (q & 1)) { r = -up; q++; }
  *quotient = (__double_as_longlong(x) ^ __double_as_longlong(y)) < 0 ? -(int)(q & 7) : (int)(q & 7);
  return r == 0 ? __builtin_copysign(0.0, x) : __double_as_longlong(x) < 0 ? -r : r;
}
__WB double remainder(double x, double y) { int q; return remquo(x, y, &q); }
