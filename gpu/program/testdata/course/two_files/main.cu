// A program of two sources and a header; both have a kernel of one name.
#include <cstdio>
#include "vector.cuh"

__global__ static void kernel(Vec *v) { v->x = v->dot(*v); }

int main() {
  const int n = 100;
  Vec a[n], b[n], c[n];
  for (int i = 0; i < n; i++) a[i] = {(float)i, 1, 2}, b[i] = {1, (float)i, 0.5f};
  addAll(a, b, c, n);
  Vec *d;
  cudaMalloc(&d, sizeof(Vec));
  cudaMemcpy(d, &c[99], sizeof(Vec), cudaMemcpyHostToDevice);
  kernel<<<1, 1>>>(d);
  Vec last;
  cudaMemcpy(&last, d, sizeof last, cudaMemcpyDeviceToHost);
  printf("c[99] = %g %g %g, its square %g, a.b = %g\n", c[99].x, c[99].y, c[99].z, last.x, dotOnHost(a, b, n));
  cudaFree(d);
}

// status 0
// out: c[99] = 100 100 2.5, its square 20006.2, a.b = 10000
