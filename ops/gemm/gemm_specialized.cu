// float32 on Hopper, with its warps specialised: of three warpgroups one brings tiles
// of A and B by the copy engine and transposes those of A, and two only read shared
// memory and multiply. They do not wait for one another but for steps along k, by
// barriers, and what is brought crosses from a tile to the next. Blocks stay, take
// whole tiles in turn and share the steps of the rest, as gemm_stream_k does.
// Rows must start at multiples of 16 bytes, which the copy engine asks for; what lies
// outside of a matrix it copies as 0.

#include "gemm_specialized.cuh"

// 128 x 256 of D; three steps of 32 k are held, and two of A as it comes.
using Tile = Shape<2, 4, 1, 8, 8, 16, 32, 3, 2>;
constexpr unsigned raw_held = 2, raw_floats = Tile::depth * Tile::tile_rows;

// Shared memory has A as it comes, then the ring of steps.
static __device__ Ring<Tile> ring_of_steps() { return {memory + raw_held * raw_floats, 0}; }

// Copies a box of the only matrix, or of one of many.
template <bool many> static __device__ void copy(unsigned to, const TensorMap& map, unsigned x, unsigned y, unsigned matrix, unsigned barrier) {
    if (!many) copy_box(to, map, x, y, barrier);
    else asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                      ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(matrix), "r"(barrier) : "memory");
}

// Steps along k of one tile, from one on to before another.
struct Stretch { unsigned tile, from, to; };

// A batch: how many products, the last matrix that there is of A and of B, of which
// one may serve for all, and floats from one D to the next.
struct Batch {
    unsigned products, last_a, last_b;
    unsigned long long next;
};

// What a block multiplies: whole tiles in turn, then its share of the steps of the
// rest. Of a batch the tiles of one product follow those of another.
template <bool many> struct Work {
    Batch batch;
    unsigned steps, across, each, whole, first, end; // each: tiles of a product

    __device__ Work(const Problem& p, unsigned whole, const Batch& batch) : batch(batch), whole(whole) {
        steps = (p.k + Tile::depth - 1) / Tile::depth, across = (p.n + Tile::tile_columns - 1) / Tile::tile_columns;
        each = (p.m + Tile::tile_rows - 1) / Tile::tile_rows * across;
        unsigned tiles = many ? each * batch.products : each;
        unsigned long long all = (unsigned long long)(tiles - whole) * steps;
        first = first_step(all, blockIdx.x, gridDim.x), end = first_step(all, blockIdx.x + 1, gridDim.x);
    }

    // The i-th stretch; false behind the last.
    __device__ bool get(unsigned i, Stretch& s) const {
        unsigned tile = blockIdx.x + i * gridDim.x;
        if (tile < whole) {
            s = {tile, 0, steps};
            return true;
        }
        if (whole > blockIdx.x) i -= (whole - blockIdx.x + gridDim.x - 1) / gridDim.x;
        unsigned in = first / steps + i, begin = max(first, in * steps);
        if (begin >= end) return false;
        s = {whole + in, begin - in * steps, min(end - in * steps, steps)};
        return true;
    }

    __device__ unsigned product(unsigned tile) const { return many ? tile / each : 0; }
    __device__ Place place(unsigned tile) const {
        if (many) tile %= each;
        return {tile / across * Tile::tile_rows, tile % across * Tile::tile_columns};
    }
};

// Brings tiles of A, as rows of 32 k, ahead of those that transpose them.
template <bool many> struct RawA {
    const TensorMap& map;
    const Work<many>& work;
    unsigned barrier, i, step, row, matrix;
    Stretch s;
    bool more;

    __device__ RawA(const TensorMap& map, const Work<many>& work, unsigned barrier) : map(map), work(work), barrier(barrier), i(0) { open(); }

    __device__ void open() {
        if ((more = work.get(i++, s))) step = s.from, row = work.place(s.tile).row, matrix = min(work.product(s.tile), work.batch.last_a);
    }

    __device__ void bring(unsigned to) {
        if (!more) return;
        if (threadIdx.x % bringers == 0) {
            barrier_expect(barrier + to * 8, raw_floats * 4);
            copy<many>(address(memory + to * raw_floats), map, step * Tile::depth, row, matrix, barrier + to * 8);
        }
        if (++step == s.to) open();
    }
};

