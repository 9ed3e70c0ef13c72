// A sum in managed memory: the host writes and reads what the kernel does.
#include <cstdio>

__global__ void sum(const int *x, int n, long long *total) {
  __shared__ long long part[128];
  long long own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += x[i];
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd((unsigned long long *)total, (unsigned long long)part[0]);
}

int main() {
  const int n = 100000;
  int *x;
  long long *total;
  cudaMallocManaged(&x, n * sizeof(int));
  cudaMallocManaged(&total, sizeof(long long));
  for (int i = 0; i < n; i++) x[i] = i - 1000;
  *total = 0;
#if CUDART_VERSION >= 13000
  cudaMemPrefetchAsync(x, n * sizeof(int), {cudaMemLocationTypeDevice, 0}, 0);
#else
  cudaMemPrefetchAsync(x, n * sizeof(int), 0);
#endif
  sum<<<8, 128>>>(x, n, total);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s: %lld, expected %lld\n", cudaGetErrorName(e), *total, (long long)n * (n - 1) / 2 - 1000LL * n);
  cudaFree(x);
  cudaFree(total);
}

// status 0
// out: cudaSuccess: 4899950000, expected 4899950000
