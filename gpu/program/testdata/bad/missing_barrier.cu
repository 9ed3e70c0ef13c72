// A block reverses its numbers and forgets the barrier.
#include <cstdio>

__global__ void reverse(int *x) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = x[i];
  x[i] = s[63 - i];
}

int main() {
  int *x;
  cudaMallocManaged(&x, 64 * sizeof(int));
  for (int i = 0; i < 64; i++) x[i] = i;
  reverse<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  puts("ended");
}

// status 0
// out: ended
// err: warning: reverse: st.shared.b32 at missing_barrier.cu:7 .*race: .*put __syncthreads\(\) there.*; launched at missing_barrier.cu:15
// err: warning: reverse: ld.shared.b32 at missing_barrier.cu:8 .*uninitialized read: .*; launched at missing_barrier.cu:15
