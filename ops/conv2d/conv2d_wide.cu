// Convolution on Hopper's tensor cores of layers with more than 64 channels of y: float16,
// bfloat16, or float32 rounded to TF32. A block has 128 of them by 408 columns of whole rows,
// which share the padding between them as those of conv2d_resident.cuh do. Layouts are those
// of conv2d_hopper.cu.
//
// A warpgroup has 64 channels and two sets of sums, for the first 208 columns and for the
// others. Filters come once for both, but those of the last chunk of x come twice: it is
// multiplied for the first columns, and then for the others, while the first are stored.

#include "conv2d_resident.cuh"

constexpr unsigned first_columns = 208, other_columns = 200, most_stages = 8;

// How a call is cut: wideCut of wide.go.
struct WideCut {
    unsigned images, oh, ow, k, r, s, dilation;
    int padding;
    unsigned chunks, blocks, tiles, down; // of 128 bytes of channels of x, of 128 channels of y, of these for all strips; strips of an image
    unsigned rows, pitch;                 // of a strip; pixels of a row of a box
    unsigned x_stages, x_bytes, x_box, w_stages;
    unsigned bias, relu;
};

// A tile: its first channel of y, the first row of its strip, and the image.
struct StripTile {
    unsigned channel, row, image;

    __device__ StripTile(unsigned t, const WideCut& c) { channel = t % c.blocks * 128, t /= c.blocks, row = t % c.down * c.rows, image = t / c.down; }
};

// A ring of stages that one thread fills, and the next stage of it. Barriers of filled stages
// lie before those of freed ones.
struct Stage {
    unsigned memory, bytes, full, stages, number, phase;

    __device__ Stage(unsigned memory, unsigned bytes, unsigned barriers, unsigned stages) : memory(memory), bytes(bytes), full(barriers), stages(stages), number(0), phase(0) {}
    __device__ unsigned at() const { return memory + number * bytes; }
    __device__ unsigned filled() const { return full + number * 8; }
    __device__ unsigned freed() const { return filled() + most_stages * 8; }
    __device__ void wait() const { barrier_wait(filled(), phase); }
    __device__ void next() {
        if (++number == stages) number = 0, phase ^= 1;
    }
    // Sets up barriers: of so many threads that free a stage.
    __device__ void start(unsigned threads) const {
        for (unsigned i = 0; i < stages; i++) barrier_init(full + i * 8, 1), barrier_init(full + (most_stages + i) * 8, threads);
        asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory");
    }
    // Waits until a stage is free, and expects so many bytes there.
    __device__ unsigned open(unsigned of) const {
        barrier_wait(freed(), phase ^ 1);
        barrier_expect(filled(), of);
        return at();
    }
};

// Brings filters of a warpgroup: from `from` to `to`, counted from the first one of the block.
template <class T> static __device__ void bring_filters(Stage w, const TensorMap& map, unsigned group, unsigned from, unsigned to, const WideCut& c) {
    unsigned taps = c.r * c.s, number = 0;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x)
        for (unsigned i = 0; i < c.chunks + 1; i++)
            for (unsigned tap = 0; tap < taps; tap++, number++, w.next()) {
                if (number == to) return;
                if (number < from) continue;
                unsigned stage = w.open(w_stage);
                copy_filters(stage, map, min(i, c.chunks - 1) * channels_a_row<T>, StripTile(t, c).channel / 16 + group * 4, tap, w.filled());
            }
}

// Brings boxes of x, counted so too.
template <class T> static __device__ void bring_x(Stage x, const TensorMap& map, unsigned from, unsigned to, const WideCut& c) {
    unsigned number = 0;
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        StripTile tile(t, c);
        for (unsigned i = 0; i < c.chunks; i++, number++, x.next()) {
            if (number == to) return;
            if (number < from) continue;
            unsigned stage = x.open(c.x_box);
            copy_image(stage, map, i * channels_a_row<T>, -c.padding, (int)tile.row - c.padding, tile.image, x.filled());
        }
    }
}

