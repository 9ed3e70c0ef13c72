// Products on Hopper's tensor cores: D = alpha A B + beta C of float16, bfloat16 or
// float32 (as TF32), added in float32; and of float32 in several TF32 or bfloat16
// parts, for nearly the accuracy of float32.
//
// Of three warpgroups one brings tiles of A and B, steps of 128 bytes along k, and
// two multiply. Two blocks, one below the other, are a cluster: each brings half of
// the tile of B for both. Blocks stay and take tile after tile. Rows must start at
// multiples of 16 bytes, which the copy engine asks for; what lies outside of a
// matrix it copies as 0.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "gemm_wgmma.cuh"

extern __shared__ __align__(1024) unsigned char memory[];

struct Result {
    unsigned m, n, k, ldc;
    float alpha, beta;
};

// How a block walks: tiles of D in bands of eight rows of tiles, so that the blocks
// that run at once share rows and columns in L2; and through its ring of stages.
struct Walk {
    unsigned full, empty, stages, stage, phase;

    __device__ void next() { if (++stage == stages) stage = 0, phase ^= 1; }
    __device__ unsigned filled() const { return full + stage * 8; }
    __device__ unsigned freed() const { return empty + stage * 8; }
};

constexpr unsigned cluster = 2, tile_rows = 128, tile_columns = 256;

struct Tile { unsigned row, column; };

static __device__ Tile place(unsigned tile, const Result& r) {
    constexpr unsigned band = 8;
    unsigned down = (r.m + cluster * tile_rows - 1) / (cluster * tile_rows), across = (r.n + tile_columns - 1) / tile_columns;
    unsigned first = tile / (band * across) * band, height = min(band, down - first), in = tile % (band * across);
    return {((first + in % height) * cluster + rank_in_cluster()) * tile_rows, in / height * tile_columns};
}

static __device__ unsigned tiles(const Result& r) {
    return (r.m + cluster * tile_rows - 1) / (cluster * tile_rows) * ((r.n + tile_columns - 1) / tile_columns);
}

// Sets up the barriers of a ring: filled by one thread and its copies, freed by the
// two multiplying warpgroups of both blocks.
static __device__ Walk start(unsigned long long* barriers, unsigned stages) {
    Walk w = {address(barriers), address(barriers) + stages * 8, stages, 0, 0};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < stages; s++) barrier_init(w.full + s * 8, 1), barrier_init(w.empty + s * 8, 2 * cluster);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();
    return w;
}

// One thread of a warpgroup frees a stage in each block of the cluster.
static __device__ void release(unsigned barrier) {
    if (threadIdx.x % 128 < cluster) barrier_arrive(barrier, threadIdx.x % 128);
}

template <class T> static __device__ float with_c(const Result& r, const T* c, size_t at, float sum) {
    return r.beta == 0 ? r.alpha * sum : r.alpha * sum + r.beta * float(c[at]);
}

// Stores neighbours of a row, as one where that is aligned and inside.
template <int n, class T> static __device__ void store(const Result& r, const T* c, T* d, unsigned row, unsigned column, const float (&sums)[n]) {
    struct alignas(n * sizeof(T)) Vector { T v[n]; };
    if (row >= r.m) return;
    size_t at = (size_t)row * r.ldc + column;
    if (column + n <= r.n && (size_t)(d + at) % sizeof(Vector) == 0) {
        Vector v;
#pragma unroll
        for (int i = 0; i < n; i++) v.v[i] = T(with_c(r, c, at + i, sums[i]));
        *(Vector*)(d + at) = v;
        return;
    }
#pragma unroll
    for (int i = 0; i < n; i++)
        if (column + i < r.n) d[at + i] = T(with_c(r, c, at + i, sums[i]));
}

template <class T> static __device__ void wgmma16(float (&d)[128], unsigned long long a, unsigned long long b, int add);
template <> __device__ void wgmma16<__nv_bfloat16>(float (&d)[128], unsigned long long a, unsigned long long b, int add) { wgmma_bf16(d, a, b, add); }
template <> __device__ void wgmma16<__half>(float (&d)[128], unsigned long long a, unsigned long long b, int add) { wgmma_f16(d, a, b, add); }

// The parts of A and B whose products are added, the smallest first: pairs of two
// bits each.
struct Pairs { unsigned count, a, b; };

struct Maps { const TensorMap *a[3], *b[3]; };

static __device__ const TensorMap& part(const TensorMap* const (&maps)[3], unsigned i) { return *(i == 0 ? maps[0] : i == 1 ? maps[1] : maps[2]); }

