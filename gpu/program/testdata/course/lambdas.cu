// Lambdas for the device, which nvcc takes with --extended-lambda.
#include <cstdio>

template <class F> __global__ void forEach(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

int main() {
  const int n = 100;
  int *x;
  cudaMallocManaged(&x, n * sizeof(int));
  int factor = 3;
  forEach<<<1, 128>>>(n, [=] __device__(int i) { x[i] = factor * i; });
  forEach<<<1, 128>>>(n, [=] __device__(int i) { x[i] += 1; });
  cudaDeviceSynchronize();
  long sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  printf("sum %ld\n", sum);
  cudaFree(x);
}

// status 0
// out: sum 14950
