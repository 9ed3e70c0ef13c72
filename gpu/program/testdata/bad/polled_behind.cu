// A kernel polls memory that a kernel in another stream writes. A GPU may run both at once; here
// one comes after the other, and the fault says so. The host waits in a call that need not wait.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void await(volatile int *flag) {
  while (*flag == 0) {}
}
__global__ void set(volatile int *flag, int v) { *flag = v; }

int main() {
  int *flag;
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreate(&t);
  cudaMalloc(&flag, sizeof *flag);
  set<<<1, 1>>>(flag, 1);
  await<<<1, 1>>>(flag);
  set<<<1, 1>>>(flag, 0);
  cudaDeviceSynchronize();
  await<<<1, 1, 0, s>>>(flag);
  set<<<1, 1, 0, t>>>(flag, 1);
  size_t available, total;
  printf("%s\n", cudaGetErrorName(cudaMemGetInfo(&available, &total)));
  cudaFree(flag);
}

// status 0
// out: cudaErrorLaunchTimeout
// err: await: ld.volatile.global.b32 at polled_behind.cu:7 .*: endless wait: .*; work of another stream has not begun, because here one piece of work runs at a time, and a GPU may begin it: .*; the host waits at polled_behind.cu:23, and a GPU may let it go on: here each call that needs an answer waits for the launches before it; make the call before the launch: while \(\*flag == 0\) {}; launched at polled_behind.cu:20
