// A sum of ten values by shuffles with a full mask: lanes 10 to 31 do not come.
#include <cstdio>

__global__ void sum(const int *x, int *out) {
  int v = 0;
  if (threadIdx.x < 10) {
    v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0x3ff, v, d);
  }
  if (threadIdx.x == 0) *out = v;
}

int main() {
  int h[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, *x, *out;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, 4);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(x, out);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(x);
  cudaFree(out);
}

// status 0
// out: cudaSuccess
// err: warning: sum: shfl.sync.down.b32 at absent_lanes.cu:8 .*invalid lane mask: .*; launched at absent_lanes.cu:18
