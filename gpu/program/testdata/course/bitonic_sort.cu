// A bitonic sort in global memory, one launch for each step.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

__global__ void step(unsigned *x, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  bool up = (i & k) == 0;
  if ((x[i] > x[other]) == up) {
    unsigned t = x[i];
    x[i] = x[other];
    x[other] = t;
  }
}

int main() {
  const int n = 1 << 10;
  std::mt19937 random(42);
  std::vector<unsigned> x(n);
  for (auto &v : x) v = random();
  std::vector<unsigned> want = x;
  std::sort(want.begin(), want.end());
  unsigned *d;
  cudaMalloc(&d, n * sizeof(unsigned));
  cudaMemcpy(d, x.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  int launches = 0;
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2, launches++) step<<<n / 256, 256>>>(d, j, k);
  cudaMemcpy(x.data(), d, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  printf("%d launches, sorted: %s\n", launches, x == want ? "yes" : "no");
  cudaFree(d);
}

// status 0
// out: 55 launches, sorted: yes
