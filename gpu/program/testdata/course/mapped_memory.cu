// A dot product of mapped memory of the host: no copies.
#include <cstdio>

__global__ void dot(const float *a, const float *b, float *c, int n) {
  __shared__ float cache[64];
  float t = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) t += a[i] * b[i];
  cache[threadIdx.x] = t;
  __syncthreads();
  for (int i = blockDim.x / 2; i != 0; i /= 2) {
    if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = cache[0];
}

int main() {
  const int n = 2000, blocks = 4;
  cudaSetDeviceFlags(cudaDeviceMapHost);
  float *a, *b, *c, *d_a, *d_b, *d_c;
  cudaHostAlloc(&a, n * sizeof(float), cudaHostAllocWriteCombined | cudaHostAllocMapped);
  cudaHostAlloc(&b, n * sizeof(float), cudaHostAllocWriteCombined | cudaHostAllocMapped);
  cudaHostAlloc(&c, blocks * sizeof(float), cudaHostAllocMapped);
  for (int i = 0; i < n; i++) a[i] = i % 10, b[i] = 2;
  cudaHostGetDevicePointer(&d_a, a, 0);
  cudaHostGetDevicePointer(&d_b, b, 0);
  cudaHostGetDevicePointer(&d_c, c, 0);
  dot<<<blocks, 64>>>(d_a, d_b, d_c, n);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < blocks; i++) sum += c[i];
  printf("dot %g\n", sum);
  cudaFreeHost(a), cudaFreeHost(b), cudaFreeHost(c);
}

// status 0
// out: dot 18000
