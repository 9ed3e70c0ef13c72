// Two sorted arrays, merged: each element finds its place by a binary search.
#include <cstdio>

__device__ int below(const int *x, int n, int v, bool equal) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (x[middle] < v || (equal && x[middle] == v)) low = middle + 1;
    else high = middle;
  }
  return low;
}
__global__ void merge(const int *a, int n, const int *b, int m, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i + below(b, m, a[i], false)] = a[i];
  else if (i < n + m) out[i - n + below(a, n, b[i - n], true)] = b[i - n];
}

int main() {
  const int n = 300, m = 200;
  int *a, *b, *out;
  cudaMallocManaged(&a, n * sizeof(int)), cudaMallocManaged(&b, m * sizeof(int)), cudaMallocManaged(&out, (n + m) * sizeof(int));
  for (int i = 0; i < n; i++) a[i] = 2 * i;
  for (int i = 0; i < m; i++) b[i] = 3 * i;
  merge<<<(n + m + 127) / 128, 128>>>(a, n, b, m, out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 1; i < n + m; i++) wrong += out[i - 1] > out[i];
  printf("%d out of order, %d %d %d ... %d\n", wrong, out[0], out[1], out[2], out[n + m - 1]);
  cudaFree(a), cudaFree(b), cudaFree(out);
}

// status 0
// out: 0 out of order, 0 0 2 ... 598
