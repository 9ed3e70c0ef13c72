// Convolution of float32 volumes on Hopper's tensor cores in two float16 numbers a factor:
// half of the products of conv2d_split.cu.
//
// x and w are scaled by powers of two, so that the largest number of each is from 2^14 to
// 2^15. The second number is what the first leaves, times 2^11: 22 bits are kept of all
// numbers down to 2^-28 of the largest. A call whose numbers are farther apart, or not
// finite, adds float32 instead.
//
// Filters of 32 channels of x, both numbers of all taps, stay in shared memory while a
// block works. The 64 rows of a product are 32 channels of y: eight rows have the first
// numbers of eight channels, the next eight the second, so that a thread has the sums of both.
// A pixel is a row of 128 bytes: 32 first numbers and 32 second ones, which are multiplied
// into sums of their own. So a fourth product, of second numbers, costs nothing.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d.cuh"
#include "conv2d_hopper.cuh"

struct Halves {}; // chooses this instruction
WGMMA(Halves, 120, "m64n120k16", "f16", 60, 61, 62, "1, 1, 0, 0", SUMS32(d, 0), SUMS8(d, 32), SUMS8(d, 40), SUMS8(d, 48), SUMS4(d, 56))

// Channels of x in a row of 128 bytes, channels of y in the rows of a product, pixels of a
// block that splits, and bytes of the filters of two taps.
constexpr unsigned row_channels = 32, product_channels = 32, split_pixels = 128, pair_bytes = 64 * 128;

// The largest and the least magnitude above 0, less one so that 0 is the largest unsigned.
struct Range {
    unsigned most = 0, least = ~0u;

    __device__ void see(float v) {
        unsigned m = __float_as_uint(v) & 0x7fffffff;
        most = max(most, m), least = min(least, m - 1);
    }
    __device__ void see(const Range& r) { most = max(most, r.most), least = min(least, r.least); }

    // Of all threads of a block, in all of them.
    __device__ void join() {
        __shared__ unsigned of_warps[2][32];
        unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
        most = __reduce_max_sync(~0u, most), least = __reduce_min_sync(~0u, least);
        __syncthreads();
        if (lane == 0) of_warps[0][threadIdx.x / 32] = most, of_warps[1][threadIdx.x / 32] = least;
        __syncthreads();
        most = __reduce_max_sync(~0u, lane < warps ? of_warps[0][lane] : 0);
        least = __reduce_min_sync(~0u, lane < warps ? of_warps[1][lane] : ~0u);
    }

    // The power of two that brings the largest number to 2^14 and more.
    __device__ int scale() const { return most ? 14 + 127 - (int)(most >> 23) : 0; }

    // Whether two float16 numbers keep 22 bits of all numbers.
    __device__ bool fits() const {
        unsigned high = most >> 23, low = (least + 1) >> 23;
        return most == 0 || high >= 64 && high <= 190 && high - low <= 27;
    }
};

static __device__ float power(int exponent) { return __uint_as_float((exponent + 127) << 23); }

// The numbers of x, of `blocks` blocks that looked at it, and of w, behind them.
struct Ranges {
    Range x, w;
    __device__ Ranges(const uint2* from, unsigned blocks) {
        for (unsigned i = threadIdx.x; i < blocks; i += blockDim.x) {
            Range r;
            r.most = from[i].x, r.least = from[i].y;
            x.see(r);
        }
        x.join();
        w.most = from[blocks].x, w.least = from[blocks].y;
    }
};

