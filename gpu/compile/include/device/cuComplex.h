// Complex numbers.
#pragma once
#include "cuda_runtime.h"
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// The scale of a quotient and of a magnitude keeps squares in range.
#define __WB_COMPLEX(C, T, f, abs_, sqrt_)                                                    \
  __WB_BOTH T cuCreal##f(C a) { return a.x; }                                                \
  __WB_BOTH T cuCimag##f(C a) { return a.y; }                                                \
  __WB_BOTH C cuConj##f(C a) { return {a.x, -a.y}; }                                         \
  __WB_BOTH C cuCadd##f(C a, C b) { return {a.x + b.x, a.y + b.y}; }                         \
  __WB_BOTH C cuCsub##f(C a, C b) { return {a.x - b.x, a.y - b.y}; }                         \
  __WB_BOTH C cuCmul##f(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  __WB_BOTH C cuCfma##f(C a, C b, C c) {                                                     \
    return {(a.x * b.x + c.x) - a.y * b.y, (a.y * b.x + c.y) + a.x * b.y};                   \
  }                                                                                          \
  __WB_BOTH C cuCdiv##f(C a, C b) {                                                          \
    T s = 1 / (abs_(b.x) + abs_(b.y));                                                       \
    T ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s, n = 1 / (bx * bx + by * by);   \
    return {(ax * bx + ay * by) * n, (ay * bx - ax * by) * n};                               \
  }                                                                                          \
  __WB_BOTH T cuCabs##f(C a) {                                                               \
    T x = abs_(a.x), y = abs_(a.y), most = x > y ? x : y, least = x > y ? y : x;             \
    if (most == 0 || most - most != 0 || least - least != 0) return x + y;                   \
    T q = least / most;                                                                      \
    return most * sqrt_(1 + q * q);                                                          \
  }
__WB_COMPLEX(cuFloatComplex, float, f, fabsf, sqrtf)
__WB_COMPLEX(cuDoubleComplex, double, , fabs, sqrt)
#undef __WB_COMPLEX
__WB_BOTH cuFloatComplex make_cuFloatComplex(float x, float y) { return {x, y}; }
__WB_BOTH cuDoubleComplex make_cuDoubleComplex(double x, double y) { return {x, y}; }
__WB_BOTH cuComplex make_cuComplex(float x, float y) { return {x, y}; }
__WB_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
__WB_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return {(float)a.x, (float)a.y}; }
#endif
