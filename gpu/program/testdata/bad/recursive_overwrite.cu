// A store before the array of a recursive function, where the frame has its return address.
#include <cstdio>

__device__ __noinline__ int sum(int n, int at) {
  int a[4] = {n, n + 1, n + 2, n + 3};
  a[n + at] = 77;
  int below = n > 0 ? sum(n - 1, at) : 0;
  return below + a[(n + at) & 3];
}
__global__ void kernel(int at, int *out) { *out = sum(1, at); }

int main() {
  int *out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1>>>(0, out);
  cudaDeviceSynchronize();
  printf("%d\n", *out);
  kernel<<<1, 1>>>(-1, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
}

// status 0
// out: 154
// out: an illegal memory access was encountered
// err: kernel: brx.idx at recursive_overwrite.cu:\d+ .*: out of bounds: the return address of a recursive call was overwritten, by a store outside of a local array, block \(0,0,0\) thread \(0,0,0\): .*; launched at recursive_overwrite.cu:18
