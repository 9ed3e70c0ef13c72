// Half of a block waits at a barrier that the others never reach.
#include <cstdio>

__global__ void k(int *x) {
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] += 1;
  } else {
    while (x[40] == 0) x[threadIdx.x] = 2;
  }
}

int main() {
  int *x;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  k<<<1, 64>>>(x);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(x);
}

// status 0
// out: cudaErrorLaunchFailure
// err: warning: k: st.global.b32 at barrier_in_branch.cu:10 .*race: .*
// err: k: bar.sync at barrier_in_branch.cu:7 .*divergent barrier: .*move the barrier out of the if.*; launched at barrier_in_branch.cu:18
