// Scans of a vector of float32 or int32. Each rung makes one change to the rung before
// it. Status words and tickets are 0 before the launch.

#include "rungs.cuh"

// One block; each step adds what lies 1, 2, 4, ... places before.
extern "C" __global__ void __launch_bounds__(256) scan_hillis_steele(const float* __restrict__ x, float* __restrict__ y, unsigned n, unsigned exclusive) {
    hillis_steele(x, y, n, exclusive);
}

// A tree, up and down: two additions per element.
extern "C" __global__ void __launch_bounds__(256) scan_blelloch(const float* __restrict__ x, float* __restrict__ y, unsigned n, unsigned exclusive) {
    blelloch(x, y, n, exclusive);
}

// Lanes exchange registers; shared memory holds a word for each warp.
extern "C" __global__ void __launch_bounds__(256) scan_shuffle(const float* __restrict__ x, float* __restrict__ y, unsigned n, unsigned exclusive) {
    by_shuffles(x, y, 0, n, float(0), exclusive);
}

// Many blocks, each with a chunk: the first launch adds the chunks up,
extern "C" __global__ void __launch_bounds__(256) scan_two_kernels(const float* __restrict__ x, float* __restrict__ sums, unsigned n, unsigned chunk) {
    sum_chunk(x, sums, n, chunk);
}

// and the second reads x again.
extern "C" __global__ void __launch_bounds__(256) scan_two_kernels_2(const float* __restrict__ x, float* __restrict__ y, const float* __restrict__ sums, unsigned n, unsigned chunk, unsigned exclusive) {
    scan_chunk(x, y, sums, n, chunk, exclusive);
}

// The same with one tile per block and 16 bytes per access: as many blocks as a short vector needs.
extern "C" __global__ void __launch_bounds__(256) scan_two_wide(const float* __restrict__ x, float* __restrict__ sums, unsigned n, unsigned turns, unsigned rounds) {
    if (rounds == 2) sum_tiles<float, 2>(x, sums, n, turns);
    else sum_tiles<float, 4>(x, sums, n, turns);
}

extern "C" __global__ void __launch_bounds__(256) scan_two_wide_2(const float* __restrict__ x, float* __restrict__ y, const float* __restrict__ sums, unsigned n, unsigned turns, unsigned exclusive, unsigned rounds) {
    if (rounds == 2) scan_tiles<float, 2>(x, y, sums, n, turns, exclusive);
    else scan_tiles<float, 4>(x, y, sums, n, turns, exclusive);
}

// One launch, one read of x: each tile waits for the one before.
extern "C" __global__ void __launch_bounds__(256) scan_chained(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    chained(x, y, status, ticket, n, exclusive);
}

// A tile publishes its own sum, and a thread looks back over those before.
extern "C" __global__ void __launch_bounds__(256) scan_look_back_thread(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_thread(x, y, status, ticket, n, exclusive);
}

// A warp looks back, 32 tiles at a time.
extern "C" __global__ void __launch_bounds__(256) scan_look_back_warp(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_warp<float, 1>(x, y, status, draw(ticket), n, exclusive);
}

// Thirty-two elements per thread: an eighth of the tiles.
extern "C" __global__ void __launch_bounds__(256) scan_look_back_wide(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_warp<float, 8>(x, y, status, draw(ticket), n, exclusive);
}

// The same tiles, with one order of additions.
extern "C" __global__ void __launch_bounds__(256) scan_deterministic(const float* __restrict__ x, float* __restrict__ y, Word* status, Word* groups, unsigned* ticket, unsigned n, unsigned exclusive) {
    in_groups(x, y, status, groups, ticket, n, exclusive);
}

// The same of int32.

extern "C" __global__ void __launch_bounds__(256) scan_i32_hillis_steele(const int* __restrict__ x, int* __restrict__ y, unsigned n, unsigned exclusive) {
    hillis_steele(x, y, n, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_blelloch(const int* __restrict__ x, int* __restrict__ y, unsigned n, unsigned exclusive) {
    blelloch(x, y, n, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_shuffle(const int* __restrict__ x, int* __restrict__ y, unsigned n, unsigned exclusive) {
    by_shuffles(x, y, 0, n, int(0), exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_two_kernels(const int* __restrict__ x, int* __restrict__ sums, unsigned n, unsigned chunk) {
    sum_chunk(x, sums, n, chunk);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_two_kernels_2(const int* __restrict__ x, int* __restrict__ y, const int* __restrict__ sums, unsigned n, unsigned chunk, unsigned exclusive) {
    scan_chunk(x, y, sums, n, chunk, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_two_wide(const int* __restrict__ x, int* __restrict__ sums, unsigned n, unsigned turns, unsigned rounds) {
    if (rounds == 2) sum_tiles<int, 2>(x, sums, n, turns);
    else sum_tiles<int, 4>(x, sums, n, turns);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_two_wide_2(const int* __restrict__ x, int* __restrict__ y, const int* __restrict__ sums, unsigned n, unsigned turns, unsigned exclusive, unsigned rounds) {
    if (rounds == 2) scan_tiles<int, 2>(x, y, sums, n, turns, exclusive);
    else scan_tiles<int, 4>(x, y, sums, n, turns, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_chained(const int* __restrict__ x, int* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    chained(x, y, status, ticket, n, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_look_back_thread(const int* __restrict__ x, int* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_thread(x, y, status, ticket, n, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_look_back_warp(const int* __restrict__ x, int* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_warp<int, 1>(x, y, status, draw(ticket), n, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_look_back_wide(const int* __restrict__ x, int* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_warp<int, 8>(x, y, status, draw(ticket), n, exclusive);
}

extern "C" __global__ void __launch_bounds__(256) scan_i32_deterministic(const int* __restrict__ x, int* __restrict__ y, Word* status, Word* groups, unsigned* ticket, unsigned n, unsigned exclusive) {
    in_groups(x, y, status, groups, ticket, n, exclusive);
}
