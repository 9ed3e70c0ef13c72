// Scans by key: y[i] is the sum of x since the key last changed, up to and with x[i].
// The pair of a sum and whether a segment begins in it is added like a number, in order.

#include "scan.cuh"

// Elements are read as segments of one: the first of its key begins one.
static __device__ Segment element(const int* __restrict__ keys, const float* __restrict__ x, size_t i, unsigned n) {
    return i < n ? Segment(x[i], i == 0 || keys[i] != keys[i - 1]) : Segment(0);
}

// One block goes through x, 256 elements a turn.
extern "C" __global__ void __launch_bounds__(256) scan_by_key_shuffle(const int* __restrict__ keys, const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ Segment totals[8];
    Segment earlier(0);
    for (size_t first = 0; first < n; first += 256) {
        size_t i = first + threadIdx.x;
        Segment scanned = scan_warp(element(keys, x, i, n)), all;
        Segment before = before_warp<Segment, 8>(scanned, totals, all);
        if (i < n) y[i] = add(add(earlier, before), scanned).sum;
        earlier = add(earlier, all);
        __syncthreads();
    }
}

// One pass over many tiles: a thread has four elements, and a warp looks back.
extern "C" __global__ void __launch_bounds__(256) scan_by_key_look_back(const int* __restrict__ keys, const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n) {
    __shared__ Segment totals[8], earlier;
    unsigned tile = draw(ticket);
    size_t first = (size_t)tile * 1024 + threadIdx.x * 4;
    Segment own[4], sum(0);
#pragma unroll
    for (unsigned k = 0; k < 4; k++) own[k] = sum = add(sum, element(keys, x, first + k, n));
    Segment scanned = scan_warp(sum), all;
    Segment before = before_warp<Segment, 8>(scanned, totals, all);
    before = add(before, before_lane(scanned));
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0 && tile) write_status(status, tile, tile_sum, all);
        Segment back = tile ? look_back<Segment>(status, tile) : Segment(0);
        if (threadIdx.x == 0) {
            write_status(status, tile, prefix, add(back, all));
            earlier = back;
        }
    }
    __syncthreads();
    before = add(earlier, before);
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (first + k < n) y[first + k] = add(before, own[k]).sum;
}
