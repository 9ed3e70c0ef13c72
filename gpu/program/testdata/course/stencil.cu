// A stencil of radius 3 with a halo in shared memory.
#include <cstdio>

#define RADIUS 3
#define BLOCK 64

__global__ void stencil(const int *in, int *out) {
  __shared__ int temp[BLOCK + 2 * RADIUS];
  int g = threadIdx.x + blockIdx.x * blockDim.x + RADIUS, l = threadIdx.x + RADIUS;
  temp[l] = in[g];
  if (threadIdx.x < RADIUS) {
    temp[l - RADIUS] = in[g - RADIUS];
    temp[l + BLOCK] = in[g + BLOCK];
  }
  __syncthreads();
  int result = 0;
  for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[l + offset];
  out[g - RADIUS] = result;
}

int main() {
  const int n = 4 * BLOCK;
  int in[n + 2 * RADIUS], out[n], *d_in, *d_out;
  for (int i = 0; i < n + 2 * RADIUS; i++) in[i] = i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  stencil<<<n / BLOCK, BLOCK>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += out[i] != 7 * (i + RADIUS);
  printf("out[0] = %d, out[%d] = %d, %d wrong\n", out[0], n - 1, out[n - 1], wrong);
  cudaFree(d_in);
  cudaFree(d_out);
  return wrong;
}

// status 0
// out: out[0] = 21, out[255] = 1806, 0 wrong
