// Products on Hopper's tensor cores: D = alpha A B + beta C of float16, bfloat16 or
// float32 (as TF32), added in float32; and of float32 in several TF32 or bfloat16
// parts, for nearly the accuracy of float32.
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
// two multiplying warpgroups of both blocks; and one a warpgroup for boxes of C.
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

// The parts of A and B whose products are added, the smallest first: pairs of two
// bits each.
struct Pairs { unsigned count, a, b; };

struct Maps { const TensorMap *a[3], *b[3]; };

static __device__ const TensorMap& part(const TensorMap* const (&maps)[3], unsigned i) { return *(i == 0 ? maps[0] : i == 1 ? maps[1] : maps[2]); }

constexpr unsigned stages16 = 4, bytes16 = 6 * box;

// Brings the tiles of 16-bit factors: A 128 x 64, and B 64 x 256 in four boxes, of
// which this block brings two for both.
static __device__ void bring16(Walk w, const Maps& maps, const Result& r, Pairs pairs) {
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        Tile tile = place(t, r);
        for (unsigned q = 0; q < pairs.count; q++)
            for (unsigned i = 0; i < r.k; i += 64, w.next()) {
                const TensorMap &a = part(maps.a, pairs.a >> 2 * q & 3), &b = part(maps.b, pairs.b >> 2 * q & 3);
                unsigned to = address(memory) + w.stage * bytes16;
                barrier_wait(w.freed(), w.phase ^ 1);
                barrier_expect(w.filled(), bytes16);
                copy_box(to, a, i, tile.row + rank_in_cluster() * 128, w.filled());
                for (unsigned x = rank_in_cluster() * 2, end = x + 2; x < end; x++)
                    copy_box_to(to + (2 + x) * box, b, tile.column + x * 64, i, w.filled(), 3);
            }
    }
}

// Multiplies 64 rows of the tile.
template <class T, class Out> static __device__ void multiply16(Walk w, Outlet<Out, 32, 0> out, const Result& r, Pairs pairs) {
    float sums[128];
    unsigned group = warpgroup(), warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, steps = (r.k + 63) / 64 * pairs.count;
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
        unsigned row = tile.row + rank_in_cluster() * 128 + group * 64;
        constexpr unsigned columns = 128 / sizeof(Out);
#pragma unroll
        for (unsigned column = 0; column < 256; column += columns) {
            out.open(column / columns, row, tile.column + column);
#pragma unroll
            for (unsigned e = column / 2; e < (column + columns) / 2; e += 2)
                out.put(warp * 16 + e / 2 % 2 * 8 + lane / 4, e / 4 * 8 - column + lane % 4 * 2, sums[e], sums[e + 1]);
            out.close(row, tile.column + column);
        }
    }
    store_wait<0>();
}

template <class T, class Out>
static __device__ void product16(const Maps& maps, const TensorMap& c, const TensorMap& d, const Result& r, Pairs pairs) {
    __shared__ __align__(8) unsigned long long barriers[2 * stages16 + 2];
    if (threadIdx.x == 0) prefetch(*maps.a[0]), prefetch(*maps.b[0]), prefetch(d);
    Walk w = start<stages16>(barriers);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring16(w, maps, r, pairs);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply16<T>(w, Outlet<Out, 32, 0>(c, d, r, stages16 * bytes16, w), r, pairs);
    }
    cluster_sync();
}

#define HOPPER __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
#define MAP const __grid_constant__ TensorMap

extern "C" __global__ void HOPPER gemm_bf16_wgmma(MAP a, MAP b, MAP c, MAP d, Result r) {
    product16<__nv_bfloat16, __nv_bfloat16>({{&a, &a, &a}, {&b, &b, &b}}, c, d, r, {1, 0, 0});
}

extern "C" __global__ void HOPPER gemm_fp16_wgmma(MAP a, MAP b, MAP c, MAP d, Result r) {
    product16<__half, __half>({{&a, &a, &a}, {&b, &b, &b}}, c, d, r, {1, 0, 0});
}

static __device__ unsigned tf32(float x) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
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

