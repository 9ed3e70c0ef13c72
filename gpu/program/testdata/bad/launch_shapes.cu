// Launches that no device takes are errors of the call: the next one runs.
#include <cstdio>
#include <cooperative_groups.h>

__global__ void fill(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = n;
}
__global__ void meet(int *x) {
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *x += 1;
}

int main() {
  int *x, read = 0;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(16);
  config.blockDim = dim3(32);
  cudaLaunchAttribute cluster[1];
  cluster[0].id = cudaLaunchAttributeClusterDimension;
  config.attrs = cluster;
  config.numAttrs = 1;
  const unsigned sizes[] = {16, 3, 256, 0, 2};
  for (int i = 0; i < 5; i++) {
    cluster[0].val.clusterDim = {sizes[i], 1, 1};
    printf("%u: %s\n", sizes[i], cudaGetErrorString(cudaLaunchKernelEx(&config, fill, x, 64)));
  }
  for (int blocks = 100000; blocks > 0; blocks /= 10000) { // as many as fit
    void *arguments[] = {&x};
    cudaError_t e = cudaLaunchCooperativeKernel((void *)meet, dim3(blocks), dim3(64), arguments, 0, 0);
    printf("%d: %s\n", blocks, cudaGetErrorString(e));
    if (e == cudaSuccess) break;
  }
  cudaGetLastError();
  cudaMemcpy(&read, x, sizeof read, cudaMemcpyDeviceToHost);
  printf("%d\n", read);
  cudaFree(x);
}

// status 0
// out: 16: invalid cluster size
// out: 3: invalid cluster size
// out: 256: invalid cluster size
// out: 0: invalid cluster size
// out: 2: no error
// out: 100000: too many blocks in cooperative launch
// out: 10: no error
// out: 65
// err: launch_shapes.cu:27: error 912: clusters of \(16,1,1\) blocks in a grid of \(16,1,1\): expected at most 8 blocks, and sizes that divide those of the grid
// err: launch_shapes.cu:27: error 912: clusters of \(3,1,1\) blocks .*
// err: launch_shapes.cu:27: error 912: clusters of \(256,1,1\) blocks .*
// err: launch_shapes.cu:27: error 912: clusters of \(0,1,1\) blocks .*
// err: launch_shapes.cu:31: error 720: cooperative launch of 100000 blocks: the device holds \d+ of them at a time
