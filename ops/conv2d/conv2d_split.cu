// Convolution of float32 on Hopper's tensor cores: each factor is the sum of three bfloat16
// numbers, and six of the nine products of parts are added, those that float32 can see.
//
// x and w are split first, by launches that also bring channels innermost, so that any
// layout is taken. The products are those of conv2d_hopper.cu with a halo. Tensor cores cut
// their sums off and do not round them, always toward zero, so that errors grow with the
// number of sums and not with its root. Here they add over one tap and 64 channels alone,
// into sums that begin at 0; threads add those to float32 sums of their own, which rounds.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d.cuh"
#include "conv2d_hopper.cuh"

typedef __nv_bfloat16 Part;
constexpr unsigned parts = 3;

// Splits v into three. Infinity is split into 1 and, as the last part, itself, which meets
// first parts alone: these are 0 only for 0, so that y is infinite or NaN where a sum in
// float32 is.
static __device__ void split(float v, Part& first, Part& second, Part& third) {
    bool infinite = isinf(v);
    first = v;
    if (isinf(float(first))) first = infinite ? __float2bfloat16_rn(copysignf(1, v)) : __float2bfloat16_rz(v);
    float rest = infinite ? 0 : v - float(first);
    second = rest;
    third = infinite ? v : rest - float(second);
}

// Splits eight channels from `c` on, `step` elements apart. There are zeros behind the last
// channel.
struct Eight {
    alignas(16) Part part[parts][8];

    __device__ Eight(const float* from, unsigned step, unsigned c, unsigned channels, bool any) {
#pragma unroll
        for (unsigned e = 0; e < 8; e++) split(any && c + e < channels ? from[(size_t)(c + e) * step] : 0, part[0][e], part[1][e], part[2][e]);
    }
    __device__ const uint4& operator[](unsigned p) const { return *(const uint4*)part[p]; }
};

// Splits x: the parts are (part, image, depth, row, column, channel), channels a multiple of
// eight. A block has 32 pixels of 64 channels: neighbouring threads read neighbours, which
// are pixels or channels, and write channels, by way of shared memory.
template <bool volumes> static __device__ void split_x(const float* x, uint4* to, const Shape& s) {
    __shared__ uint4 staged[parts][32][8];
    unsigned tid = threadIdx.x, pixels = s.images * (volumes ? s.d : 1) * s.h * s.w, groups = (s.c + 7) / 8;
    bool last = s.xc == 1;
    unsigned p = last ? tid / 8 : tid % 32, group = last ? tid % 8 : tid / 32, pixel = blockIdx.x * 32 + p, c = (blockIdx.y * 8 + group) * 8;
    unsigned image = pixel / (s.h * s.w);
    const float* from = x + (volumes ? (size_t)(image / s.d) * s.xn + (size_t)(image % s.d) * s.xd : (size_t)image * s.xn) + (size_t)(pixel / s.w % s.h) * s.xh + (size_t)(pixel % s.w) * s.xw;
    Eight v(from, s.xc, c, s.c, pixel < pixels);
#pragma unroll
    for (unsigned i = 0; i < parts; i++) staged[i][p][group ^ p % 8] = v[i];
    __syncthreads();
    p = tid / 8, group = tid % 8, pixel = blockIdx.x * 32 + p;
    if (pixel >= pixels || blockIdx.y * 8 + group >= groups) return;
#pragma unroll
    for (unsigned i = 0; i < parts; i++) to[((size_t)i * pixels + pixel) * groups + blockIdx.y * 8 + group] = staged[i][p][group ^ p % 8];
}

extern "C" __global__ void __launch_bounds__(256) conv2d_bf16x3(const float* __restrict__ x, uint4* __restrict__ to, Shape s) { split_x<false>(x, to, s); }
extern "C" __global__ void __launch_bounds__(256) conv3d_bf16x3(const float* __restrict__ x, uint4* __restrict__ to, Shape s) { split_x<true>(x, to, s); }

