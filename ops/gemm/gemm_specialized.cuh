// What float32 rungs for Hopper share whose warps are specialised: one warpgroup brings
// tiles of A and B by the copy engine and transposes those of A, others only read shared
// memory and multiply. They do not wait for one another but for steps of 32 k, by
// barriers.

#include "gemm_problem.cuh"
#include "gemm_async.cuh"
#include "gemm_wide.cuh"
#include "gemm_wgmma.cuh"

constexpr unsigned bringers = 128, step_depth = 32;

extern __shared__ __align__(1024) float memory[];

// Arrives, and hands over what this thread's warp has read or written before.
static __device__ void barrier_arrive(unsigned barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// The ring of steps, and the barriers by which they are handed over. Each slice of a
// block takes its own: with two slices one takes the even steps, one the odd ones.
template <class S> struct Ring {
    static constexpr unsigned steps = S::held * S::slices, step_floats = S::stage / S::slices, b_at = step_depth * S::width;
    static_assert(S::share == step_depth);

    float* floats;
    unsigned full, empty, at, phase;

    __device__ Ring(float* floats, unsigned slice) : floats(floats), full(address(floats + steps * step_floats)), empty(full + steps * 8), at(slice), phase(0) {}
    __device__ unsigned end() const { return empty + steps * 8; } // of its barriers
    __device__ void init() const {
        for (unsigned i = 0; i < steps; i++) barrier_init(full + i * 8, 1 + bringers / 32), barrier_init(empty + i * 8, S::slice / 32);
    }
    template <unsigned by> __device__ void next() {
        at += by;
        if (by == 1 ? at == steps : at >= steps) at = by == 1 ? 0 : at - steps, phase ^= 1;
    }
    __device__ float* step() const { return floats + at * step_floats; }
    __device__ void wait_full() const { barrier_wait(full + at * 8, phase); }
    __device__ void wait_empty() const { barrier_wait(empty + at * 8, phase ^ 1); }
};

// Transposes two squares of 4 x 4. Vectors of 16 bytes lie exchanged, as the copy
// engine puts them against bank conflicts.
template <class S> static __device__ void transpose(const float* from, float* to) {
    unsigned lane = threadIdx.x % 32, k = lane / 4, group = lane % 4 + threadIdx.x % bringers / 32 * 8;
#pragma unroll
    for (int half = 0; half < 2; half++, group += 4) {
        float4 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned row = group * 4 + i;
            v[i] = *(const float4*)(from + row * 32 + (k ^ row % 8) * 4);
        }
        float* t = to + k * 4 * S::width + group * 4;
        *(float4*)t = {v[0].x, v[1].x, v[2].x, v[3].x}, *(float4*)(t + S::width) = {v[0].y, v[1].y, v[2].y, v[3].y};
        *(float4*)(t + 2 * S::width) = {v[0].z, v[1].z, v[2].z, v[3].z}, *(float4*)(t + 3 * S::width) = {v[0].w, v[1].w, v[2].w, v[3].w};
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

// Multiplies so many steps. Reads the first row of the next one behind a barrier, before
// the last product of this one.
template <class S> static __device__ void multiply_steps(float (&sums)[8][16], Ring<S>& ring, unsigned steps, Place mine, unsigned m) {
    float a[2][8], b[2][16];
    const float *as = ring.step() + mine.row, *bs = ring.step() + ring.b_at + mine.column;
    ring.wait_full();
    read(b[0], bs, S::across_apart), read(a[0], as, S::down_apart);
    auto product = [&](int u) {
        read(a[(u + 1) % 2], as + (u + 1) * S::width, S::down_apart);
        read(b[(u + 1) % 2], bs + (u + 1) * S::tile_columns, S::across_apart);
        outer_product(sums, a[u % 2], b[u % 2]);
    };
    for (; steps > 0; steps--) {
#pragma unroll 1
        for (int k = 0; k < step_depth - 2; k += 2) {
            product(0), product(1);
            as += 2 * S::width, bs += 2 * S::tile_columns;
        }
        product(0);
        barrier_arrive(ring.empty + ring.at * 8);
        ring.template next<S::slices>();
        if (steps > 1) {
            ring.wait_full();
            as = ring.step() + mine.row, bs = ring.step() + ring.b_at + mine.column;
        }
        as -= 2 * S::width, bs -= 2 * S::tile_columns; // after the last step what is there is read once more
        product(1);
        as += 2 * S::width, bs += 2 * S::tile_columns;
        if (m == 0xffffffff) separate_banks(sums);
    }
}
