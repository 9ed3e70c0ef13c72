// Times by events, and an event that orders two streams.
#include <cstdio>

__global__ void fill(int *x, int n, int value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value + i;
}
__global__ void copy(const int *x, int *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}

int main() {
  const int n = 1000;
  int *x, *y, h[n];
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t start, filled, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaEventRecord(start, a);
  fill<<<1, 128, 0, a>>>(x, n, 7);
  cudaEventRecord(filled, a);
  cudaStreamWaitEvent(b, filled, 0);
  copy<<<1, 128, 0, b>>>(x, y, n);
  cudaEventRecord(stop, b);
  cudaEventSynchronize(stop);
  float ms = -1;
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  printf("y[999] = %d, elapsed %s, query: %s\n", h[999], ms >= 0 ? "positive" : "negative", cudaGetErrorName(cudaEventQuery(stop)));
  cudaEventDestroy(start);
  cudaEventDestroy(filled);
  cudaEventDestroy(stop);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
}

// status 0
// out: y[999] = 1006, elapsed positive, query: cudaSuccess
