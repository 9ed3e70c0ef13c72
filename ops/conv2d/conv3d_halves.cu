// Convolution of float32 volumes on Hopper's tensor cores in two float16 numbers a factor:
// half of the products of conv2d_split.cu.
//
// x and filters are scaled by powers of two, so that both numbers of each keep 22 bits. Where
// numbers of a box of x lie farther apart than 2^28, or are not finite, float32 is added in the
// places that meet the box, and everywhere if those of filters do.
//
// Filters of 32 channels of x, both numbers of all taps, stay in shared memory while a
// block works. The 64 rows of a product are 32 channels of y: eight rows have the first
// numbers of eight channels, the next eight the second, so that a thread has the sums of both.
// First numbers of x and second ones are multiplied into sums of their own. So a fourth
// product, of second numbers, costs nothing.

#include "conv2d_boxes.cuh"

// Channels of y in the rows of a product, and bytes of the filters of two taps.
constexpr unsigned product_channels = 32, pair_bytes = 64 * 128;
constexpr unsigned filter_groups = 8; // of filters, one for each of the first boxes of x

// Eight channels of a filter of a block of channels of y, and where their numbers go: pairs of
// taps, 64 bytes each of a row.
struct Filters {
    const float* w;
    const Shape& s;
    unsigned block, taps, all;
    __device__ Filters(const float* w, unsigned block, const Shape& s) : w(w), s(s), block(block), taps(s.t * s.r * s.s), all((s.c + row_channels - 1) / row_channels * taps) {}
    __device__ unsigned vectors() const { return all * product_channels * 4; }
    __device__ unsigned pairs() const { return (all + 1) / 2; }
    __device__ void operator()(float (&v)[8], unsigned i, unsigned& first, unsigned& second) const {
        unsigned tap = i / 8 % all, rest = i / 8 / all, row = i % 8, eight = rest % 4, vector = rest / 4; // of channels of y and of x
        unsigned k = block * product_channels + eight * 8 + row, channel = tap / taps * row_channels + vector * 8, of = tap % taps;
        const float* p = w + (size_t)k * s.wk + (size_t)channel * s.wc + of / s.s / s.r * s.wt + of / s.s % s.r * s.wr + of % s.s * s.ws;
#pragma unroll
        for (unsigned e = 0; e < 8; e++, p += s.wc) v[e] = k < s.k && channel + e < s.c ? __ldg(p) : 0;
        first = tap / 2 * pair_bytes + (eight * 16 + row) * 128 + (tap % 2 * 4 + vector) * 16, second = first + 8 * 128;
    }
};

// Splits x, by so many blocks, and w, by those behind.
extern "C" __global__ void __launch_bounds__(256) conv3d_fp16x2(const float* __restrict__ x, const float* __restrict__ w, uint4* __restrict__ to, unsigned char* __restrict__ to_w, unsigned* __restrict__ misfits, unsigned* __restrict__ misfits_w, Shape s, unsigned of_x) {
    if (blockIdx.x < of_x) return split_block<true>(x, to, misfits, blockIdx.x, s);
    Filters one(w, 0, s);
    unsigned each = (one.vectors() + 255) / 256, block = (blockIdx.x - of_x) / each;
    split_vectors<true>(to_w + (size_t)block * one.pairs() * pair_bytes, misfits_w + block * each * 8, (blockIdx.x - of_x) % each * 256 + threadIdx.x, one.vectors(), Filters(w, block, s));
}

// Multiplies the rows of a product by n places, for every plane of x under its taps. Sums are
// added to float32 sums after each plane, since tensor cores cut sums off.
template <unsigned n> static __device__ void multiply(Ring x, unsigned w, unsigned ready, int w_scale, const float* of_x, const float* of_w, const int* scales, const float* bias, float* y, const Cut& c, const Shape& s) {
    float one[n / 2], two[n / 2], sums[n / 4];
    unsigned group = warpgroup(), from = group * c.rows * c.pitch * 128, taps = c.r * c.s, boxes = c.chunks * c.planes;
    bool first = threadIdx.x % 128 == 0;
    unsigned block = blockIdx.y * product_channels, channel = block + threadIdx.x / 32 % 4 * 8 + threadIdx.x % 32 / 4;
    bool wide = wide_stores(y, c, s);
    if (group == 1) turn_pass(group);
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
#pragma unroll
        for (unsigned e = 0; e < n / 4; e++) sums[e] = 0;
        bool fits = w_scale != no_scale;
        unsigned index = 0; // of the filters
        for (unsigned i = 0; i < boxes; i++, x.next()) {
            if (t == blockIdx.x) barrier_wait(ready + min(i, filter_groups - 1) * 8, 0);
            barrier_wait(x.filled(), x.phase);
            int scale = scales[x.stage];
            turn_wait(group);
            unsigned b = x.at() + from;
            for (unsigned tap = 0, column = 0; tap < taps; tap++, index++) {
                unsigned a = w + index / 2 * pair_bytes + index % 2 * 64;
                wgmma_fence();
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), one, rows_at(a + j * 32), rows_at(b + j * 32), tap | j);
#pragma unroll
                for (unsigned j = 0; j < 2; j++) wgmma(Halves(), two, rows_at(a + j * 32), rows_at(b + 64 + j * 32), tap | j);
                wgmma_commit();
                wgmma_wait<1>();
                b += c.dilation * 128;
                if (++column == c.s) column = 0, b += c.dilation * (c.pitch - c.s) * 128;
            }
            if (group == 0 || i + 1 < boxes || t + gridDim.x < c.tiles) turn_pass(group); // the last turn of all is passed to none
            wgmma_wait<0>();
            if (first) barrier_arrive(x.freed());
            fits = fits && scale != no_scale;
            float back = power(scale == no_scale ? 0 : -scale);
