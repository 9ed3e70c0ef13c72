// Products on Hopper's tensor cores: D = alpha A B + beta C of float16, bfloat16 or
// float32 (as TF32), added in float32; and of float32 in several TF32 or bfloat16
// parts, for the accuracy of float32.
//
// Of three warpgroups one brings tiles of A and B, steps of 128 bytes along k, and
// two multiply and store. Two blocks are a cluster with 256 x 256 of D: each brings
// half of the tile that both need, for both. Blocks stay and take tile after tile.
// Rows must start at multiples of 16 bytes, which the copy engine asks for; what lies
// outside of a matrix it copies as 0, and does not store.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "gemm_wgmma.cuh"

extern __shared__ __align__(1024) unsigned char memory[];

struct Result {
    unsigned m, n, k;
    float alpha, beta;
};

constexpr unsigned cluster = 2, side = 256, box = 8192;

// How a block walks through its ring of stages.
struct Walk {
    unsigned full, empty, stages, stage, phase;

    __device__ void next() { if (++stage == stages) stage = 0, phase ^= 1; }
    __device__ unsigned filled() const { return full + stage * 8; }
    __device__ unsigned freed() const { return empty + stage * 8; }
};

struct Tile { unsigned row, column; };

static __device__ unsigned tiles(const Result& r) { return (r.m + side - 1) / side * ((r.n + side - 1) / side); }

// Tiles of clusters go in bands of eight rows of them, so that those that run at once
// share rows and columns in L2.
static __device__ Tile place(unsigned tile, const Result& r) {
    constexpr unsigned band = 8;
    unsigned down = (r.m + side - 1) / side, across = (r.n + side - 1) / side;
    unsigned first = tile / (band * across) * band, height = min(band, down - first), in = tile % (band * across);
    return {(first + in % height) * side, in / height * side};
}

// Sets up the barriers of a ring: filled by one thread and its copies, freed by the
// two multiplying warpgroups of both blocks; and one per warpgroup for boxes of C.
template <unsigned stages> static __device__ Walk start(unsigned long long* barriers) {
    Walk w = {address(barriers), address(barriers) + stages * 8, stages, 0, 0};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < stages; s++) barrier_init(w.full + s * 8, 1), barrier_init(w.empty + s * 8, 2 * cluster);
        for (unsigned g = 0; g < 2; g++) barrier_init(w.empty + (stages + g) * 8, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();
    return w;
}

// One thread of a warpgroup frees a stage in each block of the cluster.
static __device__ void release(unsigned barrier) {
    if (threadIdx.x % 128 < cluster) barrier_arrive(barrier, threadIdx.x % 128);
}

// The multiplying warpgroup of a thread, 0 or 1, in a register that its warp shares.
static __device__ unsigned warpgroup() { return __shfl_sync(~0u, threadIdx.x / 128 - 1, 0); }

