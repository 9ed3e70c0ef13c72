#include <cstdio>
#include <cuda_runtime.h>

__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
__global__ void beyond(float *x, int n) { x[n + threadIdx.x] = 1; }

int main() {
  float *x;
  cudaMallocManaged(&x, 4096);
  for (int i = 0; i < 1024; i++) x[i] = 1;
  twice<<<1, 32>>>(x);
  beyond<<<1, 32>>>(x, 1 << 20);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%g\n", x[3]); // the program has waited, as far as it can
  cudaFree(x);
  return 0;
}

// status 0
// out: cudaErrorIllegalAddress
// out: 2
// err: beyond: st.global.b32 at fault_then_read.cu:5 .*: out of bounds: .*; launched at fault_then_read.cu:12
