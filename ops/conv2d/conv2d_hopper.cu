// Convolution on Hopper's tensor cores: implicit GEMM of float16, bfloat16, or float32
// rounded to TF32, with sums in float32. Channels lie innermost in x, w and y.
//
// Filters are the rows of a product, 64 a warpgroup, and places of y its columns: a layer
// of 64 channels needs no wider tile, and a thread has two neighbouring channels of each
// place, which it stores at once. Of three warpgroups one brings x and w, and two multiply
// and store: either other channels of the same places, or other places. Blocks stay and
// take tile after tile.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d_hopper.cuh"

// How x comes: the pixels under each tap, or a box with its halo for all taps, in planes of
// 16 bytes of channels or in rows of 128.
enum Way { each_tap, in_planes, in_rows };

template <class T, unsigned n, Way way> static __device__ void bring_x(Ring x, const TensorMap& map, const Cut& c) {
    constexpr bool halo = way != each_tap;
    unsigned taps = halo ? 1 : c.r * c.s;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile tile(t, c, n * (1 + c.own_places));
        if (!halo) tile.column = tile.first % c.ow * c.stride, tile.row = tile.first / c.ow % c.oh * c.stride, tile.image = tile.first / (c.ow * c.oh);
        int w = (int)tile.column - c.padding, h = (int)tile.row - c.padding;
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned tap = 0; tap < taps; tap++, x.next()) {
                unsigned to = x.open(c.x_box);
                if (way == in_planes) copy_planes(to, map, i * 8, w, h, tile.image, x.filled());
                else if (halo) copy_image(to, map, i * channels_a_row<T>, w, h, tile.image, x.filled());
                else copy_places(to, map, i * channels_a_row<T>, w, h, tile.image, tap % c.s * c.dilation, tap / c.s * c.dilation, x.filled());
            }
    }
}

template <class T> static __device__ void bring_w(Ring w, const TensorMap& map, const Cut& c) {
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x)
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned tap = 0; tap < c.r * c.s; tap++, w.next())
                copy_filters(w.open(c.w_bytes), map, i * channels_a_row<T>, t % c.blocks * (c.own_places ? 4 : 8), tap, w.filled());
}

static __device__ float wide(__half v) { return __half2float(v); }
static __device__ float wide(__nv_bfloat16 v) { return __bfloat162float(v); }
static __device__ float wide(float v) { return v; }
static __device__ void put(__half* to, float u, float v) { *(__half2*)to = __floats2half2_rn(u, v); }
static __device__ void put(__nv_bfloat16* to, float u, float v) { *(__nv_bfloat162*)to = __floats2bfloat162_rn(u, v); }
static __device__ void put(float* to, float u, float v) { *(float2*)to = make_float2(u, v); }

// Stores two channels of each place of a lane.
template <class T, unsigned n, bool halo> static __device__ void store(const float (&sums)[n / 2], const T* bias, T* y, const Tile& tile, unsigned group, const Cut& c) {
    unsigned channel = tile.channel_of(group, c);
    if (channel >= c.k) return;
    float add[2] = {};
    if (c.bias) add[0] = wide(bias[channel]), add[1] = wide(bias[channel + 1]);
    y += channel;
    each_place<n, halo>(tile, group, c, [&](bool inside, unsigned place, unsigned e) {
        float u = sums[e] + add[0], v = sums[e + 2] + add[1];
        if (c.relu) u = u < 0 ? 0 : u, v = v < 0 ? 0 : v;
        if (inside) put(y + place * c.k, u, v);
    });
}

