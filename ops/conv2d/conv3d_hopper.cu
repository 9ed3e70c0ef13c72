// Convolution of volumes on Hopper's tensor cores: conv2d_hopper.cu with depth. Channels lie
// innermost in x, w and y.

#include "conv2d_product.cuh"

// x under each of t * r * s taps comes from L2, as the copy engine's im2col mode of five
// directions finds it: 128 places.
extern "C" __global__ void HOPPER conv3d_tf32_wgmma(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 128, each_tap, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_fp16_wgmma(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 128, each_tap, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_bf16_wgmma(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 128, each_tap, true>(x, w, bias, y, c); }

// A box of one depth of x with its halo comes for r * s taps, which read it in shared
// memory: x comes t times. With two or four depths of y in the rows of a product, of few
// channels, it comes half as often, and filters that some rows have not are zeros.
extern "C" __global__ void HOPPER conv3d_tf32_halo(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 64, in_rows, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_tf32_halo_of_232(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 232, in_rows, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_fp16_halo(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 64, in_rows, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_fp16_halo_of_232(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 232, in_rows, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_bf16_halo(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 64, in_rows, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv3d_bf16_halo_of_232(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 232, in_rows, true>(x, w, bias, y, c); }
