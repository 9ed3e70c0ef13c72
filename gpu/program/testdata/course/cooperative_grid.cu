// A whole grid waits: a sum in one launch.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void sum(const float *x, float *parts, float *total, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  __shared__ float s[4];
  float v = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) v += x[i];
  for (int d = warp.size() / 2; d > 0; d /= 2) v += warp.shfl_down(v, d);
  if (warp.thread_rank() == 0) s[block.thread_rank() / 32] = v;
  block.sync();
  if (block.thread_rank() == 0) parts[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
  grid.sync();
  if (grid.thread_rank() == 0) {
    *total = 0;
    for (int i = 0; i < gridDim.x; i++) *total += parts[i];
  }
}

int main() {
  int can = 0;
  cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
  if (!can) return 1;
  int n = 4096;
  float *x, *parts, *total;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&parts, 8 * sizeof(float));
  cudaMallocManaged(&total, sizeof(float));
  for (int i = 0; i < n; i++) x[i] = i % 8;
  void *args[] = {&x, &parts, &total, &n};
  cudaError_t e = cudaLaunchCooperativeKernel((void *)sum, dim3(8), dim3(128), args, 0, 0);
  if (e == cudaSuccess) e = cudaDeviceSynchronize();
  printf("%s, total %g\n", cudaGetErrorString(e), *total);
  cudaFree(x);
  cudaFree(parts);
  cudaFree(total);
}

// status 0
// out: no error, total 14336
