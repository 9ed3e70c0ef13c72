#include <cstdio>
#include <cuda_bf16.h>

__global__ void squares(const __nv_bfloat16 *x, float *y) {
  float f = __bfloat162float(x[threadIdx.x]);
  y[threadIdx.x] = f * f;
}

int main() {
  const int n = 8;
  // Ties go to even, and a double is rounded once.
  double values[n] = {1, 1.00390625, 1.01171875, 1.0039062500000002, -3.3, 1e-40, 3.4e38, 0.1};
  __nv_bfloat16 host[n], *x;
  float *y, out[n];
  for (int i = 0; i < n; i++) host[i] = __double2bfloat16(values[i]);
  for (int i = 0; i < 3; i++) printf("%g %g\n", __bfloat162float(host[i]), __bfloat162float(__float2bfloat16((float)values[i])));
  printf("%g %g\n", __bfloat162float(host[3]), __bfloat162float(host[4]));
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof out);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  squares<<<1, n>>>(x, y);
  cudaMemcpy(out, y, sizeof out, cudaMemcpyDeviceToHost);
  printf("%g %g\n", out[4], out[7]);
  cudaFree(x), cudaFree(y);
  return 0;
}

// status 0
// out: 1 1
// out: 1 1
// out: 1.01562 1.01562
// out: 1.00781 -3.29688
// out: 10.8694 0.0100195
