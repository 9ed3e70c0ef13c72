// Scans of each row of a float32 matrix: y[r][c] = x[r][0] + ... + x[r][c].

#include "rungs.cuh"

// A warp has a row and goes through it 32 elements at a time.
extern "C" __global__ void cumsum_warp(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns, unsigned exclusive) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float earlier = 0;
    for (unsigned c = threadIdx.x % 32; c < (columns + 31) / 32 * 32; c += 32) {
        float scanned = scan_warp(c < columns ? x[c] : 0), before = before_lane(scanned);
        if (c < columns) y[c] = earlier + (exclusive ? before : scanned);
        earlier += from_lane(scanned, 31);
    }
}

// A block has a row: 256 elements at a time.
extern "C" __global__ void __launch_bounds__(256) cumsum_block(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns, unsigned exclusive) {
    x += (size_t)blockIdx.x * columns, y += (size_t)blockIdx.x * columns;
    by_shuffles(x, y, 0, columns, 0.0f, exclusive);
}

// A turn has 4096 elements, in accesses of 16 bytes where the row starts at 16 bytes.
extern "C" __global__ void __launch_bounds__(256) cumsum_wide(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns, unsigned exclusive) {
    __shared__ float totals[8];
    x += (size_t)blockIdx.x * columns, y += (size_t)blockIdx.x * columns;
    float earlier = 0;
    for (unsigned turn = 0; turn < (columns + 4095) / 4096; turn++) {
        Tile<float, 4, 8> t;
        t.load(x, turn, columns);
        float all, before = before_warp<float, 8>(t.scan(), totals, all);
        t.store(y, turn, columns, earlier + before, exclusive);
        earlier += all;
        __syncthreads();
    }
}

// 512 threads have 8192 elements in flight, and the sums of warps have two places in
// turn, so that an iteration has one barrier.
extern "C" __global__ void __launch_bounds__(512) cumsum_wide_512(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns, unsigned exclusive) {
    __shared__ float totals[2][16];
    x += (size_t)blockIdx.x * columns, y += (size_t)blockIdx.x * columns;
    float earlier = 0;
    for (unsigned tile = 0; tile < (columns + 8191) / 8192; tile++) {
        Tile<float, 4, 16> t;
        t.load(x, tile, columns);
        float all, before = before_warp<float, 16>(t.scan(), totals[tile % 2], all);
        t.store(y, tile, columns, earlier + before, exclusive);
        earlier += all;
    }
}
