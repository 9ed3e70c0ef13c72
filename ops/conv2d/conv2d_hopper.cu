// Convolution on Hopper's tensor cores: implicit GEMM of float16, bfloat16, or float32
// rounded to TF32, with sums in float32. Channels lie innermost in x, w and y.

#include "conv2d_product.cuh"

// x under each tap comes from L2, as the copy engine's im2col mode finds it: 128 places.
extern "C" __global__ void HOPPER conv2d_fp16_wgmma(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 128, each_tap>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_wgmma(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 128, each_tap>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_wgmma(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 128, each_tap>(x, w, bias, y, c); }

// A box of x with its halo comes once: whole rows of an image, so that 64, 208 or 232 columns
// of the product are mostly places. A pixel is a row of 128 bytes, whose vectors are exchanged.
extern "C" __global__ void HOPPER conv2d_fp16_halo(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 64, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_halo_of_208(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 208, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_halo_of_232(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 232, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 64, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo_of_208(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 208, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo_of_232(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 232, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 64, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo_of_208(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 208, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo_of_232(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 232, in_rows>(x, w, bias, y, c); }
