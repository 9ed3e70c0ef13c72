// A recursion that is deeper than the stack of a GPU, and one without an end, which is deeper than any.
#include <cstdio>

__device__ __noinline__ int count(int n, const int *above) {
  int here[2] = {n, above[1]};
  return n == 0 ? above[0] : count(n - 1, here) + above[n % 2];
}
__global__ void kernel(int n, int *out) {
  int first[2] = {1, 2};
  *out = count(n, first);
}

int main() {
  int *out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1>>>(10, out); // in the stack that a GPU gives unasked
  cudaDeviceSetLimit(cudaLimitStackSize, 16384);
  kernel<<<1, 1>>>(100, out);
  cudaDeviceSynchronize();
  printf("%d\n", *out);
  cudaDeviceReset(); // resets the limit, too
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1>>>(100, out);
  cudaDeviceSynchronize();
  printf("%d\n", *out);
  kernel<<<1, 1>>>(-1, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
  return 0;
}

// status 0
// out: 2601
// out: 2601
// out: an illegal memory access was encountered
// err: warning: kernel: call deep at deep_recursion.cu:6 .*: out of bounds: a recursion needs up to 1\d\d\d bytes of stack on a GPU, \d\d\d here, and cudaLimitStackSize is 1024: beyond its stack a GPU faults or overwrites memory: recurse less, or set the limit by cudaDeviceSetLimit before the launch, block \(0,0,0\) thread \(0,0,0\): return .*; launched at deep_recursion.cu:23
// err: kernel: call deep at deep_recursion.cu:6 .*: out of bounds: a recursion deeper than the emulator's 32 KiB per thread, whatever cudaLimitStackSize is, block \(0,0,0\) thread \(0,0,0\): return .*; launched at deep_recursion.cu:26
