// Merge sorts with large tiles, of keys of uint32, and of these with values.

#include "order.cuh"
#include "merge.cuh"
#include "tile.cuh"
#include "four_way.cuh"

// Large tiles are sorted in dynamic shared memory, 33 keys per thread,
extern "C" __global__ void __launch_bounds__(1024) sort_tile_merge(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    sort_large_tile<U32, false>(in, out, nullptr, nullptr, n);
}

// and a merge reads every key once from shared memory.
extern "C" __global__ void __launch_bounds__(256) sort_tile_merge_2(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n, unsigned width) {
    merge_two<U32, false>(in, out, nullptr, nullptr, n, width);
}

// Large tiles are sorted in dynamic shared memory, 33 keys per thread,
extern "C" __global__ void __launch_bounds__(1024) sort_four_way(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    sort_large_tile<U32, false>(in, out, nullptr, nullptr, n);
}

// warps find what a tile takes from each of four runs,
extern "C" __global__ void __launch_bounds__(256) sort_four_way_2(const unsigned* __restrict__ in, unsigned* __restrict__ splits, unsigned n, unsigned width, unsigned tiles) {
    split_tiles<U32, false>(in, splits, n, width, tiles);
}

// and blocks merge these.
extern "C" __global__ void __launch_bounds__(256) sort_four_way_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ splits, unsigned n, unsigned width) {
    merge_four<U32, false>(in, out, nullptr, nullptr, splits, n, width);
}

// Large tiles are sorted in dynamic shared memory, 17 pairs per thread,
extern "C" __global__ void __launch_bounds__(1024) sort_pairs_four_way(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n) {
    sort_large_tile<U32, true>(in, out, values_in, values_out, n);
}

// warps find what a tile takes from each of four runs,
extern "C" __global__ void __launch_bounds__(256) sort_pairs_four_way_2(const unsigned* __restrict__ in, unsigned* __restrict__ splits, unsigned n, unsigned width, unsigned tiles) {
    split_tiles<U32, true>(in, splits, n, width, tiles);
}

// and blocks merge these.
extern "C" __global__ void __launch_bounds__(256) sort_pairs_four_way_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ splits, unsigned n, unsigned width) {
    merge_four<U32, true>(in, out, values_in, values_out, splits, n, width);
}
