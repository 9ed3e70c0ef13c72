// The fault of a thread whose page another thread has opened before its handler: the access
// is made again.
#include <csignal>
#include <cstdio>
#include <cuda_runtime.h>
#include <sys/syscall.h>
#include <unistd.h>

__global__ void twice(float *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  const int n = 4096;
  float *x;
  cudaMallocManaged(&x, n * sizeof *x);
  for (int i = 0; i < n; i++) x[i] = 1;
  twice<<<1, 32>>>(x, 32);
  x[n - 1] = 7;
  siginfo_t fault = {};
  fault.si_code = SEGV_ACCERR;
  fault.si_addr = &x[n - 2];
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV, &fault);
  cudaDeviceSynchronize();
  printf("%g %g\n", x[0], x[n - 1]);
  cudaFree(x);
  return 0;
}

// status 0
// out: 2 7
