// Chunks in streams: copies and kernels of different chunks may overlap.
#include <cstdio>

__global__ void square(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

int main() {
  const int streams = 4, n = 1 << 14, chunk = n / streams;
  float *h, *d;
  cudaMallocHost(&h, n * sizeof(float));
  cudaMalloc(&d, n * sizeof(float));
  for (int i = 0; i < n; i++) h[i] = i % 100;
  cudaStream_t s[streams];
  for (int i = 0; i < streams; i++) cudaStreamCreate(&s[i]);
  for (int i = 0; i < streams; i++) {
    float *from = h + i * chunk, *to = d + i * chunk;
    cudaMemcpyAsync(to, from, chunk * sizeof(float), cudaMemcpyHostToDevice, s[i]);
    square<<<(chunk + 255) / 256, 256, 0, s[i]>>>(to, chunk);
    cudaMemcpyAsync(from, to, chunk * sizeof(float), cudaMemcpyDeviceToHost, s[i]);
  }
  for (int i = 0; i < streams; i++) {
    cudaStreamSynchronize(s[i]);
    cudaStreamDestroy(s[i]);
  }
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += h[i] != (float)(i % 100) * (i % 100);
  printf("%d streams, %d wrong\n", streams, wrong);
  cudaFreeHost(h);
  cudaFree(d);
  return wrong != 0;
}

// status 0
// out: 4 streams, 0 wrong
