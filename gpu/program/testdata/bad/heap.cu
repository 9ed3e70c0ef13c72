#include <cstdio>
__device__ int *kept;
__global__ void keep() { kept = new int[4]; }
__global__ void again(int *x) { delete[] x; }
__global__ void past() { kept[4] = 1; }
__global__ void twice() {
  char *p = (char *)malloc(4);
  free(p);
  free(p);
}
int main() {
  twice<<<1, 1>>>();
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaDeviceReset();
  keep<<<1, 1>>>();
  int *d;
  cudaMalloc(&d, 16);
  past<<<1, 1>>>();
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaDeviceReset();
  keep<<<1, 1>>>();
  cudaMalloc(&d, 16);
  again<<<1, 1>>>(d);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// status 0
// out: an illegal memory access was encountered
// out: an illegal memory access was encountered
// out: unspecified launch failure
// err: twice: call free at heap.cu:9 .*: use after free: free of 0x\w+, which is malloc at heap.cu:7 and was freed before, .*; launched at heap.cu:12
// err: past: st.b32 at heap.cu:5 .*: out of bounds: 4 bytes at address 0x\w+ end 4 bytes past malloc at heap.cu:3 \(16 bytes\), .*; launched at heap.cu:18
// err: again: call free at heap.cu:4 .*: invalid argument: free of 0x\w+, which is no memory of malloc: kernels free what kernels allocate, .*; launched at heap.cu:23
// err: advice: 16 bytes of 1 calls were never freed, allocated at heap.cu:22
// err: advice: kernels never freed 1 blocks of 16 bytes, malloc at heap.cu:3
