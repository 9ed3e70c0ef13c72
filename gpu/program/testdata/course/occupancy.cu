// A block size that the occupancy calculator chooses.
#include <cstdio>

__global__ void scale(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 3;
}

int main() {
  const int n = 10000;
  int *x, least = 0, block = 0, active = 0;
  cudaMallocManaged(&x, n * sizeof(int));
  for (int i = 0; i < n; i++) x[i] = i;
  cudaOccupancyMaxPotentialBlockSize(&least, &block, scale, 0, 0);
  int grid = (n + block - 1) / block;
  scale<<<grid, block>>>(x, n);
  cudaDeviceSynchronize();
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, scale, block, 0);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  double occupancy = (double)active * block / p.maxThreadsPerMultiProcessor;
  printf("a multiple of a warp: %d, occupancy above a half: %d, x[n - 1] = %d\n", block % 32 == 0, occupancy > 0.5, x[n - 1]);
  cudaFree(x);
}

// status 0
// out: a multiple of a warp: 1, occupancy above a half: 1, x[n - 1] = 29997
