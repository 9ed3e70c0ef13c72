// printf of kernels appears at synchronisations.
#include <cstdio>

__global__ void hello(const char *unused) {
  if (threadIdx.x == 0) printf("block %d of %d: %5.2f %s %c %lld %%\n", blockIdx.x, gridDim.x, 3.14159, "text", 'c', 1LL << 40);
}
__global__ void order(int n) {
  for (int i = 0; i < n; i++) printf("%d ", i);
  printf("\n");
}

int main() {
  printf("host first\n");
  hello<<<1, 32>>>(nullptr);
  cudaDeviceSynchronize();
  printf("host again\n");
  order<<<1, 1>>>(5);
  cudaDeviceSynchronize();
}

// status 0
// out: host first
// out: block 0 of 1:  3.14 text c 1099511627776 %
// out: host again
// out: 0 1 2 3 4 
