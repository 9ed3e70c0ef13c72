#include <cstdio>
int main() {
  int *d;
  cudaMalloc(&d, 400);
  cudaFree(d);
  cudaError_t e = cudaFree(d);
  printf("%d %s\n", e, cudaGetErrorName(e));
  cudaMalloc(&d, 400);
  int h[200];
  e = cudaMemcpy(h, d, 800, cudaMemcpyDeviceToHost);
  printf("%d\n", e);
  e = cudaMemcpy(d, h, 400, cudaMemcpyDeviceToHost);
  printf("%d\n", e);
  e = cudaMalloc(&d, (size_t)1 << 50);
  printf("%d\n", e);
}

// status 0
// out: 1 cudaErrorInvalidValue
// out: 1
// out: 1
// out: 2
// err: free_twice.cu:6: error 1: 0x\w+ is no memory of the device: it was freed before, or never allocated
// err: free_twice.cu:10: error 1: source: 800 bytes from byte 0 of the 400 bytes of free_twice.cu:8
// err: free_twice.cu:12: error 1: cudaMemcpyDeviceToHost, and the destination is memory of the device, from free_twice.cu:8
// err: free_twice.cu:14: error 2: 1125899906842624 bytes were asked for
// err: advice: a call returned error 2, and the program never asked: .*
// err: advice: 400 bytes of 1 calls were never freed, allocated at free_twice.cu:8
