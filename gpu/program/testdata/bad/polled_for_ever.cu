// A kernel polls a flag that the host sets too late: it waits for the kernel before.
#include <cstdio>
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void await(volatile int *flag) {
  while (*flag == 0) {}
}

int main() {
  int *flag;
  cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
  *flag = 0;
  await<<<1, 1>>>(flag);
  usleep(50000);
  cudaError_t e = cudaDeviceSynchronize();
  *flag = 1;
  printf("%s\n", cudaGetErrorName(e));
  cudaFreeHost(flag);
}

// status 0
// out: cudaErrorLaunchTimeout
// err: await: ld.volatile.global.b32 at polled_for_ever.cu:7 .*: endless wait: no thread can go on: .*; the host waits at polled_for_ever.cu:16: while \(\*flag == 0\) {}; launched at polled_for_ever.cu:14
