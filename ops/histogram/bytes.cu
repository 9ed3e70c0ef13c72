// Histograms of bytes: counts[v] = how many elements of x are v, for v from 0 to 255.
// counts is 0 before the launch. No byte is outside of the bins.
//
// Each rung makes one change to the rung before it.

#include "lanes.cuh"

// The notes' bytes are char, which has a sign here: from 128 on they index in front of
// the counters. This rung is wrong.
extern "C" __global__ void histogram_u8_signed(const char* __restrict__ x, unsigned* __restrict__ counts, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[(signed char)x[i]], 1);
}

// Bytes without a sign.
extern "C" __global__ void histogram_u8_atomic(const unsigned char* __restrict__ x, unsigned* __restrict__ counts, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[x[i]], 1);
}

// A block counts in shared memory and adds its counts to the global ones at its end.
extern "C" __global__ void __launch_bounds__(256) histogram_u8_shared(const unsigned char* __restrict__ x, unsigned* __restrict__ counts, unsigned n) {
    __shared__ unsigned table[256];
    table[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&table[x[i]], 1);
    __syncthreads();
    if (table[threadIdx.x]) atomicAdd(&counts[threadIdx.x], table[threadIdx.x]);
}

// Counts the 16 bytes of a vector in a lane's column of the table. A counter lies 128
// bytes after the one before, so a byte is shifted by 7 bits.
static __device__ void count_bytes(char* column, uint4 v) {
    unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        atomicAdd((unsigned*)(column + (words[k] << 7 & 0x7f80)), 1);
        atomicAdd((unsigned*)(column + (words[k] >> 1 & 0x7f80)), 1);
        atomicAdd((unsigned*)(column + (words[k] >> 9 & 0x7f80)), 1);
        atomicAdd((unsigned*)(column + (words[k] >> 17 & 0x7f80)), 1);
    }
}

// Loads of 16 bytes, and 32 counters per bin, one for each lane: no two lanes of a warp
// meet at an address or at a bank, whatever the data.
extern "C" __global__ void __launch_bounds__(1024) histogram_u8_per_lane(const unsigned char* __restrict__ x, unsigned* __restrict__ counts, unsigned n) {
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < 256 * 32; i += 1024) table[i] = 0;
    __syncthreads();
    unsigned lane = threadIdx.x % 32, first = blockIdx.x * 1024 + threadIdx.x, stride = gridDim.x * 1024;
    unsigned vectors = (size_t)x % 16 == 0 ? n / 16 : 0;
    for (unsigned i = first; i < vectors; i += stride) count_bytes((char*)(table + lane), ((const uint4*)x)[i]);
    for (unsigned i = 16 * vectors + first; i < n; i += stride) atomicAdd(&table[x[i] * 32 + lane], 1);
    __syncthreads();
    publish_lanes(table, counts, 256);
}

// Three vectors per thread; the next three are in flight while these are counted.
extern "C" __global__ void __launch_bounds__(1024) histogram_u8_prefetch(const unsigned char* __restrict__ x, unsigned* __restrict__ counts, unsigned n) {
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < 256 * 32; i += 1024) table[i] = 0;
    __syncthreads();
    unsigned lane = threadIdx.x % 32, stride = gridDim.x * 3072;
    unsigned vectors = (size_t)x % 16 == 0 ? n / 16 : 0;
    const uint4* x16 = (const uint4*)x;
    uint4 now[3], next[3];
    unsigned i = blockIdx.x * 3072 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 3; k++)
        if (i + k * 1024 < vectors) now[k] = __ldcs(x16 + i + k * 1024);
    for (; i < vectors; i += stride) {
#pragma unroll
        for (unsigned k = 0; k < 3; k++)
            if (i + stride + k * 1024 < vectors) next[k] = __ldcs(x16 + i + stride + k * 1024);
#pragma unroll
        for (unsigned k = 0; k < 3; k++) {
            if (i + k * 1024 < vectors) count_bytes((char*)(table + lane), now[k]);
            now[k] = next[k];
        }
    }
    for (i = 16 * vectors + blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) atomicAdd(&table[x[i] * 32 + lane], 1);
    __syncthreads();
    publish_lanes(table, counts, 256);
}
