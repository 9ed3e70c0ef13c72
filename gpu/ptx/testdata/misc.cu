extern "C" __device__ int printf(const char*, ...);
__constant__ float table[4] = {1.f, 2.5f, -3.f, 0.1f};
__constant__ double dtable[2] = {1.0, 1e-300};
struct Node { int key; const char* name; double w; Node* next; };
__device__ int cells[3][5] = {{1,2,3},{-4,5}};

__device__ Node first = {7, "seven", 0.5, nullptr};
__device__ Node second = {8, "eight", 1.5, &first};
__device__ int* inside = &cells[1][2];
__device__ unsigned long long big[2] = {0x8000000000000000ull, ~0ull};
__device__ char bytes[] = "a\"b\n";
__device__ float2 pairs[2] = {{1.f,2.f},{3.f,4.f}};
typedef float (*op)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ op ops[2] = {add, mul};
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void calls(float* y, int n, int which) {
  int i = threadIdx.x;
  y[i] = ops[which](y[i], table[i & 3]) + fib(n) + cells[i % 3][i % 5] + (float)dtable[i & 1] + first.next->key + *inside + big[1] + bytes[i%4] + pairs[i&1].x;
  if (i == 0) printf("%d %f %s\n", n, (double)y[0], first.name);
}
extern "C" __global__ void cases(int* y, int k) {
  int i = threadIdx.x;
  switch (k) { case 0: y[i] *= 3; break; case 1: y[i] -= 7; break; case 2: y[i] ^= i; break; case 3: y[i] = __popc(y[i]); break; case 4: y[i] = __brev(y[i]); break; case 5: y[i] = __clz(y[i]); break; case 6: y[i]= __ffs(y[i]); break; default: __trap(); }
}
template <typename T, int N> __global__ void scan(const T* x, T* y) {
  __shared__ T s[N]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
#pragma unroll
  for (int o = 1; o < N; o *= 2) { T v = t >= o ? s[t - o] : T(0); __syncthreads(); s[t] += v; __syncthreads(); }
  y[t] = s[t];
}
template __global__ void scan<double, 64>(const double*, double*);
template __global__ void scan<unsigned char, 32>(const unsigned char*, unsigned char*);
struct Shape { int m, n; float a[3]; };
extern "C" __global__ void byvalue(Shape s, long long* t, double* d, unsigned* u) {
  float local[8];
  for (int i = 0; i < 8; i++) local[i] = s.a[i % 3] * i;
  t[threadIdx.x] = clock64() + (long long)local[s.m & 7];
  d[0] = sqrt(d[1]) + sin(d[2]); atomicAdd(d + 3, 1.0); atomicCAS(u, 1u, 2u); atomicMax((int*)u + 1, -5);
  unsigned w; asm volatile("{ .reg .pred p; .reg .b32 t1; setp.ne.u32 p, %1, 0; @p bra L; mov.u32 t1, 1; L: selp.u32 %0, 3, 4, p; }" : "=r"(w) : "r"(u[2]));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(w)); u[3] = w + __ballot_sync(~0u, u[4]) + __match_any_sync(~0u, u[5]) + __dp4a(u[6], u[7], 3u);
}
