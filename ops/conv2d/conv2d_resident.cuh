// What the rungs share whose filters stay in shared memory: a block multiplies at most 64
// channels of y, and its two warpgroups take items in turn, so that one multiplies while the
// other stores.
//
// An item is n neighbouring columns of a strip of whole rows. Between two rows of places lies
// the padding of one row alone: it is the right padding of the row before and the left
// padding of the row behind. Its sums are dropped.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d_hopper.cuh"

#define NAMES200 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99"
#define WGMMA200(T, k, type, signs) WGMMA(T, 200, "m64n200" k, type, 100, 101, 102, signs, SUMS32(d, 0), SUMS32(d, 32), SUMS32(d, 64), SUMS4(d, 96))
WGMMA200(__half, "k16", "f16", "1, 1, 0, 0")
WGMMA200(__nv_bfloat16, "k16", "bf16", "1, 1, 0, 0")
WGMMA200(float, "k8", "tf32", "1, 1")

constexpr unsigned item_columns = 200, strip_columns = 512, w_stage = 64 * 128, w_ring = 4;

// How a call is cut: items of resident.go.
struct Items {
    unsigned images, oh, ow, k, r, s, dilation;
    int padding;
    unsigned boxes;                                  // of x, for an item: chunks of 128 bytes of channels, or parts of 64 channels
    unsigned items, passes, down;                    // in all, of a strip; strips of an image
    unsigned rows, pitch, columns;                   // of a strip; pitch is that of a box
    unsigned x_stages, x_bytes, x_box, w_stages, kept; // stages of w: all that an item takes, and those that stay; others share a ring
    unsigned bias, relu;
};

// The strip of an item, and its first column there: an even one, with its row.
struct Item {
    unsigned image, strip, first, row, column;

    __device__ Item(unsigned t, const Items& c) {
        first = min(t % c.passes * item_columns, c.columns > item_columns ? (c.columns - item_columns + 1) / 2 * 2 : 0);
        row = first / c.pitch, column = first % c.pitch;
        strip = t / c.passes % c.down * c.rows, image = t / c.passes / c.down;
    }
};

// Stages of x and of w in shared memory with their barriers, as one thread that fills them
// or one warpgroup counts them: items are numbered within the block.
struct Stages {
    const unsigned* places; // of the columns of a strip
    unsigned x, w, x_full, x_empty, w_full, w_empty, turn;

    __device__ Stages(unsigned long long* barriers, const unsigned* places, const Items& c)
        : places(places), x(address(memory)), w(x + c.x_stages * c.x_bytes), x_full(address(barriers)), x_empty(x_full + 64), w_full(x_full + 128), w_empty(w_full + 256), turn(w_empty + 32) {}

    // The turns of the warpgroups. One is passed on when all that its item takes has come, so
    // that a phase of a barrier is awaited only after the phase before.
    __device__ void take_turn(unsigned item) const { barrier_wait(turn + item % 2 * 8, item / 2 & 1 ^ 1 ^ item & 1); }
    __device__ void pass_turn(unsigned item) const { barrier_arrive(turn + (item + 1) % 2 * 8); }

    __device__ unsigned x_slot(unsigned item, unsigned box, const Items& c) const { return (item * c.boxes + box) % c.x_stages; }
    __device__ unsigned x_phase(unsigned item, unsigned box, const Items& c) const { return (item * c.boxes + box) / c.x_stages & 1; }
    __device__ unsigned w_use(unsigned item, unsigned stage, const Items& c) const { return item * (c.w_stages - c.kept) + stage - c.kept; }

    // Waits for a box of x.
    __device__ unsigned box(unsigned item, unsigned box, const Items& c) const {
        unsigned slot = x_slot(item, box, c);
        barrier_wait(x_full + slot * 8, x_phase(item, box, c));
        return x + slot * c.x_bytes;
    }
    __device__ void free_box(unsigned item, unsigned box, const Items& c) const { barrier_arrive(x_empty + x_slot(item, box, c) * 8); }

    // Waits for filters.
    __device__ unsigned filters(unsigned item, unsigned stage, const Items& c) const {
        unsigned slot = stage, phase = 0;
        if (stage >= c.kept) {
            unsigned use = w_use(item, stage, c);
            slot = c.kept + use % w_ring, phase = use / w_ring & 1;
        }
        barrier_wait(w_full + slot * 8, phase);
        return w + slot * w_stage;
    }
    __device__ void free_filters(unsigned item, unsigned stage, const Items& c) const {
        if (stage >= c.kept) barrier_arrive(w_empty + w_use(item, stage, c) % w_ring * 8);
    }
};

