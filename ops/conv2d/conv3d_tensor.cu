// Convolution of volumes on tensor cores.

#include "conv2d_tensor.cuh"

extern "C" __global__ void __launch_bounds__(128) conv3d_fp16_mma(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ y, Shape s) { tensor<__half, false>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv3d_fp16_vector(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias, __half* __restrict__ y, Shape s) { tensor<__half, true>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv3d_bf16_mma(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Shape s) { tensor<__nv_bfloat16, false>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv3d_bf16_vector(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Shape s) { tensor<__nv_bfloat16, true>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv3d_tf32_mma(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { tensor<float, false>(x, w, bias, y, s); }
extern "C" __global__ void __launch_bounds__(128) conv3d_tf32_vector(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, Shape s) { tensor<float, true>(x, w, bias, y, s); }
