// Pi by random points, with a generator of its own in each thread.
#include <cmath>
#include <cstdio>

__device__ unsigned next(unsigned &state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

__global__ void throwDarts(unsigned long long *hits, int each) {
  unsigned state = 2654435761u * (blockIdx.x * blockDim.x + threadIdx.x + 1);
  int inside = 0;
  for (int i = 0; i < each; i++) {
    float x = next(state) / 4294967296.0f, y = next(state) / 4294967296.0f;
    if (x * x + y * y <= 1.0f) inside++;
  }
  atomicAdd(hits, (unsigned long long)inside);
}

int main() {
  const int blocks = 16, threads = 64, each = 100;
  unsigned long long *d, hits = 0;
  cudaMalloc(&d, sizeof hits);
  cudaMemcpy(d, &hits, sizeof hits, cudaMemcpyHostToDevice);
  throwDarts<<<blocks, threads>>>(d, each);
  cudaMemcpy(&hits, d, sizeof hits, cudaMemcpyDeviceToHost);
  double pi = 4.0 * hits / ((double)blocks * threads * each);
  printf("%d points, pi is near: %s\n", blocks * threads * each, fabs(pi - 3.14159) < 0.02 ? "yes" : "no");
  cudaFree(d);
}

// status 0
// out: 102400 points, pi is near: yes
