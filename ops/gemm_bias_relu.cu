// A product with a bias for each column, negative results as 0: D = max(0, alpha A
// B + bias), row-major, in one launch: the sums are in registers when bias and
// maximum are taken, and D is written once. Two launches are there to compare.

#include "gemm_problem.cuh"
#include "gemm_async.cuh"
#include "gemm_wide.cuh"

#define FUSED const float *a, const float *b, const float *bias, float *d, unsigned m, unsigned n, unsigned k, \
              unsigned lda, unsigned ldb, unsigned ldc, float alpha

// The product alone ...
extern "C" __global__ void __launch_bounds__(128, 2) gemm_then_bias_relu(FUSED) {
    wide<Wide>({a, b, d, d, m, n, k, lda, ldb, ldc, alpha, 0, nullptr});
}

// ... and bias and maximum after it: D is written, read and written again.
extern "C" __global__ void gemm_then_bias_relu_2(const float* bias, float* d, unsigned m, unsigned n, unsigned ldc) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)m * n) return;
    float* at = d + i / n * ldc + i % n;
    *at = relu(*at + bias[i % n]);
}

// Bias and maximum on the way out of the registers.
extern "C" __global__ void __launch_bounds__(128, 2) gemm_bias_relu(FUSED) {
    wide<Wide>({a, b, d, d, m, n, k, lda, ldb, ldc, alpha, 0, bias});
}