// Multiplies 64 columns of the tile, as the transposed product: wgmma takes TF32 only
// with k in a row, and B, which has not, comes as its left factor from registers. Those
// of half a step, 16 k, are read while the products of the other half run.
template <unsigned parts> static __device__ void multiply32(Walk w, Outlet<float, 0, 32> out, const Result& r) {
    float sums[128];
    unsigned group = warpgroup(), warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, steps = (r.k + 31) / 32;
    // A lane has two neighbours of 16 columns of its warp, in an order without bank conflicts.
    unsigned vector = warp % 2 * 2 + lane / 16 + lane / 8 % 2 * 4, word = lane / 4 % 2 * 2;
    unsigned mine = parts * 4 * box + (group * 2 + warp / 2) * box / 2;
    unsigned high[4][4], low[4][4];
    auto read = [&](int from) {
#pragma unroll
        for (int j = from; j < from + 2; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                unsigned k = j * 8 + h * 4 + lane % 4;
                float2 v = *(const float2*)(memory + w.stage * bytes32<parts> + mine + k * 128 + (vector ^ k % 8) * 16 + word * 4);
                high[j][h * 2] = tf32(v.x), high[j][h * 2 + 1] = tf32(v.y);
                if (parts == 2) {
                    low[j][h * 2] = tf32(v.x - __uint_as_float(high[j][h * 2]));
                    low[j][h * 2 + 1] = tf32(v.y - __uint_as_float(high[j][h * 2 + 1]));
                }
            }
    };
    auto multiply = [&](int from, unsigned add) {
        unsigned a = address(memory) + w.stage * bytes32<parts>;
        wgmma_fence();
#pragma unroll
        for (int j = from; j < from + 2; j++) {
            unsigned long long first = tile_at(a + j * 32, 1, 1024);
            if (parts == 2) {
                wgmma_tf32(sums, low[j], first, add || j != from);
                wgmma_tf32(sums, high[j], tile_at(a + 4 * box + j * 32, 1, 1024), 1);
            }
            wgmma_tf32(sums, high[j], first, parts == 2 || add || j != from);
        }
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
        unsigned column = tile.column + rank_in_cluster() * 128 + group * 64;
        bool odd = lane / 2 % 2; // half of the lanes take two rows in the other order, against bank conflicts
#pragma unroll
        for (unsigned row = 0; row < 256; row += 32) {
            out.open(row / 32, tile.row + row, column);
#pragma unroll
            for (unsigned e = row / 2; e < row / 2 + 16; e += e % 2 ? 3 : 1)
                out.put(e / 4 * 8 - row + lane % 4 * 2 + (e % 2 ^ odd), warp / 2 * 32 + vector * 4 + word, odd ? sums[e ^ 1] : sums[e], odd ? sums[(e ^ 1) + 2] : sums[e + 2]);
            out.close(tile.row + row, column);
        }
    }
    store_wait<0>();
}

template <unsigned parts, unsigned stages>
static __device__ void product32(const TensorMap& a, const TensorMap& low, const TensorMap& b, const TensorMap& c, const TensorMap& d, const Result& r) {
    __shared__ __align__(8) unsigned long long barriers[2 * stages + 2];
    if (threadIdx.x == 0) prefetch(a), prefetch(b), prefetch(d);
    Walk w = start<stages>(barriers);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring32<parts>(w, a, low, b, r);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply32<parts>(w, Outlet<float, 0, 32>(c, d, r, stages * bytes32<parts>, w), r);
    }
    cluster_sync();
}

extern "C" __global__ void HOPPER gemm_tf32_wgmma(MAP a, MAP b, MAP c, MAP d, Result r) {
    product32<1, 4>(a, a, b, c, d, r);
}

// Splits A into the TF32 number next to each element, and that of what is left ...
extern "C" __global__ void gemm_tf32x3(const float* a, float* high, float* low, unsigned rows, unsigned columns, unsigned ld) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
        size_t at = (size_t)row * ld + column;
        float x = a[at], h = __uint_as_float(tf32(x));
        high[at] = h, low[at] = __uint_as_float(tf32(x - h));
    }
}

// ... and adds three of the four products of parts; B is split in registers.
extern "C" __global__ void HOPPER gemm_tf32x3_2(MAP high, MAP low, MAP b, MAP c, MAP d, Result r) {
    product32<2, 2>(high, low, b, c, d, r);
}

// Splits a matrix into three of bfloat16, each the number next to what is left ...
extern "C" __global__ void gemm_bf16x3(const float* x, __nv_bfloat16* first, __nv_bfloat16* second, __nv_bfloat16* third, unsigned rows, unsigned columns, unsigned from, unsigned to) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
        size_t at = (size_t)row * to + column;
        float v = x[(size_t)row * from + column];
        first[at] = v, v -= float(first[at]);
        second[at] = v, v -= float(second[at]);
        third[at] = v;
    }
}

// ... and adds the six products of parts that float32 can see.
extern "C" __global__ void HOPPER gemm_bf16x3_2(MAP a0, MAP a1, MAP a2, MAP b0, MAP b1, MAP b2, MAP c, MAP d, Result r) {
    product16<__nv_bfloat16, float>({{&a0, &a1, &a2}, {&b0, &b1, &b2}}, c, d, r, {6, 0x118, 0x52});
}
