// What the rungs share that multiply both float16 numbers of a float32 in one product.
//
// A launch splits x: a pixel has rows of 128 bytes, each with the first numbers of 32 channels
// and the second ones, which are what the first leave, times 2^11. x is scaled by 2^12, and
// the launch looks at the numbers of each 128 pixels on the way. The copy engine brings boxes of
// pixels with their halo. Where numbers of a box do not fit, four warps split the box
// themselves, by the scale that its largest number needs: each box may have a scale of its own.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d.cuh"
#include "conv2d_hopper.cuh"

struct Halves {}; // chooses this instruction
WGMMA(Halves, 120, "m64n120k16", "f16", 60, 61, 62, "1, 1, 0, 0", SUMS32(d, 0), SUMS8(d, 32), SUMS8(d, 40), SUMS8(d, 48), SUMS4(d, 56))

constexpr unsigned row_channels = 32, loaders = 128, split_pixels = 128; // channels of a row, threads that bring boxes, pixels of a block that splits
constexpr int usual_scale = 12, no_scale = 1 << 20; // exponents; no scale fits

static __device__ float power(int exponent) { return __uint_as_float((exponent + 127) << 23); }

// Barriers of parts of a block: 1 and 2 are the turns of the warpgroups that multiply, 3 is
// of the threads that split x, 4 of those that multiply.
template <unsigned barrier, unsigned threads> static __device__ void meet() { asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory"); }
template <unsigned barrier, unsigned threads> static __device__ bool any(bool p) {
    unsigned r;
    asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, %2, %3, p; selp.u32 %0, 1, 0, q;}" : "=r"(r) : "r"((unsigned)p), "n"(barrier), "n"(threads) : "memory");
    return r;
}

// Writes of a thread that the tensor cores read.
static __device__ void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ void store_vector(unsigned at, uint4 v) { asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }

// Barriers of a ring of boxes, each of which so many threads free, and of filters behind them. The
// pixels behind boxes are zeros.
static __device__ void start_boxes(unsigned long long* barriers, const Cut& c, unsigned freeing) {
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 24; i++) barrier_init(address(barriers + i), i / 8 == 1 ? freeing : 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (unsigned stage = 0; stage < c.x_stages; stage++)
        for (unsigned i = c.x_box + threadIdx.x * 16; i < c.x_bytes; i += 384 * 16) store_vector(address(memory) + stage * c.x_bytes + i, make_uint4(0, 0, 0, 0));
    publish();
    __syncthreads();
}

// The two warpgroups take turns: while one multiplies, the other adds its sums up or stores
// them.
static __device__ void turn_wait(unsigned group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
static __device__ void turn_pass(unsigned group) { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); }

// The range of scaled numbers: the largest, a NaN if there is one, and, where every number must
// keep its bits, the smallest but 0, as twice its bits less one: 0 becomes the largest unsigned.
template <bool every> struct Seen {
    float most = 0;
    unsigned least = ~0u;

    __device__ void see(float v) {
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(most) : "f"(fabsf(v)));
        if (every) least = min(least, __float_as_uint(v) * 2 - 1);
    }
    // Whether the scale fits: first numbers are finite, and the largest keeps 22 bits, or
    // every number does, which takes 2^-13.
    __device__ bool fits() const { return most <= 65504 && (every ? least >= (127u - 13 << 24) - 1 : most >= 8 || most == 0); }
};

// The largest and the least magnitude above 0, less one so that 0 is the largest unsigned.
template <bool every> struct Range {
    unsigned most = 0, least = ~0u;

    __device__ void see(float v) {
        unsigned m = __float_as_uint(v) & 0x7fffffff;
        most = max(most, m), least = min(least, m - 1);
    }

    // Joins the ranges of a number of threads, and gives each the result.
    template <unsigned barrier, unsigned threads> __device__ void join(unsigned (&of_warps)[2][8]) {
        unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % (threads / 32);
        most = __reduce_max_sync(~0u, most), least = __reduce_min_sync(~0u, least);
        meet<barrier, threads>();
        if (lane == 0) of_warps[0][warp] = most, of_warps[1][warp] = least;
        meet<barrier, threads>();
        most = __reduce_max_sync(~0u, lane < threads / 32 ? of_warps[0][lane] : 0);
        least = __reduce_min_sync(~0u, lane < threads / 32 ? of_warps[1][lane] : ~0u);
    }

    // The exponent of the power of two that brings the largest number to 2^14 and more, or
    // no_scale where two float16 numbers do not keep 22 bits.
    __device__ int scale() const {
        unsigned high = most >> 23, low = (least + 1) >> 23;
        if (most == 0) return 0;
        return high >= 64 && high <= 190 && (!every || high - low <= 27) ? 14 + 127 - (int)high : no_scale;
    }
};

