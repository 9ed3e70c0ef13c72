// C = A B with panels of B in shared memory that are tall and narrow: 424 rows of 64
// columns. A row of A has four entries in each at a density of 1 %, and a block reads B once
// for 512 rows of C. The copy engine needs sm_90.

constexpr unsigned tall = 424, warps = 16, steps = 8, slots = 12;

#include "tall.cuh"

extern "C" __global__ void __launch_bounds__(256) spmm_tall(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, uint2* __restrict__ entries, int* __restrict__ starts, unsigned rows, int panels) {
    list_entries(offsets, columns, values, entries, starts, rows, panels);
}

extern "C" __global__ void __launch_bounds__(warps * 32) spmm_tall_2(const __grid_constant__ TensorMap map, const uint4* __restrict__ entries, const int* __restrict__ starts, float* __restrict__ c, unsigned rows, unsigned width, unsigned k, int panels) {
    multiply<true>(map, entries, starts, c, rows, width, k, panels);
}
