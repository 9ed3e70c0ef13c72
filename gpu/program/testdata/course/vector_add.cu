// Adds two vectors; every call is checked.
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t err = (call);                                                            \
    if (err != cudaSuccess) {                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));       \
      exit(EXIT_FAILURE);                                                                \
    }                                                                                    \
  } while (0)

__global__ void vectorAdd(const float *a, const float *b, float *c, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(void) {
  int n = 50000;
  size_t size = n * sizeof(float);
  float *h_a = (float *)malloc(size), *h_b = (float *)malloc(size), *h_c = (float *)malloc(size);
  if (h_a == NULL || h_b == NULL || h_c == NULL) return EXIT_FAILURE;
  for (int i = 0; i < n; ++i) {
    h_a[i] = rand() / (float)RAND_MAX;
    h_b[i] = rand() / (float)RAND_MAX;
  }
  float *d_a = NULL, *d_b = NULL, *d_c = NULL;
  CHECK(cudaMalloc((void **)&d_a, size));
  CHECK(cudaMalloc((void **)&d_b, size));
  CHECK(cudaMalloc((void **)&d_c, size));
  CHECK(cudaMemcpy(d_a, h_a, size, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, h_b, size, cudaMemcpyHostToDevice));
  int threads = 256, blocks = (n + threads - 1) / threads;
  printf("launch of %d blocks of %d threads\n", blocks, threads);
  vectorAdd<<<blocks, threads>>>(d_a, d_b, d_c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h_c, d_c, size, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (h_a[i] + h_b[i] != h_c[i]) {
      fprintf(stderr, "element %d differs\n", i);
      return EXIT_FAILURE;
    }
  printf("Test PASSED\n");
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  free(h_a), free(h_b), free(h_c);
  return 0;
}

// status 0
// out: launch of 196 blocks of 256 threads
// out: Test PASSED
