// float32 on Hopper, with its warps specialised: of three warpgroups one brings tiles
// of A and B by the copy engine and transposes those of A, and two only read shared
// memory and multiply. They do not wait for one another but for steps along k, by
// barriers, and what is brought crosses from a tile to the next. Blocks stay, take
// whole tiles in turn and share the steps of the rest, as gemm_stream_k does.
// Rows must start at multiples of 16 bytes, which the copy engine asks for; what lies
// outside of a matrix it copies as 0.

#include "gemm_problem.cuh"
#include "gemm_async.cuh"
#include "gemm_wide.cuh"
#include "gemm_wgmma.cuh"

// 128 x 256 of D; three steps of 32 k are held, and two of A as it comes.
using Tile = Shape<2, 4, 1, 8, 8, 16, 32, 3, 2>;
constexpr unsigned bringers = 128, steps_held = Tile::held, raw_held = 2;
constexpr unsigned raw_floats = Tile::depth * Tile::tile_rows, b_at = Tile::depth * Tile::width;

extern __shared__ __align__(1024) float memory[]; // A as it comes, then the ring of steps

// Copies a box of the only matrix, or of one of many.
template <bool many> static __device__ void copy(unsigned to, const TensorMap& map, unsigned x, unsigned y, unsigned matrix, unsigned barrier) {
    if (!many) copy_box(to, map, x, y, barrier);
    else asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                      ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(matrix), "r"(barrier) : "memory");
}

// Arrives, and hands over what this thread's warp has read or written before.
static __device__ void barrier_arrive(unsigned barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
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

// The ring of steps, and the barriers by which they are handed over.
struct Ring {
    float* floats;
    unsigned full, empty, at, phase;

    __device__ Ring() : floats(memory + raw_held * raw_floats), full(address(floats + steps_held * Tile::stage)), empty(full + steps_held * 8), at(0), phase(0) {}
    __device__ void next() { if (++at == steps_held) at = 0, phase ^= 1; }
    __device__ float* step() const { return floats + at * Tile::stage; }
    __device__ void wait_full() const { barrier_wait(full + at * 8, phase); }
    __device__ void wait_empty() const { barrier_wait(empty + at * 8, phase ^ 1); }
    __device__ unsigned raw() const { return empty + steps_held * 8; } // the barriers of A as it comes
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

// Transposes two squares of 4 x 4. Vectors of 16 bytes lie exchanged, as the copy
// engine puts them against bank conflicts.
static __device__ void transpose(const float* from, float* to) {
    unsigned lane = threadIdx.x % 32, k = lane / 4, group = lane % 4 + threadIdx.x % bringers / 32 * 8;
#pragma unroll
    for (int half = 0; half < 2; half++, group += 4) {
        float4 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned row = group * 4 + i;
            v[i] = *(const float4*)(from + row * 32 + (k ^ row % 8) * 4);
        }
        float* t = to + k * 4 * Tile::width + group * 4;
        *(float4*)t = {v[0].x, v[1].x, v[2].x, v[3].x}, *(float4*)(t + Tile::width) = {v[0].y, v[1].y, v[2].y, v[3].y};
        *(float4*)(t + 2 * Tile::width) = {v[0].z, v[1].z, v[2].z, v[3].z}, *(float4*)(t + 3 * Tile::width) = {v[0].w, v[1].w, v[2].w, v[3].w};
    }
}

template <bool many> static __device__ void bring(const TensorMap& a, const TensorMap& b, const Work<many>& work, Ring ring) {
    RawA<many> raw(a, work, ring.raw());
    for (unsigned i = 0; i < raw_held; i++) raw.bring(i);
    unsigned at = 0, phase = 0;
    Stretch s;
    for (unsigned i = 0; work.get(i, s); i++) {
        unsigned column = work.place(s.tile).column, matrix = min(work.product(s.tile), work.batch.last_b);
        for (unsigned step = s.from; step < s.to; step++, ring.next()) {
            ring.wait_empty();
            if (threadIdx.x % bringers == 0) {
                barrier_expect(ring.full + ring.at * 8, Tile::depth * Tile::tile_columns * 4);
                copy<many>(address(ring.step() + b_at), b, column, step * Tile::depth, matrix, ring.full + ring.at * 8);
            }
            barrier_wait(ring.raw() + at * 8, phase);
            transpose(memory + at * raw_floats, ring.step());
            barrier_arrive(ring.full + ring.at * 8);
            asm volatile("bar.sync 1, %0;" ::"n"(bringers) : "memory"); // all have read this A
            raw.bring(at);
            if (++at == raw_held) at = 0, phase ^= 1;
        }
    }
}

// Columns in turn, down one and up the next, even and odd ones alternately. Of 28 such
// orders on an H200 this one is the fastest, 1.4 % before that of serpentine and 9 %
// before the slowest: the assembler's registers and reads fall another way in each.
static __device__ void outer_product(float (&sums)[8][16], const float (&a)[8], const float (&b)[16]) {
    constexpr int order[] = {2, 11, 0, 13, 8, 1, 12, 5, 6, 15, 10, 7, 4, 9, 14, 3};
#pragma unroll
    for (int i = 0; i < 16; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int r = i % 2 ? 7 - j : j;
            sums[r][order[i]] += a[r] * b[order[i]];
        }
}

// Reads the next step's first row behind a barrier, before the last product of this one.
static __device__ void multiply_stretch(float (&sums)[8][16], Ring& ring, unsigned steps, Place mine, unsigned m) {
    float a[2][8], b[2][16];
    const float *as = ring.step() + mine.row, *bs = ring.step() + b_at + mine.column;
    ring.wait_full();
    read(b[0], bs, Tile::across_apart), read(a[0], as, Tile::down_apart);
    auto product = [&](int u) {
        read(a[(u + 1) % 2], as + (u + 1) * Tile::width, Tile::down_apart);
        read(b[(u + 1) % 2], bs + (u + 1) * Tile::tile_columns, Tile::across_apart);
        outer_product(sums, a[u % 2], b[u % 2]);
    };
    for (; steps > 0; steps--) {
#pragma unroll 1
        for (int k = 0; k < Tile::depth - 2; k += 2) {
            product(0), product(1);
            as += 2 * Tile::width, bs += 2 * Tile::tile_columns;
        }
        product(0);
        barrier_arrive(ring.empty + ring.at * 8);
        ring.next();
        if (steps > 1) {
            ring.wait_full();
            as = ring.step() + mine.row, bs = ring.step() + b_at + mine.column;
        }
        as -= 2 * Tile::width, bs -= 2 * Tile::tile_columns; // after the last step what is there is read once more
        product(1);
        as += 2 * Tile::width, bs += 2 * Tile::tile_columns;
        if (m == 0xffffffff) separate_banks(sums);
    }
}

template <bool many> static __device__ void specialized(const TensorMap& a, const TensorMap& b, const Problem& p, unsigned whole, float* parts, const Batch& batch = {}) {
    Work<many> work(p, whole, batch);
    Ring ring;
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < steps_held; i++) barrier_init(ring.full + i * 8, 1 + bringers / 32), barrier_init(ring.empty + i * 8, Tile::threads / 32);
        for (unsigned i = 0; i < raw_held; i++) barrier_init(ring.raw() + i * 8, 1);
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
        multiply_stretch(sums, ring, s.to - s.from, mine, p.m);
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
