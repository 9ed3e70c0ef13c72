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

// The same in warps that wait for no other: each has a part of 1024 outputs at a time, and
// the next part comes to registers while it multiplies one. Taps are split once a block. x is the first
// factor: 16 rows of 64 outputs each, and T^T the second, of 8 neighbouring outputs: seven
// steps hold 102 taps, where T with 16 rows takes eight. The four registers of a first factor
// are loaded as the instruction takes them, although neighbours share half of them: otherwise
// each is put together by two or four copies of registers before it is multiplied.
const unsigned part_outputs = 1024, row_outputs = 64, row_groups = 8, row_steps = 7, part_elements = 15 * row_outputs + (row_groups - 1) * 8 + row_steps * 16;
const unsigned part_vectors = part_elements / 8, part_chunks = part_elements / 4, chunks_a_lane = (part_chunks + 31) / 32;
const unsigned half_bytes = (part_vectors + part_vectors / 8 + 1) * 16, part_bytes = 2 * half_bytes;

static __device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Splits two neighbours; `more` is 2048 times the scale.
static __device__ __forceinline__ void split(float u, float v, float scale, float more, unsigned& first, unsigned& second) {
    __half2 one = __floats2half2_rn(u * scale, v * scale);
    float2 back = __half22float2(one);
    __half2 two = __floats2half2_rn(fmaf(back.x, -2048.f, u * more), fmaf(back.y, -2048.f, v * more));
    first = *(unsigned*)&one, second = *(unsigned*)&two;
}

// Whether a lane has a vector j of a part: it has all but the last.
static __device__ __forceinline__ bool has(unsigned j) { return j + 1 < chunks_a_lane || threadIdx.x % 32 < part_chunks % 32; }

// Loads the vectors of a lane of a part of x from `left` on, and zeros outside x. Vectors of
// 16 bytes from left on are aligned.
static __device__ __forceinline__ void load_part(float4 (&mine)[chunks_a_lane], const float* x, int left, unsigned n) {
    if (left >= 0 && left + (int)part_elements <= (int)n) {
        const float4* from = (const float4*)(x + left) + threadIdx.x % 32;
#pragma unroll
        for (unsigned j = 0; j < chunks_a_lane; j++) mine[j] = has(j) ? from[j * 32] : make_float4(0, 0, 0, 0);
        return;
    }
    auto element = [&](int at) { return at >= 0 && at < (int)n ? x[at] : 0; };
#pragma unroll
    for (unsigned j = 0; j < chunks_a_lane; j++) {
        int at = left + (int)(threadIdx.x % 32 + j * 32) * 4;
        mine[j] = has(j) ? make_float4(element(at), element(at + 1), element(at + 2), element(at + 3)) : make_float4(0, 0, 0, 0);
    }
}

// A mask of at most 102 taps. A part starts up to three elements before the first that a tap
// meets, so that its vectors are aligned.
extern "C" __global__ void __launch_bounds__(128, 3) conv1d_toeplitz_warps(const float* __restrict__ x, const float* __restrict__ mask, float* __restrict__ y, Shape s, unsigned parts) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ unsigned pairs[2][128]; // taps d and d + 1 from d = -8 on, 0 outside
    __shared__ unsigned ranges[2];     // of the taps
    unsigned tid = threadIdx.x, lane = tid % 32, part = blockIdx.x * 4 + tid / 32, step = gridDim.x * 4;
    int shift = (int)(((unsigned)((size_t)x / 4) - (unsigned)s.before) & 3), before = s.before + shift;
    unsigned char* halves = memory + tid / 32 * part_bytes;
    float4 mine[chunks_a_lane];
    if (part < parts) load_part(mine, x, (int)(part * part_outputs) - before, s.n);

    float tap = tid < s.k ? mask[s.first + (int)tid * s.step] : 0;
    Range of_taps = {0, ~0u};
    of_taps.see(tap);
    if (tid < 2) ranges[tid] = tid ? ~0u : 0;
    __syncthreads();
    of_taps.join(ranges);
    __syncthreads();
    bool fit = fits(ranges);
    int scale_taps = scale(ranges);
    float two[2];
#pragma unroll
    for (unsigned e = 0; e < 2; e++) {
        unsigned d = tid + e - 8 - (unsigned)shift; // below 0 it is large
        two[e] = fit && d < s.k ? mask[s.first + (int)d * s.step] : 0;
    }
    split(two[0], two[1], power(scale_taps), power(scale_taps) * 2048, pairs[0][tid], pairs[1][tid]);
    __syncthreads();
    // Column lane / 4 of T^T and the two of its rows that a lane has, and those eight rows on.
    unsigned of[2][2 * row_steps];
#pragma unroll
    for (unsigned p = 0; p < 2; p++)
