// Variables and kernels of one source: static, in a namespace without a name, and of both sides.
#include <cstdio>

static __constant__ float weights[4];
static __device__ int counter;
namespace {
__device__ int calls;
__global__ void call() { calls++; }
} // namespace
__managed__ int total = 7;

template <typename T>
struct Box {
  T value;
};
template <typename T>
static __global__ void fill(T *p, Box<T> box) {
  p[threadIdx.x] = box.value * weights[threadIdx.x & 3];
  atomicAdd(&counter, 1);
}
__global__ void add(int n) { total += n; }

int main() {
  float w[4] = {1, 2, 3, 4}, *p;
  printf("total begins with %d\n", total);
  cudaMemcpyToSymbol(weights, w, sizeof w);
  cudaMallocManaged(&p, 4 * sizeof(float));
  fill<<<1, 4>>>(p, Box<float>{2});
  call<<<1, 1>>>();
  add<<<1, 1>>>(3);
  cudaError_t e = cudaDeviceSynchronize();
  int counted = 0, called = 0;
  cudaMemcpyFromSymbol(&counted, counter, sizeof counted);
  cudaMemcpyFromSymbol(&called, calls, sizeof called);
  printf("%s: %g %g, %d threads, %d call, total %d\n", cudaGetErrorString(e), p[0], p[3], counted, called, total);
  total = 100;
  add<<<1, 1>>>(1);
  cudaDeviceSynchronize();
  printf("total %d\n", total);
  cudaFree(p);
}

// status 0
// out: total begins with 7
// out: no error: 2 8, 4 threads, 1 call, total 10
// out: total 101
