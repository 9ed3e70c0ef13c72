// Two parts one behind the other in each row: y[r] is a[r] and then b[r], for a of rows
// of wa floats and b of rows of wb floats. n is the number of elements of y.
//
// Tensors of any rank that meet in a dimension are such rows: the dimensions before it
// make the rows, it and those behind it the floats of a row. Offsets have 64 bits. Every
// rung takes rows of any length, 0 too, and arrays that start at any element.

#include "concat.cuh"

// One launch a part: thread i copies element i of it to its row of y, of w floats.
extern "C" __global__ void concat_copies(const float* __restrict__ x, float* __restrict__ y, unsigned long long n, unsigned width, unsigned long long offset, unsigned long long w) {
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i / width * w + offset + i % width] = x[i];
}

// One launch: each element of y finds its part and its place there.
extern "C" __global__ void concat_index_map(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, unsigned long long n, unsigned wa, unsigned wb) {
    Parts p = {a, b, wa, wb};
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = *p.at(i / p.w(), i % p.w());
}

// A table has the row and the column at which each tile of y begins: no division of 64
// bits is left.
extern "C" __global__ void __launch_bounds__(256) concat_offset_table(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, unsigned long long n, unsigned wa, unsigned wb, const ulonglong2* __restrict__ starts) {
    ulonglong2 start = starts[blockIdx.x];
    copy_tile<256>({a, b, wa, wb}, y, n, (size_t)blockIdx.x * tile, start.x, start.y);
}

// Stores of 16 bytes, and loads where four neighbours lie in one part and are aligned.
extern "C" __global__ void __launch_bounds__(256) concat_vector(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, unsigned long long n, unsigned wa, unsigned wb, const ulonglong2* __restrict__ starts) {
    ulonglong2 start = starts[blockIdx.x];
    vector_tile<256>({a, b, wa, wb}, y, n, (size_t)blockIdx.x * tile, start.x, start.y);
}

// No table: the host has the reciprocal of w, and a thread finds its vector's place with
// a product of 32 bits. A launch takes rows of fewer than 2^31 floats, which begin at
// from_a, from_b and to.
extern "C" __global__ void __launch_bounds__(128) concat_reciprocal(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, unsigned wa, unsigned wb, unsigned rows, unsigned factor, unsigned shift, unsigned long long from_a, unsigned long long from_b, unsigned long long to) {
    copy_four<Plain>({a + from_a, b + from_b, wa, wb, rows, {factor, shift}}, y + to, blockIdx.x * 128 + threadIdx.x);
}
