// One-dimensional correlation and convolution of float32:
// y[i] = sum over j < k of mask[j] * x[i * stride + j * dilation - before].
//
// Each rung makes one change to the rung before it.

#include "conv1d.cuh"

// The listing of note 001 with a guard: one thread per output, x and the mask from global
// memory, an if for each tap.
extern "C" __global__ void conv1d_global(const float* __restrict__ x, const float* __restrict__ mask, float* __restrict__ y, Shape s) {
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= s.outputs) return;
    int left = (int)(id * s.stride) - s.before;
    float sum = 0;
    for (unsigned j = 0; j < s.k; j++) {
        int at = left + (int)(j * s.dilation);
        if (at >= 0 && at < (int)s.n) sum += mask[s.first + (int)j * s.step] * x[at];
    }
    y[id] = sum;
}

// Taps come from constant memory: all lanes of a warp read the same address, which the
// constant cache gives to all of them at once.
extern "C" __global__ void conv1d_constant(const float* __restrict__ x, float* __restrict__ y, Shape s) {
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= s.outputs) return;
    int left = (int)(id * s.stride) - s.before;
    float sum = 0;
    for (unsigned j = 0; j < s.k; j++) {
        int at = left + (int)(j * s.dilation);
        if (at >= 0 && at < (int)s.n) sum += conv1d_taps[j] * x[at];
    }
    y[id] = sum;
}

// A block copies its part of x and the halo to shared memory, with zeros outside x: no if
// for a tap is left. A long mask takes several passes of so many taps.
extern "C" __global__ void __launch_bounds__(256) conv1d_shared(const float* __restrict__ x, float* __restrict__ y, Shape s, unsigned taps_a_pass) {
    extern __shared__ float tile[];
    unsigned tid = threadIdx.x, id = blockIdx.x * 256 + tid;
    int left = (int)(blockIdx.x * 256 * s.stride) - s.before;
    float sum = 0;
    for (unsigned first = 0; first < s.k; first += taps_a_pass) {
        unsigned count = min(taps_a_pass, s.k - first);
        unsigned span = 255 * s.stride + (count - 1) * s.dilation + 1;
        for (unsigned i = tid; i < span; i += 256) {
            int at = left + (int)(first * s.dilation + i);
            tile[i] = at >= 0 && at < (int)s.n ? x[at] : 0;
        }
        __syncthreads();
        for (unsigned j = 0; j < count; j++) sum += conv1d_taps[first + j] * tile[tid * s.stride + j * s.dilation];
        __syncthreads();
    }
    if (id < s.outputs) y[id] = sum;
}

// A block computes 2048 outputs: a thread has two groups of four neighbours.
const unsigned outputs_a_block = 2048, group = 1024, window_taps = 128;

// Copies a block's part of x for so many taps, and zeros outside x.
__device__ void fill(float* tile, const float* x, const Shape& s, unsigned first, unsigned count) {
    int left = (int)(blockIdx.x * outputs_a_block) - s.before + (int)first;
    for (unsigned i = threadIdx.x; i < outputs_a_block + (count + 3) / 4 * 4 + 4; i += 256) {
        int at = left + (int)i;
        tile[i] = at >= 0 && at < (int)s.n ? x[at] : 0;
    }
}

// Stores the outputs of a thread, 16 bytes at a time where y is aligned.
__device__ void store(float* y, const Shape& s, const float (&sum)[2][4]) {
    for (unsigned g = 0; g < 2; g++) {
        unsigned id = blockIdx.x * outputs_a_block + g * group + threadIdx.x * 4;
        if (id + 4 <= s.outputs && (size_t)y % 16 == 0) {
            *(float4*)(y + id) = make_float4(sum[g][0], sum[g][1], sum[g][2], sum[g][3]);
            continue;
        }
        for (unsigned i = 0; i < 4; i++)
            if (id + i < s.outputs) y[id + i] = sum[g][i];
    }
}

// Adds four taps, from `first + j` on, of two windows of eight elements to two groups of
// four sums. Taps from `count` on are none: a zero in their place would make NaN of an
// infinity.
__device__ __forceinline__ void four_taps(float (&sum)[2][4], const float4 (&now)[2], const float4 (&next)[2], unsigned first, unsigned j, unsigned count) {
    const float window[2][8] = {{now[0].x, now[0].y, now[0].z, now[0].w, next[0].x, next[0].y, next[0].z, next[0].w},
                                {now[1].x, now[1].y, now[1].z, now[1].w, next[1].x, next[1].y, next[1].z, next[1].w}};
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        if (j + i >= count) break;
        float tap = conv1d_taps[first + j + i];
#pragma unroll
        for (unsigned o = 0; o < 4; o++) sum[0][o] += tap * window[0][i + o], sum[1][o] += tap * window[1][i + o];
    }
}

