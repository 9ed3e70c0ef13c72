//! as reduce_v6, which the notes lack, is of ours
//! right ^the ans is right$
//! shows ^(the ans is wrong)$
#include <algorithm>
//@ 000:99 28-38
template <int blockSize> __global__ void reduce_v6(const float *d_in, float *d_out, int n) {
  __shared__ float smem[blockSize];
  float s = 0;
  for (int i = blockIdx.x * blockSize + threadIdx.x; i < n; i += blockSize * gridDim.x) s += d_in[i];
  smem[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockSize / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) smem[threadIdx.x] += smem[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) d_out[blockIdx.x] = smem[0];
}
//@ 000:1031
