// Mathematics: float, double, the overloads of C++, and the functions that are refused.
#pragma once
#include "math_float.h"
#include "math_double.h"

#define __WB_FINITE(type, inf, fabs, bits)                                                  \
  constexpr __WB bool isnan(type x) { return x != x; }                                      \
  constexpr __WB bool isinf(type x) { return fabs(x) == inf(); }                            \
  constexpr __WB bool isfinite(type x) { return fabs(x) < inf(); }                          \
  __WB bool signbit(type x) { return bits(x) < 0; }
__WB_FINITE(float, __builtin_inff, __builtin_fabsf, __float_as_int)
__WB_FINITE(double, __builtin_inf, __builtin_fabs, __double_as_longlong)
#undef __WB_FINITE
__WB bool isnormal(float x) { return isfinite(x) && __builtin_fabsf(x) >= 0x1p-126f; }
__WB bool isnormal(double x) { return isfinite(x) && __builtin_fabs(x) >= 0x1p-1022; }

template <class T> struct __wb_integer {};
#define __WB_INTEGER(type) template <> struct __wb_integer<type> { typedef double as_double; };
__WB_INTEGER(bool)
__WB_INTEGER(char)
__WB_INTEGER(signed char)
__WB_INTEGER(unsigned char)
__WB_INTEGER(short)
__WB_INTEGER(unsigned short)
__WB_INTEGER(int)
__WB_INTEGER(unsigned int)
__WB_INTEGER(long)
__WB_INTEGER(unsigned long)
__WB_INTEGER(long long)
__WB_INTEGER(unsigned long long)
#undef __WB_INTEGER

// One argument: float has its own function, an integer is taken as double.
#define __WB_ONE(result, name)                                                              \
  __WB result name(float x) { return name##f(x); }                                          \
  template <class T> __WB typename __wb_integer<T>::as_double name(T x) { return name((double)x); }
#define __WB_TWO(name)                                                                      \
  __WB float name(float x, float y) { return name##f(x, y); }                               \
  __WB double name(double x, float y) { return name(x, (double)y); }                        \
  __WB double name(float x, double y) { return name((double)x, y); }                        \
  template <class T> __WB typename __wb_integer<T>::as_double name(double x, T y) { return name(x, (double)y); } \
  template <class T> __WB typename __wb_integer<T>::as_double name(T x, double y) { return name((double)x, y); } \
  template <class T> __WB typename __wb_integer<T>::as_double name(float x, T y) { return name((double)x, (double)y); } \
  template <class T> __WB typename __wb_integer<T>::as_double name(T x, float y) { return name((double)x, (double)y); } \
  template <class T, class U, class = typename __wb_integer<T>::as_double>                  \
  __WB typename __wb_integer<U>::as_double name(T x, U y) { return name((double)x, (double)y); }
#define __WB_EACH(f)                                                                        \
  f(fabs) f(floor) f(ceil) f(trunc) f(rint) f(nearbyint) f(round) f(sqrt) f(rsqrt) f(exp) f(exp2) f(exp10) f(expm1) \
  f(log) f(log2) f(log10) f(log1p) f(logb) f(sin) f(cos) f(tan) f(sinpi) f(cospi) f(asin) f(acos) f(atan) f(sinh) \
  f(cosh) f(tanh) f(asinh) f(acosh) f(atanh) f(cbrt) f(rcbrt) f(erf) f(erfc)
#define __WB_ONE_FLOAT(name) __WB_ONE(float, name)
__WB_EACH(__WB_ONE_FLOAT)
#undef __WB_ONE_FLOAT
__WB_ONE(int, ilogb)
__WB_ONE(long, lrint)
__WB_ONE(long, lround)
__WB_ONE(long long, llrint)
__WB_ONE(long long, llround)
__WB_TWO(pow)
__WB_TWO(atan2)
__WB_TWO(fmod)
__WB_TWO(remainder)
__WB_TWO(hypot)
__WB_TWO(fmin)
__WB_TWO(fmax)
__WB_TWO(fdim)
__WB_TWO(copysign)
__WB_TWO(nextafter)
#undef __WB_EACH
#undef __WB_ONE
#undef __WB_TWO
__WB float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__WB float ldexp(float x, int n) { return ldexpf(x, n); }
__WB float scalbn(float x, int n) { return scalbnf(x, n); }
__WB float scalbln(float x, long n) { return scalblnf(x, n); }
__WB float frexp(float x, int *e) { return frexpf(x, e); }
__WB float modf(float x, float *whole) { return modff(x, whole); }
__WB float remquo(float x, float y, int *q) { return remquof(x, y, q); }
__WB void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
__WB float abs(float x) { return __builtin_fabsf(x); }
__WB double abs(double x) { return __builtin_fabs(x); }
__WB_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
__WB_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
__WB_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
__WB_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
__WB_BOTH double min(float a, double b) { return __builtin_fmin(a, b); }
__WB_BOTH double max(float a, double b) { return __builtin_fmax(a, b); }
__WB_BOTH double min(double a, float b) { return __builtin_fmin(a, b); }
__WB_BOTH double max(double a, float b) { return __builtin_fmax(a, b); }

// Functions of NVIDIA's headers that these do not have.
#define __WB_MISSING1(name)                                                                 \
  __WB_REFUSED(name) __WB double name(double) { return 0; }                                 \
  __WB_REFUSED(name##f) __WB float name##f(float) { return 0; }
#define __WB_MISSING2(name)                                                                 \
  __WB_REFUSED(name) __WB double name(int, double) { return 0; }                            \
  __WB_REFUSED(name##f) __WB float name##f(int, float) { return 0; }
__WB_MISSING1(j0)
__WB_MISSING1(j1)
__WB_MISSING2(jn)
__WB_MISSING1(y0)
__WB_MISSING1(y1)
__WB_MISSING2(yn)
__WB_MISSING1(cyl_bessel_i0)
__WB_MISSING1(cyl_bessel_i1)
__WB_MISSING1(normcdf)
__WB_MISSING1(normcdfinv)
__WB_MISSING1(erfinv)
__WB_MISSING1(erfcinv)
__WB_MISSING1(erfcx)
__WB_MISSING1(lgamma)
__WB_MISSING1(tgamma)
#undef __WB_MISSING1
#undef __WB_MISSING2