// Multiplies 64 channels by n places. The columns of a tap are those of the first tap,
// moved by as many pixels: 16 bytes of a plane, or rows of 128.
template <class T, unsigned n, Way way> static __device__ void multiply(Ring x, Ring w, const T* bias, T* y, const Cut& c) {
    constexpr bool halo = way != each_tap;
    constexpr unsigned pixel = way == in_planes ? 16 : 128;
    float sums[n / 2];
    unsigned group = warpgroup(), plane = c.x_box / 8;
    unsigned of_w = c.own_places ? 0 : group * 64 * 128, of_x = c.own_places ? group * (halo ? c.rows * c.pitch : n) * pixel : 0;
    bool first = threadIdx.x % 128 == 0;
    unsigned taps = c.r * c.s, steps = c.chunks * taps;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        unsigned done_w = 0, done_x = 0, tap = 0, column = 0, down = 0; // the tap's column, and the pixels before its row
        for (unsigned i = 0; i < steps; i++) { // one loop: wgmma would not overlap across the edges of nested ones
            if (!halo || tap == 0) barrier_wait(x.filled(), x.phase);
            barrier_wait(w.filled(), w.phase);
            unsigned a = w.at() + of_w, b = x.at() + of_x + (halo ? (down + column * c.dilation) * pixel : 0);
            wgmma_fence();
            auto add = [&](unsigned j) { wgmma(T(), sums, rows_at(a + j * 32), way == in_planes ? planes_at(b + j * 2 * plane, plane) : rows_at(b + j * 32), i || j); };
            if (i + taps < steps || c.last == 4) { // no branch between those of whole rows
#pragma unroll
                for (unsigned j = 0; j < 4; j++) add(j);
                wgmma_commit();
            } else {
                for (unsigned j = 0; j < c.last; j++) add(j);
                wgmma_commit();
            }
            if (i) {
                wgmma_wait<1>();
                if (first) {
                    barrier_arrive(done_w);
                    if (!halo || tap == 0) barrier_arrive(done_x);
                }
            }
            done_w = w.freed(), done_x = x.freed();
            w.next();
            if (++column == c.s) column = 0, down += c.pitch * c.dilation;
            if (++tap == taps) tap = 0, column = 0, down = 0;
            if (!halo || tap == 0) x.next();
        }
        wgmma_wait<0>();
        if (first) barrier_arrive(done_w), barrier_arrive(done_x);
        store<T, n, halo>(sums, bias, y, Tile(t, c, n * (1 + c.own_places)), group, c);
    }
}

template <class T, unsigned n, Way way> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const T* bias, T* y, const Cut& c) {
    __shared__ __align__(8) unsigned long long barriers[32];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    start(barriers, c, way != each_tap);
    Ring x(address(memory), c.x_bytes, barriers, c.x_stages), w(address(memory) + c.x_stages * c.x_bytes, c.w_bytes, barriers + 16, c.w_stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring_w<T>(w, of_w, c);
        else if (threadIdx.x / 32 == 1 && elected()) bring_x<T, n, way>(x, of_x, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply<T, n, way>(x, w, bias, y, c);
    }
}

// x under each tap comes from L2, as the copy engine's im2col mode finds it: 128 places.
extern "C" __global__ void HOPPER conv2d_fp16_wgmma(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 128, each_tap>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_wgmma(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 128, each_tap>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_wgmma(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 128, each_tap>(x, w, bias, y, c); }

// A box of x with its halo comes once, in planes of 16 bytes: a shift by a pixel is one by
// 16 bytes. Whole rows of an image, so that 64, 208 or 232 columns of the product are mostly
// places.
extern "C" __global__ void HOPPER conv2d_fp16_planes(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 64, in_planes>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_planes_of_208(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 208, in_planes>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_planes_of_232(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 232, in_planes>(x, w, bias, y, c); }

// A pixel is a row of 128 bytes, whose vectors are exchanged: the copy engine brings it at
// once, not in eight parts.
extern "C" __global__ void HOPPER conv2d_fp16_halo(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 64, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_halo_of_208(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 208, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_halo_of_232(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 232, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 64, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo_of_208(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 208, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo_of_232(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 232, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 64, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo_of_208(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 208, in_rows>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo_of_232(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 232, in_rows>(x, w, bias, y, c); }
