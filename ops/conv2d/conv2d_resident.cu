// Convolution on Hopper's tensor cores of layers with at most 64 channels of y: their filters
// stay in shared memory while a block takes item after item. Types and layouts are those of
// conv2d_hopper.cu.

#include "conv2d_resident.cuh"

static __device__ float wide(__half v) { return __half2float(v); }
static __device__ float wide(__nv_bfloat16 v) { return __bfloat162float(v); }
static __device__ float wide(float v) { return v; }
static __device__ void put(__half* to, float u, float v) { *(__half2*)to = __floats2half2_rn(u, v); }
static __device__ void put(__nv_bfloat16* to, float u, float v) { *(__nv_bfloat162*)to = __floats2bfloat162_rn(u, v); }
static __device__ void put(float* to, float u, float v) { *(float2*)to = make_float2(u, v); }

// The columns of a tap after those of another one: pixels further on in a box, which count
// 8 each in the first word of a matrix.
struct Tap {
    unsigned at, column;

    __device__ void next(const Items& c) {
        at += c.dilation * 8;
        if (++column == c.s) column = 0, at += (c.pitch - c.s) * c.dilation * 8;
    }
};

// 64 channels by the columns of an item, under one stage of filters.
template <class T> static __device__ __forceinline__ void multiply_stage(float (&sums)[item_columns / 2], unsigned w, unsigned x, bool more) {
    wgmma_fence();
#pragma unroll
    for (unsigned j = 0; j < 4; j++) wgmma(T(), sums, rows_of(w + j * 2), rows_of(x + j * 2), more || j);
    wgmma_commit();
}

// Multiplies an item whose filters all stay and whose box of x is one: products follow each
// other without a wait, but that of the first items for filters. Tensor cores have no product
// to go on with while a warp counts stages or waits.
template <class T> static __device__ __forceinline__ void multiply_kept(float (&sums)[item_columns / 2], const Stages& s, unsigned number, const Item& item, unsigned slot, bool first, const Items& c) {
    unsigned w = rows_word(s.w);
    Tap tap = {rows_word(s.x + slot * c.x_bytes + item.column * 128), 0};
    for (unsigned i = 0; i < c.kept; i++, w += w_stage / 16, tap.next(c)) {
        if (number < 2) barrier_wait(s.w_full + i * 8, 0);
        multiply_stage<T>(sums, w, tap.at, i);
    }
    if (first) s.pass_turn(number);
    wgmma_wait<0>();
    if (first) barrier_arrive(s.x_empty + slot * 8);
}

// Multiplies any item.
template <class T> static __device__ __forceinline__ void multiply_item(float (&sums)[item_columns / 2], const Stages& s, unsigned number, const Item& item, bool first, const Items& c) {
    unsigned taps = c.r * c.s, done = 0, chunk = 0;
    Tap tap;
    for (unsigned i = 0; i < c.w_stages; i++) {
        if (done == 0) tap = {rows_word(s.box(number, chunk, c) + item.column * 128), 0};
        unsigned w = rows_word(s.w + i * w_stage);
        if (i >= c.kept) w = rows_word(s.filters(number, i, c));
        else if (number < 2) barrier_wait(s.w_full + i * 8, 0);
        multiply_stage<T>(sums, w, tap.at, i);
        if (i > c.kept || i && done == 0) { // there is something to free
            wgmma_wait<1>();
            if (first) {
                s.free_filters(number, i - 1, c);
                if (done == 0) s.free_box(number, chunk - 1, c);
            }
        }
        tap.next(c);
        if (++done == taps) done = 0, chunk++;
    }
    if (first) s.pass_turn(number);
    wgmma_wait<0>();
    if (first) s.free_filters(number, c.w_stages - 1, c), s.free_box(number, c.boxes - 1, c);
}

// Multiplies the items of a warpgroup and stores their sums.
template <class T> static __device__ void multiply(const Stages& s, const T* bias, T* y, const Items& c) {
    float sums[item_columns / 2], add[2] = {}, floor = floor_of(c.relu);
    unsigned group = warpgroup(), channel = item_channel(), number = group;
    bool first = threadIdx.x % 128 == 0, kept = c.kept == c.w_stages && c.boxes == 1;
    if (c.bias && channel < c.k) add[0] = wide(bias[channel]), add[1] = wide(bias[channel + 1]);
    for (unsigned t = blockIdx.x + group * gridDim.x; t < c.items; t += 2 * gridDim.x, number += 2) {
        Item item(t, c);
        if (kept) {
            unsigned slot = s.x_slot(number, 0, c), phase = s.x_phase(number, 0, c); // divisions, before the turn
            s.take_turn(number);
            barrier_wait(s.x_full + slot * 8, phase);
            multiply_kept<T>(sums, s, number, item, slot, first, c);
        } else {
            s.take_turn(number);
            multiply_item<T>(sums, s, number, item, first, c);
        }
        if (channel >= c.k) continue;
        T* to = y + (size_t)(item.image * c.oh + item.strip) * c.ow * c.k + channel;
        const uint2* places = (const uint2*)(s.places + item.first) + threadIdx.x % 4;
        unsigned all = strip_places(item, c), bytes = c.k * sizeof(T);
#pragma unroll
        for (unsigned j = 0; j < item_columns / 8; j++) {
            uint2 place = places[j * 4];
#pragma unroll
            for (unsigned e = 0; e < 2; e++) {
                unsigned at = e ? place.y : place.x;
                float u = at_least(sums[j * 4 + e] + add[0], floor), v = at_least(sums[j * 4 + e + 2] + add[1], floor);
                if (at < all) put((T*)((char*)to + (size_t)at * bytes), u, v);
            }
        }
    }
}

template <class T> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const T* bias, T* y, const Items& c) {
    unsigned taps = c.r * c.s;
    take_items(of_x, of_w, c,
        [&](unsigned to, unsigned stage, unsigned barrier) { copy_filters(to, of_w, stage / taps * channels_a_row<T>, 0, stage % taps, barrier); },
        [&](unsigned to, unsigned box, const Item& item, int row, unsigned barrier) { copy_image(to, of_x, box * channels_a_row<T>, -c.padding, row, item.image, barrier); },
        [&](const Stages& s) { multiply<T>(s, bias, y, c); });
}

extern "C" __global__ void HOPPER conv2d_fp16_resident(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, Items c) { convolve<__half>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_resident(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, Items c) { convolve<__nv_bfloat16>(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_resident(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, Items c) { convolve<float>(x, w, bias, y, c); }
