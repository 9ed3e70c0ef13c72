// An inclusive prefix sum: blocks, then the sums of blocks, then both.
#include <cstdio>
#include <cstdlib>

const int BLOCK = 256;

__global__ void scanBlocks(const int *in, int *out, int *sums, int n) {
  __shared__ int s[2][BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x, from = 0;
  s[0][threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < BLOCK; d *= 2) {
    s[1 - from][threadIdx.x] = s[from][threadIdx.x] + (threadIdx.x >= d ? s[from][threadIdx.x - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = s[from][threadIdx.x];
  if (sums && threadIdx.x == BLOCK - 1) sums[blockIdx.x] = s[from][threadIdx.x];
}
__global__ void addSums(int *out, const int *sums, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

int main() {
  const int n = 10000, blocks = (n + BLOCK - 1) / BLOCK;
  int *h = (int *)malloc(n * sizeof(int)), *in, *out, *sums;
  srand(1);
  for (int i = 0; i < n; i++) h[i] = rand() % 10;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
  scanBlocks<<<blocks, BLOCK>>>(in, out, sums, n);
  scanBlocks<<<1, BLOCK>>>(sums, sums, nullptr, blocks);
  addSums<<<blocks, BLOCK>>>(out, sums, n);
  int *got = (int *)malloc(n * sizeof(int)), sum = 0, wrong = 0;
  cudaMemcpy(got, out, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) wrong += got[i] != (sum += h[i]);
  printf("%d blocks, %d wrong, the last is right: %d\n", blocks, wrong, got[n - 1] == sum);
  cudaFree(in), cudaFree(out), cudaFree(sums);
  free(h), free(got);
  return wrong ? 2 : 0;
}

// status 0
// out: 40 blocks, 0 wrong, the last is right: 1
