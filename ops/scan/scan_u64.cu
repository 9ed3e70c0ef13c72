// Scans of a vector of uint64, which wrap around: rungs of scan.cu whose status has a
// word for the state beside those for the sums.

#include "rungs.cuh"

// Many blocks, each with a chunk: the first launch adds the chunks up,
extern "C" __global__ void __launch_bounds__(256) scan_u64_two_kernels(const Word* __restrict__ x, Word* __restrict__ sums, unsigned n, unsigned chunk) {
    sum_chunk(x, sums, n, chunk);
}

// and the second reads x again.
extern "C" __global__ void __launch_bounds__(256) scan_u64_two_kernels_2(const Word* __restrict__ x, Word* __restrict__ y, const Word* __restrict__ sums, unsigned n, unsigned chunk, unsigned exclusive) {
    scan_chunk(x, y, sums, n, chunk, exclusive);
}

// The same with one tile per block and 16 bytes per access: as many blocks as a short vector needs.
extern "C" __global__ void __launch_bounds__(256) scan_u64_two_wide(const Word* __restrict__ x, Word* __restrict__ sums, unsigned n, unsigned turns, unsigned rounds) {
    if (rounds == 2) sum_tiles<Word, 2>(x, sums, n, turns);
    else sum_tiles<Word, 4>(x, sums, n, turns);
}

extern "C" __global__ void __launch_bounds__(256) scan_u64_two_wide_2(const Word* __restrict__ x, Word* __restrict__ y, const Word* __restrict__ sums, unsigned n, unsigned turns, unsigned exclusive, unsigned rounds) {
    if (rounds == 2) scan_tiles<Word, 2>(x, y, sums, n, turns, exclusive);
    else scan_tiles<Word, 4>(x, y, sums, n, turns, exclusive);
}

// One launch, one read of x: a warp looks back, 32 tiles at a time.
extern "C" __global__ void __launch_bounds__(256) scan_u64_look_back_warp(const Word* __restrict__ x, Word* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_warp<Word, 1>(x, y, status, draw(ticket), n, exclusive);
}

// Thirty-two elements per thread: an eighth of the tiles.
extern "C" __global__ void __launch_bounds__(256) scan_u64_look_back_wide(const Word* __restrict__ x, Word* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    by_warp<Word, 8>(x, y, status, draw(ticket), n, exclusive);
}
