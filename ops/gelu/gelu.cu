// GELU of float16: y[i] = x[i] Phi(x[i]), Phi the distribution function of the standard
// normal. The notes name it and give its two formulas, without a CUDA listing: the
// kernels are ours. With u = sqrt(2/pi) (x + 0.044715 x^3), the tanh form is
// x/2 (1 + tanh u), which is also x / (1 + e^-2u).
//
// Every rung takes any n below 2^31 and vectors that start at any element.

#include <cuda_fp16.h>

// Below -20 the result rounds to 0, and at -infinity the product would be
// -infinity * 0, which is NaN: every rung takes -20 in place of less. NaN stays NaN.
static __device__ __forceinline__ float clamped(float x) { return x < -20.f ? -20.f : x; }

static __device__ __forceinline__ __half clamped(__half x) { return __hlt(x, __float2half(-20.f)) ? __float2half(-20.f) : x; }

static __device__ __forceinline__ __half2 clamped(__half2 x) {
    unsigned least = 0xcd00cd00, less = __hlt2_mask(x, *(__half2*)&least), v = (*(unsigned*)&x & ~less) | (least & less);
    return *(__half2*)&v;
}

static __device__ __forceinline__ float inner(float x) { return 0.79788456f * (x + 0.044715f * x * x * x); }

// The tanh form in halves, one element. x^2 overflows beyond 256; then u is infinite,
// and its tanh 1.
static __device__ __forceinline__ __half in_half(__half x) {
    x = clamped(x);
    __half u = x * (__float2half(0.79788456f) + __float2half(0.79788456f * 0.044715f) * (x * x));
    unsigned short t;
    asm("tanh.approx.f16 %0, %1;" : "=h"(t) : "h"(__half_as_ushort(u)));
    return __float2half(0.5f) * x * (__float2half(1.f) + __ushort_as_half(t));
}

// The functions of two halves that the rungs with vectors have in common: of() is one
// rung's way to compute them.
struct InHalf2 {
    static __device__ __forceinline__ __half2 of(__half2 x) {
        x = clamped(x);
        __half2 u = x * (__float2half2_rn(0.79788456f) + __float2half2_rn(0.79788456f * 0.044715f) * (x * x)), t;
        asm("tanh.approx.f16x2 %0, %1;" : "=r"(*(unsigned*)&t) : "r"(*(unsigned*)&u));
        return __float2half2_rn(0.5f) * x * (__float2half2_rn(1.f) + t);
    }
};

// f of each half, in float32.
template <class F>
static __device__ __forceinline__ __half2 in_float(__half2 x, F f) {
    float2 v = __half22float2(x);
    return __floats2half2_rn(f(clamped(v.x)), f(clamped(v.y)));
}

struct Tanh {
    static __device__ __forceinline__ __half2 of(__half2 x) {
        return in_float(x, [](float v) { return 0.5f * v * (1 + tanhf(inner(v))); });
    }
};

struct TanhApprox {
    static __device__ __forceinline__ __half2 of(__half2 x) {
        return in_float(x, [](float v) {
            float t;
            asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(inner(v)));
            return 0.5f * v * (1 + t);
        });
    }
};

// x / (1 + 2^(-2 log2(e) u)): nothing cancels where the result is small.
struct Exp2 {
    static __device__ __forceinline__ __half2 of(__half2 x) {
        return in_float(x, [](float v) {
            float e, r;
            asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-2.88539008f * inner(v)));
            asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1 + e));
            return v * r;
        });
    }
};

struct Erf {
    static __device__ __forceinline__ __half2 of(__half2 x) {
        return in_float(x, [](float v) { return 0.5f * v * (1 + erff(0.70710678f * v)); });
    }
};

// erfc(-z) is 1 + erf(z) without the cancellation.
struct Erfc {
    static __device__ __forceinline__ __half2 of(__half2 x) {
        return in_float(x, [](float v) { return 0.5f * v * erfcf(-0.70710678f * v); });
    }
};

