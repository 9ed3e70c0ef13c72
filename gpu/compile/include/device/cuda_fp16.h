// Half precision: __half, __half2, and their functions.
#pragma once
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__
#include "warpbook/half.h"
// The host of a whole program has no functions of these names: its functions are these.
#pragma push_macro("__WB")
#undef __WB
#define __WB __WB_BOTH

typedef _Float16 __wb_f16;
typedef _Float16 __attribute__((ext_vector_type(2))) __wb_f16x2;
__WB_HALF_TYPE(__half, __half2, __half_raw, __half2_raw, __wb_f16, __wb_f16x2)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
__WB_HALF_FUNCTIONS(__half, __half2, __half_raw, __wb_f16, __wb_f16x2, half, half2)

// Conversions whose names are of this type only.
__WB __half __float2half(float x) { return __half((__wb_f16)x); }
__WB __half __float2half_rn(float x) { return __half((__wb_f16)x); }
__WB __half __double2half(double x) { return __half((__wb_f16)x); }
__WB float __half2float(__half x) { return (float)x.v; }
__WB __half2 __float2half2_rn(float x) { return __half2(__half((__wb_f16)x), __half((__wb_f16)x)); }
__WB __half2 __floats2half2_rn(float x, float y) { return __half2(__half((__wb_f16)x), __half((__wb_f16)y)); }
__WB __half2 __float22half2_rn(float2 x) { return __floats2half2_rn(x.x, x.y); }
__WB float2 __half22float2(__half2 x) { return {(float)x.x.v, (float)x.y.v}; }
#define __WB_ROUNDED(ending, mode)                                                          \
  __WB __half __float2half_##ending(float x) {                                              \
    unsigned short r;                                                                       \
    asm("{.reg .b16 h; cvt." mode ".f16.f32 h, %1; mov.b16 %0, h;}" : "=h"(r) : "f"(x));    \
    return __builtin_bit_cast(__half, r);                                                   \
  }
__WB_ROUNDED(rz, "rz")
__WB_ROUNDED(ru, "rp")
__WB_ROUNDED(rd, "rm")
#undef __WB_ROUNDED
__WB_HALF_INTEGERS(half, __half, __wb_f16)
#pragma pop_macro("__WB")
