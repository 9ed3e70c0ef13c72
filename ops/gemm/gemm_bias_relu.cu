// A product with a bias for each column, negative results as 0: D = max(0, alpha A
// B + bias), row-major, in one launch: the sums are in registers when bias and
// maximum are taken, and D is written once. A launch of its own for them is there to compare.

#include "gemm_problem.cuh"
#include "gemm_async.cuh"
#include "gemm_wide.cuh"

#define FUSED const float *a, const float *b, const float *bias, float *d, unsigned m, unsigned n, unsigned k, \
              unsigned lda, unsigned ldb, unsigned ldc, float alpha
#define WITH(bias) {a, b, d, d, m, n, k, lda, ldb, ldc, alpha, 0, bias}

// The product alone, as gemm_stream_k has it ...
extern "C" __global__ void __launch_bounds__(128, 2) gemm_then_bias_relu(FUSED, unsigned whole, float* parts) {
    stream_k<Wide>(WITH(nullptr), whole, parts);
}

extern "C" __global__ void __launch_bounds__(128) gemm_then_bias_relu_2(FUSED, unsigned whole, const float* parts, unsigned blocks) {
    stream_k_2<Wide>(WITH(nullptr), whole, parts, blocks);
}

// ... and bias and maximum after it: D is written, read and written again.
extern "C" __global__ void gemm_then_bias_relu_3(const float* bias, float* d, unsigned m, unsigned n, unsigned ldc) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)m * n) return;
    float* at = d + i / n * ldc + i % n;
    *at = relu(*at + bias[i % n]);
}

// Bias and maximum on the way out of the registers.
extern "C" __global__ void __launch_bounds__(128, 2) gemm_bias_relu(FUSED, unsigned whole, float* parts) {
    stream_k<Wide>(WITH(bias), whole, parts);
}

extern "C" __global__ void __launch_bounds__(128) gemm_bias_relu_2(FUSED, unsigned whole, const float* parts, unsigned blocks) {
    stream_k_2<Wide>(WITH(bias), whole, parts, blocks);
}
