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

#include "conv2d_wgmma.cuh"

extern __shared__ __align__(1024) unsigned char memory[];

// How a call is cut: Cut of hopper.go.
struct Cut {
    unsigned images, oh, ow, k, r, s, stride, dilation;
    int padding;
    unsigned chunks;        // of 128 bytes of channels
    unsigned blocks, tiles; // of 64 or 128 channels, and of these for all places
    unsigned own_places;    // 1: the warpgroups have other places, 0: other channels
    unsigned x_stages, x_bytes, x_box, w_stages, w_bytes;
    unsigned columns, rows, pitch, across, down; // of a warpgroup's places; pixels of a row of a box, at least eight; tiles in an image
    unsigned bias, relu;
};

// A ring of stages in shared memory.
struct Ring {
    unsigned memory, bytes, full, empty, stages, stage, phase;

    __device__ Ring(unsigned memory, unsigned bytes, unsigned long long* barriers, unsigned stages)
        : memory(memory), bytes(bytes), full(address(barriers)), empty(address(barriers) + 64), stages(stages), stage(0), phase(0) {}
    __device__ void next() { if (++stage == stages) stage = 0, phase ^= 1; }
    __device__ unsigned at() const { return memory + stage * bytes; }
    __device__ unsigned filled() const { return full + stage * 8; }
    __device__ unsigned freed() const { return empty + stage * 8; }
    __device__ unsigned open(unsigned box) const {
        barrier_wait(freed(), phase ^ 1);
        barrier_expect(filled(), box);
        return at();
    }
};

// A tile: channels from `channel` on, of places from `first` on, or of an image from a
// row and a column on.
struct Tile {
    unsigned channel, first, image, row, column;

    __device__ Tile(unsigned t, const Cut& c, unsigned places) {
        channel = t % c.blocks * (c.own_places ? 64 : 128), t /= c.blocks;
        first = t * places;
        column = t % c.across * c.columns, t /= c.across;
        row = t % c.down * c.rows * (1 + c.own_places), image = t / c.down;
    }
};

template <class T> constexpr unsigned channels_a_row = 128 / sizeof(T);