// Stores two neighbours. y is written once, and gives its place in L2 to x.
static __device__ void put(__half* to, float u, float v) {
    __half2 pair = __floats2half2_rn(u, v);
    __stcs((unsigned*)to, *(unsigned*)&pair);
}
static __device__ void put(__nv_bfloat16* to, float u, float v) {
    __nv_bfloat162 pair = __floats2bfloat162_rn(u, v);
    __stcs((unsigned*)to, *(unsigned*)&pair);
}
static __device__ void put(float* to, float u, float v) { __stcs((float2*)to, make_float2(u, v)); }

// The sums of two neighbouring channels at two columns of eight, stored at their places.
template <class T> struct Outlet {
    char* y;
    const uint2* places; // of this thread's columns, every fourth one
    unsigned all, bytes; // places that y has; bytes from one to the next
    float add[2], floor;

    __device__ void store(const float* sums, unsigned eight) const {
        uint2 place = places[eight * 4];
#pragma unroll
        for (unsigned e = 0; e < 2; e++) {
            unsigned at = e ? place.y : place.x;
            float u = at_least(sums[e] + add[0], floor), v = at_least(sums[e + 2] + add[1], floor);
            if (at < all) put((T*)(y + (size_t)at * bytes), u, v);
        }
    }
};

template <class T> static __device__ void multiply(Stage x, Stage w, const unsigned* places, const T* bias, T* y, const WideCut& c) {
    float sums[first_columns / 2], others[other_columns / 2];
    unsigned group = warpgroup(), taps = c.r * c.s, steps = (c.chunks - 1) * taps;
    bool first = threadIdx.x % 128 == 0;
    unsigned pixel = c.dilation * 8, back = (c.pitch - c.s) * pixel, behind = first_columns * 8; // in 16 bytes
    unsigned done_w = 0, done_x = 0, at = 0, column = 0, tap = 0; // barriers of what was multiplied; the columns of a tap
    auto advance = [&] {
        at += pixel;
        if (++column == c.s) column = 0, at += back;
        if (++tap == taps) tap = 0, column = 0;
    };
    auto free = [&](bool box) {
        if (first) barrier_arrive(done_w);
        if (first && box) barrier_arrive(done_x);
    };
    w.wait();
    for (unsigned t = blockIdx.x; t < c.tiles; t += gridDim.x) {
        // Stages of filters are awaited one ahead, while products go on.
        for (unsigned i = 0; i < steps; i++) {
            if (tap == 0) x.wait(), at = rows_word(x.at());
            unsigned of_w = rows_word(w.at()), now = w.freed();
            wgmma_fence();
#pragma unroll
            for (unsigned j = 0; j < 4; j++) {
                if (j == 2) w.next(), w.wait(), wgmma_fence();
                wgmma(T(), sums, rows_of(of_w + j * 2), rows_of(at + j * 2), i || j);
                wgmma(T(), others, rows_of(of_w + j * 2), rows_of(at + behind + j * 2), i || j);
            }
            wgmma_commit();
            if (i) wgmma_wait<1>(), free(tap == 0);
            done_w = now;
            advance();
            if (tap == 0) done_x = x.freed(), x.next();
        }
        StripTile tile(t, c);
        unsigned channel = tile.channel + group * 64 + item_channel();
        Outlet<T> to = {(char*)(y + (size_t)(tile.image * c.oh + tile.row) * c.ow * c.k + channel), (const uint2*)places + threadIdx.x % 4,
                     channel < c.k ? min(c.rows, c.oh - tile.row) * c.ow : 0, c.k * (unsigned)sizeof(T), {}, floor_of(c.relu)};
        if (c.bias && channel < c.k) to.add[0] = float(bias[channel]), to.add[1] = float(bias[channel + 1]);
        x.wait(), at = rows_word(x.at());
        for (unsigned i = 0; i < taps; i++) {
            unsigned of_w = rows_word(w.at()), now = w.freed();
            wgmma_fence();
#pragma unroll
            for (unsigned j = 0; j < 4; j++) wgmma(T(), sums, rows_of(of_w + j * 2), rows_of(at + j * 2), steps || i || j);
            wgmma_commit();
            w.next(), w.wait();
            if (steps || i) wgmma_wait<1>(), free(i == 0);
            done_w = now;
            advance();
        }
        at = rows_word(x.at()) + behind;
        wgmma_wait<0>(); // or ptxas lets no product overlap with a store
        free(false);
        bool more = t + gridDim.x < c.tiles;
        unsigned i = 0;
        constexpr unsigned parts = first_columns / 16;
#pragma unroll
        for (unsigned part = 0; part < parts; part++) {
#pragma unroll 1
            for (; i < (part + 1) * taps / parts; i++) {
                unsigned of_w = rows_word(w.at()), now = w.freed();
                wgmma_fence();
#pragma unroll
                for (unsigned j = 0; j < 4; j++) wgmma(T(), others, rows_of(of_w + j * 2), rows_of(at + j * 2), steps || i || j);
                wgmma_commit();
                w.next();
                if (more || i + 1 < taps) w.wait();
                if (i) wgmma_wait<1>(), free(false);
                done_w = now;
                advance();
            }
#pragma unroll
            for (unsigned eight = part * 2; eight < part * 2 + 2; eight++) to.store(sums + eight * 4, eight);
        }
        done_x = x.freed(), x.next();
        wgmma_wait<0>();
        free(true);
#pragma unroll
        for (unsigned eight = 0; eight < other_columns / 8; eight++) to.store(others + eight * 4, first_columns / 8 + eight);
    }
}

