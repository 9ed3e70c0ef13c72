// What compilers make calls of: printf, assert, functions through pointers and
// virtual ones, the heap, recursion.
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(size_t);

extern "C" __global__ void hello(int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int count = printf("block %d thread %d of %u: %f %s %c %5.2e %lld %p%%\n", blockIdx.x, i, blockDim.x, i * 0.5f,
                     i % 2 ? "odd" : "even", 'a' + i % 26, 1e10 * i, 1ll << 40, (void *)0x10);
  if (i == n - 1) printf("no arguments, %d before\n", count);
}

extern "C" __global__ void check(int n) {
  if (threadIdx.x >= n) __assertfail("threadIdx.x < n", "builtins.cu", 18, "check", 1);
}

__device__ int twice(int a) { return 2 * a; }
__device__ int thrice(int a) { return 3 * a; }
__device__ int (*operations[2])(int) = {twice, thrice};

extern "C" __global__ void pointers(int *out, int k) {
  int (*f)(int) = operations[(threadIdx.x + k) & 1];
  out[threadIdx.x] = f(threadIdx.x);
}

extern "C" __global__ void wrong(int *out, unsigned long long f) { out[threadIdx.x] = ((int (*)(int))f)(1) + operations[0](2); }

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float a;
  __device__ Square(float a) : a(a) {}
  __device__ float area() const override { return a * a; }
};
struct Disc : Shape {
  float r;
  __device__ Disc(float r) : r(r) {}
  __device__ float area() const override { return 3 * r * r; }
};

extern "C" __global__ void shapes(float *out, int k) {
  Square s(threadIdx.x);
  Disc d(threadIdx.x);
  const Shape *p = (threadIdx.x + k) & 1 ? (const Shape *)&s : (const Shape *)&d;
  out[threadIdx.x] = p->area();
}

extern "C" __global__ void heap(void **out) { out[threadIdx.x] = malloc(16); }

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1) % 1000; }

extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = factorial(threadIdx.x); }
