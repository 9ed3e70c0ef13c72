// The product of spmm_tall with 32 warps per block in place of 16, for the same 512 rows of C:
// while one warp waits for shared memory, more others have work. A thread has 64 registers,
// of which sums take 32. That leaves room for one entry per iteration, not two. The entries
// of 32 warps take more shared memory, so that panels are 404 rows and lists have 10 places.

constexpr unsigned tall = 404, warps = 32, steps = 4, slots = 10;

#include "tall.cuh"

extern "C" __global__ void __launch_bounds__(256) spmm_tall_32_warps(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, uint2* __restrict__ entries, int* __restrict__ starts, unsigned rows, int panels) {
    list_entries(offsets, columns, values, entries, starts, rows, panels);
}

extern "C" __global__ void __launch_bounds__(warps * 32) spmm_tall_32_warps_2(const __grid_constant__ TensorMap map, const uint4* __restrict__ entries, const int* __restrict__ starts, float* __restrict__ c, unsigned rows, unsigned width, unsigned k, int panels) {
    multiply<false>(map, entries, starts, c, rows, width, k, panels);
}
