// Two arrays in dynamic shared memory, and more of it than 48 KiB.
#include <cstdio>

extern __shared__ char memory[];

__global__ void reverse(int *x, float *y, int n) {
  int *a = (int *)memory;
  float *b = (float *)(memory + n * sizeof(int));
  int i = threadIdx.x;
  a[i] = x[i];
  b[i] = y[i];
  __syncthreads();
  x[i] = a[n - 1 - i];
  y[i] = b[n - 1 - i];
}
__global__ void large(int *sum, int n) {
  int *s = (int *)memory;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int i = 0; i < n; i += 1000) total += s[i];
    *sum = total;
  }
}

int main() {
  const int n = 64;
  int *x, *sum;
  float *y;
  cudaMallocManaged(&x, n * sizeof(int));
  cudaMallocManaged(&y, n * sizeof(float));
  cudaMallocManaged(&sum, sizeof(int));
  for (int i = 0; i < n; i++) x[i] = i, y[i] = 0.5f * i;
  reverse<<<1, n, n * (sizeof(int) + sizeof(float))>>>(x, y, n);
  cudaDeviceSynchronize();
  printf("x[0] = %d, y[0] = %g\n", x[0], y[0]);
  const int bytes = 60 << 10;
  cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  large<<<1, 128, bytes>>>(sum, bytes / 4);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s, sum %d\n", cudaGetErrorName(e), *sum);
  cudaFree(x), cudaFree(y), cudaFree(sum);
}

// status 0
// out: x[0] = 63, y[0] = 31.5
// out: cudaSuccess, sum 120000