// Brings the tiles of 16-bit factors: A 128 x 64 in two boxes, B 64 x 256 in four,
// of which this block brings two for both.
static __device__ void bring16(Walk w, const Maps& maps, const Result& r, Pairs pairs) {
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        Tile tile = place(t, r);
        for (unsigned q = 0; q < pairs.count; q++)
            for (unsigned i = 0; i < r.k; i += 64, w.next()) {
                const TensorMap &a = part(maps.a, pairs.a >> 2 * q & 3), &b = part(maps.b, pairs.b >> 2 * q & 3);
                unsigned to = address(memory) + w.stage * 49152;
                barrier_wait(w.freed(), w.phase ^ 1);
                barrier_expect(w.filled(), 49152);
                for (unsigned x = 0; x < 2; x++) copy_box(to + x * 8192, a, i, tile.row + x * 64, w.filled());
                for (unsigned x = 0; x < 2; x++) {
                    unsigned box = rank_in_cluster() * 2 + x;
                    copy_box_to(to + 16384 + box * 8192, b, tile.column + box * 64, i, w.filled(), 3);
                }
            }
    }
}

// Multiplies 64 rows of the tile.
template <class T, class Out>
static __device__ void multiply16(Walk w, const Out* c, Out* d, const Result& r, Pairs pairs) {
    float sums[128];
    unsigned group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, steps = (r.k + 63) / 64 * pairs.count;
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        unsigned before = 0;
        for (unsigned i = 0; i < steps; i++, w.next()) {
            barrier_wait(w.filled(), w.phase);
            unsigned a = address(memory) + w.stage * 49152 + group * 8192, b = address(memory) + w.stage * 49152 + 16384;
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < 4; j++) wgmma16<T>(sums, tile_at(a + j * 32, 1, 1024), tile_at(b + j * 2048, 8192, 1024), i || j);
            wgmma_commit();
            if (i) wgmma_wait<1>(), release(before);
            before = w.freed();
        }
        wgmma_wait<0>();
        release(before);
        Tile tile = place(t, r);
        unsigned row = tile.row + group * 64 + warp * 16 + lane / 4, column = tile.column + lane % 4 * 2;
#pragma unroll
        for (int e = 0; e < 128; e += 2)
            store<2>(r, c, d, row + e / 2 % 2 * 8, column + e / 4 * 8, {sums[e], sums[e + 1]});
    }
}

template <class T, class Out>
static __device__ void product16(const Maps& maps, const Out* c, Out* d, const Result& r, Pairs pairs) {
    __shared__ __align__(8) unsigned long long barriers[8];
    Walk w = start(barriers, 4);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring16(w, maps, r, pairs);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply16<T>(w, c, d, r, pairs);
    }
    cluster_sync();
}

#define HOPPER __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
#define MAP const __grid_constant__ TensorMap

extern "C" __global__ void HOPPER gemm_bf16_wgmma(MAP a, MAP b, const __nv_bfloat16* c, __nv_bfloat16* d, Result r) {
    product16<__nv_bfloat16>({{&a, &a, &a}, {&b, &b, &b}}, c, d, r, {1, 0, 0});
}

extern "C" __global__ void HOPPER gemm_fp16_wgmma(MAP a, MAP b, const __half* c, __half* d, Result r) {
    product16<__half>({{&a, &a, &a}, {&b, &b, &b}}, c, d, r, {1, 0, 0});
}

static __device__ unsigned tf32(float x) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}

// Brings the tiles of float32: A 128 x 32 in two boxes, its low parts in two more,
// B 32 x 256 in eight, of which this block brings four for both.
template <int parts> static __device__ void bring32(Walk w, const TensorMap& a, const TensorMap& low, const TensorMap& b, const Result& r) {
    constexpr unsigned bytes = parts * 16384 + 32768;
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        Tile tile = place(t, r);
        for (unsigned i = 0; i < r.k; i += 32, w.next()) {
            unsigned to = address(memory) + w.stage * bytes;
            barrier_wait(w.freed(), w.phase ^ 1);
            barrier_expect(w.filled(), bytes);
            for (unsigned x = 0; x < 2; x++) copy_box(to + x * 8192, a, i, tile.row + x * 64, w.filled());
            for (unsigned x = 0; x < 2 && parts == 2; x++) copy_box(to + 16384 + x * 8192, low, i, tile.row + x * 64, w.filled());
            for (unsigned x = 0; x < 4; x++) {
                unsigned box = rank_in_cluster() * 4 + x;
                copy_box_to(to + parts * 16384 + box * 4096, b, tile.column + box * 32, i, w.filled(), 3);
            }
        }
    }
}

// Eight k of 32 columns of B in the registers of a warp, as the left factor of the
// transposed product: wgmma takes TF32 only with k in a row, and B has not. Lanes
// take vectors of four columns in an order without bank conflicts; two of the
// columns go to each of two products.
template <int parts> struct Columns {
    unsigned high[2][4], low[2][4];

    __device__ void read(const unsigned char* b, int j, unsigned vector) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            unsigned k = j * 8 + h * 4 + threadIdx.x % 4;
            float4 v = *(const float4*)(b + k * 128 + ((vector ^ (k % 8)) * 16));
            float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int e = 0; e < 4; e++) {
                high[e / 2][h * 2 + e % 2] = tf32(x[e]);
                if (parts == 2) low[e / 2][h * 2 + e % 2] = tf32(x[e] - __uint_as_float(tf32(x[e])));
            }
        }
    }
};