// Looks at x in all blocks but the last, and at w in the last.
extern "C" __global__ void __launch_bounds__(512) conv3d_fp16x2(const float* __restrict__ x, const float* __restrict__ w, uint2* __restrict__ ranges, unsigned of_x, unsigned of_w) {
    bool last = blockIdx.x == gridDim.x - 1;
    const float* from = last ? w : x;
    unsigned n = last ? of_w : of_x, first = last ? threadIdx.x : blockIdx.x * 512 + threadIdx.x, step = last ? 512 : (gridDim.x - 1) * 512;
    Range r;
    if ((size_t)from % 16 == 0) {
        unsigned vectors = n / 4;
#pragma unroll 8
        for (unsigned i = first; i < vectors; i += step) {
            float4 v = ((const float4*)from)[i];
            r.see(v.x), r.see(v.y), r.see(v.z), r.see(v.w);
        }
        for (unsigned i = vectors * 4 + first; i < n; i += step) r.see(from[i]);
    } else
        for (unsigned i = first; i < n; i += step) r.see(from[i]);
    r.join();
    if (threadIdx.x == 0) ranges[blockIdx.x] = make_uint2(r.most, r.least);
}

// Two numbers of two channels.
static __device__ void split(float u, float v, float scale, __half2& first, __half2& second) {
    u *= scale, v *= scale;
    first = __floats2half2_rn(u, v);
    float2 back = __half22float2(first);
    second = __floats2half2_rn((u - back.x) * 2048, (v - back.y) * 2048);
}

// Splits x: (image, depth, row, column, chunk, number, channel of 32), zeros behind the last
// channel. A block has 128 pixels of 32 channels. Blocks behind those of x split w.
extern "C" __global__ void __launch_bounds__(256) conv3d_fp16x2_2(const float* __restrict__ x, const float* __restrict__ w, const uint2* __restrict__ ranges, uint4* __restrict__ to, __half* __restrict__ to_w, Shape s, unsigned blocks, unsigned of_x) {
    __shared__ unsigned staged[split_pixels][32]; // words of a pixel, exchanged by its place
    unsigned tid = threadIdx.x, chunks = (s.c + row_channels - 1) / row_channels;
    if (blockIdx.x >= of_x) {
        Ranges r(ranges, blocks);
        unsigned taps = s.t * s.r * s.s, i = (blockIdx.x - of_x) * 256 + tid; // (block of channels of y, chunk, tap, channel of y, channel of x)
        unsigned c = i % row_channels, row = i / row_channels % product_channels, tap = i / row_channels / product_channels % (chunks * taps), part = i / row_channels / product_channels / (chunks * taps);
        unsigned k = part * product_channels + row, channel = tap / taps * row_channels + c, of = tap % taps;
        if (part * product_channels >= s.k) return;
        float v = k < s.k && channel < s.c ? w[(size_t)k * s.wk + channel * s.wc + of / s.s / s.r * s.wt + of / s.s % s.r * s.wr + of % s.s * s.ws] : 0;
        __half2 first, second;
        split(v, 0, power(r.w.scale()), first, second);
        unsigned pairs = (chunks * taps + 1) / 2;
        __half* at = to_w + (size_t)(part * pairs + tap / 2) * (pair_bytes / 2) + (row / 8 * 16 + row % 8) * 64 + tap % 2 * 32 + c;
        at[0] = __low2half(first), at[8 * 64] = __low2half(second);
        return;
    }
    unsigned volume = s.d * s.h * s.w, pixels = s.images * volume, lane = tid % 32, chunk = blockIdx.x % chunks, first = blockIdx.x / chunks * split_pixels;
    float v[2][2][4]; // two pairs of channels of four pixels
    bool wide = s.xw == 1 && s.xh == s.w && s.xd == s.w * s.h && volume % 4 == 0 && s.xc % 4 == 0 && s.xn % 4 == 0 && (size_t)x % 16 == 0;
    unsigned pixel = first + lane * 4;
#pragma unroll
    for (unsigned j = 0; j < 2; j++)
#pragma unroll
        for (unsigned e = 0; e < 2; e++) {
            unsigned c = chunk * row_channels + (tid / 32 * 2 + j) * 2 + e;
            if (wide) {
                float4 four = {};
                if (c < s.c && pixel < pixels) four = *(const float4*)(x + (size_t)(pixel / volume) * s.xn + (size_t)c * s.xc + pixel % volume);
                v[j][e][0] = four.x, v[j][e][1] = four.y, v[j][e][2] = four.z, v[j][e][3] = four.w;
            } else
#pragma unroll
                for (unsigned i = 0; i < 4; i++) {
                    unsigned p = pixel + i;
                    v[j][e][i] = c < s.c && p < pixels ? x[(size_t)(p / volume) * s.xn + (size_t)c * s.xc + (size_t)(p / s.w / s.h % s.d) * s.xd + (size_t)(p / s.w % s.h) * s.xh + (size_t)(p % s.w) * s.xw] : 0;
                }
        }
    float scale = power(Ranges(ranges, blocks).x.scale());
#pragma unroll
    for (unsigned j = 0; j < 2; j++)
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            __half2 one, two;
            split(v[j][0][i], v[j][1][i], scale, one, two);
            unsigned word = tid / 32 * 2 + j;
            staged[lane * 4 + i][word ^ lane] = *(unsigned*)&one, staged[lane * 4 + i][(word + 16) ^ lane] = *(unsigned*)&two;
        }
    __syncthreads();
    // Eight lanes write a pixel; the four pixels of a warp are four apart, which reads all banks.
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        unsigned p = tid / 32 % 8 * 16 + lane / 8 * 4 + j, vector = lane % 8 * 4, by = p / 4;
        if (first + p >= pixels) continue;
        to[(size_t)((first + p) * chunks + chunk) * 8 + lane % 8] = make_uint4(staged[p][vector ^ by], staged[p][(vector + 1) ^ by], staged[p][(vector + 2) ^ by], staged[p][(vector + 3) ^ by]);
    }
}

