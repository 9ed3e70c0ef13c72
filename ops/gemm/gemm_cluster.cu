// float32 on Hopper where there are few tiles: the blocks of a cluster share the steps
// along k of one tile of 128 x 128, and add what they have through each other's shared
// memory. Two of three warpgroups of a block multiply, one the even and one the odd of
// its steps; the third brings them, as in gemm_specialized.cu.

#include "gemm_specialized.cuh"

// Two steps are held for each of the two warpgroups that multiply.
using Tile = Shape<2, 2, 2, 8, 8, 16, 2 * step_depth, 2, 2>;
constexpr unsigned raw_held = 2, raw_floats = step_depth * Tile::tile_rows;

// A thread has 128 sums of its warpgroup's steps, 16 vectors of them remain when the
// warpgroups have added theirs, and of these a block of the cluster adds and stores so
// many, from one on. Vectors of a warp lie together, so that a block's are one copy.
struct Share { unsigned first, count; };
constexpr unsigned vectors = 16, vector_floats = 32 * 4, warp_floats = vectors * vector_floats;

template <unsigned blocks> static __device__ Share share_of(unsigned rank) {
    unsigned first = vectors * rank / blocks;
    return {first, vectors * (rank + 1) / blocks - first};
}

// Shared memory has A as it comes, what the other blocks send, and the ring of steps,
// where the sums lie in the end.
constexpr unsigned received_floats = Tile::tile_rows * Tile::tile_columns;
static __device__ float* received() { return memory + raw_held * raw_floats; }
static __device__ Ring<Tile> ring_of(unsigned slice) { return {received() + received_floats, slice}; }

static __device__ void bring(const TensorMap& a, const TensorMap& b, Place tile, unsigned from, unsigned to) {
    Ring<Tile> ring = ring_of(0);
    unsigned raw = ring.end(), at = 0, phase = 0;
    bool first = threadIdx.x % bringers == 0;
    auto bring_raw = [&](unsigned step, unsigned at) {
        if (step >= to || !first) return;
        barrier_expect(raw + at * 8, raw_floats * 4);
        copy_box(address(memory + at * raw_floats), a, step * step_depth, tile.row, raw + at * 8);
    };
    for (unsigned i = 0; i < raw_held; i++) bring_raw(from + i, i);
    for (unsigned step = from; step < to; step++, ring.next<1>()) {
        ring.wait_empty();
        if (first) {
            barrier_expect(ring.full + ring.at * 8, step_depth * Tile::tile_columns * 4);
            copy_box(address(ring.step() + ring.b_at), b, tile.column, step * step_depth, ring.full + ring.at * 8);
        }
        barrier_wait(raw + at * 8, phase);
        transpose<Tile>(memory + at * raw_floats, ring.step());
        barrier_arrive(ring.full + ring.at * 8);
        asm volatile("bar.sync 1, %0;" ::"n"(bringers) : "memory"); // all have read this A
        bring_raw(step + raw_held, at);
        if (++at == raw_held) at = 0, phase ^= 1;
    }
}

static __device__ void sync_multipliers() { asm volatile("bar.sync 2, %0;" ::"n"(Tile::threads) : "memory"); }

static __device__ float4 vector_of(const float (&sums)[8][16], int row, int e) {
    const float* s = &sums[row + e / 4][e % 4 * 4];
    return {s[0], s[1], s[2], s[3]};
}

// Adds the sums of both warpgroups: one has the rows 0 to 3 of a thread from there on,
// the other the rows 4 to 7.
static __device__ void add_warpgroups(const float (&sums)[8][16], float* all, unsigned slice) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 *mine = (float4*)(all + warp * warp_floats) + lane, *other = (float4*)(all + (warp ^ Tile::slice / 32) * warp_floats) + lane;
#pragma unroll
    for (int e = 0; e < vectors; e++) other[e * 32] = slice ? vector_of(sums, 0, e) : vector_of(sums, 4, e);
    sync_multipliers();
#pragma unroll
    for (int e = 0; e < vectors; e++) {
        float4 v = mine[e * 32], w = slice ? vector_of(sums, 4, e) : vector_of(sums, 0, e);
        mine[e * 32] = {v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w};
    }
}

