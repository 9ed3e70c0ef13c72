// Products on tensor cores: D = alpha A B + beta C of float16, bfloat16 or TF32
// factors, added in float32.
//
// Shapes and strides are those of gemm.cu. With 16-bit factors C and D have 16
// bits, too. TF32 is float32 in memory, rounded to 11 bits before it is
// multiplied. Every rung takes any size and alignment.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> struct Product {
    const T *a, *b, *c;
    T* d;
    unsigned m, n, k, lda, ldb, ldc;
    float alpha, beta;
};

#define MATRICES(T) const T *a, const T *b, const T *c, T *d, unsigned m, unsigned n, unsigned k, \
                    unsigned lda, unsigned ldb, unsigned ldc, float alpha, float beta
#define PRODUCT {a, b, c, d, m, n, k, lda, ldb, ldc, alpha, beta}

extern __shared__ __align__(16) unsigned char memory[];

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Writes an element of D.
template <class T> static __device__ void store(const Product<T>& p, unsigned row, unsigned column, float sum) {
    if (row >= p.m || column >= p.n) return;
    size_t at = (size_t)row * p.ldc + column;
    p.d[at] = T(p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * float(p.c[at]));
}

// Copies 16 bytes of a row to shared memory, 0 for what is outside. wide says
// that every row starts at a multiple of 16 bytes.
template <class T>
static __device__ void copy(unsigned char* to, const T* x, unsigned ld, unsigned rows, unsigned columns, unsigned row, unsigned column, bool wide) {
    constexpr unsigned count = 16 / sizeof(T);
    const T* from = x + (size_t)row * ld + column;
    bool inside = row < rows && column < columns;
#if __CUDA_ARCH__ >= 800
    if (wide) {
        unsigned bytes = inside ? min(columns - column, count) * (unsigned)sizeof(T) : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address(to)), "l"(inside ? from : x), "r"(bytes) : "memory");
        return;
    }
#endif
#pragma unroll
    for (unsigned i = 0; i < count; i++) ((T*)to)[i] = inside && column + i < columns ? from[i] : T(0.0f);
}

template <class T> static __device__ bool wide(const T* x, unsigned ld) { return ((size_t)x | ld * sizeof(T)) % 16 == 0; }

static __device__ void commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int pending> static __device__ void wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

#if __CUDA_ARCH__ >= 800
static __device__ unsigned tf32(unsigned x) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x)));
    return r;
}
#endif

#include "gemm_wmma.cuh"
#if __CUDA_ARCH__ >= 800
#include "gemm_mma.cuh"
#endif
