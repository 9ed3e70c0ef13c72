// Concat by the copy engine of Hopper: pieces of rows go through shared memory in bulk,
// and no thread holds an element.

#include "concat.cuh"

// A piece is at most so many floats of a row of one part; a block copies so many.
constexpr unsigned piece = 2048, pieces = 4;

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned barrier) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier)); }

static __device__ void barrier_wait(unsigned barrier) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], 0; @!done bra again;}" ::"r"(barrier) : "memory");
}

static __device__ void load(unsigned to, const float* from, unsigned bytes, unsigned barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

static __device__ void store(float* to, unsigned from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Where piece k begins in its part and in y, and how many floats it has.
struct Piece {
    const float* from;
    size_t to;
    unsigned floats;

    __device__ Piece(const Parts& p, size_t k) {
        unsigned of_a = (p.wa + piece - 1) / piece, of_b = (p.wb + piece - 1) / piece;
        size_t r = k / (of_a + of_b);
        unsigned i = k % (of_a + of_b), width = i < of_a ? p.wa : p.wb, c = (i < of_a ? i : i - of_a) * piece;
        from = (i < of_a ? p.a + r * p.wa : p.b + r * p.wb) + c;
        to = r * p.w() + (i < of_a ? c : (size_t)p.wa + c);
        floats = min(piece, width - c);
    }
};

// One thread keeps four pieces in flight: loads into shared memory, and stores out of it.
// Rows that are no multiple of 16 bytes, and arrays that start elsewhere, go through
// registers in tiles.
extern "C" __global__ void __launch_bounds__(32) concat_bulk(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, unsigned long long n, unsigned wa, unsigned wb, unsigned long long all) {
    __shared__ alignas(128) float buffer[pieces][piece];
    __shared__ alignas(8) unsigned long long full[pieces];
    Parts p = {a, b, wa, wb};
    if (((size_t)a | (size_t)b | (size_t)y | 4 * (size_t)(wa | wb)) % 16) {
        for (size_t first = (size_t)blockIdx.x * tile; first < n; first += (size_t)gridDim.x * tile) vector_tile<32>(p, y, n, first, first / p.w(), first % p.w());
        return;
    }
    if (threadIdx.x) return;
    size_t k0 = (size_t)blockIdx.x * pieces;
#pragma unroll
    for (unsigned i = 0; i < pieces; i++) barrier_init(address(&full[i]));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#pragma unroll
    for (unsigned i = 0; i < pieces; i++)
        if (k0 + i < all) {
            Piece next(p, k0 + i);
            load(address(buffer[i]), next.from, 4 * next.floats, address(&full[i]));
        }
#pragma unroll
    for (unsigned i = 0; i < pieces; i++)
        if (k0 + i < all) {
            Piece next(p, k0 + i);
            barrier_wait(address(&full[i]));
            store(y + next.to, address(buffer[i]), 4 * next.floats);
        }
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
