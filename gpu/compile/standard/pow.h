// Powers with an exponent of int. NVRTC 12.0 has them call a function without code, which
// the comment before each names.
#pragma once
static __device__ /* powif() */ __forceinline__ float pow(float x, int n) { return powf(x, (float)n); }
static __device__ /* powi() */ __forceinline__ double pow(double x, int n) { return pow(x, (double)n); }