// Splits w: the parts are (part, depth, row, column, filter, channel), filters a multiple of 16.
// Of 16 filters the even ones come first, then the odd ones, so that a thread of the product
// has two neighbours.
template <bool volumes> static __device__ void split_w(const float* w, uint4* to, const Shape& s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, groups = (s.c + 7) / 8, rows = (s.k + 15) / 16 * 16, taps = (volumes ? s.t : 1) * s.r * s.s;
    if (i >= groups * rows * taps) return;
    unsigned c = i % groups * 8, row = i / groups % rows, tap = i / groups / rows, k = row / 16 * 16 + row % 8 * 2 + row / 8 % 2;
    unsigned row_of_tap = tap / s.s, at = volumes ? row_of_tap / s.r * s.wt + row_of_tap % s.r * s.wr : row_of_tap * s.wr;
    Eight v(w + (size_t)k * s.wk + at + tap % s.s * s.ws, s.wc, c, s.c, k < s.k);
#pragma unroll
    for (unsigned p = 0; p < parts; p++) to[(size_t)p * groups * rows * taps + i] = v[p];
}
extern "C" __global__ void conv2d_bf16x3_2(const float* __restrict__ w, uint4* __restrict__ to, Shape s) { split_w<false>(w, to, s); }
extern "C" __global__ void conv3d_bf16x3_2(const float* __restrict__ w, uint4* __restrict__ to, Shape s) { split_w<true>(w, to, s); }

// Brings the parts of a box of x, the first one first.
template <bool volumes> static __device__ void bring_x(Ring x, const TensorMap& map, const Cut& c) {
    unsigned planes = volumes ? c.planes : 1;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile<volumes> tile(t, c, 0);
        int w = (int)tile.column - c.padding, h = (int)tile.row - c.padding, d = (int)tile.depth - (volumes ? c.depth_padding : 0);
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned plane = 0; plane < planes; plane++)
                for (unsigned p = 0; p < parts; p++, x.next()) {
                    unsigned to = x.open(c.x_box), image = p * c.images + tile.image;
                    if (volumes) copy_depth(to, map, i * channels_a_row<Part>, w, h, d + (int)(plane * c.dilation), image, x.filled());
                    else copy_image(to, map, i * channels_a_row<Part>, w, h, image, x.filled());
                }
    }
}

// Brings the parts of filters under each tap, the last one first: of volumes, under those of
// each plane of x, for each depth of y that the rows of a product have.
template <bool volumes> static __device__ void bring_w(Ring w, const TensorMap& map, const Cut& c) {
    unsigned planes = volumes ? c.planes : 1, taps = c.r * c.s;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x)
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned plane = 0; plane < planes; plane++)
                for (unsigned tap = 0; tap < taps; tap++)
                    for (unsigned p = parts; p-- > 0; w.next()) {
                        unsigned to = w.open(c.w_bytes), k = t % c.blocks * (c.own_places ? 64 : 128);
                        if (!volumes) copy_rows(to, map, i * channels_a_row<Part>, k, p * taps + tap, w.filled());
                        for (unsigned d = 0; volumes && d < c.depths; d++) {
                            unsigned of = tap_below(plane - d, tap, c, parts * c.t * taps);
                            copy_rows(to + d * (c.w_bytes / c.depths), map, i * channels_a_row<Part>, k, p * c.t * taps + of, w.filled());
                        }
                    }
}

// Stores two channels of each place of a lane, in any layout.
template <unsigned n, bool volumes> static __device__ void store(const float (&sums)[n / 2], const float* bias, float* y, Tile<volumes> tile, unsigned group, const Cut& c, const Shape& s) {
    unsigned channel = tile.channel_of(group, c);
    if (channel >= c.k || !tile.descend(c)) return;
    unsigned plane = tile.plane * c.oh * c.ow;
    bool two = channel + 1 < c.k;
    float add[2] = {};
    if (c.bias) add[0] = bias[channel], add[1] = two ? bias[channel + 1] : 0;
    y += (size_t)tile.image * s.yn + (size_t)channel * s.yk;
    if (volumes) y += (size_t)tile.depth * s.yd;
    each_place<n, true, volumes>(tile, group, c, [&](bool inside, unsigned place, unsigned e) {
        float u = sums[e] + add[0], v = sums[e + 2] + add[1];
        if (c.relu) u = u < 0 ? 0 : u, v = v < 0 ? 0 : v;
        float* to = y + (place - plane) * s.yw;
        if (inside) to[0] = u;
        if (inside && two) to[s.yk] = v;
    });
}

