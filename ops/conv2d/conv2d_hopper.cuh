// What the rungs on wgmma share: how a call is cut into tiles, the rings of stages, and
// which sums of a product are which places of y.
#pragma once

#include "conv2d_wgmma.cuh"

extern __shared__ __align__(1024) unsigned char memory[];

// How a call is cut: Cut of hopper.go.
struct Cut {
    unsigned images, oh, ow, k, r, s, stride, dilation;
    int padding;
    unsigned chunks, last;  // of 128 bytes of channels; steps of 32 bytes of the last chunk
    unsigned blocks, tiles; // of 64 or 128 channels, and of these for all places
    unsigned own_places;    // 1: the warpgroups have other places, 0: other channels
    unsigned x_stages, x_bytes, x_box, w_stages, w_bytes;
    unsigned columns, rows, pitch, across, down; // of a warpgroup's places; pixels of a row of a box, at least eight; tiles in an image
    unsigned bias, relu;
    // Volumes: the places and taps in depth, the depths of y that the 64 rows of a warpgroup
    // have (1, 2 or 4), tiles in depth, and the planes of x that one needs.
    unsigned od, t, depths, deep, planes;
    int depth_padding;
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
// row and a column on, and of a volume from a depth on. `plane` numbers the depths of all
// volumes of y, or the images.
template <bool volumes> struct Tile {
    unsigned channel, first, image, row, column, depth, plane;

    __device__ Tile(unsigned t, const Cut& c, unsigned places) {
        channel = t % c.blocks * (c.own_places ? 64 : 128), t /= c.blocks;
        first = t * places;
        column = t % c.across * c.columns, t /= c.across;
        row = t % c.down * c.rows * (1 + c.own_places), image = t / c.down;
        depth = 0, plane = image;
        if (volumes) depth = image % c.deep * c.depths, image /= c.deep, plane = image * c.od + depth;
    }

    // The first of two neighbouring channels of y whose sums a thread has.
    __device__ unsigned channel_of(unsigned group, const Cut& c) const {
        unsigned warp = threadIdx.x / 32 % 4;
        if (volumes) warp %= 4 / c.depths;
        return channel + (c.own_places ? 0 : group * 64) + warp * 16 + threadIdx.x % 32 / 4 * 2;
    }

    // Goes to the depth of this warp's sums, and reports whether y has it.
    __device__ bool descend(const Cut& c) {
        if (!volumes) return true;
        unsigned below = threadIdx.x / 32 % 4 / (4 / c.depths);
        depth += below, plane += below;
        return depth < c.od;
    }
};

// The number of a tap of filters that lies `below` depths under the first of a tile, and of
// no filter, so that the copy engine writes zeros, where they have no such depth.
static __device__ unsigned tap_below(unsigned below, unsigned tap, const Cut& c, unsigned none) { return below < c.t ? below * c.r * c.s + tap : none; }

// Calls f(inside, place, e) for each place of a lane: sums e and e + 2 are of its two
// channels. Of eight places a lane has two neighbours.
template <unsigned n, bool halo, bool volumes, class F> static __device__ __forceinline__ void each_place(const Tile<volumes>& tile, unsigned group, const Cut& c, const F& f) {
    unsigned lane = threadIdx.x % 32, first = tile.first + (c.own_places ? group * n : 0) + lane % 4 * 2;
    unsigned row = tile.row + (c.own_places ? group * c.rows : 0), rows = min(c.rows, c.oh > row ? c.oh - row : 0), columns = min(c.columns, c.ow - tile.column);
    unsigned line = (tile.plane * c.oh + row) * c.ow + tile.column, down = 0, across = lane % 4 * 2; // of the halo's pixels, at least eight in a row
    asm volatile("" : "+r"(across), "+r"(down)); // or the compiler keeps the place of each sum in registers, which it does not have
#pragma unroll
    for (unsigned e = 0; e < n / 2; e += e % 4 ? 3 : 1) {
        unsigned place, at = across + e % 2, of = down;
        bool inside;
        if (halo) {
            bool wraps = at >= c.pitch;
            at = wraps ? at - c.pitch : at, of = wraps ? of + 1 : of;
            inside = at < columns && of < rows, place = line + of * c.ow + at;
            if (e % 2) wraps = across + 8 >= c.pitch, across = wraps ? across + 8 - c.pitch : across + 8, down = wraps ? down + 1 : down;
        } else {
            place = first + e / 4 * 8 + e % 2, inside = place < c.images * (volumes ? c.od : 1) * c.oh * c.ow;
        }
        f(inside, place, e);
    }
}

// Numbers the columns of a warpgroup's box by the place of y that each is, from the first
// one of the box on. Those between rows are none. The first `busy` threads do other work.
constexpr unsigned no_place = ~0u;
static __device__ void number_places(unsigned* places, unsigned n, unsigned pitch, unsigned rows, unsigned columns, unsigned ow, unsigned busy = 0) {
    for (unsigned i = threadIdx.x - busy; i < n; i += 384 - busy) {
        unsigned row = i / pitch, column = i % pitch;
        places[i] = row < rows && column < columns ? row * ow + column : no_place;
    }
}

// The same of n columns, in shared memory.
template <unsigned n> static __device__ const unsigned* number_box(const Cut& c) {
    __shared__ __align__(8) unsigned places[n];
    number_places(places, n, c.pitch, c.rows, c.columns, c.ow);
    return places;
}

// How many of these numbers y has from a row and a column on: a box that is no whole row
// has one.
static __device__ unsigned places_from(const Cut& c, unsigned row, unsigned column) {
    if (row >= c.oh) return 0;
    return c.across == 1 ? min(c.rows, c.oh - row) * c.ow : min(c.columns, c.ow - column);
}

// v, or the floor if that is larger: 0 for ReLU. NaN stays NaN.
static __device__ float at_least(float v, float floor) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(v) : "f"(floor));
    return v;
}
static __device__ float floor_of(unsigned relu) { return relu ? 0 : __int_as_float(0xff800000); }

// The multiplying warpgroup of a thread, 0 or 1, in a register that its warp shares.
static __device__ unsigned warpgroup() { return __shfl_sync(~0u, threadIdx.x / 128 - 1, 0); }

// Barriers of two rings of up to eight stages: filled by a thread and its copies, freed by
// two warpgroups. Behind a box in a stage of x lie pixels that no place needs, but that the
// last columns of a product read: they are zeros.
static __device__ void start(unsigned long long* barriers, const Cut& c, bool halo) {
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 32; i++) barrier_init(address(barriers + i), i / 8 % 2 ? 2 : 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (unsigned s = 0; halo && s < c.x_stages; s++)
        for (unsigned i = c.x_box + threadIdx.x * 16; i < c.x_bytes; i += 384 * 16) *(uint4*)(memory + s * c.x_bytes + i) = make_uint4(0, 0, 0, 0);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

template <class T> constexpr unsigned channels_a_row = 128 / sizeof(T);

#define HOPPER __launch_bounds__(384, 1)
#define MAP const __grid_constant__ TensorMap