// Sends each other block what it adds of this warp's sums; a lane for each block.
template <unsigned blocks> static __device__ void send(const float* all, unsigned rank, unsigned barrier) {
    unsigned warp = threadIdx.x / 32, to = threadIdx.x % 32;
    store_fence();
    __syncwarp();
    if (to >= blocks || to == rank) return;
    Share s = share_of<blocks>(to);
    unsigned slot = (rank < to ? rank : rank - 1) * (Tile::threads / 32) + warp;
    asm volatile("{.reg .b32 there, done; mapa.shared::cluster.u32 there, %0, %4; mapa.shared::cluster.u32 done, %3, %4;"
                 "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [there], [%1], %2, [done];}"
                 ::"r"(address(received() + slot * s.count * vector_floats)), "r"(address(all + warp * warp_floats + s.first * vector_floats)),
                   "r"(s.count * vector_floats * 4), "r"(barrier), "r"(to) : "memory");
}

template <unsigned blocks> static __device__ void clustered(const TensorMap& a, const TensorMap& b, const Problem& p) {
    unsigned rank = rank_in_cluster(), across = (p.n + Tile::tile_columns - 1) / Tile::tile_columns, number = blockIdx.x / blocks;
    unsigned steps = (p.k + step_depth - 1) / step_depth, from = first_step(steps, rank, blocks), to = first_step(steps, rank + 1, blocks);
    Place tile = {number / across * Tile::tile_rows, number % across * Tile::tile_columns};
    unsigned slice = threadIdx.x / Tile::slice; // 2 is the warpgroup that brings
    Ring<Tile> ring = ring_of(slice % Tile::slices);
    unsigned raw = ring.end(), sent = raw + raw_held * 8;
    if (threadIdx.x == 0) {
        prefetch(a), prefetch(b);
        ring.init();
        for (unsigned i = 0; i < raw_held; i++) barrier_init(raw + i * 8, 1);
        barrier_init(sent, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();
    if (slice == Tile::slices) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        bring(a, b, tile, from, to);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    Place mine = Tile::mine();
    Share share = share_of<blocks>(rank);
    float sums[Tile::rows][Tile::columns] = {};
    if (from + slice < to) multiply_steps(sums, ring, (to - from - slice + 1) / 2, mine, p.m);
    if (threadIdx.x == 0) barrier_expect(sent, (blocks - 1) * share.count * Tile::threads * 16);
    sync_multipliers(); // both have read their last step
    add_warpgroups(sums, ring.floats, slice);
    send<blocks>(ring.floats, rank, sent);
    barrier_wait(sent, 0);
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float4* own = (float4*)(ring.floats + warp * warp_floats) + share.first * 32 + lane;
    const float4* others = (float4*)(received() + warp * share.count * vector_floats) + lane;
    for (unsigned i = 0; i < share.count; i++) {
        float4 v = own[i * 32];
#pragma unroll
        for (unsigned o = 0; o < blocks - 1; o++) {
            float4 w = others[(o * Tile::threads / 32 * share.count + i) * 32];
            v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
        }
        unsigned e = share.first + i;
        store4(p, tile.row + mine.row + slice * Tile::down_apart + e / 4, tile.column + mine.column + e % 4 * Tile::across_apart, v);
    }
    cluster_sync(); // the others have what was sent from here
}

#define ARGUMENTS const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const float *c, float *d, \
                  unsigned m, unsigned n, unsigned k, unsigned ldc, float alpha, float beta
#define BOUNDS __launch_bounds__(Tile::threads + bringers, 1)

extern "C" __global__ void __cluster_dims__(2, 1, 1) BOUNDS gemm_cluster(ARGUMENTS) {
    clustered<2>(a, b, {0, 0, c, d, m, n, k, 0, 0, ldc, alpha, beta});
}

extern "C" __global__ void __cluster_dims__(3, 1, 1) BOUNDS gemm_cluster_of_3(ARGUMENTS) {
    clustered<3>(a, b, {0, 0, c, d, m, n, k, 0, 0, ldc, alpha, beta});
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) BOUNDS gemm_cluster_of_4(ARGUMENTS) {
    clustered<4>(a, b, {0, 0, c, d, m, n, k, 0, 0, ldc, alpha, beta});
}
