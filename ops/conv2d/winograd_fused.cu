// Winograd's algorithm in one launch behind that of the filters: transformed tiles of x, and
// sums, stay on a multiprocessor.
//
// A block takes item after item: 64 or 32 channels of y in 32 tiles. The products of one
// part of the transformed tiles are sums of one warp, which holds those of two or three
// parts in registers. Four warps transform tiles of x for a stage of four channels, a warp
// each, and the copy engine brings the transformed filters; the warps that multiply only
// read shared memory. At the end sums cross shared memory, because a tile of y needs all
// parts of its channel.
//
// FFMA reads registers from two banks, those of even and of odd numbers. Filters lie in
// pairs that are exchanged, so that a filter is never in the bank of its sum, and sums of
// four channels are a vector; the element of x stays for a column of products.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conv2d.cuh"
#include "conv2d_wgmma.cuh"
#include "winograd.cuh"

const unsigned item_tiles = 32, stage_channels = 4, stages = 3, transformers = 4; // warps

extern __shared__ __align__(1024) float memory[];

// Tiles of an image across and down, blocks of channels of y, items in all, and stages of
// channels of x: fusedItems of winograd.go.
struct Items { unsigned across, down, blocks, items, steps; };

// What F(m, 3) has of each: fusedCut of winograd.go knows some of it.
template <int m> struct Cut {
    static constexpr unsigned side = m + 2, parts = side * side, channels = m == 2 ? 64 : 32;
    static constexpr unsigned u_floats = stage_channels * parts * channels, stage = u_floats + stage_channels * parts * item_tiles;
    // Of the warps that multiply: how many, the parts of each, and channels of a lane. A lane
    // has 8 tiles, 4 neighbours twice.
    static constexpr unsigned warps = m == 2 ? 8 : 12, held = parts / warps, rows = m == 2 ? 8 : 4;
    // Floats of an exchanged part, and from a tile to the next: lanes of a vector store and of
    // a load meet other banks. All sums of an item of F(2, 3), or 8 tiles of F(4, 3) twice.
    static constexpr unsigned pitch = m == 2 ? 68 : 40, exchanged = m == 2 ? 32 * pitch : 8 * pitch, exchange = parts * exchanged * (m == 2 ? 1 : 2);
};

// Where tile number `tile` of all images begins in y.
struct Corner {
    unsigned image, row, column;
    bool is;
    template <int m> static __device__ Corner of(unsigned tile, const Shape& s, const Items& n) {
        unsigned image = tile / (n.across * n.down);
        return {image, tile / n.across % n.down * m, tile % n.across * m, image < s.images};
    }
};

// The ring of stages.
struct Stages {
    unsigned full, empty, at, phase;
    __device__ unsigned filled() const { return full + at * 8; }
    __device__ unsigned freed() const { return empty + at * 8; }
    __device__ void next() { if (++at == stages) at = 0, phase ^= 1; }
};

// Arrives for a warp, when all of its lanes have read and written.
static __device__ __forceinline__ void warp_arrive(unsigned barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(barrier);
}

static __device__ __forceinline__ void bring(unsigned to, const float* from, unsigned floats, unsigned barrier) {
    barrier_expect(barrier, floats * 4);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(floats * 4), "r"(barrier) : "memory");
}

// A row of a tile of x transformed, and one of sums transformed back: the matrices of
// winograd.cuh, with what two rows share added once.
static __device__ __forceinline__ void forth(const float (&d)[4], float (&v)[4]) { v[0] = d[0] - d[2], v[1] = d[1] + d[2], v[2] = d[2] - d[1], v[3] = d[1] - d[3]; }
static __device__ __forceinline__ void forth(const float (&d)[6], float (&v)[6]) {
    float a = fmaf(-4, d[2], d[4]), b = fmaf(-4, d[1], d[3]), c = d[4] - d[2], e = d[3] - d[1];
    v[0] = fmaf(4, d[0], fmaf(-5, d[2], d[4])), v[1] = a + b, v[2] = a - b, v[3] = fmaf(2, e, c), v[4] = fmaf(-2, e, c), v[5] = fmaf(4, d[1], fmaf(-5, d[3], d[5]));
}
static __device__ __forceinline__ void back(const float (&v)[4], float (&y)[2]) { y[0] = v[0] + v[1] + v[2], y[1] = v[1] - v[2] - v[3]; }
static __device__ __forceinline__ void back(const float (&v)[6], float (&y)[4]) {
    float a = v[1] + v[2], b = v[1] - v[2], c = v[3] + v[4], e = v[3] - v[4];
    y[0] = v[0] + a + c, y[1] = fmaf(2, e, b), y[2] = fmaf(4, c, a), y[3] = fmaf(8, e, b) + v[5];
}

