// y = A x with offsets of 64 bits, for 2^31 entries and more: see spmv.cu for the rungs, which
// count entries by 32 bits.

#include "warp.cuh"

// One warp per row: the lanes read neighbours.
extern "C" __global__ void __launch_bounds__(256) spmv_wide_warp_row(const unsigned long long* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows) {
    unsigned row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (unsigned long long i = offsets[row] + lane, end = offsets[row + 1]; i < end; i += 32) sum += values[i] * x[columns[i]];
    sum = group_sum(sum, 32);
    if (lane == 0) y[row] = sum;
}

// 2^shift lanes per row, as many as a row has entries on average.
extern "C" __global__ void __launch_bounds__(256) spmv_wide_vector_row(const unsigned long long* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned shift) {
    unsigned lanes = 1u << shift, lane = threadIdx.x & (lanes - 1);
    unsigned long long row = (blockIdx.x * 256ull + threadIdx.x) >> shift;
    float sum = 0;
    if (row < rows)
        for (unsigned long long i = offsets[row] + lane, end = offsets[row + 1]; i < end; i += lanes) sum += values[i] * x[columns[i]];
    sum = group_sum(sum, lanes);
    if (row < rows && lane == 0) y[row] = sum;
}
