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

// Multiplies the items of a warpgroup.
template <class T> static __device__ void multiply(const Stages& s, const T* bias, T* y, const Items& c) {
    float sums[item_columns / 2], add[2] = {}, floor = floor_of(c.relu);
    unsigned group = warpgroup(), channel = item_channel(), taps = c.r * c.s, number = group;
    bool first = threadIdx.x % 128 == 0;
    if (c.bias && channel < c.k) add[0] = wide(bias[channel]), add[1] = wide(bias[channel + 1]);
    for (unsigned t = blockIdx.x + group * gridDim.x; t < c.items; t += 2 * gridDim.x, number += 2) {
        Item item(t, c);
        s.take_turn(number);
        unsigned tap = 0, column = 0, down = 0, chunk = 0, x = 0;
        for (unsigned i = 0; i < c.w_stages; i++) {
            if (tap == 0) x = s.box(number, chunk, c) + item.column * 128;
            unsigned a = s.filters(number, i, c), b = x + (down + column * c.dilation) * 128;
            wgmma_fence();
#pragma unroll
            for (unsigned j = 0; j < 4; j++) wgmma(T(), sums, rows_at(a + j * 32), rows_at(b + j * 32), i || j);
            wgmma_commit();
            if (i) {
                wgmma_wait<1>();
                if (first) {
                    s.free_filters(number, i - 1, c);
                    if (tap == 0) s.free_box(number, chunk - 1, c);
                }
            }
            if (++column == c.s) column = 0, down += c.pitch * c.dilation;
            if (++tap == taps) tap = 0, column = 0, down = 0, chunk++;
        }
        if (first) s.pass_turn(number);
        wgmma_wait<0>();
        if (first) s.free_filters(number, c.w_stages - 1, c), s.free_box(number, c.boxes - 1, c);
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
