#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reduce_tile(const float* x, float* y, int n) {
  cg::thread_block b = cg::this_thread_block();
  cg::thread_block_tile<32> t = cg::tiled_partition<32>(b);
  float v = 0.f;
  for (int i = b.group_index().x * b.size() + b.thread_rank(); i < n; i += gridDim.x * b.size()) v += x[i];
  v = cg::reduce(t, v, cg::plus<float>());
  if (t.thread_rank() == 0) atomicAdd(y, v);
}
extern "C" __global__ void coalesced_count(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) { auto g = cg::coalesced_threads(); int p; if (g.thread_rank() == 0) p = atomicAdd(y, g.size()); p = g.shfl(p, 0); y[1 + p + g.thread_rank()] = x[i]; }
}
extern "C" __global__ void reduce_int(const int* x, int* y) {
  cg::thread_block b = cg::this_thread_block(); auto t = cg::tiled_partition<8>(b);
  int v = cg::reduce(t, x[b.thread_rank()], cg::greater<int>());
  b.sync(); auto l = cg::labeled_partition(cg::coalesced_threads(), v & 1);
  y[b.thread_rank()] = v + l.size();
}