// The products of parts under one tap, of so many steps of 16 channels. Small ones come
// first: only those of first parts are cut off at the height of the sum. No branch is
// between those of whole rows.
template <bool whole, unsigned n> static __device__ __forceinline__ void products(float (&chunk)[n / 2], const unsigned (&a)[parts], const unsigned (&b)[parts], unsigned steps) {
    wgmma_fence();
#pragma unroll
    for (int p = parts - 1; p >= 0; p--)
#pragma unroll
        for (int q = parts - 1 - p; q >= 0; q--)
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                if (whole || j < steps) wgmma(Part(), chunk, rows_at(a[p] + j * 32), rows_at(b[q] + j * 32), p < (int)parts - 1 || j);
    wgmma_commit();
}

// Multiplies 64 channels by n places.
template <unsigned n, bool volumes> static __device__ void multiply(Ring x, Ring w, const float* bias, float* y, const Cut& c, const Shape& s) {
    float sums[n / 2], chunk[n / 2];
    unsigned group = warpgroup();
    unsigned of_w = c.own_places ? 0 : group * 64 * 128, of_x = c.own_places ? group * c.rows * c.pitch * 128 : 0;
    bool first = threadIdx.x % 128 == 0;
    unsigned planes = volumes ? c.planes : 1, boxes = c.chunks * planes;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
#pragma unroll
        for (unsigned e = 0; e < n / 2; e++) sums[e] = 0;
        for (unsigned i = 0; i < boxes; i++) {
            unsigned at[parts], done_x[parts], steps = i + planes < boxes ? 4 : c.last;
#pragma unroll
            for (unsigned p = 0; p < parts; p++) {
                barrier_wait(x.filled(), x.phase);
                at[p] = x.at() + of_x, done_x[p] = x.freed();
                x.next();
            }
            for (unsigned tap = 0, column = 0; tap < c.r * c.s; tap++) {
                unsigned of[parts], done_w[parts];
#pragma unroll
                for (int p = parts - 1; p >= 0; p--) {
                    barrier_wait(w.filled(), w.phase);
                    of[p] = w.at() + of_w, done_w[p] = w.freed();
                    w.next();
                }
                if (steps == 4) products<true, n>(chunk, of, at, 4);
                else products<false, n>(chunk, of, at, steps);
                wgmma_wait<0>();
                if (first)
#pragma unroll
                    for (unsigned p = 0; p < parts; p++) barrier_arrive(done_w[p]);
#pragma unroll
                for (unsigned e = 0; e < n / 2; e++) sums[e] += chunk[e];
                unsigned step = c.dilation * 128; // to the next tap: a column, or a row less the columns of this one
                if (++column == c.s) column = 0, step = c.dilation * (c.pitch - c.s + 1) * 128;
#pragma unroll
                for (unsigned p = 0; p < parts; p++) at[p] += step;
            }
            if (first)
#pragma unroll
                for (unsigned p = 0; p < parts; p++) barrier_arrive(done_x[p]);
        }
        store<n, volumes>(sums, bias, y, Tile<volumes>(t, c, 0), group, c, s);
    }
}

template <unsigned n, bool volumes> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const float* bias, float* y, const Cut& c, const Shape& s) {
    __shared__ __align__(8) unsigned long long barriers[32];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    start(barriers, c, true);
    Ring x(address(memory), c.x_bytes, barriers, c.x_stages), w(address(memory) + c.x_stages * c.x_bytes, c.w_bytes, barriers + 16, c.w_stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(volumes ? 56 : 40)); // with 40 the loads of volumes spill; all three warpgroups have 3 * 168
        if (threadIdx.x < 32 && elected()) bring_w<volumes>(w, of_w, c);
        else if (threadIdx.x / 32 == 1 && elected()) bring_x<volumes>(x, of_x, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(volumes ? 224 : 232));
        multiply<n, volumes>(x, w, bias, y, c, s);
    }
}

// The products, for 64 or 120 columns.
extern "C" __global__ void HOPPER conv2d_bf16x3_3(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c, Shape s) { convolve<64, false>(x, w, bias, y, c, s); }
extern "C" __global__ void HOPPER conv2d_bf16x3_3_of_120(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c, Shape s) { convolve<120, false>(x, w, bias, y, c, s); }
extern "C" __global__ void HOPPER conv3d_bf16x3_3(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c, Shape s) { convolve<64, true>(x, w, bias, y, c, s); }
extern "C" __global__ void HOPPER conv3d_bf16x3_3_of_120(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c, Shape s) { convolve<120, true>(x, w, bias, y, c, s); }
