// A condition that the device checks, and does not hold.
#include <cassert>
#include <cstdio>

__global__ void kernel(int *x) {
  assert(threadIdx.x < 40 && "too many threads");
  x[threadIdx.x] = threadIdx.x;
}

int main() {
  int *x;
  cudaMalloc(&x, 64 * sizeof(int));
  kernel<<<1, 32>>>(x);
  printf("32 threads: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  kernel<<<1, 64>>>(x);
  cudaError_t e = cudaDeviceSynchronize();
  printf("64 threads: %s, %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
  printf("after it: %s\n", cudaGetErrorName(cudaMemset(x, 0, 4)));
  return e == cudaErrorAssert ? 3 : 0;
}

// status 3
// out: 32 threads: cudaSuccess
// out: 64 threads: cudaErrorAssert, device-side assert triggered
// out: after it: cudaErrorAssert
// err: kernel: call __assertfail at assertion.cu:6 .*assertion threadIdx.x < 40 && "too many threads" failed.*; launched at assertion.cu:15
// err: advice: 256 bytes of 1 calls were never freed, allocated at assertion.cu:12
