// Implicit GEMM on wgmma, of images and of volumes: what the entries of conv2d_hopper.cu
// and conv3d_hopper.cu share.
//
// Filters are the rows of a product, 64 per warpgroup, and places of y its columns: a layer
// of 64 channels needs no wider tile, and a thread has two neighbouring channels of each
// place, which it stores at once. Of three warpgroups one brings x and w, and two multiply
// and store: either other channels of the same places, or other places. Blocks stay and
// take tile after tile.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d_hopper.cuh"

// How x comes: the pixels under each tap, or a box with its halo for all taps. The numbers
// stand in names of the PTX, to which measured figures belong.
enum Way { each_tap = 0, in_rows = 2 };

template <class T, unsigned n, Way way, bool volumes> static __device__ void bring_x(Ring x, const TensorMap& map, const Cut& c) {
    constexpr bool halo = way != each_tap;
    unsigned taps = halo ? volumes ? c.planes : 1 : (volumes ? c.t : 1) * c.r * c.s; // a box for each
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        Tile<volumes> tile(t, c, n * (1 + c.own_places));
        if (!halo) {
            tile.column = tile.first % c.ow * c.stride, tile.row = tile.first / c.ow % c.oh * c.stride, tile.image = tile.first / (c.ow * c.oh);
            if (volumes) tile.depth = tile.image % c.od * c.stride, tile.image /= c.od;
        }
        int w = (int)tile.column - c.padding, h = (int)tile.row - c.padding, d = (int)tile.depth - (volumes ? c.depth_padding : 0);
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned tap = 0; tap < taps; tap++, x.next()) {
                unsigned to = x.open(c.x_box);
                if (volumes && halo) copy_depth(to, map, i * channels_a_row<T>, w, h, d + (int)(tap * c.dilation), tile.image, x.filled());
                else if (volumes) copy_deep_places(to, map, i * channels_a_row<T>, w, h, d, tile.image, tap % c.s * c.dilation, tap / c.s % c.r * c.dilation, tap / c.s / c.r * c.dilation, x.filled());
                else if (halo) copy_image(to, map, i * channels_a_row<T>, w, h, tile.image, x.filled());
                else copy_places(to, map, i * channels_a_row<T>, w, h, tile.image, tap % c.s * c.dilation, tap / c.s * c.dilation, x.filled());
            }
    }
}

// Brings filters under each tap: of volumes, under those of each plane of x, for each depth
// of y that the rows of a product have.
template <class T, bool volumes> static __device__ void bring_w(Ring w, const TensorMap& map, const Cut& c) {
    unsigned planes = volumes ? c.planes : 1, taps = c.r * c.s;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x)
        for (unsigned i = 0; i < c.chunks; i++)
            for (unsigned plane = 0; plane < planes; plane++)
                for (unsigned tap = 0; tap < taps; tap++, w.next()) {
                    unsigned to = w.open(c.w_bytes), q = t % c.blocks * (c.own_places ? 4 : 8);
                    if (!volumes) copy_filters(to, map, i * channels_a_row<T>, q, tap, w.filled());
                    for (unsigned d = 0; volumes && d < c.depths; d++)
                        copy_filters(to + d * (c.w_bytes / c.depths), map, i * channels_a_row<T>, q, tap_below(plane - d, tap, c, c.t * taps), w.filled());
                }
}

static __device__ float wide(__half v) { return __half2float(v); }
static __device__ float wide(__nv_bfloat16 v) { return __bfloat162float(v); }
static __device__ float wide(float v) { return v; }
static __device__ void put(__half* to, float u, float v) { *(__half2*)to = __floats2half2_rn(u, v); }
static __device__ void put(__nv_bfloat16* to, float u, float v) { *(__nv_bfloat162*)to = __floats2bfloat162_rn(u, v); }
static __device__ void put(float* to, float u, float v) { *(float2*)to = make_float2(u, v); }