template <class T> static __device__ void convolve(const TensorMap& of_x, const TensorMap& of_w, const T* bias, T* y, const WideCut& c) {
    __shared__ __align__(8) unsigned long long barriers[6 * most_stages]; // of filters of each warpgroup, then of x
    __shared__ __align__(8) unsigned places[first_columns + other_columns];
    constexpr unsigned busy = 96, early_w = 2, early_x = 1;
    unsigned warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    Stage x(address(memory), c.x_bytes, address(barriers) + 4 * most_stages * 8, c.x_stages);
    auto filters = [&](unsigned group) { return Stage(address(memory) + c.x_stages * c.x_bytes + group * c.w_stages * w_stage, w_stage, address(barriers) + group * 2 * most_stages * 8, c.w_stages); };
    // The first copies start before the block is ready: no more than its first products need.
    if (warp < 3) {
        if (elected()) {
            if (warp == 2) prefetch(of_x), x.start(2), bring_x<T>(x, of_x, 0, early_x, c);
            else prefetch(of_w), filters(warp).start(1), bring_filters<T>(filters(warp), of_w, warp, 0, early_w, c);
        }
        __syncwarp();
    } else {
        for (unsigned stage = 0; stage < c.x_stages; stage++)
            for (unsigned i = c.x_box + (threadIdx.x - busy) * 16; i < c.x_bytes; i += (384 - busy) * 16) *(uint4*)(memory + stage * c.x_bytes + i) = make_uint4(0, 0, 0, 0);
        number_places(places, first_columns + other_columns, c.pitch, c.rows, c.ow, c.ow, busy);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (warp < 2 && elected()) bring_filters<T>(filters(warp), of_w, warp, early_w, ~0u, c);
        else if (warp == 2 && elected()) bring_x<T>(x, of_x, early_x, ~0u, c);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        multiply<T>(x, filters(warpgroup()), places, bias, y, c);
    }
}

extern "C" __global__ void HOPPER conv2d_fp16_wide(MAP x, MAP w, const __half* __restrict__ bias, __half* __restrict__ y, WideCut c) { convolve(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_bf16_wide(MAP x, MAP w, const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y, WideCut c) { convolve(x, w, bias, y, c); }
extern "C" __global__ void HOPPER conv2d_tf32_wide(MAP x, MAP w, const float* __restrict__ bias, float* __restrict__ y, WideCut c) { convolve(x, w, bias, y, c); }