// Loads where a bit is set, and gives 0 elsewhere. In CUDA C++ the compiler makes several
// instructions of each test.
static __device__ __forceinline__ void load_if(unsigned bits, unsigned bit, const float* from, float& v) {
    asm volatile("{.reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; mov.f32 %0, 0f00000000; @p ld.global.nc.f32 %0, [%3];}" : "=f"(v) : "r"(bits), "r"(1u << bit), "l"(from));
}
static __device__ __forceinline__ void load_if(unsigned bits, unsigned bit, const float* from, float (&v)[2]) {
    asm volatile("{.reg .pred p; .reg .b32 t; and.b32 t, %2, %3; setp.ne.u32 p, t, 0; mov.f32 %0, 0f00000000; mov.f32 %1, 0f00000000; @p ld.global.nc.v2.f32 {%0, %1}, [%4];}" : "=f"(v[0]), "=f"(v[1]) : "r"(bits), "r"(1u << bit), "l"(from));
}
static __device__ __forceinline__ void load_if(unsigned bits, unsigned bit, const float* from, float (&v)[4]) {
    asm volatile("{.reg .pred p; .reg .b32 t; and.b32 t, %4, %5; setp.ne.u32 p, t, 0; mov.f32 %0, 0f00000000; mov.f32 %1, 0f00000000; mov.f32 %2, 0f00000000; mov.f32 %3, 0f00000000; @p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%6];}"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(bits), "r"(1u << bit), "l"(from));
}
// u[block][c][part][channel]: the transformed filters as stages have them, zeros behind the
// last channels of x and of y. A warp reads and writes whole sectors.
template <int m> static __device__ __forceinline__ void fused_filters(const float* w, float* u, const Shape& s, const Items& n) {
    using C = Cut<m>;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, eights = n.blocks * C::channels / 8, channels = n.steps * stage_channels;
    unsigned k = i / 32 % eights * 8 + lane % 8, c = i / 32 / eights * 4 + lane / 8;
    if (c >= channels) return;
    w += (size_t)k * s.wk + (size_t)c * s.wc;
    float from[3][3], to[C::side][C::side];
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int q = 0; q < 3; q++) from[r][q] = k < s.k && c < s.c ? w[r * s.wr + q * s.ws] : 0;
    transform<Matrices<m>::w, C::side, 3>(from, to);
    u += ((size_t)(k / C::channels) * channels + c) * C::parts * C::channels + (k % C::channels ^ 1);
#pragma unroll
    for (unsigned f = 0; f < C::parts; f++) u[f * C::channels] = to[f / C::side][f % C::side];
}