// The way out of a warpgroup's sums, 8 KB at a time: through two places in shared
// memory in turn, from which the copy engine takes two boxes of 32 rows to D while
// the other place is filled or the next tile is multiplied, and to which it brings
// those of C before, where they are needed. The second box is below the first or
// beside it.
template <class T, unsigned down, unsigned across> struct Outlet {
    struct alignas(2 * sizeof(T)) Pair { T x, y; };

    const TensorMap &c, &d;
    float alpha, beta;
    unsigned char *places, *place;
    unsigned group, barrier, phase;

    __device__ Outlet(const TensorMap& c, const TensorMap& d, const Result& r, unsigned ring, Walk w)
        : c(c), d(d), alpha(r.alpha), beta(r.beta), group(warpgroup()), barrier(w.empty + (w.stages + group) * 8), phase(0) { places = memory + ring + group * 2 * box; }

    __device__ void sync() const { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

    __device__ void open(unsigned turn, unsigned row, unsigned column) {
        place = places + turn % 2 * box;
        if (threadIdx.x % 128 == 0) {
            store_wait<1>();
            if (beta != 0) {
                barrier_expect(barrier, box);
                for (unsigned i = 0; i < 2; i++) copy_box(address(place) + i * box / 2, c, column + i * across, row + i * down, barrier);
            }
        }
        if (beta != 0) barrier_wait(barrier, phase), phase ^= 1;
        else sync();
    }

    __device__ void put(unsigned row, unsigned column, float x, float y) const {
        unsigned byte = column * sizeof(T);
        Pair& p = *(Pair*)(place + byte / 128 * box / 2 + row * 128 + (byte / 16 % 8 ^ row % 8) * 16 + byte % 16);
        x *= alpha, y *= alpha;
        if (beta != 0) x += beta * float(p.x), y += beta * float(p.y);
        p = {T(x), T(y)};
    }

    __device__ void close(unsigned row, unsigned column) const {
        store_fence();
        sync();
        if (threadIdx.x % 128) return;
        for (unsigned i = 0; i < 2; i++) store_box(d, column + i * across, row + i * down, address(place) + i * box / 2);
        store_commit();
    }
};

template <class T> static __device__ void wgmma16(float (&d)[128], unsigned long long a, unsigned long long b, int add);
template <> __device__ void wgmma16<__nv_bfloat16>(float (&d)[128], unsigned long long a, unsigned long long b, int add) { wgmma_bf16(d, a, b, add); }
template <> __device__ void wgmma16<__half>(float (&d)[128], unsigned long long a, unsigned long long b, int add) { wgmma_f16(d, a, b, add); }

constexpr unsigned stages16 = 4, bytes16 = 6 * box;

// Brings the tiles of 16-bit factors: A 128 x 64, and B 64 x 256 in four boxes, of
// which this block brings two for both.
static __device__ void bring16(Walk w, const TensorMap& a, const TensorMap& b, const Result& r) {
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        Tile tile = place(t, r);
        for (unsigned i = 0; i < r.k; i += 64, w.next()) {
            unsigned to = address(memory) + w.stage * bytes16;
            barrier_wait(w.freed(), w.phase ^ 1);
            barrier_expect(w.filled(), bytes16);
            copy_box(to, a, i, tile.row + rank_in_cluster() * 128, w.filled());
            for (unsigned x = rank_in_cluster() * 2, end = x + 2; x < end; x++)
                copy_box_to(to + (2 + x) * box, b, tile.column + x * 64, i, w.filled(), 3);
        }
    }
}

// Stores 64 rows and 256 columns of D from there on.
template <class Out> static __device__ void store16(Outlet<Out, 32, 0>& out, const float (&sums)[128], unsigned row, unsigned first) {
    unsigned warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    constexpr unsigned columns = 128 / sizeof(Out);
#pragma unroll
    for (unsigned column = 0; column < 256; column += columns) {
        out.open(column / columns, row, first + column);
#pragma unroll
        for (unsigned e = column / 2; e < (column + columns) / 2; e += 2)
            out.put(warp * 16 + e / 2 % 2 * 8 + lane / 4, e / 4 * 8 - column + lane % 4 * 2, sums[e], sums[e + 1]);
        out.close(row, first + column);
    }
}

// Multiplies 64 rows of the tile.
template <class T> static __device__ void multiply16(Walk w, Outlet<T, 32, 0> out, const Result& r) {
    float sums[128];
    unsigned group = warpgroup(), steps = (r.k + 63) / 64;
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        unsigned before = 0;
        for (unsigned i = 0; i < steps; i++, w.next()) {
            barrier_wait(w.filled(), w.phase);
            unsigned a = address(memory) + w.stage * bytes16 + group * box, b = address(memory) + w.stage * bytes16 + 2 * box;
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < 4; j++) wgmma16<T>(sums, tile_at(a + j * 32, 1, 1024), tile_at(b + j * 2048, box, 1024), i || j);
            wgmma_commit();
            if (i) wgmma_wait<1>(), release(before);
            before = w.freed();
        }
        wgmma_wait<0>();
        release(before);
        Tile tile = place(t, r);
        store16(out, sums, tile.row + rank_in_cluster() * 128 + group * 64, tile.column);
    }
    store_wait<0>();
}

