#include <cstdio>
__global__ void sum(const int *x, int *y) {
  __shared__ int part[64];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) *y = part[0] + part[40];
}
int main() {
  int *x, *y, total = 1;
  cudaMalloc(&x, 128);
  cudaMalloc(&y, 4);
  sum<<<1, 32>>>(x, y);
  printf("%s\n", cudaGetErrorString(cudaMemcpy(&total, y, 4, cudaMemcpyDeviceToHost)));
  cudaFree(x);
  cudaFree(y);
  return 0;
}

// status 0
// out: no error
// err: warning: sum: ld.global.b32 at never_written.cu:4 .*: uninitialized read: .*; launched at never_written.cu:12
// err: warning: sum: ld.shared.\w+ at never_written.cu:6 .*: uninitialized read: .*; launched at never_written.cu:12