// Transforms x, one tile per lane and one channel of each stage per warp. The elements of the next
// stage are on their way while those of this one are written.
template <int m> static __device__ __forceinline__ void transform_tiles(const float* x, const float* u, const Shape& s, const Items& n, Stages ring) {
    using C = Cut<m>;
    constexpr int side = C::side;
    unsigned warp = threadIdx.x / 32 - C::warps, lane = threadIdx.x % 32, rows[side]; // of a column: bits of the rows where it is in x
    bool vectors = ((size_t)x % (4 * m) | s.xn % m | s.xc % m | s.xh % m) == 0 && s.padding % m == 1, whole = false;
    const float* at = x;
    float d[side][side];
    auto open = [&](unsigned item) {
        Corner tile = Corner::of<m>(item / n.blocks * item_tiles + lane, s, n);
        int top = (int)tile.row - s.padding, left = (int)tile.column - s.padding;
        unsigned inside = 0;
        whole = vectors;
#pragma unroll
        for (int i = 0; i < side; i++)
            if (tile.is && top + i >= 0 && top + i < (int)s.h) inside |= 1u << i;
#pragma unroll
        for (int i = 0; i < side; i++) {
            bool is = left + i >= 0 && left + i < (int)s.w;
            rows[i] = is ? inside : 0;
            if (i > 0 && i <= m) whole = whole && is;
        }
        whole = __all_sync(0xffffffff, whole); // the middle of each row is a vector
        at = x + (size_t)tile.image * s.xn + (size_t)warp * s.xc + (ptrdiff_t)top * s.xh + left;
    };
    auto load = [&](unsigned step) {
        bool there = step * stage_channels + warp < s.c;
        const float* row = at;
        unsigned first = there ? rows[0] : 0, middle = there ? rows[1] : 0, last = there ? rows[side - 1] : 0;
        if (whole) {
#pragma unroll
            for (int r = 0; r < side; r++, row += s.xh) {
                load_if(first, r, row, d[r][0]);
                float vector[m];
                load_if(middle, r, row + 1, vector);
#pragma unroll
                for (int q = 0; q < m; q++) d[r][q + 1] = vector[q];
                load_if(last, r, row + side - 1, d[r][side - 1]);
            }
        } else {
#pragma unroll
            for (int r = 0; r < side; r++, row += s.xh)
#pragma unroll
                for (int q = 0; q < side; q++) load_if(there ? rows[q] : 0, r, row + q, d[r][q]);
        }
        at += stage_channels * s.xc;
    };
    unsigned item = blockIdx.x;
    open(item), load(0);
    for (; item < n.items; item += gridDim.x) {
        const float* of_u = u + (size_t)(item % n.blocks) * n.steps * C::u_floats;
        for (unsigned step = 0; step < n.steps; step++, of_u += C::u_floats, ring.next()) {
            float v[side][side];
#pragma unroll
            for (int q = 0; q < side; q++) {
                float column[side], to[side];
#pragma unroll
                for (int r = 0; r < side; r++) column[r] = d[r][q];
                forth(column, to);
#pragma unroll
                for (int r = 0; r < side; r++) v[r][q] = to[r];
            }
            bool last = step + 1 == n.steps;
            if (last) open(item + gridDim.x); // of no image behind the last item
            load(last ? 0 : step + 1);
            barrier_wait(ring.freed(), ring.phase ^ 1);
            float* to = memory + ring.at * C::stage;
            if (warp == 0 && lane == 0) bring(address(to), of_u, C::u_floats, ring.filled());
            to += C::u_floats + warp * (C::parts * item_tiles) + lane;
#pragma unroll
            for (int r = 0; r < side; r++) {
                float of_row[side];
                forth(v[r], of_row);
#pragma unroll
                for (int q = 0; q < side; q++) to[(r * side + q) * item_tiles] = of_row[q];
            }
            warp_arrive(ring.filled());
        }
    }
}

// The lanes of a warp that multiplies: 8 down the channels, 4 across the tiles. Neighbours,
// and those two apart, have one address in common.
struct Lane {
    unsigned down, across;
    __device__ Lane() : down(threadIdx.x % 16 / 2), across(threadIdx.x % 2 + threadIdx.x % 32 / 16 * 2) {}
};