// Splits two numbers into first numbers and second ones.
template <bool every> static __device__ void split_pair(float a, float b, float scale, Seen<every>& seen, __half2& first, __half2& second) {
    a *= scale, b *= scale;
    seen.see(a), seen.see(b);
    first = __floats2half2_rn(a, b);
    float2 back = __half22float2(first);
    second = __floats2half2_rn((a - back.x) * 2048, (b - back.y) * 2048);
}

// Splits eight numbers into a vector of first numbers and one of second ones.
template <bool every> static __device__ void split(const float (&v)[8], float scale, Seen<every>& seen, uint4& first, uint4& second) {
    __half2 one[4], two[4];
#pragma unroll
    for (unsigned e = 0; e < 4; e++) split_pair(v[2 * e], v[2 * e + 1], scale, seen, one[e], two[e]);
    first = *(uint4*)one, second = *(uint4*)two;
}

// The pixels of a box that a lane loads: each 32nd, eight channels of it.
struct Pixels {
    const float* at;      // row and column 0 of the plane of x, in the first channel
    int row, column, end; // of the next pixel, and where a row of the box ends
    unsigned pixel, inside; // pixels of the box, or none where x has no such plane
    unsigned channels;

    __device__ Pixels(const float* x, const Tile<true>& tile, unsigned chunk, int depth, const Cut& c, const Shape& s) {
        unsigned first = chunk * row_channels + threadIdx.x / 32 % 4 * 8;
        pixel = threadIdx.x % 32, channels = s.c > first ? s.c - first : 0;
        int left = (int)tile.column - c.padding;
        row = (int)(tile.row + pixel / c.pitch) - c.padding, column = left + (int)(pixel % c.pitch), end = left + (int)c.pitch;
        inside = depth >= 0 && depth < (int)s.d ? c.x_box / 128 : 0;
        at = x + (size_t)tile.image * s.xn + (long long)depth * s.xd + (size_t)first * s.xc;
    }
    __device__ void load(float (&v)[8], const Cut& c, const Shape& s) {
        bool any = pixel < inside && (unsigned)row < s.h && (unsigned)column < s.w;
        const float* p = at + (size_t)(unsigned)row * s.xh + (size_t)(unsigned)column * s.xw;
        if (channels >= 8) {
#pragma unroll
            for (unsigned e = 0; e < 8; e++, p += s.xc) v[e] = any ? __ldg(p) : 0;
        } else {
#pragma unroll
            for (unsigned e = 0; e < 8; e++, p += s.xc) v[e] = any && e < channels ? __ldg(p) : 0;
        }
        pixel += 32, column += 32;
        while (column >= end) column -= c.pitch, row++;
    }
};

// The exponent of the scale of a box that four warps split. The last scale is tried first.
template <bool every> static __device__ int split_box(unsigned stage, const float* from, int& last, unsigned (&of_warps)[2][8], const Tile<true>& tile, unsigned chunk, int depth, const Cut& c, const Shape& s) {
    unsigned lane = threadIdx.x % 32, pixels = c.x_box / 128;
    for (bool again = false;; again = true) {
        Pixels next(from, tile, chunk, depth, c, s);
        Seen<every> seen;
        unsigned pixel = lane, at = stage + lane * 128, first = (threadIdx.x / 32 ^ lane % 8) << 4;
        while (pixel < pixels + lane) { // all lanes as often
            float v[8];
            uint4 one, two;
            next.load(v, c, s);
            split(v, power(last), seen, one, two);
            if (pixel < pixels) store_vector(at + first, one), store_vector(at + (first ^ 64), two);
            pixel += 32, at += 32 * 128;
        }
        publish();
        if (!any<3, loaders>(!seen.fits()) || again) return last;
        Range<every> range;
        Pixels all(from, tile, chunk, depth, c, s);
        while (all.pixel < pixels + lane) {
            float u[8];
            all.load(u, c, s);
            for (unsigned e = 0; e < 8; e++) range.see(u[e]);
        }
        range.template join<3, loaders>(of_warps);
        if (range.scale() == no_scale) return no_scale;
        last = range.scale();
    }
}

