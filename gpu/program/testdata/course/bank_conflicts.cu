// A transpose with and without a padded tile: the same result.
#include <cstdio>
#include <vector>

template <int PAD> __global__ void transpose(const int *in, int *out, int n) {
  __shared__ int tile[32][32 + PAD];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int n = 96;
  std::vector<int> h(n * n), t(n * n);
  for (int i = 0; i < n * n; i++) h[i] = i;
  int *in, *out;
  cudaMalloc(&in, n * n * sizeof(int));
  cudaMalloc(&out, n * n * sizeof(int));
  cudaMemcpy(in, h.data(), n * n * sizeof(int), cudaMemcpyHostToDevice);
  for (int pad = 0; pad < 2; pad++) {
    cudaMemset(out, 0, n * n * sizeof(int));
    if (pad) transpose<1><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(in, out, n);
    else transpose<0><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(in, out, n);
    cudaMemcpy(t.data(), out, n * n * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) wrong += t[i * n + j] != h[j * n + i];
    printf("padding %d: %d wrong\n", pad, wrong);
  }
  cudaFree(in);
  cudaFree(out);
}

// status 0
// out: padding 0: 0 wrong
// out: padding 1: 0 wrong
