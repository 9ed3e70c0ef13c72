// Products of sparse matrices: the operands of their kernels, and a walk over the products
// of a row.
#pragma once

const int none = 0x7fffffff; // a place of a table without a column: above every column

struct Matrix {
    const int *offsets, *columns;
    const float* values;
};

// What a row of C goes to: in the first pass its number of columns to offsets[row + 1].
struct Result {
    int *offsets, *columns;
    float* values;
    unsigned room;
};

// The arguments of all kernels, and what they are.
#define OPERANDS                                                                                                                                  \
    const int *__restrict__ a_offsets, const int *__restrict__ a_columns, const float *__restrict__ a_values, const int *__restrict__ b_offsets, \
        const int *__restrict__ b_columns, const float *__restrict__ b_values, int *__restrict__ offsets, int *__restrict__ columns,             \
        float *__restrict__ values, unsigned n, unsigned room, unsigned shift
#define A Matrix{a_offsets, a_columns, a_values}
#define B Matrix{b_offsets, b_columns, b_values}
#define C Result{offsets, columns, values, room}

// Calls f(column, value) with the products of a row of A, by as many threads as are
// passed, in groups of 2^shift lanes per row of B.
template <class F>
static __device__ void each_product(const Matrix& a, const Matrix& b, unsigned row, unsigned thread, unsigned threads, unsigned shift, F f) {
    unsigned lane = thread & ((1u << shift) - 1);
    for (unsigned e = a.offsets[row] + (thread >> shift), end = a.offsets[row + 1]; e < end; e += threads >> shift) {
        int k = a.columns[e];
        float v = a.values[e];
        for (unsigned i = b.offsets[k] + lane, stop = b.offsets[k + 1]; i < stop; i += 1u << shift) f(b.columns[i], v * b.values[i]);
    }
}

// The sum over the 256 threads of a block; all receive it.
static __device__ unsigned block_sum(unsigned v) {
    __shared__ unsigned of_warp[8];
    for (unsigned d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    __syncthreads(); // of_warp is read
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    unsigned all = 0;
    for (unsigned w = 0; w < 8; w++) all += of_warp[w];
    return all;
}

// One block of 1024 threads turns the counts of the rows into offsets, and count into their sum.
static __device__ void offsets_of_counts(int* offsets, unsigned* count, unsigned n) {
    __shared__ unsigned of_warp[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;
    if (threadIdx.x == 0) offsets[0] = 0;
    for (unsigned first = 0; first < n; first += 4096) {
        unsigned own[4], sum = 0, at = first + 4 * threadIdx.x;
        for (unsigned k = 0; k < 4; k++) own[k] = sum += at + k < n ? offsets[at + k + 1] : 0;
        unsigned up = sum;
        for (unsigned d = 1; d < 32; d *= 2) {
            unsigned other = __shfl_up_sync(0xffffffff, up, d);
            if (lane >= d) up += other;
        }
        if (lane == 31) of_warp[warp] = up;
        __syncthreads();
        unsigned earlier = before + up - sum;
        for (unsigned w = 0; w < 32; w++) {
            if (w < warp) earlier += of_warp[w];
            before += of_warp[w];
        }
        for (unsigned k = 0; k < 4; k++)
            if (at + k < n) offsets[at + k + 1] = earlier + own[k];
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = before;
}