// One element per thread and iteration, for vectors that are not aligned.
template <class F>
static __device__ void one_by_one(const __half* __restrict__ x, __half* __restrict__ y, unsigned first, unsigned n) {
    for (unsigned i = first; i < n; i += gridDim.x * blockDim.x) y[i] = __low2half(F::of(__half2half2(x[i])));
}

// Eight halves per thread and iteration, in one load and one store of 16 bytes; all loads come
// before the first result.
template <class F, unsigned threads = 256, unsigned turns = 1>
static __device__ __forceinline__ void eight(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * threads * turns + threadIdx.x;
    if (((size_t)x | (size_t)y) % 16) return one_by_one<F>(x, y, blockIdx.x * threads + threadIdx.x, n);
    uint4 v[turns];
#pragma unroll
    for (unsigned t = 0; t < turns; t++)
        if (i + t * threads < n / 8) v[t] = ((const uint4*)x)[i + t * threads];
#pragma unroll
    for (unsigned t = 0; t < turns; t++) {
        if (i + t * threads >= n / 8) break;
        unsigned w[4] = {v[t].x, v[t].y, v[t].z, v[t].w};
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            __half2 r = F::of(*(__half2*)&w[k]);
            w[k] = *(unsigned*)&r;
        }
        ((uint4*)y)[i + t * threads] = {w[0], w[1], w[2], w[3]};
    }
    if (i < 8) one_by_one<F>(x, y, n / 8 * 8 + i, n);  // the elements behind the last whole vector
}

// A thread for each element, and every operation in halves.
extern "C" __global__ void __launch_bounds__(256) gelu_half(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = in_half(x[i]);
}

// Two halves per thread: one instruction computes with both.
extern "C" __global__ void __launch_bounds__(256) gelu_half2(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (((size_t)x | (size_t)y) % 4) return one_by_one<InHalf2>(x, y, i, n);
    if (i < n / 2) ((__half2*)y)[i] = InHalf2::of(((const __half2*)x)[i]);
    if (i == 0) one_by_one<InHalf2>(x, y, n / 2 * 2, n);
}

// Eight halves per load and store.
extern "C" __global__ void __launch_bounds__(256) gelu_half8(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<InHalf2>(x, y, n); }

// Computed in float32, with the tanh of the library.
extern "C" __global__ void __launch_bounds__(256) gelu_float(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<Tanh>(x, y, n); }

// The tanh is one instruction.
extern "C" __global__ void __launch_bounds__(256) gelu_tanh_approx(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<TanhApprox>(x, y, n); }

// x / (1 + 2^v) in place of 1 + tanh: two instructions, and nothing cancels.
extern "C" __global__ void __launch_bounds__(256) gelu_exp2(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<Exp2>(x, y, n); }

// In blocks of 128 threads: a multiprocessor starts a block as soon as so many end.
extern "C" __global__ void __launch_bounds__(128) gelu_block_128(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<Exp2, 128>(x, y, n); }

// The erf form: a thread for each element, in float32.
extern "C" __global__ void __launch_bounds__(256) gelu_erf(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) {
    one_by_one<Erf>(x, y, blockIdx.x * 256 + threadIdx.x, n);
}

// Eight halves per load and store.
extern "C" __global__ void __launch_bounds__(256) gelu_erf8(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<Erf>(x, y, n); }

// The complement of erf in place of 1 + erf: nothing cancels.
extern "C" __global__ void __launch_bounds__(256) gelu_erfc8(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<Erfc>(x, y, n); }

// With erf again: two vectors per thread, whose loads come before the arithmetic.
extern "C" __global__ void __launch_bounds__(128) gelu_erf_two_vectors(const __half* __restrict__ x, __half* __restrict__ y, unsigned n) { eight<Erf, 128, 2>(x, y, n); }