// Adds the products of all stages of an item.
template <int m> static __device__ __forceinline__ void multiply(float (&sums)[Cut<m>::held][Cut<m>::rows][8], const Items& n, Stages& ring, Lane lane) {
    using C = Cut<m>;
    unsigned part = threadIdx.x / 32 * C::held;
    for (unsigned step = 0; step < n.steps; step++, ring.next()) {
        barrier_wait(ring.filled(), ring.phase);
        const float *u = memory + ring.at * C::stage + part * C::channels + lane.down * 4, *v = memory + ring.at * C::stage + C::u_floats + part * item_tiles + lane.across * 4;
#pragma unroll 1
        for (unsigned c = 0; c < stage_channels; c++, u += C::parts * C::channels, v += C::parts * item_tiles)
#pragma unroll
            for (unsigned f = 0; f < C::held; f++) {
                float of_u[C::rows], of_v[8];
#pragma unroll
                for (unsigned i = 0; i < C::rows; i += 4) *(float4*)(of_u + i) = *(const float4*)(u + f * C::channels + i * 8);
#pragma unroll
                for (unsigned j = 0; j < 8; j += 4) *(float4*)(of_v + j) = *(const float4*)(v + f * item_tiles + j * 4);
#pragma unroll
                for (unsigned j = 0; j < 8; j++) // in a serpentine, whose turns find three registers in both banks
#pragma unroll
                    for (unsigned i = 0; i < C::rows; i++) {
                        unsigned column = j ^ 1, row = j % 2 ? C::rows - 1 - i : i;
                        sums[f][row][column] += of_u[row ^ 1] * of_v[column];
                    }
            }
        warp_arrive(ring.freed());
    }
}

// Writes a warp's sums of one tile per lane to be exchanged, four channels at a time.
template <int m> static __device__ __forceinline__ void put(float* to, const float (&sums)[Cut<m>::held][Cut<m>::rows][8], int column, Lane lane) {
    using C = Cut<m>;
#pragma unroll
    for (unsigned f = 0; f < C::held; f++)
#pragma unroll
        for (unsigned i = 0; i < C::rows; i += 4)
            *(float4*)(to + (threadIdx.x / 32 * C::held + f) * C::exchanged + i * 8 + lane.down * 4) = make_float4(sums[f][i][column], sums[f][i + 1][column], sums[f][i + 2][column], sums[f][i + 3][column]);
}

// Transforms the sums of a tile and channel back, and stores them.
template <int m> static __device__ __forceinline__ void store(const float* from, const Corner& tile, unsigned k, const float* bias, float* y, const Shape& s) {
    using C = Cut<m>;
    constexpr int side = C::side;
    float half_way[m][side];
#pragma unroll
    for (int q = 0; q < side; q++) {
        float column[side], to[m];
#pragma unroll
        for (int r = 0; r < side; r++) column[r] = from[(r * side + q) * C::exchanged];
        back(column, to);
#pragma unroll
        for (int r = 0; r < m; r++) half_way[r][q] = to[r];
    }
    if (!tile.is || k >= s.k) return;
    bool whole = tile.row + m <= s.oh && tile.column + m <= s.ow && ((size_t)y % (4 * m) | s.yn % m | s.yk % m | s.yh % m) == 0;
    y += (size_t)tile.image * s.yn + (size_t)k * s.yk + (size_t)tile.row * s.yh + tile.column;
#pragma unroll
    for (unsigned r = 0; r < m; r++, y += s.yh) {
        float row[m];
        back(half_way[r], row);
#pragma unroll
        for (int q = 0; q < m; q++) row[q] = finish(row[q], bias, k, s);
        if (whole) {
            if constexpr (m == 2) *(float2*)y = make_float2(row[0], row[1]);
            else *(float4*)y = make_float4(row[0], row[1], row[2], row[3]);
        } else if (tile.row + r < s.oh) {
#pragma unroll
            for (unsigned q = 0; q < m; q++)
                if (tile.column + q < s.ow) y[q] = row[q];
        }
    }
}

// Makes the barriers: of the ring, and of the exchange behind them.
template <int m> static __device__ __forceinline__ Stages start(unsigned barriers) {
    using C = Cut<m>;
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < stages; i++) barrier_init(barriers + i * 8, transformers + 1), barrier_init(barriers + (stages + i) * 8, C::warps);
        barrier_init(barriers + 2 * stages * 8, C::warps), barrier_init(barriers + (2 * stages + 1) * 8, 4); // of the exchange: filled, and freed by four warps
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    return {barriers, barriers + stages * 8, 0, 0};
}

#define ARGUMENTS const float* __restrict__ x, const float* __restrict__ u, const float* __restrict__ bias, float* __restrict__ y, Shape s, Items n