#pragma unroll
        for (unsigned m = 0; m < 2 * row_steps; m++) of[p][m] = pairs[p][8 + m * 8 + lane % 4 * 2 - lane / 4];

    unsigned base = (unsigned)__cvta_generic_to_shared(halves) + place(lane % 16 * 8) * 16;
    unsigned char* to = halves + place(lane / 2) * 16 + lane % 2 * 8;
    for (; part < parts; part += step) {
        Range of_x = {0, ~0u};
#pragma unroll
        for (unsigned j = 0; j < chunks_a_lane; j++) of_x.see(mine[j].x), of_x.see(mine[j].y), of_x.see(mine[j].z), of_x.see(mine[j].w);
        unsigned range[2] = {__reduce_max_sync(~0u, of_x.most), __reduce_min_sync(~0u, of_x.least)};
        auto next = [&] {
            if (part + step < parts) load_part(mine, x, (int)((part + step) * part_outputs) - before, s.n);
        };
        unsigned first = part * part_outputs;
        if (!fit || !fits(range)) { // the whole warp
            for (unsigned o = first + lane; o < min(first + part_outputs, s.outputs); o += 32) {
                float sum = 0;
#pragma unroll 1
                for (unsigned j = 0; j < s.k; j++) {
                    int at = (int)(o + j) - s.before;
                    if (at >= 0 && at < (int)s.n) sum += mask[s.first + (int)j * s.step] * x[at];
                }
                y[o] = sum;
            }
            next();
            continue;
        }
        int scale_x = scale(range);
        float by = power(scale_x);
#pragma unroll
        for (unsigned j = 0; j < chunks_a_lane; j++) {
            uint2 one, two;
            split(mine[j].x, mine[j].y, by, by * 2048, one.x, two.x), split(mine[j].z, mine[j].w, by, by * 2048, one.y, two.y);
            if (has(j)) *(uint2*)(to + j * 18 * 16) = one, *(uint2*)(to + j * 18 * 16 + half_bytes) = two; // 18 places for 16 vectors
        }
        __syncwarp();
        next();
        float large[row_groups][4] = {}, small[row_groups][4] = {};
#pragma unroll
        for (unsigned v = 0; v + 1 < row_groups - 1 + 2 * row_steps; v++) { // vectors v and v + 1 of each row
            unsigned q[2][4], at = base + (lane / 16 ? place(v + 1) : place(v)) * 16;
#pragma unroll
            for (unsigned p = 0; p < 2; p++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(q[p][0]), "=r"(q[p][1]), "=r"(q[p][2]), "=r"(q[p][3]) : "r"(at + p * half_bytes) : "memory");
            // The same sum is not added to by two instructions in a row.
#pragma unroll
            for (unsigned product = 0; product < 3; product++)
#pragma unroll
                for (unsigned g = v % 2; g <= v && g < row_groups; g += 2) {
                    unsigned m = v - g;
                    if (m >= 2 * row_steps) continue; // T is 0 there
                    if (product == 0) mma(small[g], q[1], of[0][m], of[0][m + 1]);
                    if (product == 1) mma(large[g], q[0], of[0][m], of[0][m + 1]);
                    if (product == 2) mma(small[g], q[0], of[1][m], of[1][m + 1]);
                }
        }
        // By way of shared memory, so that lanes store neighbours: rows of 32 pairs, whose
        // groups of four are exchanged.
        int exponent = -scale_x - scale_taps, half = exponent / 2;
        bool whole = first + part_outputs <= s.outputs && (size_t)y % 16 == 0, near = exponent > -100 && exponent < 100; // one power is enough
        float back = power(near ? exponent : half), back_small = back * 0x1p-11f, more = power(exponent - half);
        float2* staged = (float2*)halves;
        __syncwarp();
#pragma unroll
        for (unsigned g = 0; g < row_groups; g++)
#pragma unroll
            for (unsigned e = 0; e < 4; e += 2) {
                float u = fmaf(small[g][e], back_small, large[g][e] * back), v = fmaf(small[g][e + 1], back_small, large[g][e + 1] * back);
                if (!near) u *= more, v *= more;
                unsigned row = lane / 4 + e * 4;
                staged[row * 32 + (g * 4 + lane % 4 ^ row % 8 * 4)] = make_float2(u, v);
            }
        __syncwarp();
        if (whole) {
#pragma unroll
            for (unsigned j = lane; j < part_outputs / 4; j += 32) ((float4*)(y + first))[j] = *(const float4*)(staged + j / 16 * 32 + (j % 16 * 2 ^ j / 16 % 8 * 4));
        } else
            for (unsigned j = lane; j < part_outputs && first + j < s.outputs; j += 32) {
                float2 pair = staged[j / 64 * 32 + (j % 64 / 2 ^ j / 64 % 8 * 4)];
                y[first + j] = j % 2 ? pair.y : pair.x;
            }
        __syncwarp();
    }
}
