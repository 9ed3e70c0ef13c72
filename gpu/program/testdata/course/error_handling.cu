// Errors that programs ask for, and go on after. A launch of no valid shape is
// cudaErrorInvalidConfiguration until CUDA 12, and with CUDA 13.0 on a GPU cudaErrorInvalidValue.
#include <cstdio>

__global__ void empty() {}

const char *shape(cudaError_t e) {
  return e == cudaErrorInvalidConfiguration || e == cudaErrorInvalidValue ? "refused" : cudaGetErrorName(e);
}

int main() {
  empty<<<1, 2048>>>();
  printf("too many threads: %s\n", shape(cudaGetLastError()));
  empty<<<0, 32>>>();
  printf("no blocks: %s\n", shape(cudaPeekAtLastError()));
  printf("again: %s\n", shape(cudaGetLastError()));
  printf("then: %s\n", cudaGetErrorName(cudaGetLastError()));
  void *p;
  printf("too much memory: %s\n", cudaGetErrorString(cudaMalloc(&p, (size_t)1 << 50)));
  cudaGetLastError();
  printf("no such device: %s\n", cudaGetErrorString(cudaSetDevice(100)));
  cudaGetLastError();
  empty<<<1, 32>>>();
  printf("a good launch: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// status 0
// out: too many threads: refused
// out: no blocks: refused
// out: again: refused
// out: then: cudaSuccess
// out: too much memory: out of memory
// out: no such device: invalid device ordinal
// out: a good launch: no error
// err: error_handling.cu:12: error 9: launch of blocks of \(2048,1,1\) threads: expected at most 1024, and \(1024,1024,64\)
// err: error_handling.cu:14: error 9: launch of a grid of \(0,1,1\) blocks of \(32,1,1\) threads: no size may be 0
// err: error_handling.cu:19: error 2: 1125899906842624 bytes were asked for
// err: error_handling.cu:21: error 101: device 100, and there is device 0 only
