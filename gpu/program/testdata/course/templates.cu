// One kernel for several types and operations.
#include <cstdio>

template <typename T> struct Sum {
  static __device__ T identity() { return 0; }
  static __device__ T apply(T a, T b) { return a + b; }
};
template <typename T> struct Max {
  static __device__ T identity() { return -1000; }
  static __device__ T apply(T a, T b) { return a > b ? a : b; }
};

template <typename T, template <typename> class Op, int BLOCK> __global__ void reduce(const T *x, int n, T *out) {
  __shared__ T s[BLOCK];
  T v = Op<T>::identity();
  for (int i = threadIdx.x; i < n; i += BLOCK) v = Op<T>::apply(v, x[i]);
  s[threadIdx.x] = v;
  __syncthreads();
#pragma unroll
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] = Op<T>::apply(s[threadIdx.x], s[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s[0];
}

template <typename T, template <typename> class Op> T run(int n) {
  T *x, *out;
  cudaMallocManaged(&x, n * sizeof(T));
  cudaMallocManaged(&out, sizeof(T));
  for (int i = 0; i < n; i++) x[i] = (T)((i * 37) % 101 - 50);
  reduce<T, Op, 64><<<1, 64>>>(x, n, out);
  cudaDeviceSynchronize();
  T result = *out;
  cudaFree(x);
  cudaFree(out);
  return result;
}

int main() {
  printf("int: sum %d, max %d\n", run<int, Sum>(1000), run<int, Max>(1000));
  printf("double: sum %g, max %g\n", run<double, Sum>(1000), run<double, Max>(1000));
  printf("short: max %d\n", run<short, Max>(1000));
}

// status 0
// out: int: sum 10, max 50
// out: double: sum 10, max 50
// out: short: max 50
