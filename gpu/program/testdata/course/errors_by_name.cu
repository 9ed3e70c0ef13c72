#include <cstdio>
#include <cuda_runtime.h>

int main() {
  void *p;
  cudaError_t e = cudaMalloc(&p, 1ull << 50);
  printf("%s\n", e == cudaSuccess ? "allocated" : cudaGetErrorString(e));
  return 0;
}

// status 0
// out: out of memory
// err: errors_by_name.cu:6: error 2: 1125899906842624 bytes were asked for
