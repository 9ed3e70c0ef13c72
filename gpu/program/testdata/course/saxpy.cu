#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

__constant__ float scale;
__device__ int counter;

__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i] * scale;
  if (i < n) atomicAdd(&counter, 1);
  if (i == 0) printf("hello from thread %d\n", i);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  float *x = (float *)malloc(n * sizeof(float)), *y = (float *)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y, n * sizeof(float), cudaMemcpyHostToDevice);
  float s = 3;
  cudaMemcpyToSymbol(scale, &s, sizeof s);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
  cudaEventRecord(stop);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  float ms;
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  int c;
  cudaMemcpyFromSymbol(&c, counter, sizeof c);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += y[i] != 2 * x[i] + 3;
  printf("%d wrong, counter %d, %s\n", wrong, c, ms > 0 ? "timed" : "no time");
  cudaFree(dx);
  return wrong != 0 || c != n;
}

// status 0
// out: hello from thread 0
// out: no error
// out: 0 wrong, counter 1000, timed
// err: advice: 4000 bytes of 1 calls were never freed, allocated at saxpy.cu:21