template <class T> static __device__ void product16(const TensorMap& a, const TensorMap& b, const TensorMap& c, const TensorMap& d, const Result& r) {
    __shared__ __align__(8) unsigned long long barriers[2 * stages16 + 2];
    if (threadIdx.x == 0) prefetch(a), prefetch(b), prefetch(d);
    Walk w = start<stages16>(barriers);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring16(w, a, b, r);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply16<T>(w, Outlet<T, 32, 0>(c, d, r, stages16 * bytes16, w), r);
    }
    cluster_sync();
}

#define HOPPER __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
#define MAP const __grid_constant__ TensorMap

extern "C" __global__ void HOPPER gemm_bf16_wgmma(MAP a, MAP b, MAP c, MAP d, Result r) {
    product16<__nv_bfloat16>(a, b, c, d, r);
}

extern "C" __global__ void HOPPER gemm_fp16_wgmma(MAP a, MAP b, MAP c, MAP d, Result r) {
    product16<__half>(a, b, c, d, r);
}

template <unsigned parts> constexpr unsigned bytes32 = (4 * parts + 2) * box;

// Brings the tiles of float32: A 256 x 32 in two boxes of 128 rows, of which this
// block brings one for both, its low parts in two more, B 32 x 128 in four.
template <unsigned parts> static __device__ void bring32(Walk w, const TensorMap& a, const TensorMap& low, const TensorMap& b, const Result& r) {
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        Tile tile = place(t, r);
        unsigned rank = rank_in_cluster(), row = tile.row + rank * 128;
        for (unsigned i = 0; i < r.k; i += 32, w.next()) {
            unsigned to = address(memory) + w.stage * bytes32<parts>;
            barrier_wait(w.freed(), w.phase ^ 1);
            barrier_expect(w.filled(), bytes32<parts>);
            copy_box_to(to + rank * 2 * box, a, i, row, w.filled(), 3);
            if (parts == 2) copy_box_to(to + (4 + rank * 2) * box, low, i, row, w.filled(), 3);
            for (unsigned x = 0; x < 4; x++) copy_box(to + parts * 4 * box + x * box / 2, b, tile.column + rank * 128 + x * 32, i, w.filled());
        }
    }
}

// Where a thread has its elements of 32 k and 64 columns of B, with which wgmma takes
// TF32 only as its left factor, from registers: with k in a row it wants the right one.
// The copy engine has rounded A and B to TF32.
// A lane has two neighbours of 16 columns of its warp, in an order without bank conflicts,
// and of eight k one of each half.
struct Mine {
    unsigned column, from[2];

    __device__ Mine() {
        unsigned group = warpgroup(), warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
        column = warp % 2 * 8 + lane / 16 * 4 + lane / 8 % 2 * 16 + lane / 4 % 2 * 2;
        for (unsigned half = 0, k = lane % 4; half < 2; half++, k += 4)
            from[half] = (group * 2 + warp / 2) * box / 2 + k * 128 + (column / 4 ^ k) * 16 + column % 4 * 4;
    }
    __device__ float2 at(const unsigned char* b, unsigned eighth, unsigned half) const { return *(const float2*)(b + from[half] + eighth * 1024); }
};

// Stores 256 rows and 64 columns of D from there on. Half of the lanes take two rows in
// the other order, against bank conflicts.
static __device__ void store32(Outlet<float, 0, 32>& out, const float (&sums)[128], unsigned first, unsigned column) {
    unsigned warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    bool odd = lane / 2 % 2;
    Mine mine;
#pragma unroll
    for (unsigned row = 0; row < 256; row += 32) {
        out.open(row / 32, first + row, column);
#pragma unroll
        for (unsigned e = row / 2; e < row / 2 + 16; e += e % 2 ? 3 : 1)
            out.put(e / 4 * 8 - row + lane % 4 * 2 + (e % 2 ^ odd), warp / 2 * 32 + mine.column, odd ? sums[e ^ 1] : sums[e], odd ? sums[(e ^ 1) + 2] : sums[e + 2]);
        out.close(first + row, column);
    }
}

