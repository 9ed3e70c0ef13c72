// Copies the elements of x that are above 0 to the front of y. count[0] is how many
// there are, also where y has room for fewer: nothing is written from y[capacity] on.
// count and all status words are 0 before the launch.
//
// Each rung makes one change to the rung before it.

#include "tile.cuh"

// One thread per element, and an atomic on one counter for each that is kept.
extern "C" __global__ void copy_if_filter(const float* __restrict__ x, float* __restrict__ y, unsigned* count, unsigned n, unsigned capacity) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) {
        unsigned at = atomicAdd(count, 1);
        if (at < capacity) y[at] = x[i];
    }
}

// A grid of one size strides over x, with an index of 64 bits: the notes' 32 bits pass
// their end where n is within a grid of 2^31.
extern "C" __global__ void copy_if_origin(const float* __restrict__ x, float* __restrict__ y, unsigned* count, unsigned n, unsigned capacity) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] > 0) {
            unsigned at = atomicAdd(count, 1);
            if (at < capacity) y[at] = x[i];
        }
}

// A block counts in shared memory and takes its places with one atomic. Every thread
// makes the same number of turns, those beyond the end too: they meet at barriers.
extern "C" __global__ void copy_if_block(const float* __restrict__ x, float* __restrict__ y, unsigned* count, unsigned n, unsigned capacity) {
    __shared__ unsigned keeps, start;
    for (size_t first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
        if (threadIdx.x == 0) keeps = 0;
        __syncthreads();
        float v = first + threadIdx.x < n ? x[first + threadIdx.x] : 0;
        unsigned at = v > 0 ? atomicAdd(&keeps, 1) : 0;
        __syncthreads();
        if (threadIdx.x == 0) start = atomicAdd(count, keeps);
        __syncthreads();
        if (v > 0 && start + at < capacity) y[start + at] = v;
    }
}

// One atomic for the lanes that are here together: the lowest adds their number, and
// its answer is where the first of them goes.
static __device__ unsigned claim(unsigned* count) {
    unsigned here = __activemask();
    unsigned below = __popc(here & lanes_below()), first = 0;
    if (below == 0) first = atomicAdd(count, __popc(here));
    return __shfl_sync(here, first, __ffs(here) - 1) + below;
}

// A warp takes its places with one atomic, without barriers.
extern "C" __global__ void copy_if_warp(const float* __restrict__ x, float* __restrict__ y, unsigned* count, unsigned n, unsigned capacity) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] > 0) {
            unsigned at = claim(count);
            if (at < capacity) y[at] = x[i];
        }
}

// A block takes its places with one atomic, and its warps share them by a ballot and a
// sum of the warps' numbers: no atomics in shared memory. Order is kept inside a block.
extern "C" __global__ void __launch_bounds__(256) copy_if_block_scan(const float* __restrict__ x, float* __restrict__ y, unsigned* count, unsigned n, unsigned capacity) {
    __shared__ unsigned totals[8], start;
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    float v = i < n ? x[i] : 0;
    unsigned votes = __ballot_sync(0xffffffff, v > 0), all;
    unsigned at = before_warp<8>(__popc(votes), totals, all) + __popc(votes & lanes_below());
    if (threadIdx.x == 0) start = atomicAdd(count, all);
    __syncthreads();
    if (v > 0 && start + at < capacity) y[start + at] = v;
}

// Sixteen elements per thread in loads of 16 bytes; the block packs what it keeps in
// shared memory, so that neighbouring threads write neighbours.
extern "C" __global__ void __launch_bounds__(256) copy_if_compact(const float* __restrict__ x, float* __restrict__ y, unsigned* count, unsigned n, unsigned capacity) {
    __shared__ float packed[4096];
    __shared__ unsigned totals[8], start;
    float4 v[4];
    unsigned at[4], all;
    load<4>(v, x, (size_t)blockIdx.x * 4096, n);
    unsigned own = rank<4>(v, at), before = before_warp<8>(own, totals, all);
    if (threadIdx.x == 0) start = atomicAdd(count, all);
    pack<4>(packed, v, at, before);
    __syncthreads();
    store(y, packed, start, all, capacity, 256);
}

// Keeps the order with three launches and two reads of x. The first counts what each
// tile keeps.
extern "C" __global__ void __launch_bounds__(256) copy_if_two_passes(const float* __restrict__ x, unsigned* __restrict__ starts, unsigned n) {
    __shared__ unsigned totals[8];
    float4 v[4];
    unsigned at[4], all;
    load<4>(v, x, (size_t)blockIdx.x * 4096, n);
    before_warp<8>(rank<4>(v, at), totals, all);
    if (threadIdx.x == 0) starts[blockIdx.x] = all;
}

// One block turns the numbers of the tiles into where each begins.
extern "C" __global__ void __launch_bounds__(1024) copy_if_two_passes_2(unsigned* __restrict__ starts, unsigned* __restrict__ count, unsigned tiles) {
    __shared__ unsigned totals[32];
    unsigned lane = threadIdx.x % 32, sum = 0;
    for (unsigned first = 0; first < tiles; first += 1024) {
        unsigned i = first + threadIdx.x, t = i < tiles ? starts[i] : 0, up = t, all;
#pragma unroll
        for (unsigned d = 1; d < 32; d *= 2) {
            unsigned other = __shfl_up_sync(0xffffffff, up, d);
            if (lane >= d) up += other;
        }
        unsigned before = before_warp<32>(__shfl_sync(0xffffffff, up, 31), totals, all);
        if (i < tiles) starts[i] = sum + before + up - t;
        sum += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = sum;
}

// The third reads x again and writes each tile where it begins.
extern "C" __global__ void __launch_bounds__(256) copy_if_two_passes_3(const float* __restrict__ x, float* __restrict__ y, const unsigned* __restrict__ starts, unsigned n, unsigned capacity) {
    __shared__ float packed[4096];
    __shared__ unsigned totals[8];
    float4 v[4];
    unsigned at[4], all;
    load<4>(v, x, (size_t)blockIdx.x * 4096, n);
    unsigned own = rank<4>(v, at), before = before_warp<8>(own, totals, all);
    pack<4>(packed, v, at, before);
    __syncthreads();
    store(y, packed, starts[blockIdx.x], all, capacity, 256);
}

// Keeps the order in one pass: a block publishes what its tile keeps, and one of its
// warps looks back over the tiles before. Blocks draw their tiles in the order in which
// they start, so that a tile's predecessors always run.
extern "C" __global__ void __launch_bounds__(256) copy_if_look_back(const float* __restrict__ x, float* __restrict__ y, unsigned* __restrict__ count, Status* status, unsigned* ticket, unsigned n, unsigned capacity) {
    __shared__ float packed[8192];
    __shared__ unsigned totals[8], drawn, start;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned tile = drawn, at[8], all;
    float4 v[8];
    load<8>(v, x, (size_t)tile * 8192, n);
    unsigned own = rank<8>(v, at), before = before_warp<8>(own, totals, all);
    if (threadIdx.x == 0) write_status(status + tile, status_of(tile ? 1 : 2, all));
    pack<8>(packed, v, at, before);
    if (threadIdx.x < 32) {
        unsigned earlier = tile ? look_back<1>(status, tile) : 0;
        if (threadIdx.x == 0) {
            if (tile) write_status(status + tile, status_of(2, earlier + all));
            if (tile == gridDim.x - 1) *count = earlier + all;
            start = earlier;
        }
    }
    __syncthreads();
    store(y, packed, start, all, capacity, 256);
}
