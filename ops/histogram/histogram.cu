// Histograms of int32 values: counts[v] = how many elements of x are v, for v
// from 0 to bins-1. dropped[0] counts the elements outside of that range.
// counts and dropped are 0 before the launch.
//
// Each rung makes one change to the rung before it. Values are compared as
// unsigned, so that a negative one is above every bin.

#include "lanes.cuh"

// Each thread reads a counter, adds one and writes it back. Threads overwrite
// each other's counts: this rung is wrong, by how much depends on the data.
extern "C" __global__ void histogram_race(const int* __restrict__ x, unsigned* counts, unsigned* dropped, unsigned n, unsigned bins) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    volatile unsigned* counter = v < bins ? &counts[v] : dropped;
    *counter = *counter + 1;
}

// The addition is atomic, in global memory.
extern "C" __global__ void histogram_atomic(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    atomicAdd(v < bins ? &counts[v] : dropped, 1);
}

// A block counts in shared memory and adds its counts to the global ones at its end.
extern "C" __global__ void histogram_shared(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned v = threadIdx.x; v < bins; v += blockDim.x) table[v] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        if (v < bins) atomicAdd(&table[v], 1);
        else atomicAdd(dropped, 1);
    }
    __syncthreads();
    for (unsigned v = threadIdx.x; v < bins; v += blockDim.x)
        if (table[v]) atomicAdd(&counts[v], table[v]);
}

// Each warp of a block has counters of its own: warps no longer meet at one address.
extern "C" __global__ void histogram_per_warp(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    unsigned warps = blockDim.x / 32;
    for (unsigned v = threadIdx.x; v < warps * bins; v += blockDim.x) table[v] = 0;
    __syncthreads();
    unsigned* own = table + threadIdx.x / 32 * bins;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        if (v < bins) atomicAdd(&own[v], 1);
        else atomicAdd(dropped, 1);
    }
    __syncthreads();
    for (unsigned v = threadIdx.x; v < bins; v += blockDim.x) {
        unsigned sum = 0;
        for (unsigned w = 0; w < warps; w++) sum += table[w * bins + v];
        if (sum) atomicAdd(&counts[v], sum);
    }
}

// Loads of 16 bytes: four values in flight per thread.
extern "C" __global__ void histogram_vec4(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    unsigned warps = blockDim.x / 32;
    for (unsigned v = threadIdx.x; v < warps * bins; v += blockDim.x) table[v] = 0;
    __syncthreads();
    unsigned* own = table + threadIdx.x / 32 * bins;
    auto count = [&](unsigned v) {
        if (v < bins) atomicAdd(&own[v], 1);
        else atomicAdd(dropped, 1);
    };
    unsigned vectors = (size_t)x % 16 == 0 ? n / 4 : 0, first = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = first; i < vectors; i += gridDim.x * blockDim.x) {
        int4 v = ((const int4*)x)[i];
        count(v.x), count(v.y), count(v.z), count(v.w);
    }
    for (unsigned i = 4 * vectors + first; i < n; i += gridDim.x * blockDim.x) count(x[i]);
    __syncthreads();
    for (unsigned v = threadIdx.x; v < bins; v += blockDim.x) {
        unsigned sum = 0;
        for (unsigned w = 0; w < warps; w++) sum += table[w * bins + v];
        if (sum) atomicAdd(&counts[v], sum);
    }
}

// Lanes with the same value find each other, and the lowest adds their number. All 32
// lanes make every turn; those beyond the end have a value that is counted nowhere.
extern "C" __global__ void histogram_match_any(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned v = threadIdx.x; v < bins; v += blockDim.x) table[v] = 0;
    __syncthreads();
    for (unsigned first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
        unsigned i = first + threadIdx.x;
        unsigned v = i < n ? min((unsigned)x[i], bins) : bins + 1; // bins: dropped
        unsigned same = __match_any_sync(0xffffffff, v);
        bool leader = threadIdx.x % 32 == __ffs(same) - 1;
        if (leader && v < bins) atomicAdd(&table[v], __popc(same));
        if (leader && v == bins) atomicAdd(dropped, __popc(same));
    }
    __syncthreads();
    for (unsigned v = threadIdx.x; v < bins; v += blockDim.x)
        if (table[v]) atomicAdd(&counts[v], table[v]);
}

// Each lane has counters of its own, in its own bank: no two lanes of a warp
// meet at an address or at a bank, whatever the data. The warps share them.
extern "C" __global__ void histogram_per_lane(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < bins * 32; i += blockDim.x) table[i] = 0;
    __syncthreads();
    unsigned lane = threadIdx.x % 32;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        if (v < bins) atomicAdd(&table[v * 32 + lane], 1);
        else atomicAdd(dropped, 1);
    }
    __syncthreads();
    publish_lanes(table, counts, bins);
}

// Loads of 16 bytes, four per thread; the next four are in flight while these are
// counted. One block of 1024 threads per multiprocessor.
extern "C" __global__ void __launch_bounds__(1024) histogram_prefetch(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < bins * 32; i += 1024) table[i] = 0;
    __syncthreads();
    unsigned lane = threadIdx.x % 32, outside = 0;
    auto count = [&](int value) {
        unsigned v = value;
        if (v < bins) atomicAdd(&table[v * 32 + lane], 1);
        else outside++;
    };
    bool aligned = (size_t)x % 16 == 0;
    unsigned vectors = aligned ? n / 4 : 0;
    unsigned stride = gridDim.x * 4096;
    const int4* x4 = (const int4*)x;
    int4 now[4], next[4];
    unsigned i = blockIdx.x * 4096 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (i + k * 1024 < vectors) now[k] = __ldcs(x4 + i + k * 1024);
    for (; i < vectors; i += stride) {
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            if (i + stride + k * 1024 < vectors) next[k] = __ldcs(x4 + i + stride + k * 1024);
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            if (i + k * 1024 < vectors) count(now[k].x), count(now[k].y), count(now[k].z), count(now[k].w);
            now[k] = next[k];
        }
    }
    for (i = vectors * 4 + blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) count(x[i]);
    outside = warp_sum(outside);
    if (lane == 0 && outside) atomicAdd(dropped, outside);
    __syncthreads();
    publish_lanes(table, counts, bins);
}
