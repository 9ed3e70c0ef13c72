// Pageable and pinned memory hold the same after a round trip.
#include <cstdio>
#include <cstdlib>
#include <cstring>

static bool roundTrip(char *from, char *to, size_t n) {
  char *d;
  if (cudaMalloc(&d, n) != cudaSuccess) return false;
  for (size_t i = 0; i < n; i++) from[i] = (char)(i * 31);
  cudaMemcpy(d, from, n, cudaMemcpyHostToDevice);
  cudaMemcpy(to, d, n, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return memcmp(from, to, n) == 0;
}

int main() {
  const size_t n = 3 << 20;
  char *a = (char *)malloc(n), *b = (char *)malloc(n), *p, *q;
  cudaMallocHost((void **)&p, n);
  cudaHostAlloc((void **)&q, n, cudaHostAllocDefault);
  printf("pageable: %s\n", roundTrip(a, b, n) ? "same" : "different");
  printf("pinned: %s\n", roundTrip(p, q, n) ? "same" : "different");
  cudaPointerAttributes at;
  cudaPointerGetAttributes(&at, p);
  printf("pinned is of the host: %d\n", at.type == cudaMemoryTypeHost);
  cudaFreeHost(p);
  cudaFreeHost(q);
  free(a);
  free(b);
}

// status 0
// out: pageable: same
// out: pinned: same
// out: pinned is of the host: 1
