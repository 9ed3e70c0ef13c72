// Launches by a configuration, and arguments that are converted to the kernel's.
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void fill(float *out, int n, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}
__global__ void sum(float *x, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] += 1;
  grid.sync();
  if (grid.thread_rank() == 0)
    for (int i = 1; i < n; i++) x[0] += x[i];
}

int main() {
  const int n = 100;
  float *x, first;
  cudaMalloc(&x, n * sizeof(float));
  cudaLaunchConfig_t config = {0};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  printf("%s\n", cudaGetErrorString(cudaLaunchKernelEx(&config, fill, x, n, 2)));
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeCooperative;
  attribute[0].val.cooperative = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  printf("%s\n", cudaGetErrorString(cudaLaunchKernelEx(&config, sum, x, n)));
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
  printf("%g\n", first);
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim = {2, 1, 1};
  cudaLaunchKernelEx(&config, fill, x, n, 3.5);
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
  printf("%g\n", first);
  cudaFree(x);
}

// status 0
// out: no error
// out: no error
// out: 300
// out: 3.5