// Brings x: a box with its halo for all taps, or the pixels under each tap.
template <class T, unsigned n, bool halo> static __device__ void bring_x(Ring x, const TensorMap& map, const Cut& c) {
    unsigned taps = halo ? 1 : c.r * c.s;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile tile(t, c, n * (1 + c.own_places));
        if (!halo) tile.column = tile.first % c.ow * c.stride, tile.row = tile.first / c.ow % c.oh * c.stride, tile.image = tile.first / (c.ow * c.oh);
        int w = (int)tile.column - c.padding, h = (int)tile.row - c.padding;
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned tap = 0; tap < taps; tap++, x.next()) {
                unsigned to = x.open(c.x_box);
                if (halo) copy_image(to, map, i * channels_a_row<T>, w, h, tile.image, x.filled());
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

// Stores two channels of each place of a lane. Of eight places a lane has two neighbours.
template <class T, unsigned n, bool halo> static __device__ void store(const float (&sums)[n / 2], const T* bias, T* y, const Tile& tile, unsigned group, const Cut& c) {
    unsigned warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    unsigned channel = tile.channel + (c.own_places ? 0 : group * 64) + warp * 16 + lane / 4 * 2;
    if (channel >= c.k) return;
    float add[2] = {};
    if (c.bias) add[0] = wide(bias[channel]), add[1] = wide(bias[channel + 1]);
    unsigned first = tile.first + (c.own_places ? group * n : 0) + lane % 4 * 2;
    unsigned row = tile.row + (c.own_places ? group * c.rows : 0), rows = min(c.rows, c.oh > row ? c.oh - row : 0), columns = min(c.columns, c.ow - tile.column);
    unsigned line = (tile.image * c.oh + row) * c.ow + tile.column, down = 0, across = lane % 4 * 2; // of the halo's pixels, at least eight in a row
    y += channel;
    asm volatile("" : "+r"(across), "+r"(down)); // or the compiler keeps the place of each sum in registers, which it does not have
#pragma unroll
    for (unsigned e = 0; e < n / 2; e += 2) {
        unsigned place, at = across + e / 2 % 2, of = down;
        bool inside;
        if (halo) {
            bool wraps = at >= c.pitch;
            at = wraps ? at - c.pitch : at, of = wraps ? of + 1 : of;
            inside = at < columns && of < rows, place = line + of * c.ow + at;
            if (e % 4 == 2) wraps = across + 8 >= c.pitch, across = wraps ? across + 8 - c.pitch : across + 8, down = wraps ? down + 1 : down;
        } else {
            place = first + e / 4 * 8 + e / 2 % 2, inside = place < c.images * c.oh * c.ow;
        }
        float u = sums[e / 4 * 4 + e / 2 % 2] + add[0], v = sums[e / 4 * 4 + e / 2 % 2 + 2] + add[1];
        if (c.relu) u = u < 0 ? 0 : u, v = v < 0 ? 0 : v;
        if (inside) put(y + place * c.k, u, v);
    }
}

// Multiplies 64 channels by n places. The columns of a tap are those of the first tap,
// moved by as many pixels: rows of 128 bytes.
template <class T, unsigned n, bool halo> static __device__ void multiply(Ring x, Ring w, const T* bias, T* y, const Cut& c) {
    float sums[n / 2];
    unsigned group = __shfl_sync(~0u, threadIdx.x / 128 - 1, 0);
    unsigned of_w = c.own_places ? 0 : group * 64 * 128, of_x = c.own_places ? group * (halo ? c.rows * c.pitch : n) * 128 : 0;
    bool first = threadIdx.x % 128 == 0;
    unsigned taps = c.r * c.s, steps = c.chunks * taps;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        unsigned done_w = 0, done_x = 0, tap = 0, column = 0, down = 0; // the tap's column, and the pixels before its row
        for (unsigned i = 0; i < steps; i++) { // one loop: wgmma would not overlap across the edges of nested ones
            if (!halo || tap == 0) barrier_wait(x.filled(), x.phase);
            barrier_wait(w.filled(), w.phase);
            unsigned a = w.at() + of_w, b = x.at() + of_x + (halo ? (down + column * c.dilation) * 128 : 0);
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < 4; j++) wgmma(T(), sums, rows_at(a + j * 32), rows_at(b + j * 32), i || j);
            wgmma_commit();
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

template <class T, unsigned n, bool halo> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const T* bias, T* y, const Cut& c) {
    __shared__ __align__(8) unsigned long long barriers[32];
    if (threadIdx.x == 0) {
        prefetch(of_x), prefetch(of_w);
        for (unsigned i = 0; i < 32; i++) barrier_init(address(barriers + i), i / 8 % 2 ? 2 : 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    // Behind a box lie pixels that no place needs, but the last columns of a product read.
    for (unsigned s = 0; halo && s < c.x_stages; s++)
        for (unsigned i = c.x_box + threadIdx.x * 16; i < c.x_bytes; i += 384 * 16) *(uint4*)(memory + s * c.x_bytes + i) = make_uint4(0, 0, 0, 0);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    Ring x(address(memory), c.x_bytes, barriers, c.x_stages), w(address(memory) + c.x_stages * c.x_bytes, c.w_bytes, barriers + 16, c.w_stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring_w<T>(w, of_w, c);
        else if (threadIdx.x / 32 == 1 && elected()) bring_x<T, n, halo>(x, of_x, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply<T, n, halo>(x, w, bias, y, c);
    }
}

#define HOPPER __launch_bounds__(384, 1)
#define MAP const __grid_constant__ TensorMap

// x under each tap comes from L2, as the copy engine's im2col mode finds it: 128 places.
extern "C" __global__ void HOPPER conv2d_fp16_wgmma(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 128, false>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_wgmma(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 128, false>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_wgmma(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 128, false>(x, w, bias, y, c); }

// A box of x with its halo comes once, and all taps read it where it lies: whole rows of
// an image, so that 64, 208 or 232 columns of the product are mostly places.
extern "C" __global__ void HOPPER conv2d_fp16_halo(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 64, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_halo_208(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 208, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_fp16_halo_232(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Cut c) { convolve<__half, 232, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 64, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo_208(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 208, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_halo_232(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Cut c) { convolve<__nv_bfloat16, 232, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 64, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo_208(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 208, true>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_halo_232(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Cut c) { convolve<float, 232, true>(x, w, bias, y, c); }
