// A polynomial whose coefficients are in constant memory.
#include <math.h>
#include <stdio.h>

#define DEGREE 4
__constant__ float coefficients[DEGREE + 1];

__global__ void evaluate(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = 0;
  for (int k = DEGREE; k >= 0; k--) v = v * x[i] + coefficients[k];
  y[i] = v;
}

int main() {
  float c[DEGREE + 1] = {1, -2, 0.5f, 0, 3}, x[5] = {-2, -1, 0, 1, 2}, y[5], *d_x, *d_y;
  cudaMemcpyToSymbol(coefficients, c, sizeof(c));
  cudaMalloc((void **)&d_x, sizeof(x));
  cudaMalloc((void **)&d_y, sizeof(y));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  evaluate<<<1, 32>>>(d_x, d_y, 5);
  cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 5; i++) printf("p(%g) = %g\n", x[i], y[i]);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}

// status 0
// out: p(-2) = 55
// out: p(-1) = 6.5
// out: p(0) = 1
// out: p(1) = 2.5
// out: p(2) = 47