// Whether a box of x was split with the scale of all, by what was seen of its pixels.
static __device__ bool fits_all(const unsigned* misfits, const Tile<true>& tile, unsigned chunk, int depth, const Cut& c, const Shape& s) {
    if (depth < 0 || depth >= (int)s.d) return true;
    int top = (int)tile.row - c.padding, bottom = min(top + (int)(c.x_box / 128 / c.pitch), (int)s.h);
    unsigned plane = (tile.image * s.d + depth) * s.h, bad = 0;
    if (bottom <= max(top, 0)) return true;
    for (unsigned i = (plane + max(top, 0)) * s.w / split_pixels + threadIdx.x % 32; i <= ((plane + bottom) * s.w - 1) / split_pixels; i += 32) bad |= misfits[i * c.chunks + chunk];
    return !__any_sync(~0u, bad);
}

// Brings the boxes of all tiles of a block, by the threads before those that multiply, and
// writes the exponent of each stage's scale. copy(to, tile, chunk, depth, barrier) has the copy
// engine bring one, and behind(i) does what comes behind the i-th box of all.
template <bool every, class F, class G> static __device__ void bring_boxes(Ring x, const float* from, const unsigned* misfits, int* scales, unsigned (&of_warps)[2][8], const Cut& c, const Shape& s, const F& copy, const G& behind) {
    int last = usual_scale;
    unsigned number = 0;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile<true> tile(t, c, 0);
        for (unsigned box = 0; box < c.chunks * c.planes; box++, number++, x.next()) {
            unsigned chunk = box / c.planes;
            int depth = (int)tile.depth - c.depth_padding + (int)(box % c.planes * c.dilation), scale = usual_scale;
            bool fits = fits_all(misfits, tile, chunk, depth, c, s);
            barrier_wait(x.freed(), x.phase ^ 1);
            if (!fits) {
                barrier_wait(x.filled(), x.phase ^ 1); // the copy of the box before, which is over
                scale = split_box<every>(x.at(), from, last, of_warps, tile, chunk, depth, c, s);
            }
            if (threadIdx.x == 0) {
                scales[x.stage] = scale;
                if (fits) {
                    barrier_expect(x.filled(), c.x_box);
                    copy(x.at(), tile, chunk, depth, x.filled());
                } else
                    barrier_arrive(x.filled());
                behind(number);
            }
        }
    }
}

// Splits x with the scale of all: (image, depth, row, column, chunk, number, channel of 32), zeros
// behind the last channel. A block has 128 pixels of a chunk, and says whether their numbers do
// not fit.
template <bool every> static __device__ void split_block(const float* __restrict__ x, uint4* __restrict__ to, unsigned* __restrict__ misfits, unsigned block, const Shape& s) {
    __shared__ unsigned staged[split_pixels][32]; // words of a pixel, exchanged by its place
    unsigned tid = threadIdx.x, chunks = (s.c + row_channels - 1) / row_channels, volume = s.d * s.h * s.w, pixels = s.images * volume;
    unsigned lane = tid % 32, chunk = block % chunks, first = block / chunks * split_pixels, pixel = first + lane * 4;
    float v[2][2][4]; // two pairs of channels of four pixels
    bool wide = s.xw == 1 && s.xh == s.w && (s.d == 1 || s.xd == s.w * s.h) && volume % 4 == 0 && s.xc % 4 == 0 && s.xn % 4 == 0 && (size_t)x % 16 == 0;
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
    Seen<every> seen;
#pragma unroll
    for (unsigned j = 0; j < 2; j++)
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            __half2 one, two;
            split_pair(v[j][0][i], v[j][1][i], power(usual_scale), seen, one, two);
            unsigned word = tid / 32 * 2 + j;
            staged[lane * 4 + i][word ^ lane] = *(unsigned*)&one, staged[lane * 4 + i][(word + 16) ^ lane] = *(unsigned*)&two;
        }
    bool bad = __syncthreads_or(!seen.fits());
    if (tid == 0) misfits[block] = bad;
    // Eight lanes write a pixel; the four pixels of a warp are four apart, which reads all banks.
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        unsigned p = tid / 32 * 16 + lane / 8 * 4 + j, vector = lane % 8 * 4, by = p / 4;
        if (first + p >= pixels) continue;
        to[(size_t)((first + p) * chunks + chunk) * 8 + lane % 8] = make_uint4(staged[p][vector ^ by], staged[p][(vector + 1) ^ by], staged[p][(vector + 2) ^ by], staged[p][(vector + 3) ^ by]);
    }
}

