// Kernels that keep the device busy for a number of cycles, as exercises on streams have them.
#include <cstdio>

__global__ void busy(long long cycles, int *waited) {
  long long start = clock64();
  while (clock64() - start < cycles) {
  }
  *waited = clock64() - start >= cycles;
}

__global__ void spin(unsigned cycles, int *waited) {
  unsigned start = clock();
  unsigned passed = 0;
  while (passed < cycles) passed = clock() - start;
  *waited = passed >= cycles;
}

int main() {
  const int n = 4;
  int *waited;
  cudaMallocManaged(&waited, 2 * n * sizeof(int));
  cudaStream_t streams[n];
  for (int i = 0; i < n; i++) {
    cudaStreamCreate(&streams[i]);
    busy<<<1, 1, 0, streams[i]>>>(2000000000LL, waited + 2 * i);
    spin<<<1, 1, 0, streams[i]>>>(1000000000, waited + 2 * i + 1);
  }
  cudaDeviceSynchronize();
  for (int i = 0; i < 2 * n; i++) printf("%d ", waited[i]);
  printf("\n");
  for (int i = 0; i < n; i++) cudaStreamDestroy(streams[i]);
  cudaFree(waited);
}

// status 0
// out: 1 1 1 1 1 1 1 1 
