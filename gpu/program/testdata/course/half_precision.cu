// Numbers of 16 bits, two at a time.
#include <cuda_fp16.h>
#include <stdio.h>

__global__ void axpy(int n, float a, const half2 *x, half2 *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  half2 factor = __float2half2_rn(a);
  if (i < n) y[i] = __hfma2(factor, x[i], y[i]);
}
__global__ void toFloat(const half *x, float *y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = __half2float(x[i]);
}

int main() {
  const int n = 64;
  half h[n], *x, *y;
  float *f, out[n];
  for (int i = 0; i < n; i++) h[i] = __float2half(i * 0.25f);
  cudaMalloc(&x, sizeof h), cudaMalloc(&y, sizeof h), cudaMalloc(&f, sizeof out);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(y, h, sizeof h, cudaMemcpyHostToDevice);
  axpy<<<1, n / 2>>>(n / 2, 2.0f, (half2 *)x, (half2 *)y);
  toFloat<<<1, n>>>(y, f, n);
  cudaMemcpy(out, f, sizeof out, cudaMemcpyDeviceToHost);
  printf("%g %g %g\n", out[1], out[10], out[63]);
  cudaFree(x), cudaFree(y), cudaFree(f);
}

// status 0
// out: 0.75 7.5 47.25
