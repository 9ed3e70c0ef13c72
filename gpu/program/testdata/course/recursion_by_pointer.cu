// Recursive functions that call each other through tables of pointers and of virtual functions.
#include <cmath>
#include <cstdio>

struct Node {
  __device__ virtual float value(float x) const = 0;
  __device__ virtual ~Node() {}
};
struct Number : Node {
  float v;
  __device__ Number(float v) : v(v) {}
  __device__ float value(float x) const override { return v; }
};
struct X : Node {
  __device__ float value(float x) const override { return x; }
};
struct Sum : Node {
  Node *a, *b;
  __device__ Sum(Node *a, Node *b) : a(a), b(b) {}
  __device__ ~Sum() {
    delete a;
    delete b;
  }
  __device__ float value(float x) const override { return a->value(x) + b->value(x); }
};
struct Product : Node {
  Node *a, *b;
  __device__ Product(Node *a, Node *b) : a(a), b(b) {}
  __device__ ~Product() {
    delete a;
    delete b;
  }
  __device__ float value(float x) const override { return a->value(x) * b->value(x); }
};
struct Root : Node {
  Node *a;
  __device__ Root(Node *a) : a(a) {}
  __device__ ~Root() { delete a; }
  __device__ float value(float x) const override { return sqrtf(a->value(x)); }
};
__global__ void tree(float *y) {
  Node *e = new Sum(new Product(new X, new Sum(new Number(2), new X)), new Root(new Product(new Number(4), new X)));
  y[threadIdx.x] = e->value(threadIdx.x);
  delete e;
}

// leaf is not recursive, calls a recursive function, and then reads its own argument.
struct Row {
  int v[24];
};
typedef int (*Function)(Row, int);
extern __device__ Function table[2];
__host__ __device__ int steps(int n, int m) {
  int a[8];
  for (int i = 0; i < 8; i++) a[i] = n * i + m;
  return n <= 0 ? m : steps(n - 1, a[n & 7]) + a[m & 7];
}
__host__ __device__ int leaf(Row r, int n) {
  int x = steps(n, r.v[2] & 7), sum = n;
  for (int i = 0; i < 24; i++) sum += r.v[(i + x) & 15] * i;
  return sum;
}
__host__ __device__ int call(int at, Row r, int n);
__host__ __device__ int walk(Row r, int n) {
  if (n <= 0) return r.v[1];
  int at = r.v[n % 24]++ & 1;
  return call(at, r, n - 1) + r.v[(n + 5) % 24];
}
__device__ Function table[2] = {walk, leaf};
__host__ __device__ int call(int at, Row r, int n) {
#ifdef __CUDA_ARCH__
  return table[at](r, n);
#else
  return at ? leaf(r, n) : walk(r, n);
#endif
}
__host__ __device__ Row row(int t) {
  Row r;
  for (int i = 0; i < 24; i++) r.v[i] = 2 * i + (i * 7 + t) % 5 / 4;
  return r;
}
__global__ void rows(int *y) { y[threadIdx.x] = call(0, row(threadIdx.x), threadIdx.x % 12); }

int main() {
  const int n = 64;
  float *y;
  int *z, wrong = 0;
  cudaDeviceSetLimit(cudaLimitStackSize, 8192);
  cudaMallocManaged(&y, n * sizeof *y);
  cudaMallocManaged(&z, n * sizeof *z);
  tree<<<1, n>>>(y);
  rows<<<1, n>>>(z);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 0; i < n; i++) {
    float x = i, want = x * (2 + x) + std::sqrt(4 * x);
    wrong += std::fabs(y[i] - want) > 1e-5f * want || z[i] != walk(row(i), i % 12);
  }
  printf("%d wrong\n", wrong);
  cudaFree(y);
  cudaFree(z);
}

// status 0
// out: no error
// out: 0 wrong