// Brings a box of x: copy(to, box, item, row, barrier) does, from a row of x on.
template <class F> static __device__ void bring_box(const Stages& s, unsigned number, unsigned box, const Item& item, const Items& c, const F& copy) {
    unsigned slot = s.x_slot(number, box, c), full = s.x_full + slot * 8;
    barrier_wait(s.x_empty + slot * 8, s.x_phase(number, box, c) ^ 1);
    barrier_expect(full, c.x_box);
    copy(s.x + slot * c.x_bytes, box, item, (int)(item.strip + item.row) - c.padding, full);
}

// Brings the boxes of x but the first one.
template <class F> static __device__ void bring_boxes(const Stages& s, const Items& c, const F& copy) {
    unsigned number = 0;
    for (unsigned t = blockIdx.x; t < c.items; t += gridDim.x, number++) {
        Item item(t, c);
        for (unsigned i = number ? 0 : 1; i < c.boxes; i++) bring_box(s, number, i, item, c, copy);
    }
}

// Brings a stage of filters to a slot: copy(to, stage, barrier) does.
template <class F> static __device__ void bring_stage(const Stages& s, unsigned stage, unsigned slot, const F& copy) {
    barrier_expect(s.w_full + slot * 8, w_stage);
    copy(s.w + slot * w_stage, stage, s.w_full + slot * 8);
}

// Brings the filters that do not stay, for each item.
template <class F> static __device__ void bring_filters(const Stages& s, const Items& c, const F& copy) {
    unsigned number = 0;
    for (unsigned t = blockIdx.x; c.kept < c.w_stages && t < c.items; t += gridDim.x, number++)
        for (unsigned stage = c.kept; stage < c.w_stages; stage++) {
            unsigned use = s.w_use(number, stage, c);
            barrier_wait(s.w_empty + use % w_ring * 8, (use / w_ring & 1) ^ 1);
            bring_stage(s, stage, c.kept + use % w_ring, copy);
        }
}

// How many places y has from the first row of an item's strip on, by their numbers.
static __device__ unsigned strip_places(const Item& item, const Items& c) { return min(c.rows, c.oh - item.strip) * c.ow; }

// The first of two neighbouring channels whose sums a thread has.
static __device__ unsigned item_channel() { return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4 * 2; }

// Sets up barriers and the pixels behind boxes, which are padding, and divides the block:
// one thread brings filters and one boxes of x, and the two warpgroups multiply. Each of the
// two threads sets up the barriers of its copies and starts the first ones before the block
// is ready, while the other warps number places.
template <class F, class G, class H> static __device__ void take_items(const TensorMap& of_x, const TensorMap& of_w, const Items& c, const F& copy_w, const G& copy_x, const H& multiply) {
    __shared__ __align__(8) unsigned long long barriers[56];
    __shared__ __align__(8) unsigned places[strip_columns];
    constexpr unsigned busy = 64;
    Stages s(barriers, places, c);
    unsigned warp = __shfl_sync(~0u, threadIdx.x / 32, 0), ring = c.kept < c.w_stages ? w_ring : 0, early = min(c.kept, 2);
    auto start = [](unsigned barrier, unsigned n) {
        for (unsigned i = 0; i < n; i++) barrier_init(barrier + i * 8, 1);
    };
    auto started = [] { asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory"); };
    if (warp == 0) {
        if (elected()) {
            prefetch(of_w);
            start(s.w_full, c.kept + ring), start(s.w_empty, ring), started();
            for (unsigned stage = 0; stage < early; stage++) bring_stage(s, stage, stage, copy_w);
        }
        __syncwarp();
    } else if (warp == 1) {
        if (elected()) {
            prefetch(of_x);
            start(s.x_full, c.x_stages), start(s.x_empty, c.x_stages), start(s.turn, 2), started();
            bring_box(s, 0, 0, Item(blockIdx.x, c), c, copy_x);
        }
        __syncwarp();
    } else {
        for (unsigned stage = 0; stage < c.x_stages; stage++)
            for (unsigned i = c.x_box + (threadIdx.x - busy) * 16; i < c.x_bytes; i += (384 - busy) * 16) *(uint4*)(memory + stage * c.x_bytes + i) = make_uint4(0, 0, 0, 0);
        number_places(places, strip_columns, c.pitch, c.rows, c.ow, c.ow, busy);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (warp == 0 && elected()) {
            for (unsigned stage = early; stage < c.kept; stage++) bring_stage(s, stage, stage, copy_w);
            bring_filters(s, c, copy_w);
        } else if (warp == 1 && elected()) bring_boxes(s, c, copy_x);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply(s);
    }
}
