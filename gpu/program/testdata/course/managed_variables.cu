// Variables that both sides share.
#include <cstdio>

__device__ __managed__ int total = 5;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void add(int v) {
  atomicAdd(&total, v);
  if (threadIdx.x < 4) table[threadIdx.x] *= 10;
}

__managed__ int seen;

__global__ void fill(int *to, int v) { to[threadIdx.x] += v; }
__global__ void read(const float *from) { seen = (int)from[2]; }

int main() {
  total += 1;
  add<<<1, 8>>>(2);
  cudaDeviceSynchronize();
  printf("total %d, table %g %g\n", total, table[0], table[3]);
  table[1] = 7;
  add<<<1, 4>>>(0);
  cudaDeviceSynchronize();
  printf("table[1] %g\n", table[1]);

  // The host writes other elements and variables while kernels run.
  fill<<<1, 1>>>(&total, 100);
  seen = -1;
  read<<<1, 1>>>(table);
  table[3] = 8;
  add<<<1, 2>>>(0);
  table[2] = 6;
  cudaDeviceSynchronize();
  bool either = seen == 300 || seen == 6; // as the host writes while the kernel runs
  printf("total %d, seen %d, table %g %g %g\n", total, either, table[0], table[2], table[3]);

  // Calls take the variables as memory and as symbols.
  float four[4] = {4, 5, 6, 7}, back[4];
  cudaMemcpy(table, four, sizeof four, cudaMemcpyHostToDevice);
  read<<<1, 1>>>(table);
  cudaMemcpy(back, table, sizeof back, cudaMemcpyDeviceToHost);
  cudaMemset(&total, 0, sizeof total);
  cudaMemcpyToSymbol(seen, &total, sizeof total);
  printf("back %g, total %d, seen %d\n", back[3], total, seen);
}

// status 0
// out: total 22, table 10 40
// out: table[1] 70
// out: total 122, seen 1, table 1000 6 8
// out: back 7, total 0, seen 0
