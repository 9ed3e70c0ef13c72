// The largest value and its place, by a structure in shared memory.
#include <cfloat>
#include <cstdio>
#include <vector>

struct Best {
  float value;
  int index;
};
__host__ __device__ inline Best better(Best a, Best b) {
  if (b.value > a.value || (b.value == a.value && b.index < a.index)) return b;
  return a;
}

__global__ void argmax(const float *x, int n, Best *out) {
  __shared__ Best s[128];
  Best own = {-FLT_MAX, -1};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own = better(own, Best{x[i], i});
  s[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) s[threadIdx.x] = better(s[threadIdx.x], s[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

int main() {
  const int n = 5000, blocks = 6;
  std::vector<float> x(n);
  for (int i = 0; i < n; i++) x[i] = (i * 193) % 4999;
  x[1234] = x[4321] = 7777;
  float *d;
  Best *out, best[blocks];
  cudaMalloc(&d, n * sizeof(float));
  cudaMalloc(&out, sizeof best);
  cudaMemcpy(d, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  argmax<<<blocks, 128>>>(d, n, out);
  cudaMemcpy(best, out, sizeof best, cudaMemcpyDeviceToHost);
  for (int i = 1; i < blocks; i++) best[0] = better(best[0], best[i]);
  printf("%g at %d\n", best[0].value, best[0].index);
  cudaFree(d), cudaFree(out);
}

// status 0
// out: 7777 at 1234
