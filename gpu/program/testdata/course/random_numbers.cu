// Random numbers in kernels by both generators. The expected numbers are those of cuRAND 10.3's
// own headers, compiled by NVRTC 12.0.
#include <cstdio>
#include <curand_kernel.h>

__global__ void integers(unsigned *out) {
  int i = threadIdx.x;
  curandState s;
  curand_init(1234ULL + (7ULL << 40), i * 37ULL + ((unsigned long long)i << 50), i * 1000, &s);
  curandStatePhilox4_32_10_t p;
  curand_init(99 + (3ULL << 33), i * 5, i, &p);
  for (int n = 0; n < 4; n++) {
    out[i * 12 + n] = curand(&s);
    out[i * 12 + 4 + n] = curand(&p);
  }
  uint4 q = curand4(&p);
  out[i * 12 + 8] = q.x;
  out[i * 12 + 9] = q.w;
  skipahead(5, &s);
  skipahead_sequence(3, &s);
  out[i * 12 + 10] = curand(&s);
  skipahead(6, &p);
  out[i * 12 + 11] = curand(&p);
}

// Monte Carlo: pi by points in a square, and the moments of normal numbers.
__global__ void setup(curandState *states) { curand_init(2026, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void sample(curandState *states, int n, int *inside, double *sums) {
  curandState s = states[threadIdx.x];
  int count = 0;
  double first = 0, second = 0;
  for (int i = 0; i < n; i++) {
    float x = curand_uniform(&s), y = curand_uniform(&s);
    count += x * x + y * y <= 1;
    double v = i % 2 ? curand_normal(&s) : curand_normal_double(&s);
    first += v, second += v * v;
  }
  states[threadIdx.x] = s;
  atomicAdd(inside, count);
  atomicAdd(&sums[0], first);
  atomicAdd(&sums[1], second);
}

int main() {
  unsigned *out, host[3 * 12];
  cudaMalloc(&out, sizeof host);
  integers<<<1, 3>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 36; i++) printf("%08x%c", host[i], i % 6 == 5 ? '\n' : ' ');

  const int threads = 128, n = 100;
  curandState *states;
  int *inside, count;
  double *sums, moments[2];
  cudaMalloc(&states, threads * sizeof(curandState));
  cudaMalloc(&inside, sizeof(int));
  cudaMalloc(&sums, sizeof moments);
  cudaMemset(inside, 0, sizeof(int));
  cudaMemset(sums, 0, sizeof moments);
  setup<<<1, threads>>>(states);
  sample<<<1, threads>>>(states, n, inside, sums);
  cudaMemcpy(&count, inside, sizeof count, cudaMemcpyDeviceToHost);
  cudaMemcpy(moments, sums, sizeof moments, cudaMemcpyDeviceToHost);
  double all = threads * n, pi = 4 * count / all, mean = moments[0] / all, variance = moments[1] / all - mean * mean;
  printf("pi %s, mean %s, variance %s\n", pi > 3.1 && pi < 3.18 ? "ok" : "wrong", mean > -0.05 && mean < 0.05 ? "ok" : "wrong", variance > 0.95 && variance < 1.05 ? "ok" : "wrong");
  cudaFree(out);
  cudaFree(states);
  cudaFree(inside);
  cudaFree(sums);
}

// status 0
// out: bc8fa115 06a7c904 dbb27fb2 49936494 6c2fe1b0 bca402d1
// out: 231d1bf3 8813c158 be9294ec 96375289 699eeda4 6ed3ed21
// out: c3152821 955aae86 0551f8c8 dbd1355d bbcd3559 fce87c0f
// out: 6d058b5f ddf4519c a9dbc8ce 0d9aef9a 1f9bb9f0 b211739b
// out: 3fa5e9cc 54e182b9 7e474f8e f71a9768 af3208bc 0b6b1a08
// out: ad17330b 8eda8cd6 3da85ff8 e7553a8c a02db9cf fbfabd6d
// out: pi ok, mean ok, variance ok
