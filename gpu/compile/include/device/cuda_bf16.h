// The 16-bit type with the range of float: __nv_bfloat16, __nv_bfloat162, and their functions.
#pragma once
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__
#include "warpbook/half.h"
// The host of a whole program has no functions of these names: its functions are these.
#pragma push_macro("__WB")
#undef __WB
#define __WB __WB_BOTH

typedef __bf16 __wb_bf16;
typedef __bf16 __attribute__((ext_vector_type(2))) __wb_bf16x2;
__WB_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw, __wb_bf16, __wb_bf16x2)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__WB_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __wb_bf16, __wb_bf16x2, bfloat16, bfloat162)

__WB __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16((__wb_bf16)x); }
__WB __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16((__wb_bf16)x); }
__WB __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16((__wb_bf16)x); }
__WB float __bfloat162float(__nv_bfloat16 x) { return (float)x.v; }
__WB __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__float2bfloat16(x), __float2bfloat16(x)); }
__WB __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__float2bfloat16(x), __float2bfloat16(y)); }
__WB __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __floats2bfloat162_rn(x.x, x.y); }
__WB float2 __bfloat1622float2(__nv_bfloat162 x) { return {(float)x.x.v, (float)x.y.v}; }
__WB __nv_bfloat16 __wb_bfloat16_toward(float x, unsigned int add) {
  unsigned int u = __float_as_uint(x);
  if ((u & 0x7fffffff) > 0x7f800000) return __builtin_bit_cast(__nv_bfloat16, (unsigned short)0x7fff);
  if ((u & 0x7fffffff) == 0x7f800000) add = 0;
  return __builtin_bit_cast(__nv_bfloat16, (unsigned short)((u + add) >> 16));
}
__WB __nv_bfloat16 __float2bfloat16_rz(float x) { return __wb_bfloat16_toward(x, 0); }
__WB __nv_bfloat16 __float2bfloat16_ru(float x) { return __wb_bfloat16_toward(x, __float_as_int(x) < 0 ? 0 : 0xffff); }
__WB __nv_bfloat16 __float2bfloat16_rd(float x) { return __wb_bfloat16_toward(x, __float_as_int(x) < 0 ? 0xffff : 0); }
__WB_HALF_INTEGERS(bfloat16, __nv_bfloat16, __wb_bf16)
#pragma pop_macro("__WB")