// Stride 1 and dilation 1. Four neighbouring outputs share a window of eight elements in
// registers, which moves on by four: one load of 16 bytes for sixteen multiplications.
extern "C" __global__ void __launch_bounds__(256) conv1d_window(const float* __restrict__ x, float* __restrict__ y, Shape s) {
    __shared__ __align__(16) float tile[outputs_a_block + window_taps + 4];
    float sum[2][4] = {};
    for (unsigned first = 0; first < s.k; first += window_taps) {
        unsigned count = min(window_taps, s.k - first);
        fill(tile, x, s, first, count);
        __syncthreads();
        const float4* at = (const float4*)tile + threadIdx.x;
        float4 now[2] = {at[0], at[group / 4]};
#pragma unroll 1
        for (unsigned j = 0; j < count; j += 4) {
            float4 next[2] = {at[j / 4 + 1], at[group / 4 + j / 4 + 1]};
            four_taps(sum, now, next, first, j, count);
            now[0] = next[0], now[1] = next[1];
        }
        __syncthreads();
    }
    store(y, s, sum);
}

// Up to 128 taps, each at an address that the compiler knows, so that multiplications take
// them as operands: for sm_90, ptxas 13.0 reads a tap into a uniform register, which eight
// multiplications of every lane use. Longer masks are refused.
const unsigned operand_taps = 128;
extern "C" __global__ void __launch_bounds__(256) conv1d_operands(const float* __restrict__ x, float* __restrict__ y, Shape s) {
    __shared__ __align__(16) float tile[outputs_a_block + operand_taps + 4];
    float sum[2][4] = {};
    fill(tile, x, s, 0, s.k);
    __syncthreads();
    const float4* at = (const float4*)tile + threadIdx.x;
    float4 now[2] = {at[0], at[group / 4]};
#pragma unroll
    for (unsigned j = 0; j < operand_taps; j += 4) {
        if (j >= s.k) break;
        float4 next[2] = {at[j / 4 + 1], at[group / 4 + j / 4 + 1]};
        four_taps(sum, now, next, 0, j, s.k);
        now[0] = next[0], now[1] = next[1];
    }
    store(y, s, sum);
}

// Up to 9 taps without shared memory: a thread has four neighbouring outputs and reads the
// vectors of x under them, of which L1 has all but one from its neighbours. x starts up to
// three elements before the first tap, so that vectors are aligned. Blocks are small: the
// next starts as soon as one has stored, as in a copy. With more taps, a thread needs more
// than 32 registers, and fewer threads have loads in flight. Nine taps whose first lies on
// a vector have code without a branch for each tap, which takes a third of the
// instructions.
const unsigned vector_taps = 9 + 3, vectors_of_x = 4; // with those before the first
extern "C" __global__ void __launch_bounds__(128) conv1d_vector(const float* __restrict__ x, float* __restrict__ y, Shape s) {
    unsigned id = (blockIdx.x * 128 + threadIdx.x) * 4, shift = ((unsigned)((size_t)x / 4) - (unsigned)s.before) & 3, end = s.k + shift;
    int left = (int)id - s.before - (int)shift;
    float v[vectors_of_x * 4], sum[4] = {};
    auto keep = [&](unsigned j, float4 four) { v[j * 4] = four.x, v[j * 4 + 1] = four.y, v[j * 4 + 2] = four.z, v[j * 4 + 3] = four.w; };
    auto element = [&](int i) { return i >= 0 && i < (int)s.n ? x[i] : 0; };
    auto elements = [&](int at) { return make_float4(element(at), element(at + 1), element(at + 2), element(at + 3)); };
    auto add = [&](float tap, unsigned j) {
#pragma unroll
        for (unsigned o = 0; o < 4; o++) sum[o] += tap * v[j + o];
    };
    if (shift == 0 && s.k == 9) {
        if (left >= 0 && left + 12 <= (int)s.n) {
#pragma unroll
            for (unsigned j = 0; j < 3; j++) keep(j, *(const float4*)(x + left + j * 4));
        } else
#pragma unroll
            for (unsigned j = 0; j < 3; j++) keep(j, elements(left + (int)j * 4));
#pragma unroll
        for (unsigned j = 0; j < 9; j++) add(conv1d_taps[j], j);
    } else {
#pragma unroll
        for (unsigned j = 0; j < vectors_of_x; j++) {
            int at = left + (int)j * 4;
            float4 four = {};
            if (j * 4 < end + 3) { // a tap meets it
                if (at >= 0 && at + 4 <= (int)s.n) four = *(const float4*)(x + at);
                else four = elements(at);
            }
            keep(j, four);
        }
#pragma unroll
        for (unsigned j = 0; j < vector_taps; j++) {
            if (j < shift) continue;
            if (j >= end) break;
            add(conv1d_taps[j - shift], j);
        }
    }
    if (id + 4 <= s.outputs && (size_t)y % 16 == 0) {
        *(float4*)(y + id) = make_float4(sum[0], sum[1], sum[2], sum[3]);
        return;
    }
#pragma unroll
    for (unsigned o = 0; o < 4; o++)
        if (id + o < s.outputs) y[id + o] = sum[o];
}
