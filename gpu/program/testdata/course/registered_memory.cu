// Memory of malloc that is pinned afterwards, and mapped.
#include <cstdio>
#include <cstdlib>

__global__ void negate(int *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] = -x[i];
}

int main() {
  const int n = 100;
  int *x = (int *)malloc(n * sizeof(int)), *d;
  for (int i = 0; i < n; i++) x[i] = i;
  printf("%s\n", cudaGetErrorName(cudaHostRegister(x, n * sizeof(int), cudaHostRegisterMapped)));
  printf("%s\n", cudaGetErrorName(cudaHostGetDevicePointer(&d, x, 0)));
  negate<<<1, 128>>>(d, n);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s, x[99] = %d\n", cudaGetErrorName(e), x[99]);
  printf("%s\n", cudaGetErrorName(cudaHostUnregister(x)));
  free(x);
}

// status 0
// out: cudaSuccess
// out: cudaSuccess
// out: cudaSuccess, x[99] = -99
// out: cudaSuccess
