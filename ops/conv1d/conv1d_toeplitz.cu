// One-dimensional correlation of float32 on tensor cores. Sixteen neighbouring outputs are
// a Toeplitz matrix of the taps, T[r][u] = tap(u - r), times sixteen elements of x and those
// behind them. x and the taps are split into two float16 numbers each, whose three larger
// products are added.
//
// A block scales its part of x, and the taps, by powers of two, so that the largest number
// is from 2^14 to 2^15. The second number is what is left, times 2^11: so 22 bits are kept
// of all numbers down to 2^-28 of the largest. A block whose numbers are farther apart, or
// not finite, adds float32 instead.

#include <cuda_fp16.h>

#include "conv1d.cuh"

// Outputs of a block of four warps, elements of x that it reads, and taps of a pass. A
// warp has eight columns of 64 outputs, four matrices of sixteen.
const unsigned block_outputs = 2048, read_elements = 2176, pass_taps = 112, steps_a_pass = 8, column_outputs = 64;

// Bits of |v|, in the order of numbers.
static __device__ unsigned magnitude(float v) { return __float_as_uint(v) & 0x7fffffff; }

// The largest and the least magnitude above 0 of what the threads of a block have seen.
struct Range {
    unsigned most, least; // least is one less, so that 0 is the largest unsigned

    __device__ void see(float v) { most = max(most, magnitude(v)), least = min(least, magnitude(v) - 1); }
    __device__ void join(unsigned* to) const {
        unsigned m = __reduce_max_sync(~0u, most), l = __reduce_min_sync(~0u, least);
        if (threadIdx.x % 32 == 0) atomicMax(to, m), atomicMin(to + 1, l);
    }
};

// The power of two that brings the largest number to 2^14 and more.
static __device__ int scale(const unsigned* range) { return range[0] ? 14 + 127 - (int)(range[0] >> 23) : 0; }

// Whether two float16 numbers keep 22 bits of all numbers.
static __device__ bool fits(const unsigned* range) {
    unsigned high = range[0] >> 23, low = (range[1] + 1) >> 23;
    return range[0] == 0 || high >= 64 && high <= 190 && high - low <= 27;
}

static __device__ float power(int exponent) { return __uint_as_float((exponent + 127) << 23); }

static __device__ void split(float v, __half& first, __half& second) {
    first = __float2half_rn(v);
    second = __float2half_rn((v - __half2float(first)) * 2048);
}

// The place of a 16-byte vector of x in shared memory: one of nine is empty, so that the
// same vector of eight columns lies on all banks.
static __device__ unsigned place(unsigned vector) { return vector + vector / 8; }

static __device__ void mma(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%4}, {%7,%8}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(b0), "r"(b1));
}