static __device__ void bring_x(Ring x, const TensorMap& map, const Cut& c) {
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile<true> tile(t, c, 0);
        int w = (int)tile.column - c.padding, h = (int)tile.row - c.padding, d = (int)tile.depth - c.depth_padding;
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned plane = 0; plane < c.planes; plane++, x.next()) copy_depth(x.open(c.x_box), map, i * 64, w, h, d + (int)(plane * c.dilation), tile.image, x.filled());
    }
}

// The two warpgroups take turns, a plane each: while one multiplies, the other adds its sums
// up or stores them. Barrier 1 is the turn of the first warpgroup, barrier 2 of the second.
static __device__ void turn_wait(unsigned group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
static __device__ void turn_pass(unsigned group) { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); }

// Multiplies the rows of a product by n places, for every plane of x under its taps. Large
// sums are added to float32 sums after each plane, since tensor cores cut sums off.
template <unsigned n> static __device__ void multiply(Ring x, unsigned w, unsigned ready, const float* bias, float* y, const Cut& c, const Shape& s, int exponent) {
    float one[n / 2], two[n / 2], sums[n / 4];
    unsigned group = warpgroup(), of_x = group * c.rows * c.pitch * 128, taps = c.r * c.s, boxes = c.chunks * c.planes;
    bool first = threadIdx.x % 128 == 0;
    unsigned channel = blockIdx.y * product_channels + threadIdx.x / 32 % 4 * 8 + threadIdx.x % 32 / 4;
    bool wide = s.yw == 1 && c.pitch % 2 == 0 && s.ow % 2 == 0 && c.columns % 2 == 0 && s.yk % 2 == 0 && s.yn % 2 == 0 && s.yd % 2 == 0 && (size_t)y % 8 == 0;
    int half = exponent / 2;
    float scale = power(half), rest = power(exponent - half);
    barrier_wait(ready, 0);
    if (group == 1) turn_pass(group);
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
#pragma unroll
        for (unsigned e = 0; e < n / 2; e++) one[e] = 0, two[e] = 0;
#pragma unroll
        for (unsigned e = 0; e < n / 4; e++) sums[e] = 0;
        unsigned index = 0; // of the filters
        for (unsigned i = 0; i < boxes; i++, x.next()) {
            barrier_wait(x.filled(), x.phase);
            turn_wait(group);
            unsigned b = x.at() + of_x;
            for (unsigned tap = 0, column = 0; tap < taps; tap++, index++) {
                unsigned a = w + index / 2 * pair_bytes + index % 2 * 64;
                wgmma_fence();
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), one, rows_at(a + j * 32), rows_at(b + j * 32), 1);
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), two, rows_at(a + j * 32), rows_at(b + 64 + j * 32), 1);
                wgmma_commit();
                wgmma_wait<1>();
                b += c.dilation * 128;
                if (++column == c.s) column = 0, b += c.dilation * (c.pitch - c.s) * 128;
            }
            if (group == 0 || i + 1 < boxes || t + gridDim.x < c.tiles) turn_pass(group); // the last turn of all is passed to none
            wgmma_wait<0>();
            if (first) barrier_arrive(x.freed());
