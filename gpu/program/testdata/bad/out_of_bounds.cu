#include <cstdio>
#include <cassert>
__global__ void k(int *x, int n) {
  int i = threadIdx.x;
  x[i + n] = 1;
}
__global__ void a(int n) { assert(n == 3); }
int main(int argc, char **) {
  int *d;
  cudaMalloc(&d, 400);
  if (argc > 1) a<<<2, 32>>>(4); else
  k<<<1, 128>>>(d, 0);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorString(cudaFree(d)));
  k<<<1, 2048>>>(d, 0);
}

// status 0
// out: no error
// out: an illegal memory access was encountered
// out: an illegal memory access was encountered
// err: k: st.global.b32 at out_of_bounds.cu:5 .*: out of bounds: 4 bytes at address 0x\w+ end 4 bytes past buffer of cudaMalloc at out_of_bounds.cu:10 \(400 bytes\), argument 0, block \(0,0,0\) thread \(100,0,0\): x\[i \+ n\] = 1;; launched at out_of_bounds.cu:12