// Taps from the mask by their place in x. Masks of more than 112 taps take several passes.
extern "C" __global__ void __launch_bounds__(128, 4) conv1d_toeplitz(const float* __restrict__ x, const float* __restrict__ mask, float* __restrict__ y, Shape s) {
    __shared__ __align__(16) __half parts[2][(read_elements / 8 + read_elements / 64) * 8];
    __shared__ float taps[pass_taps];
    __shared__ __half2 pairs[2][160]; // taps d and d + 1 from d = -16 on, 0 outside
    __shared__ unsigned ranges[4];    // of x and of the taps
    unsigned tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int left = (int)(blockIdx.x * block_outputs) - s.before;
    float sums[4][4] = {};
    for (unsigned first = 0; first < s.k; first += pass_taps, left += pass_taps) {
        unsigned count = min(pass_taps, s.k - first), steps = (count + 30) / 16;
        if (tid < 4) ranges[tid] = tid % 2 ? ~0u : 0;
        float mine[read_elements / 128], tap = tid < count ? mask[s.first + (int)(first + tid) * s.step] : 0;
        Range of_x = {0, ~0u}, of_taps = {0, ~0u};
#pragma unroll
        for (unsigned j = 0; j < read_elements / 128; j++) {
            int at = left + (int)(tid + j * 128);
            mine[j] = at >= 0 && at < (int)s.n ? x[at] : 0;
        }
#pragma unroll
        for (unsigned j = 0; j < read_elements / 128; j++) of_x.see(mine[j]);
        of_taps.see(tap);
        __syncthreads();
        of_x.join(ranges), of_taps.join(ranges + 2);
        if (tid < pass_taps) taps[tid] = tap;
        __syncthreads();
        if (!fits(ranges) || !fits(ranges + 2)) { // the whole block
#pragma unroll
            for (unsigned e = 0; e < 16; e++) {
                unsigned o = (warp * 8 + lane % 4 * 2 + e % 2) * column_outputs + e / 4 * 16 + e / 2 % 2 * 8 + lane / 4;
                float sum = 0;
#pragma unroll 1
                for (unsigned j = 0; j < count; j++) {
                    int at = left + (int)(o + j);
                    if (at >= 0 && at < (int)s.n) sum += taps[j] * x[at];
                }
                sums[e / 4][e % 4] += sum;
            }
            __syncthreads();
            continue;
        }
        int scale_x = scale(ranges), scale_taps = scale(ranges + 2);
#pragma unroll
        for (unsigned j = 0; j < read_elements / 128; j++) {
            unsigned i = tid + j * 128, at = place(i / 8) * 8 + i % 8;
            split(mine[j] * power(scale_x), parts[0][at], parts[1][at]);
        }
        for (unsigned i = tid; i < 160; i += 128) {
            __half two[2][2];
#pragma unroll
            for (unsigned e = 0; e < 2; e++) {
                unsigned d = i + e - 16; // below 0 it is large
                split(d < count ? taps[d] * power(scale_taps) : 0, two[0][e], two[1][e]);
            }
            pairs[0][i] = {two[0][0], two[0][1]}, pairs[1][i] = {two[1][0], two[1][1]};
        }
        __syncthreads();
        // Row lane / 4 of T and the two of its columns that a lane has are taps d and d + 1,
        // and eight rows or columns on d changes by eight: 18 pairs are all of T.
        unsigned of[2][2 * steps_a_pass + 2];
#pragma unroll
        for (unsigned m = 0; m < 2 * steps_a_pass + 2; m++)
#pragma unroll
            for (unsigned p = 0; p < 2; p++) of[p][m] = *(const unsigned*)&pairs[p][8 + lane % 4 * 2 - lane / 4 + m * 8];
        float large[4][4] = {}, small[4][4] = {};
        unsigned base = (unsigned)__cvta_generic_to_shared(parts[lane / 16]) + (warp * 8 + lane % 8) * 9 * 16;
#pragma unroll
        for (unsigned t = 0; t < steps_a_pass + 3; t++) {
            if (t >= steps + 3) break;
            unsigned b[4], vector = t * 2 + lane / 8 % 2;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(base + place(vector) * 16) : "memory");
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                if (t < i || t - i >= steps_a_pass) continue; // T is 0 there
                unsigned m = 2 * (t - i);
                mma(small[i], of[0][m + 1], of[0][m], of[0][m + 2], b[2], b[3]);
                mma(small[i], of[1][m + 1], of[1][m], of[1][m + 2], b[0], b[1]);
                mma(large[i], of[0][m + 1], of[0][m], of[0][m + 2], b[0], b[1]);
            }
        }
        int exponent = -scale_x - scale_taps, half = exponent / 2;
#pragma unroll
        for (unsigned e = 0; e < 16; e++) sums[e / 4][e % 4] += (large[e / 4][e % 4] + small[e / 4][e % 4] * 0x1p-11f) * power(half) * power(exponent - half);
        __syncthreads();
    }
#pragma unroll
    for (unsigned e = 0; e < 16; e++) {
        unsigned o = blockIdx.x * block_outputs + (warp * 8 + lane % 4 * 2 + e % 2) * column_outputs + e / 4 * 16 + e / 2 % 2 * 8 + lane / 4;
        if (o < s.outputs) y[o] = sums[e / 4][e % 4];
    }
}
