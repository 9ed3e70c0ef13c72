// The merge path goes through the ends of the rows and through the entries: at its step d
// it has passed i ends and d - i entries.
#pragma once

#include "warp.cuh"

// Returns i: an end comes before the entries from it on.
template <class End>
static __device__ unsigned ends_before(unsigned d, unsigned ends, unsigned entries, End end) {
    unsigned low = d > entries ? d - entries : 0, high = min(d, ends);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (end(middle) <= d - 1 - middle) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The same for the rows of a matrix, by all lanes of a warp: they probe at once, so that five
// loads wait for each other for 2^25 rows, where a search by halves has 25.
static __device__ unsigned rows_ended(unsigned d, unsigned rows, unsigned entries, const int* __restrict__ offsets) {
    unsigned low = d > entries ? d - entries : 0, high = min(d, rows);
    while (low < high) {
        unsigned step = (high - low + 31) / 32, r = low + (threadIdx.x % 32 + 1) * step - 1;
        low += step * __popc(__ballot_sync(0xffffffff, r < high && (unsigned)offsets[r + 1] <= d - 1 - r));
        high = min(high, low + step - 1);
    }
    return low;
}

// Adds to each row what the shares of the path before its end had of it. A thread a share.
static __device__ void add_carries(const int* __restrict__ carry_row, const float* __restrict__ carry, float* __restrict__ y, unsigned rows, unsigned shares) {
    unsigned t = blockIdx.x * 256 + threadIdx.x;
    bool there = t < shares, last;
    unsigned row = there ? carry_row[t] : rows;
    float sum = segment_sum(row, there ? carry[t] : 0, last);
    if (last && row < rows) atomicAdd(&y[row], sum);
}