#pragma unroll
            for (unsigned e = 0; e < n / 2; e += 4)
#pragma unroll
                for (unsigned j = e; j < e + 2; j++) sums[e / 2 + j % 2] += (one[j] + ((one[j + 2] + two[j]) + two[j + 2] * 0x1p-11f) * 0x1p-11f) * back;
        }
        Tile<true> tile(t, c, 0);
        if (!fits) {
            add_floats(of_x, of_w, bias, y, tile, group * c.rows, block, min(product_channels, s.k - block), c, s);
            continue;
        }
        if (channel >= s.k) continue;
        float* to = y + (size_t)tile.image * s.yn + (size_t)channel * s.yk + (size_t)tile.depth * s.yd;
        unsigned plane = tile.plane * c.oh * c.ow;
        float left = 0, back = power(-w_scale);
        each_place<n, true, true>(tile, group, c, [&](bool inside, unsigned place, unsigned e) {
            float v = finish(sums[e / 4 * 2 + e % 2] * back, bias, channel, s);
            float* at = to + (place - plane) * s.yw;
            if (!wide && inside) *at = v;
            if (wide && inside && e % 2) *(float2*)(at - 1) = make_float2(left, v);
            left = v;
        });
    }
}

// Brings the filters that a box of x meets first, or those of all boxes behind the last barrier.
static __device__ void bring_group(unsigned group, unsigned to, unsigned ready, const TensorMap& map, unsigned pairs, const Cut& c) {
    unsigned taps = c.r * c.s, first = (group * taps + 1) / 2, end = group + 1 < filter_groups ? min(((group + 1) * taps + 1) / 2, pairs) : pairs;
    if (group >= filter_groups || group >= c.chunks * c.planes) return;
    barrier_expect(ready + group * 8, (end - first) * pair_bytes);
    for (unsigned i = first; i < end; i++) copy_rows(to + i * pair_bytes, map, 0, 0, blockIdx.y * pairs + i, ready + group * 8);
}

// The products. Shared memory has a ring of boxes of x and the filters of a block of channels
// of y.
extern "C" __global__ void HOPPER conv3d_fp16x2_2(MAP of_x, MAP of_w, const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y, const unsigned* __restrict__ misfits, const unsigned* __restrict__ misfits_w, Cut c, Shape s) {
    __shared__ __align__(8) unsigned long long barriers[24];
    __shared__ int scales[8];
    __shared__ unsigned of_warps[2][2][8];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    start_boxes(barriers, c, 2); // a thread of each warpgroup
    Filters load(w, blockIdx.y, s);
    unsigned filters = address(memory) + c.x_stages * c.x_bytes, ready = address(barriers + 16), each = (load.vectors() + 255) / 256 * 8;
    Ring ring(address(memory), c.x_bytes, barriers, c.x_stages);
    if (threadIdx.x < loaders) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
        if (threadIdx.x == 0) bring_group(0, filters, ready, of_w, load.pairs(), c);
        bring_boxes<true>(ring, x, misfits, scales, of_warps[0], c, s,
            [&](unsigned to, const Tile<true>& tile, unsigned chunk, int depth, unsigned barrier) {
                copy_depth(to, of_x, chunk * 64, (int)tile.column - c.padding, (int)tile.row - c.padding, depth, tile.image, barrier);
            },
            [&](unsigned number) { bring_group(number + 1, filters, ready, of_w, load.pairs(), c); });
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
        int scale = usual_scale;
        if (!filters_fit(misfits_w + blockIdx.y * each, (load.vectors() + 31) / 32)) {
            for (unsigned i = 0; i < min(c.chunks * c.planes, filter_groups); i++) barrier_wait(ready + i * 8, 0);
            scale = split_filters<true>(filters, load.vectors(), of_warps[1], load);
        }
        multiply<120>(ring, filters, ready, scale, x, w, scales, bias, y, c, s);
    }
}