// Multiplies 64 columns of the tile, as the transposed product. What half a step, 16 k,
// has in registers is read while the products of the other half run.
static __device__ void multiply32(Walk w, Outlet<float, 0, 32> out, const Result& r) {
    float sums[128];
    unsigned group = warpgroup(), steps = (r.k + 31) / 32;
    unsigned b[4][4];
    Mine mine;
    auto read = [&](int from) {
#pragma unroll
        for (int j = from; j < from + 2; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float2 v = mine.at(memory + w.stage * bytes32<1> + 4 * box, j, h);
                b[j][h * 2] = __float_as_uint(v.x), b[j][h * 2 + 1] = __float_as_uint(v.y);
            }
    };
    auto multiply = [&](int from, unsigned add) {
        wgmma_fence();
#pragma unroll
        for (int j = from; j < from + 2; j++) wgmma_tf32(sums, b[j], tile_at(address(memory) + w.stage * bytes32<1> + j * 32, 1, 1024), add || j != from);
        wgmma_commit();
    };
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        unsigned before = 0;
        barrier_wait(w.filled(), w.phase);
        read(0);
        for (unsigned i = 0; i < steps; i++) {
            multiply(0, i);
            wgmma_wait<1>();
            if (i) release(before);
            before = w.freed();
            read(2);
            multiply(2, 1);
            w.next();
            if (i + 1 < steps) barrier_wait(w.filled(), w.phase);
            wgmma_wait<1>();
            if (i + 1 < steps) read(0);
        }
        wgmma_wait<0>();
        release(before);
        Tile tile = place(t, r);
        store32(out, sums, tile.row, tile.column + rank_in_cluster() * 128 + group * 64);
    }
    store_wait<0>();
}

extern "C" __global__ void HOPPER gemm_tf32_wgmma(MAP a, MAP b, MAP c, MAP d, Result r) {
    constexpr unsigned stages = 4;
    __shared__ __align__(8) unsigned long long barriers[2 * stages + 2];
    if (threadIdx.x == 0) prefetch(a), prefetch(b), prefetch(d);
    Walk w = start<stages>(barriers);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring32<1>(w, a, a, b, r);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply32(w, Outlet<float, 0, 32>(c, d, r, stages * bytes32<1>, w), r);
    }
    cluster_sync();
}

#include "gemm_split.cuh"

// Splits A into two of TF32, four elements per thread ...
extern "C" __global__ void gemm_tf32x3(const float* a, float* first, float* second, unsigned rows, unsigned columns, unsigned ld) {
    unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (column >= columns) return;
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
        alignas(16) float v[4], parts[2][4];
        read(v, a + (size_t)row * ld, column, columns);
#pragma unroll
        for (int e = 0; e < 4; e++) split(v[e], parts[0][e], parts[1][e]);
        size_t at = (size_t)row * ld + column;
        *(float4*)(first + at) = *(float4*)parts[0], *(float4*)(second + at) = *(float4*)parts[1];
    }
}

// ... and adds three of the four products of parts; B is split in registers.
extern "C" __global__ void HOPPER gemm_tf32x3_2(MAP first, MAP second, MAP b, MAP c, MAP d, Result r) {
    product_of_tf32(first, second, b, c, d, r);
}

// Splits a matrix into three of bfloat16, eight elements per thread; rows of these are
// multiples of eight ...
extern "C" __global__ void gemm_bf16x3(const float* x, __nv_bfloat16* first, __nv_bfloat16* second, __nv_bfloat16* third, unsigned rows, unsigned columns, unsigned from, unsigned to) {
    unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (column >= columns) return;
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
        float v[8];
        alignas(16) __nv_bfloat16 parts[3][8];
        read(v, x + (size_t)row * from, column, columns);
#pragma unroll
        for (int e = 0; e < 8; e++) split(v[e], parts[0][e], parts[1][e], parts[2][e]);
        size_t at = (size_t)row * to + column;
        *(uint4*)(first + at) = *(uint4*)parts[0], *(uint4*)(second + at) = *(uint4*)parts[1], *(uint4*)(third + at) = *(uint4*)parts[2];
    }
}

