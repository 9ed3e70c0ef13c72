#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void axpy_half2(const __half2* x, __half2* y, __half a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}
extern "C" __global__ void mixed(const __half* x, const __nv_bfloat16* b, float* y, __half* h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = __half2float(x[i]) * __bfloat162float(b[i]); y[i] = v; h[i] = hexp(__float2half(v)); atomicAdd(h + n, __float2half(v)); if (__hgt(h[i], x[i])) h[i] = hsqrt(x[i]); }
}
