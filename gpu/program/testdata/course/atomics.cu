// The largest float and a lock-free counter: atomics by compare and swap.
#include <cstdio>

__device__ float atomicMaxFloat(float *address, float value) {
  int *bits = (int *)address, old = *bits, seen;
  do {
    seen = old;
    if (__int_as_float(seen) >= value) break;
    old = atomicCAS(bits, seen, __float_as_int(value));
  } while (seen != old);
  return __int_as_float(old);
}

__global__ void kernel(const float *x, int n, float *largest, int *ticket, int *lowest, unsigned *mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicMaxFloat(largest, x[i]);
  atomicAdd(ticket, 2);
  atomicMin(lowest, (int)x[i]);
  atomicOr(mask, 1u << (i % 5));
}

int main() {
  const int n = 300;
  float x[n], largest = -1e30f, *d_x, *d_largest;
  int values[2] = {0, 1000}, *d_values;
  unsigned mask = 0, *d_mask;
  for (int i = 0; i < n; i++) x[i] = (i * 7919) % 1009 - 300.5f;
  cudaMalloc(&d_x, sizeof x), cudaMalloc(&d_largest, 4), cudaMalloc(&d_values, 8), cudaMalloc(&d_mask, 4);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemcpy(d_largest, &largest, 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_values, values, 8, cudaMemcpyHostToDevice);
  cudaMemcpy(d_mask, &mask, 4, cudaMemcpyHostToDevice);
  kernel<<<3, 128>>>(d_x, n, d_largest, d_values, d_values + 1, d_mask);
  cudaMemcpy(&largest, d_largest, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(values, d_values, 8, cudaMemcpyDeviceToHost);
  cudaMemcpy(&mask, d_mask, 4, cudaMemcpyDeviceToHost);
  float want = x[0];
  int lowest = 1000;
  for (int i = 0; i < n; i++) {
    if (x[i] > want) want = x[i];
    if ((int)x[i] < lowest) lowest = (int)x[i];
  }
  printf("largest right: %d, tickets %d, lowest right: %d, mask %#x\n", largest == want, values[0], values[1] == lowest, mask);
  cudaFree(d_x), cudaFree(d_largest), cudaFree(d_values), cudaFree(d_mask);
}

// status 0
// out: largest right: 1, tickets 600, lowest right: 1, mask 0x1f
