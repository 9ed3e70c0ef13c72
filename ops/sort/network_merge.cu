// Merge sorts of keys of uint32 whose merges meet sentinels at the ends of runs.

#include "order.cuh"
#include "merge.cuh"
#include "network_merge.cuh"

// Tiles are sorted by networks in registers, 32 keys per thread, and by merges in dynamic
// shared memory,
extern "C" __global__ void __launch_bounds__(512, 2) sort_network_merge(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    sort_network_tile<32>(in, out, n);
}

// warps find what a tile takes from each of eight runs,
extern "C" __global__ void __launch_bounds__(256) sort_network_merge_2(const unsigned* __restrict__ in, unsigned* __restrict__ splits, unsigned n, unsigned width, unsigned tiles) {
    split_network<8, 256 * 64>(in, splits, n, width, tiles);
}

// and blocks merge these, 67 keys per thread.
extern "C" __global__ void __launch_bounds__(256, 3) sort_network_merge_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ splits, unsigned n, unsigned width) {
    merge_network<8, 256, 64, 67>(in, out, splits, n, width);
}

// Of few keys, tiles have 16 per thread,
extern "C" __global__ void __launch_bounds__(512) sort_network_few(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    sort_network_tile<16>(in, out, n);
}

// and blocks that find their parts of four runs themselves merge 17 per thread.
extern "C" __global__ void __launch_bounds__(128) sort_network_few_2(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n, unsigned width) {
    merge_network<4, 128, 16, 17>(in, out, nullptr, n, width);
}
