__device__ unsigned int finished = 0;
__device__ float partial[1024];
extern "C" __global__ void block_sum_interleaved(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[256];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  s[tid] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (unsigned k = 1; k < blockDim.x; k *= 2) { if (tid % (2 * k) == 0) s[tid] += s[tid + k]; __syncthreads(); }
  if (tid == 0) y[blockIdx.x] = s[0];
}
extern "C" __global__ void reduce_dynamic(const float* x, float* y, int n) {
  extern __shared__ float d[];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  d[tid] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) { if (tid < k) d[tid] += d[tid + k]; __syncthreads(); }
  if (tid == 0) y[blockIdx.x] = d[0];
}
extern "C" __global__ void __launch_bounds__(256, 2) reduce_float4(const float4* x, float* y, int n) {
  __shared__ float s[32]; __shared__ bool last;
  float v = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { float4 a = x[i]; v += (a.x + a.y) + (a.z + a.w); }
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0.f;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x == 0) { partial[blockIdx.x] = v; __threadfence(); last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1; }
  }
  __syncthreads();
  if (last && threadIdx.x == 0) { float t = 0; for (unsigned b = 0; b < gridDim.x; b++) t += ((volatile float*)partial)[b]; *y = t; }
}
