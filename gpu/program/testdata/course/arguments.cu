// A size and a name from the command line.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i + 1;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: arguments N NAME\n");
    return 2;
  }
  int n = atoi(argv[1]), *d, *h = (int *)malloc(n * sizeof(int));
  cudaMalloc(&d, n * sizeof(int));
  fill<<<(n + 255) / 256, 256>>>(d, n);
  cudaMemcpy(h, d, n * sizeof(int), cudaMemcpyDeviceToHost);
  long long sum = 0;
  for (int i = 0; i < n; i++) sum += h[i];
  printf("%s: %d arguments, sum of %d is %lld\n", argv[2], argc - 1, n, sum);
  cudaFree(d);
  free(h);
}

// status 0
// args: 1000 first
// out: first: 2 arguments, sum of 1000 is 500500