template <bool many> static __device__ void bring(const TensorMap& a, const TensorMap& b, const Work<many>& work, Ring<Tile> ring) {
    RawA<many> raw(a, work, ring.end()); // whose barriers stand behind those of the ring
    for (unsigned i = 0; i < raw_held; i++) raw.bring(i);
    unsigned at = 0, phase = 0;
    Stretch s;
    for (unsigned i = 0; work.get(i, s); i++) {
        unsigned column = work.place(s.tile).column, matrix = min(work.product(s.tile), work.batch.last_b);
        for (unsigned step = s.from; step < s.to; step++, ring.next<1>()) {
            ring.wait_empty();
            if (threadIdx.x % bringers == 0) {
                barrier_expect(ring.full + ring.at * 8, Tile::depth * Tile::tile_columns * 4);
                copy<many>(address(ring.step() + ring.b_at), b, column, step * Tile::depth, matrix, ring.full + ring.at * 8);
            }
            barrier_wait(ring.end() + at * 8, phase);
            transpose<Tile>(memory + at * raw_floats, ring.step());
            barrier_arrive(ring.full + ring.at * 8);
            asm volatile("bar.sync 1, %0;" ::"n"(bringers) : "memory"); // all have read this A
            raw.bring(at);
            if (++at == raw_held) at = 0, phase ^= 1;
        }
    }
}

template <bool many> static __device__ void specialized(const TensorMap& a, const TensorMap& b, const Problem& p, unsigned whole, float* parts, const Batch& batch = {}) {
    Work<many> work(p, whole, batch);
    Ring<Tile> ring = ring_of_steps();
    if (threadIdx.x == 0) {
        prefetch(a), prefetch(b);
        ring.init();
        for (unsigned i = 0; i < raw_held; i++) barrier_init(ring.end() + i * 8, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= Tile::threads) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        bring(a, b, work, ring);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    Place mine = Tile::mine();
    Stretch s;
    for (unsigned i = 0; work.get(i, s); i++) {
        float sums[Tile::rows][Tile::columns] = {};
        multiply_steps(sums, ring, s.to - s.from, mine, p.m);
        if (many) {
            Problem one = p;
            one.c += work.product(s.tile) * batch.next, one.d += work.product(s.tile) * batch.next;
            store_sums<Tile, true>(one, work.place(s.tile), sums);
        } else if (s.to - s.from == work.steps) store_sums<Tile, true>(p, work.place(s.tile), sums);
        else {
            bool second = s.tile != whole + work.first / work.steps;
            float4* mine = (float4*)parts + ((size_t)blockIdx.x * 2 + second) * (Tile::rows * Tile::columns / 4 * Tile::slice) + threadIdx.x;
#pragma unroll
            for (int e = 0; e < Tile::rows * Tile::columns; e += 4) mine[e / 4 * Tile::slice] = *(float4*)&sums[e / Tile::columns][e % Tile::columns];
        }
    }
}

#define MAPS const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b
#define BOUNDS __launch_bounds__(Tile::threads + bringers, 1)

extern "C" __global__ void BOUNDS gemm_specialized(MAPS, const float* c, float* d, unsigned m, unsigned n, unsigned k, unsigned ldc,
                                                   float alpha, float beta, unsigned whole, float* parts) {
    specialized<false>(a, b, {0, 0, c, d, m, n, k, 0, 0, ldc, alpha, beta}, whole, parts);
}

extern "C" __global__ void __launch_bounds__(Tile::slice) gemm_specialized_2(const float* c, float* d, unsigned m, unsigned n, unsigned k, unsigned ldc,
                                                                             float alpha, float beta, unsigned whole, const float* parts, unsigned blocks) {
    stream_k_2<Tile>({0, 0, c, d, m, n, k, 0, 0, ldc, alpha, beta}, whole, parts, blocks);
}

// With a bias for each column, and negative results as 0.
extern "C" __global__ void BOUNDS gemm_bias_relu_specialized(MAPS, const float* bias, float* d, unsigned m, unsigned n, unsigned k, unsigned ldc,
                                                             float alpha, unsigned whole, float* parts) {
    specialized<false>(a, b, {0, 0, d, d, m, n, k, 0, 0, ldc, alpha, 0, bias}, whole, parts);
}

extern "C" __global__ void __launch_bounds__(Tile::slice) gemm_bias_relu_specialized_2(const float* bias, float* d, unsigned m, unsigned n, unsigned k, unsigned ldc,
                                                                                       float alpha, unsigned whole, const float* parts, unsigned blocks) {
    stream_k_2<Tile>({0, 0, d, d, m, n, k, 0, 0, ldc, alpha, 0, bias}, whole, parts, blocks);
}

// Of many products, whose matrices lie at equal distances, all tiles whole: of 512 of
// 64 x 512^3 a shared last round would save 3 %, and adding its parts cost as much.
extern "C" __global__ void BOUNDS gemm_batched_specialized(MAPS, const float* c, float* d, unsigned m, unsigned n, unsigned k, unsigned ldc,
                                                           float alpha, float beta, unsigned tiles, Batch batch) {
    specialized<true>(a, b, {0, 0, c, d, m, n, k, 0, 0, ldc, alpha, beta}, tiles, nullptr, batch);
}
