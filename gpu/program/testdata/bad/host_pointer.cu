#include <cstdio>
#include <cstdlib>
__global__ void k(int *x) { x[threadIdx.x] = 1; }
int main() {
  int *h = (int *)malloc(4000);
  k<<<1, 32>>>(h);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 3;
}

// status 3
// out: an illegal memory access was encountered
// out: an illegal memory access was encountered
// err: k: st.global.b32 at host_pointer.cu:3 .*: out of bounds: address 0x\w+ is memory of the host \(its heap\): copy it by cudaMemcpy to memory of cudaMalloc, .*; launched at host_pointer.cu:6
