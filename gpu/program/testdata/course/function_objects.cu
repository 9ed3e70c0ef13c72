// Kernels that take an operation: structures with operator(), and a function pointer.
#include <cstdio>

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};
struct Scale {
  float factor;
  __host__ __device__ float operator()(float x) const { return factor * x; }
};

template <class F, class G> struct Compose {
  F f;
  G g;
  __host__ __device__ float operator()(float x) const { return f(g(x)); }
};

template <class F> __global__ void map(const float *in, float *out, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}

template <class F> void show(const char *name, F f) {
  float h[4] = {1, 2, 3, 4}, *in, *out;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  map<<<1, 4>>>(in, out, 4, f);
  float got[4];
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  int same = 1;
  for (int i = 0; i < 4; i++) same = same && got[i] == f(h[i]);
  printf("%s: %g %g %g %g, as on the host: %d\n", name, got[0], got[1], got[2], got[3], same);
  cudaFree(in);
  cudaFree(out);
}

int main() {
  show("square", Square());
  show("scale", Scale{2.5f});
  show("scale of square", Compose<Scale, Square>{{0.5f}, {}});
}

// status 0
// out: square: 1 4 9 16, as on the host: 1
// out: scale: 2.5 5 7.5 10, as on the host: 1
// out: scale of square: 0.5 2 4.5 8, as on the host: 1
