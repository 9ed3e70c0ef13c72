// A histogram of characters, private to each block and then added up.
#include <cstdio>
#include <cstring>

const char text[] = "the quick brown fox jumps over the lazy dog, and the dog sleeps on";

__global__ void histogram(const char *data, int n, unsigned *bins) {
  __shared__ unsigned own[26];
  if (threadIdx.x < 26) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int letter = data[i] - 'a';
    if (letter >= 0 && letter < 26) atomicAdd(&own[letter], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 26 && own[threadIdx.x] > 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main() {
  const int n = (int)strlen(text);
  char *d_text;
  unsigned *d_bins, bins[26];
  cudaMalloc(&d_text, n);
  cudaMalloc(&d_bins, sizeof bins);
  cudaMemcpy(d_text, text, n, cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, sizeof bins);
  histogram<<<2, 32>>>(d_text, n, d_bins);
  cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 26; i++)
    if (bins[i] > 2) printf("%c: %u\n", 'a' + i, bins[i]);
  cudaFree(d_text);
  cudaFree(d_bins);
}

// status 0
// out: d: 3
// out: e: 6
// out: h: 3
// out: n: 3
// out: o: 6
// out: s: 3
// out: t: 3