// Stores two channels of each place of a lane.
template <class T, unsigned n, bool halo, bool volumes> static __device__ void store(const float (&sums)[n / 2], const T* bias, T* y, Tile<volumes> tile, unsigned group, const unsigned* places, const Cut& c) {
    unsigned channel = tile.channel_of(group, c);
    if (channel >= c.k || !tile.descend(c)) return;
    float add[2] = {};
    if (c.bias) add[0] = wide(bias[channel]), add[1] = wide(bias[channel + 1]);
    y += channel;
    if (halo && !volumes) { // by number: a place costs a few instructions
        unsigned row = tile.row + (c.own_places ? group * c.rows : 0), all = places_from(c, row, tile.column), bytes = c.k * sizeof(T);
        float floor = floor_of(c.relu);
        y += (size_t)((tile.image * c.oh + row) * c.ow + tile.column) * c.k;
#pragma unroll
        for (unsigned j = 0; j < n / 8; j++) {
            uint2 place = ((const uint2*)places)[j * 4 + threadIdx.x % 4];
#pragma unroll
            for (unsigned e = 0; e < 2; e++) {
                unsigned at = e ? place.y : place.x;
                float u = at_least(sums[j * 4 + e] + add[0], floor), v = at_least(sums[j * 4 + e + 2] + add[1], floor);
                if (at < all) put((T*)((char*)y + (size_t)at * bytes), u, v);
            }
        }
        return;
    }
    each_place<n, halo, volumes>(tile, group, c, [&](bool inside, unsigned place, unsigned e) {
        float u = sums[e] + add[0], v = sums[e + 2] + add[1];
        if (c.relu) u = u < 0 ? 0 : u, v = v < 0 ? 0 : v;
        if (inside) put(y + place * c.k, u, v);
    });
}

// Multiplies 64 channels by n places. The columns of a tap are those of the first tap,
// moved by as many pixels, which are rows of 128 bytes.
template <class T, unsigned n, Way way, bool volumes> static __device__ void multiply(Ring x, Ring w, const T* bias, T* y, const unsigned* places, const Cut& c) {
    constexpr bool halo = way != each_tap;
    constexpr unsigned pixel = 128; // bytes
    float sums[n / 2];
    unsigned group = warpgroup();
    unsigned of_w = c.own_places ? 0 : group * 64 * 128, of_x = c.own_places ? group * (halo ? c.rows * c.pitch : n) * pixel : 0;
    bool first = threadIdx.x % 128 == 0;
    unsigned taps = halo || !volumes ? c.r * c.s : c.t * c.r * c.s, chunk = halo && volumes ? c.planes * taps : taps, steps = c.chunks * chunk;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        unsigned done_w = 0, done_x = 0, tap = 0, column = 0, down = 0; // the tap's column, and the pixels before its row
        for (unsigned i = 0; i < steps; i++) { // one loop: wgmma would not overlap across the edges of nested ones
            if (!halo || tap == 0) barrier_wait(x.filled(), x.phase);
            barrier_wait(w.filled(), w.phase);
            unsigned a = w.at() + of_w, b = x.at() + of_x + (halo ? (down + column * c.dilation) * pixel : 0);
            wgmma_fence();
            auto add = [&](unsigned j) { wgmma(T(), sums, rows_at(a + j * 32), rows_at(b + j * 32), i || j); };
            if (i + chunk < steps || c.last == 4) { // no branch between those of whole rows
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
        store<T, n, halo, volumes>(sums, bias, y, Tile<volumes>(t, c, n * (1 + c.own_places)), group, places, c);
    }
}

template <class T, unsigned n, Way way, bool volumes = false> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const T* bias, T* y, const Cut& c) {
    __shared__ __align__(8) unsigned long long barriers[32];
    if (threadIdx.x == 0) prefetch(of_x), prefetch(of_w);
    const unsigned* places = nullptr;
    if constexpr (way != each_tap && !volumes) places = number_box<n>(c);
    start(barriers, c, way != each_tap);
    Ring x(address(memory), c.x_bytes, barriers, c.x_stages), w(address(memory) + c.x_stages * c.x_bytes, c.w_bytes, barriers + 16, c.w_stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring_w<T, volumes>(w, of_w, c);
        else if (threadIdx.x / 32 == 1 && elected()) bring_x<T, n, way, volumes>(x, of_x, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply<T, n, way, volumes>(x, w, bias, y, places, c);
    }
}
