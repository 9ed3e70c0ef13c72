// Variables of the device that the host sets, reads and asks for.
#include <cstdio>

__device__ int counter;
__device__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void count(int limit) {
  if (threadIdx.x < limit) atomicAdd(&counter, 1);
}
__global__ void scale(float f) { table[threadIdx.x] *= f; }

int main() {
  int zero = 0, n;
  cudaMemcpyToSymbol(counter, &zero, sizeof zero);
  count<<<3, 64>>>(40);
  cudaMemcpyFromSymbol(&n, counter, sizeof n);
  scale<<<1, 8>>>(0.5f);
  float t[8], middle;
  cudaMemcpyFromSymbol(t, table, sizeof t);
  cudaMemcpyFromSymbol(&middle, table, sizeof middle, 3 * sizeof(float));
  void *address;
  size_t size;
  cudaGetSymbolAddress(&address, table);
  cudaGetSymbolSize(&size, table);
  cudaMemset(address, 0, 4);
  float first;
  cudaMemcpy(&first, address, 4, cudaMemcpyDeviceToHost);
  printf("counter %d, table %g..%g, [3] %g, %zu bytes, first now %g\n", n, t[0], t[7], middle, size, first);
}

// status 0
// out: counter 120, table 0.5..4, [3] 2, 32 bytes, first now 0