#pragma unroll
            for (unsigned e = 0; e < n / 2; e += 4) sums[e / 2] += one[e], sums[e / 2 + 1] += one[e + 1], one[e] = 0, one[e + 1] = 0;
        }
        Tile<true> tile(t, c, 0);
        if (channel >= s.k) continue;
        float* to = y + (size_t)tile.image * s.yn + (size_t)channel * s.yk + (size_t)tile.depth * s.yd;
        unsigned plane = tile.plane * c.oh * c.ow;
        float left = 0;
        each_place<n, true, true>(tile, group, c, [&](bool inside, unsigned place, unsigned e) {
            float v = (sums[e / 4 * 2 + e % 2] + ((one[e + 2] + two[e]) + two[e + 2] * 0x1p-11f) * 0x1p-11f) * scale * rest;
            v = finish(v, bias, channel, s);
            float* at = to + (place - plane) * s.yw;
            if (!wide && inside) *at = v;
            if (wide && inside && e % 2) *(float2*)(at - 1) = make_float2(left, v);
            left = v;
        });
    }
}

// Adds float32, for numbers that lie too far apart.
static __device__ void add_floats(const float* x, const float* w, const float* bias, float* y, const Shape& s) {
    unsigned places = s.places(), first = blockIdx.y * product_channels, channels = min(product_channels, s.k - first);
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < places * channels; i += gridDim.x * blockDim.x) {
        Place p(i % places, s);
        unsigned k = first + i / places;
        float sum = 0;
        for (unsigned c = 0; c < s.c; c++)
            for (unsigned t = 0; t < s.t; t++)
                for (unsigned r = 0; r < s.r; r++)
#pragma unroll 1
                    for (unsigned q = 0; q < s.s; q++) sum += w[(size_t)k * s.wk + c * s.wc + t * s.wt + r * s.wr + q * s.ws] * under(x, p, s, c, t, r, q);
        y[p.y + (size_t)k * s.yk] = finish(sum, bias, k, s);
    }
}

// The products. Shared memory has the filters of a block of channels of y and a ring of
// boxes of x.
extern "C" __global__ void HOPPER conv3d_fp16x2_3(MAP of_x, MAP of_w, const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, const uint2* __restrict__ ranges, unsigned blocks, Cut c, Shape s) {
    __shared__ __align__(8) unsigned long long barriers[32];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    start(barriers, c, true);
    unsigned pairs = (c.chunks * c.planes * c.r * c.s + 1) / 2, filters = address(memory) + c.x_stages * c.x_bytes, ready = address(barriers + 16);
    if (threadIdx.x == 0) { // filters come while the ranges are read
        barrier_expect(ready, pairs * pair_bytes);
        for (unsigned i = 0; i < pairs; i++) copy_rows(filters + i * pair_bytes, of_w, 0, 0, blockIdx.y * pairs + i, ready);
    }
    Ranges r(ranges, blocks);
    if (!r.x.fits() || !r.w.fits()) { // the whole grid
        barrier_wait(ready, 0);
        add_floats(x, w, bias, y, s);
        return;
    }
    Ring ring(address(memory), c.x_bytes, barriers, c.x_stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring_x(ring, of_x, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply<120>(ring, filters, ready, bias, y, c, s, -r.x.scale() - r.w.scale());
    }
}