// ... and adds the six products of parts that float32 can see.
extern "C" __global__ void HOPPER gemm_bf16x3_2(MAP a0, MAP a1, MAP a2, MAP b0, MAP b1, MAP b2, MAP c, MAP d, Result r) {
    product_of_parts<3>({{&a0, &a1, &a2}, {&b0, &b1, &b2}}, nullptr, nullptr, c, d, r);
}

static __device__ void split8(const float (&v)[8], const int (&exponents)[8], __half* first, __half* second) {
    alignas(16) __half parts[2][8];
#pragma unroll
    for (int e = 0; e < 8; e++) split(v[e] * power(exponents[e]), parts[0][e], parts[1][e]);
    *(uint4*)first = *(uint4*)parts[0], *(uint4*)second = *(uint4*)parts[1];
}

// Splits A into two of float16, each row scaled by its largest number, whose bits are
// kept: one block per row, which it reads twice; rows of these are multiples of eight ...
extern "C" __global__ void __launch_bounds__(256) gemm_fp16x3(const float* a, __half* first, __half* second, unsigned* most, unsigned rows, unsigned columns, unsigned from, unsigned to) {
    __shared__ unsigned largest;
    for (unsigned row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = a + (size_t)row * from;
        if (threadIdx.x == 0) largest = 0;
        __syncthreads();
        float v[8];
        unsigned mine = 0;
        for (unsigned column = threadIdx.x * 8; column < columns; column += 2048) {
            read(v, in, column, columns);
#pragma unroll
            for (int e = 0; e < 8; e++) mine = max(mine, magnitude(v[e]));
        }
        mine = __reduce_max_sync(~0u, mine);
        if (threadIdx.x % 32 == 0) atomicMax(&largest, mine);
        __syncthreads();
        unsigned whole = largest;
        if (threadIdx.x == 0) most[row] = whole;
        int s = scale(whole), exponents[8] = {s, s, s, s, s, s, s, s};
        for (unsigned column = threadIdx.x * 8; column < columns; column += 2048) {
            read(v, in, column, columns);
            split8(v, exponents, first + (size_t)row * to + column, second + (size_t)row * to + column);
        }
        __syncthreads();
    }
}

// ... finds the largest number of each column of B, four columns of 64 rows per thread ...
extern "C" __global__ void __launch_bounds__(256) gemm_fp16x3_2(const float* b, unsigned* most, unsigned rows, unsigned columns, unsigned ld) {
    unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (column >= columns) return;
    unsigned mine[4] = {};
#pragma unroll 8
    for (unsigned row = blockIdx.y * 64; row < min(rows, blockIdx.y * 64 + 64); row++) {
        float v[4];
        read(v, b + (size_t)row * ld, column, columns);
#pragma unroll
        for (int e = 0; e < 4; e++) mine[e] = max(mine[e], magnitude(v[e]));
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (column + e < columns) atomicMax(most + column + e, mine[e]);
}

// ... splits B so ...
extern "C" __global__ void gemm_fp16x3_3(const float* b, __half* first, __half* second, const unsigned* most, unsigned rows, unsigned columns, unsigned from, unsigned to) {
    unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (column >= columns) return;
    int exponents[8];
#pragma unroll
    for (int e = 0; e < 8; e++) exponents[e] = column + e < columns ? scale(most[column + e]) : 0;
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
        float v[8];
        read(v, b + (size_t)row * from, column, columns);
        split8(v, exponents, first + (size_t)row * to + column, second + (size_t)row * to + column);
    }
}

// ... and adds three of the four products of parts.
extern "C" __global__ void HOPPER gemm_fp16x3_4(MAP a0, MAP a1, MAP b0, MAP b1, MAP c, MAP d, Result r, const unsigned* rows, const unsigned* columns) {
    product_of_parts<2>({{&a0, &a1}, {&b0, &b1}}, rows, columns, c, d, r);
}
