// How far the functions that a GPU approximates lie from the correctly rounded
// results, which the emulator gives: the largest difference over every float
// of an interval, in units of the last place and absolute. For the table in
// gpu/emu/RATIONALE.md:
//
//	nvcc -arch=sm_90 -o approximate gpu/emu/testdata/approximate.cu && ./approximate
#include <cstdio>
#include <cmath>
#include <cstring>

struct Worst { unsigned long long ulp, ulp_at, absolute, absolute_at; };

#define FUNCTION(name, text, reference)                                  \
  struct name {                                                          \
    static __device__ float gpu(float a) {                               \
      float d;                                                           \
      asm(text " %0, %1;" : "=f"(d) : "f"(a));                           \
      return d;                                                          \
    }                                                                    \
    static __device__ double exact(double a) { return reference; }       \
  };

FUNCTION(Rcp, "rcp.approx.f32", 1 / a)
FUNCTION(RcpFlush, "rcp.approx.ftz.f32", 1 / a)
FUNCTION(Sqrt, "sqrt.approx.f32", sqrt(a))
FUNCTION(SqrtFlush, "sqrt.approx.ftz.f32", sqrt(a))
FUNCTION(Rsqrt, "rsqrt.approx.f32", 1 / sqrt(a))
FUNCTION(RsqrtFlush, "rsqrt.approx.ftz.f32", 1 / sqrt(a))
FUNCTION(Ex2, "ex2.approx.f32", exp2(a))
FUNCTION(Ex2Flush, "ex2.approx.ftz.f32", exp2(a))
FUNCTION(Lg2, "lg2.approx.f32", log2(a))
FUNCTION(Lg2Flush, "lg2.approx.ftz.f32", log2(a))
FUNCTION(Sin, "sin.approx.f32", sin(a))
FUNCTION(Cos, "cos.approx.f32", cos(a))
FUNCTION(Tanh, "tanh.approx.f32", tanh(a))

// key orders floats as integers.
__device__ long long key(float v) {
  int b = __float_as_int(v);
  return b < 0 ? -(long long)(b & 0x7fffffff) : b;
}

template <class F>
__global__ void sweep(float low, float high, Worst *worst) {
  unsigned long long ulp = 0, ulp_at = 0;
  double absolute = 0;
  unsigned absolute_at = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < 1ull << 32; i += gridDim.x * blockDim.x) {
    float a = __int_as_float((unsigned)i);
    if (!(a >= low && a <= high)) continue;
    double exact = F::exact(a);
    float got = F::gpu(a), want = (float)exact;
    if (isnan(got) || isnan(want) || isinf(want) || fabsf(want) < 0x1p-126f) continue;
    unsigned long long d = llabs(key(got) - key(want));
    if (d > ulp) { ulp = d; ulp_at = (unsigned)i; }
    if (double e = fabs(got - exact); e > absolute) { absolute = e; absolute_at = (unsigned)i; }
  }
  if (atomicMax(&worst->ulp, ulp) < ulp) worst->ulp_at = ulp_at;
  unsigned long long bits = __double_as_longlong(absolute);
  if (atomicMax(&worst->absolute, bits) < bits) worst->absolute_at = absolute_at;
}

template <class F>
void report(const char *name, float low, float high) {
  Worst *worst;
  cudaMallocManaged(&worst, sizeof *worst);
  *worst = Worst{};
  sweep<F><<<132 * 8, 256>>>(low, high, worst);
  cudaError_t e = cudaDeviceSynchronize();
  double absolute;
  memcpy(&absolute, &worst->absolute, sizeof absolute);
  printf("%-22s [%g, %g]: %llu ulp (at %08llx), absolute %.3g (at %08llx) %s\n", name, low, high, worst->ulp, worst->ulp_at,
         absolute, worst->absolute_at, e ? cudaGetErrorString(e) : "");
  cudaFree(worst);
}

int main() {
  const float most = 3.4028235e38f, least = 1.17549435e-38f;
  report<Rcp>("rcp.approx", -most, most);
  report<RcpFlush>("rcp.approx.ftz", least, most);
  report<Sqrt>("sqrt.approx", 0, most);
  report<SqrtFlush>("sqrt.approx.ftz", least, most);
  report<Rsqrt>("rsqrt.approx", 0, most);
  report<RsqrtFlush>("rsqrt.approx.ftz", least, most);
  report<Ex2>("ex2.approx", -126, 128);
  report<Ex2Flush>("ex2.approx.ftz", -126, 128);
  report<Lg2>("lg2.approx", 0, 0.5f);
  report<Lg2>("lg2.approx", 0.5f, 2);
  report<Lg2>("lg2.approx", 2, most);
  report<Lg2Flush>("lg2.approx.ftz", 2, most);
  report<Sin>("sin.approx", -3.14159265f, 3.14159265f);
  report<Sin>("sin.approx", -100 * 3.14159265f, 100 * 3.14159265f);
  report<Cos>("cos.approx", -3.14159265f, 3.14159265f);
  report<Cos>("cos.approx", -100 * 3.14159265f, 100 * 3.14159265f);
  report<Tanh>("tanh.approx", -most, most);
}