// Where a byte of a row of 128 bytes lies in shared memory.
static __device__ unsigned exchanged(unsigned at) { return at ^ at >> 3 & 0x70; }

// Splits filters with the scale of all: load(v, i, first, second) gives eight channels and where
// their vectors go. A warp says whether its numbers do not fit.
template <bool every, class F> static __device__ void split_vectors(unsigned char* to, unsigned* misfits, unsigned i, unsigned n, const F& load) {
    if (i / 32 * 32 >= n) return;
    Seen<every> seen;
    float v[8];
    unsigned first, second;
    uint4 one, two;
    load(v, min(i, n - 1), first, second);
    split(v, power(usual_scale), seen, one, two);
    *(uint4*)(to + first) = one, *(uint4*)(to + second) = two;
    bool bad = __any_sync(~0u, !seen.fits());
    if (threadIdx.x % 32 == 0) misfits[i / 32] = bad;
}

// Splits filters into shared memory, by the threads that multiply, where they do not fit the
// scale of all. Returns the exponent of theirs.
template <bool every, class F> static __device__ int split_filters(unsigned to, unsigned n, unsigned (&of_warps)[2][8], const F& load) {
    Range<every> range;
    float v[8];
    unsigned first, second;
    for (unsigned i = threadIdx.x - loaders; i < n; i += 256) {
        load(v, i, first, second);
        for (unsigned e = 0; e < 8; e++) range.see(v[e]);
    }
    range.template join<4, 256>(of_warps);
    int scale = range.scale();
    Seen<every> seen;
    for (unsigned i = threadIdx.x - loaders; scale != no_scale && i < n; i += 256) {
        uint4 one, two;
        load(v, i, first, second);
        split(v, power(scale), seen, one, two);
        store_vector(to + exchanged(first), one), store_vector(to + exchanged(second), two);
    }
    publish();
    meet<4, 256>();
    return scale;
}

// Whether filters were split with the scale of all, in all threads that multiply.
static __device__ bool filters_fit(const unsigned* misfits, unsigned n) {
    unsigned bad = 0;
    for (unsigned i = threadIdx.x - loaders; i < n; i += 256) bad |= misfits[i];
    return !any<4, 256>(bad);
}

// Adds float32 in the places of a warpgroup, for numbers that no scale fits.
static __device__ void add_floats(const float* x, const float* w, const float* bias, float* y, const Tile<true>& tile, unsigned below, unsigned first, unsigned channels, const Cut& c, const Shape& s) {
    unsigned row = tile.row + below, rows = min(c.rows, c.oh > row ? c.oh - row : 0), columns = min(c.columns, c.ow - tile.column);
    for (unsigned i = threadIdx.x % 128; i < rows * columns * channels; i += 128) {
        Place p((tile.plane * c.oh + row + i / columns % rows) * c.ow + tile.column + i % columns, s);
        unsigned k = first + i / columns / rows;
        float sum = 0;
        for (unsigned q = 0; q < s.c; q++)
            for (unsigned t = 0; t < s.t; t++)
                for (unsigned r = 0; r < s.r; r++)
#pragma unroll 1
                    for (unsigned v = 0; v < s.s; v++) sum += w[(size_t)k * s.wk + q * s.wc + t * s.wt + r * s.wr + v * s.ws] * under(x, p, s, q, t, r, v);
        y[p.y + (size_t)k * s.yk] = finish(sum, bias, k, s);
    }
}

// Whether neighbouring columns are stored at once.
static __device__ bool wide_stores(const float* y, const Cut& c, const Shape& s) {
    return s.yw == 1 && c.pitch % 2 == 0 && s.ow % 2 == 0 && c.columns % 2 == 0 && s.yk % 2 == 0 && s.yn % 2 == 0 && (s.od == 1 || s.yd % 2 == 0) && (size_t)y % 8 == 0;
}
