// A kernel works on memory that was freed.
#include <cstdio>

__global__ void set(int *x) { x[threadIdx.x] = 1; }

int main() {
  int *x;
  cudaMalloc(&x, 128);
  cudaFree(x);
  set<<<1, 32>>>(x);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

// status 0
// out: cudaErrorIllegalAddress
// err: set: st.global.b32 at use_after_free.cu:4 .*; launched at use_after_free.cu:10
