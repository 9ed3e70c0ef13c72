// Sums of warps by shuffles, and votes.
#include <cstdio>

__inline__ __device__ int warpSum(int v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__global__ void kernel(const int *x, int *sums, unsigned *odd) {
  int i = threadIdx.x, lane = i % 32, warp = i / 32;
  int s = warpSum(x[i]);
  unsigned ballot = __ballot_sync(0xffffffff, x[i] & 1);
  if (lane == 0) sums[warp] = s, odd[warp] = __popc(ballot);
}

// One lane adds for all that are there, and tells them where it began.
__global__ void thirds(int *count, int *out) {
  if (threadIdx.x % 3 != 0) return;
  unsigned mask = __activemask();
  int lane = threadIdx.x % 32, leader = __ffs(mask) - 1, first;
  if (lane == leader) first = atomicAdd(count, __popc(mask));
  first = __shfl_sync(mask, first, leader);
  out[first + __popc(mask & ((1u << lane) - 1))] = threadIdx.x;
}

int main() {
  int x[96], sums[3], *d_x, *d_sums;
  unsigned odd[3], *d_odd;
  for (int i = 0; i < 96; i++) x[i] = i;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_sums, sizeof sums);
  cudaMalloc(&d_odd, sizeof odd);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  kernel<<<1, 96>>>(d_x, d_sums, d_odd);
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaMemcpy(odd, d_odd, sizeof odd, cudaMemcpyDeviceToHost);
  for (int w = 0; w < 3; w++) printf("warp %d: sum %d, %u odd\n", w, sums[w], odd[w]);
  int count = 0, *d_count, *d_out;
  cudaMalloc(&d_count, sizeof count);
  cudaMalloc(&d_out, sizeof x);
  cudaMemset(d_count, 0, sizeof count);
  thirds<<<1, 96>>>(d_count, d_out);
  cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost);
  printf("%d thirds\n", count);
  cudaFree(d_count), cudaFree(d_out), cudaFree(d_x), cudaFree(d_sums), cudaFree(d_odd);
}

// status 0
// out: warp 0: sum 496, 16 odd
// out: warp 1: sum 1520, 16 odd
// out: warp 2: sum 2544, 16 odd
// out: 32 thirds
