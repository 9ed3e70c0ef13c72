// Threads of the host and several streams share memory, always where they may.
#include <cstdio>
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

__global__ void twice(float *x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] *= 2;
}

static void *wait_in_read(void *pipe) {
  char c;
  return (void *)read(*(int *)pipe, &c, 1);
}

int main() {
  const int n = 4096;
  float *x, *y, *z;
  cudaMallocManaged(&x, n * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMalloc(&z, 32 * sizeof *z);
  cudaMemset(y, 0, 32 * sizeof *y);
  cudaMemset(z, 0, 32 * sizeof *z);
  for (int i = 0; i < n; i++) x[i] = 1;

  // A stream waits for the legacy stream, and that for another stream.
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  twice<<<1, 32, 0, a>>>(x, 32);
  twice<<<1, 32>>>(y, 32);
  twice<<<1, 32, 0, b>>>(z, 32);
  cudaStreamSynchronize(b);
  printf("%g\n", x[0]);

  // A thread that waits for input can be cancelled.
  int ends[2];
  pthread_t thread;
  void *result = nullptr;
  if (pipe(ends) || pthread_create(&thread, nullptr, wait_in_read, &ends[0])) return 1;
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("%d\n", result == PTHREAD_CANCELED);
  cudaFree(x), cudaFree(y), cudaFree(z), cudaStreamDestroy(a), cudaStreamDestroy(b);
  return 0;
}

// status 0
// out: 2
// out: 1