// Multiplies 128 columns of the tile.
template <int parts> static __device__ void multiply32(Walk w, const float* c, float* d, const Result& r) {
    constexpr unsigned bytes = parts * 16384 + 32768;
    float sums[2][64];
    unsigned group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, steps = (r.k + 31) / 32;
    unsigned vector = lane / 8 + lane / 4 % 2 * 4, mine = parts * 16384 + (group * 4 + warp) * 4096;
    for (unsigned t = blockIdx.x / cluster; t < tiles(r); t += gridDim.x / cluster) {
        unsigned before = 0;
        Columns<parts> columns[2];
        barrier_wait(w.filled(), w.phase);
        columns[0].read(memory + w.stage * bytes + mine, 0, vector);
        for (unsigned i = 0; i < steps; i++) {
            unsigned at = w.stage * bytes, a = address(memory) + at, now = w.freed();
#pragma unroll
            for (int j = 0; j < 4; j++) {
                wgmma_fence();
#pragma unroll
                for (int q = 0; q < 2; q++) {
                    if (parts == 2) {
                        wgmma_tf32(sums[q], columns[j % 2].low[q], tile_at(a + j * 32, 1, 1024), i || j);
                        wgmma_tf32(sums[q], columns[j % 2].high[q], tile_at(a + 16384 + j * 32, 1, 1024), 1);
                    }
                    wgmma_tf32(sums[q], columns[j % 2].high[q], tile_at(a + j * 32, 1, 1024), parts == 2 || i || j);
                }
                wgmma_commit();
                wgmma_wait<1>();
                if (j == 0 && i) release(before);
                if (j < 3) columns[(j + 1) % 2].read(memory + at + mine, j + 1, vector);
            }
            before = now;
            w.next();
            if (i + 1 < steps) {
                barrier_wait(w.filled(), w.phase);
                columns[0].read(memory + w.stage * bytes + mine, 0, vector);
            }
        }
        wgmma_wait<0>();
        release(before);
        Tile tile = place(t, r);
        unsigned row = tile.row + lane % 4 * 2, column = tile.column + group * 128 + warp * 32 + vector * 4;
#pragma unroll
        for (int e = 0; e < 32; e++) {
            int i = e / 2 * 4 + e % 2;
            store<4>(r, c, d, row + e / 2 * 8 + e % 2, column, {sums[0][i], sums[0][i + 2], sums[1][i], sums[1][i + 2]});
        }
    }
}

template <int parts, unsigned stages>
static __device__ void product32(const TensorMap& a, const TensorMap& low, const TensorMap& b, const float* c, float* d, const Result& r) {
    __shared__ __align__(8) unsigned long long barriers[2 * stages];
    Walk w = start(barriers, stages);
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x < 32 && elected()) bring32<parts>(w, a, low, b, r);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        multiply32<parts>(w, c, d, r);
    }
    cluster_sync();
}

extern "C" __global__ void HOPPER gemm_tf32_wgmma(MAP a, MAP b, const float* c, float* d, Result r) {
    product32<1, 4>(a, a, b, c, d, r);
}

// Splits A into the TF32 number next to each element, and that of what is left ...
extern "C" __global__ void gemm_tf32x3(const float* a, float* high, float* low, unsigned rows, unsigned columns, unsigned ld) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * columns) return;
    size_t at = i / columns * ld + i % columns;
    float x = a[at], h = __uint_as_float(tf32(x));
    high[at] = h, low[at] = __uint_as_float(tf32(x - h));
}

// ... and adds three of the four products of parts; B is split in registers.
extern "C" __global__ void HOPPER gemm_tf32x3_2(MAP high, MAP low, MAP b, const float* c, float* d, Result r) {
    product32<2, 3>(high, low, b, c, d, r);
}

// Splits a matrix into three of bfloat16, each the number next to what is left ...
extern "C" __global__ void gemm_bf16x3(const float* x, __nv_bfloat16* first, __nv_bfloat16* second, __nv_bfloat16* third, unsigned rows, unsigned columns, unsigned from, unsigned to) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * columns) return;
    size_t at = i / columns * to + i % columns;
    float v = x[i / columns * from + i % columns];
    first[at] = v, v -= float(first[at]);
    second[at] = v, v -= float(second[at]);
    third[at] = v;
}

// ... and adds the six products of parts that float32 can see.
extern "C" __global__ void HOPPER gemm_bf16x3_2(MAP a0, MAP a1, MAP a2, MAP b0, MAP b1, MAP b2, const float* c, float* d, Result r) {
    product16<__nv_bfloat16>({{&a0, &a1, &a2}, {&b0, &b1, &b2}}, c, d, r, {6, 0x118, 0x52});
}
