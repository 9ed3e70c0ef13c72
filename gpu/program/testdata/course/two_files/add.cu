#include "vector.cuh"

__global__ static void kernel(const Vec *a, const Vec *b, Vec *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
void addAll(const Vec *a, const Vec *b, Vec *c, int n) {
  Vec *d;
  cudaMalloc(&d, 3 * n * sizeof(Vec));
  cudaMemcpy(d, a, n * sizeof(Vec), cudaMemcpyHostToDevice);
  cudaMemcpy(d + n, b, n * sizeof(Vec), cudaMemcpyHostToDevice);
  kernel<<<(n + 63) / 64, 64>>>(d, d + n, d + 2 * n, n);
  cudaMemcpy(c, d + 2 * n, n * sizeof(Vec), cudaMemcpyDeviceToHost);
  cudaFree(d);
}
float dotOnHost(const Vec *a, const Vec *b, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i].dot(b[i]);
  return s;
}
