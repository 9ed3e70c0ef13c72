// Many products of one shape: D = alpha A B + beta C for each of a batch, row-major,
// on the loop of gemm_wide.cuh. Rows start lda, ldb and ldc floats apart.

#include "gemm_problem.cuh"
#include "gemm_async.cuh"
#include "gemm_wide.cuh"

// Floats from one matrix of a batch to the next.
struct Strides { unsigned long long a, b, d; };

// The matrices lie at equal distances: the second dimension of the grid is the
// batch, from the first of a launch on.
extern "C" __global__ void __launch_bounds__(128, 2) gemm_batched_strided(MATRICES, Strides next, unsigned first) {
    unsigned long long i = first + blockIdx.y;
    wide<Wide>({a + i * next.a, b + i * next.b, c + i * next.d, d + i * next.d, m, n, k, lda, ldb, ldc, alpha, beta});
}

// The matrices lie anywhere: a launch is told the places of up to 32.
struct Places {
    const float *a[32], *b[32], *c[32];
    float* d[32];
};

extern "C" __global__ void __launch_bounds__(128, 2) gemm_batched_pointers(const __grid_constant__ Places at, unsigned m, unsigned n, unsigned k,
                                                                          unsigned lda, unsigned ldb, unsigned ldc, float alpha, float beta) {
    unsigned i = blockIdx.y;
    wide<Wide>({at.a[i], at.b[i], at.c[i], at.d[i], m, n, k, lda, ldb, ldc, alpha, beta});
}
