// Numbers of 8 bits: e4m3, without infinities, and e5m2. The conversions are those of the
// instructions that GPUs have since compute capability 8.9: to nearest even, and beyond the
// range to the largest number or to NaN or infinity.
#pragma once
#include "cuda_fp16.h"
#include "cuda_bf16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

__WB_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  const int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const int largest = kind == __NV_E4M3 ? 0x7e : 0x7b, nan = 0x7f, infinity = kind == __NV_E4M3 ? nan : 0x7c;
  unsigned long long bits = __builtin_bit_cast(unsigned long long, v);
  int sign = (int)(bits >> 63) << 7, exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  unsigned long long mantissa = bits & 0xfffffffffffffull;
  if (exponent == 1024 && mantissa) return nan;
  int magnitude = infinity;
  if (exponent < 20) {
    // Units of the last place: those of the smallest exponent for subnormals.
    int least = 1 - bias, at = exponent < least ? least : exponent, shift = 52 - fraction + (at - exponent);
    unsigned long long whole = exponent == -1023 ? 0 : mantissa | 1ull << 52;
    unsigned long long n = shift > 63 ? 0 : whole >> shift, rest = shift > 63 ? whole : whole & ((1ull << shift) - 1), half = shift > 63 ? ~0ull : 1ull << (shift - 1);
    if (rest > half || (rest == half && (n & 1))) n++;
    magnitude = (int)n + ((at - least) << fraction); // a carry goes into the exponent
  }
  if (magnitude > largest) magnitude = saturate == __NV_SATFINITE ? largest : infinity;
  return (__nv_fp8_storage_t)(sign | magnitude);
}
__WB_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) { return __nv_cvt_double_to_fp8(v, saturate, kind); }
__WB_BOTH float __wb_fp8_to_float(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) {
  const int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  int magnitude = v & 0x7f, exponent = magnitude >> fraction, mantissa = magnitude & ((1 << fraction) - 1);
  float sign = v & 0x80 ? -1.0f : 1.0f;
  if ((kind == __NV_E4M3 && magnitude == 0x7f) || (kind == __NV_E5M2 && magnitude > 0x7c)) return __builtin_bit_cast(float, 0x7fffffffu);
  if (kind == __NV_E5M2 && magnitude == 0x7c) return sign * __builtin_inff();
  if (exponent == 0) return sign * mantissa * __builtin_bit_cast(float, (unsigned int)(127 + 1 - bias - fraction) << 23);
  return sign * __builtin_bit_cast(float, (unsigned int)(exponent - bias + 127) << 23 | (unsigned int)mantissa << (23 - fraction));
}
__WB __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) { return __nv_cvt_float_to_fp8(__half2float(__half(v)), saturate, kind); }
__WB __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) { return (__half_raw)__float2half(__wb_fp8_to_float(v, kind)); }
__WB_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.x, saturate, kind) | __nv_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}

#define __WB_FP8(name, kind)                                                                              \
  struct name {                                                                                           \
    __nv_fp8_storage_t __x;                                                                               \
    name() = default;                                                                                     \
    __WB_MEMBER explicit name(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, kind)) {}           \
    __WB_MEMBER explicit name(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, kind)) {}         \
    __WB_MEMBER explicit name(int v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, kind)) {}            \
    __WB_MEMBER explicit name(__half v) : __x(__nv_cvt_float_to_fp8(__half2float(v), __NV_SATFINITE, kind)) {} \
    __WB_MEMBER explicit name(__nv_bfloat16 v) : __x(__nv_cvt_float_to_fp8(__bfloat162float(v), __NV_SATFINITE, kind)) {} \
    __WB_MEMBER explicit operator float() const { return __wb_fp8_to_float(__x, kind); }                  \
    __WB_MEMBER explicit operator double() const { return __wb_fp8_to_float(__x, kind); }                 \
    __WB_MEMBER explicit operator __half() const { return __float2half(__wb_fp8_to_float(__x, kind)); }   \
    __WB_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }                              \
  };                                                                                                      \
  struct __wb_x2_##name {                                                                                    \
    __nv_fp8x2_storage_t __x;                                                                             \
    __WB_MEMBER explicit __wb_x2_##name(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {} \
    __WB_MEMBER explicit operator float2() const {                                                        \
      return {__wb_fp8_to_float((__nv_fp8_storage_t)__x, kind), __wb_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), kind)}; \
    }                                                                                                     \
  };
__WB_FP8(__nv_fp8_e4m3, __NV_E4M3)
__WB_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef __WB_FP8
typedef __wb_x2___nv_fp8_e4m3 __nv_fp8x2_e4m3;
typedef __wb_x2___nv_fp8_e5m2 __nv_fp8x2_e5m2;