extern "C" __global__ void __launch_bounds__(256) conv2d_winograd2_fused(const float* __restrict__ w, float* __restrict__ u, Shape s, Items n) { fused_filters<2>(w, u, s, n); }

// F(2 x 2, 3 x 3): 64 channels by 32 tiles of 16 parts. Eight warps multiply, and four
// transform the sums of an item back while those multiply the next one.
extern "C" __global__ void __launch_bounds__(512, 1) conv2d_winograd2_fused_2(ARGUMENTS) {
    using C = Cut<2>;
    float* exchange = memory + stages * C::stage;
    unsigned barriers = address(exchange + C::exchange), filled = barriers + 2 * stages * 8, freed = filled + 8, phase = 0;
    Stages ring = start<2>(barriers);
    if (threadIdx.x >= (C::warps + transformers) * 32) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        unsigned warp = threadIdx.x / 32 - C::warps - transformers, lane = threadIdx.x % 32, tile = warp * 8 + lane % 8; // 8 tiles per warp, 4 channels at a time
        for (unsigned item = blockIdx.x; item < n.items; item += gridDim.x, phase ^= 1) {
            Corner corner = Corner::of<2>(item / n.blocks * item_tiles + tile, s, n);
            barrier_wait(filled, phase);
#pragma unroll 2
            for (unsigned k = lane / 8; k < C::channels; k += 4) store<2>(exchange + tile * C::pitch + k, corner, item % n.blocks * C::channels + k, bias, y, s);
            warp_arrive(freed);
        }
    } else if (threadIdx.x >= C::warps * 32) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
        transform_tiles<2>(x, u, s, n, ring);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
        Lane lane;
        for (unsigned item = blockIdx.x; item < n.items; item += gridDim.x, phase ^= 1) {
            float sums[C::held][C::rows][8] = {};
            multiply<2>(sums, n, ring, lane);
            barrier_wait(freed, phase ^ 1);
#pragma unroll
            for (unsigned j = 0; j < 8; j++) put<2>(exchange + (j / 4 * 16 + lane.across * 4 + j % 4) * C::pitch, sums, j, lane);
            warp_arrive(filled);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) conv2d_winograd4_fused(const float* __restrict__ w, float* __restrict__ u, Shape s, Items n) { fused_filters<4>(w, u, s, n); }

// F(4 x 4, 3 x 3): 32 channels by 32 tiles of 36 parts. Twelve warps multiply; their sums
// leave no registers for warps that store, and eight of them do so, 8 tiles at a time.
extern "C" __global__ void __launch_bounds__(512, 1) conv2d_winograd4_fused_2(ARGUMENTS) {
    using C = Cut<4>;
    float* exchange = memory + stages * C::stage;
    Stages ring = start<4>(address(exchange + C::exchange));
    if (threadIdx.x >= C::warps * 32) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
        transform_tiles<4>(x, u, s, n, ring);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 136;");
    Lane lane;
    unsigned warp = threadIdx.x / 32, tile = threadIdx.x % 8, k = warp / 2 * 8 + (tile / 4 ^ warp % 2) * 4 + threadIdx.x % 32 / 8;
    for (unsigned item = blockIdx.x; item < n.items; item += gridDim.x) {
        float sums[C::held][C::rows][8] = {};
        multiply<4>(sums, n, ring, lane);
#pragma unroll
        for (unsigned turn = 0; turn < 4; turn++) {
            float* half = exchange + turn % 2 * (C::exchange / 2);
#pragma unroll
            for (unsigned j = 0; j < 2; j++) put<4>(half + (lane.across * 2 + j) * C::pitch, sums, turn * 2 + j, lane);
            asm volatile("bar.sync 1, 384;" ::: "memory");
            if (warp < 8) store<4>(half + tile * C::pitch + k, Corner::of<4>(item / n.blocks * item_tiles + turn / 2 * 16 + tile / 2 * 4 + turn % 2 * 2 + tile % 2, s, n), item % n.blocks * C::channels + k, bias, y, s);
        }
    }
}
