// The rung of copy_if for Hopper: warps with roles, fed by the copy engine.

#include "tile.cuh"

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned long long* b, unsigned arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory"); }

static __device__ void barrier_arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory"); }

static __device__ void barrier_wait(unsigned long long* b, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(shared_address(b)), "r"(phase) : "memory");
}

// Copies bytes, a multiple of 16, and arrives at the barrier when they are there.
static __device__ void bulk_load(void* to, const void* from, unsigned bytes, unsigned long long* b) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(b)) : "memory");
}

// A tile is 30 warps times 4 rounds of 128 elements; 3 stages hold a tile each.
constexpr int WARPS = 30, ROUNDS = 4, STAGES = 3, TILE = WARPS * ROUNDS * 128;

// Blocks stay and draw tiles. One warp has the copy engine load tiles ahead, one looks
// back, and 30 pack a tile while the look-back for it and the load of the next run; a
// tile is written one turn later. Barriers of a stage: full, data and tile number are
// there; added, total is there; placed, start is there; empty, all warps have written.
extern "C" __global__ void __launch_bounds__(1024) copy_if_pipeline(const float* __restrict__ x, float* __restrict__ y, unsigned* __restrict__ count, Status* status, unsigned* ticket, unsigned n, unsigned capacity, unsigned tiles) {
    extern __shared__ __align__(128) float data[];
    __shared__ unsigned long long full[STAGES], added[STAGES], placed[STAGES], empty[STAGES];
    __shared__ unsigned tile_of[STAGES], total_of[STAGES], start_of[STAGES], totals[2][WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) barrier_init(full + i, 1), barrier_init(added + i, 1), barrier_init(placed + i, 1), barrier_init(empty + i, WARPS);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    bool aligned = (size_t)x % 16 == 0;
    auto copied = [&](unsigned tile) { return aligned && (size_t)(tile + 1) * TILE <= n; }; // others are loaded by their warps
    if (warp == WARPS) {
        if (lane > 0) return;
        for (unsigned k = 0;; k++) {
            unsigned stage = k % STAGES, tile = atomicAdd(ticket, 1);
            if (k >= STAGES) barrier_wait(empty + stage, k / STAGES + 1 & 1);
            tile_of[stage] = tile;
            if (tile < tiles && copied(tile)) bulk_load(data + stage * TILE, x + (size_t)tile * TILE, TILE * 4, full + stage);
            else barrier_arrive(full + stage);
            if (tile >= tiles) return;
        }
    }
    if (warp == WARPS + 1) {
        for (unsigned k = 0;; k++) {
            unsigned stage = k % STAGES;
            barrier_wait(added + stage, k / STAGES & 1);
            unsigned tile = tile_of[stage];
            if (tile >= tiles) return;
            unsigned total = total_of[stage], earlier = tile ? look_back<5>(status, tile) : 0;
            if (lane == 0) {
                if (tile) write_status(status + tile, status_of(2, earlier + total));
                if (tile == tiles - 1) *count = earlier + total;
                start_of[stage] = earlier;
                barrier_arrive(placed + stage);
            }
            __syncwarp();
        }
    }
    for (unsigned k = 0;; k++) {
        unsigned stage = k % STAGES;
        barrier_wait(full + stage, k / STAGES & 1);
        unsigned tile = tile_of[stage], at[ROUNDS], own = 0;
        bool more = tile < tiles;
        float4 v[ROUNDS];
        if (more) {
            if (copied(tile)) {
#pragma unroll
                for (int r = 0; r < ROUNDS; r++) v[r] = ((const float4*)(data + stage * TILE))[(warp * ROUNDS + r) * 32 + lane];
            } else {
                load<ROUNDS>(v, x, (size_t)tile * TILE, n);
            }
            own = rank<ROUNDS>(v, at);
            if (lane == 0) totals[k & 1][warp] = own;
        }
        asm volatile("bar.sync 1, %0;" ::"r"(WARPS * 32) : "memory");
        if (more) {
            unsigned t = lane < WARPS ? totals[k & 1][lane] : 0, up = t;
#pragma unroll
            for (unsigned d = 1; d < 32; d *= 2) {
                unsigned other = __shfl_up_sync(0xffffffff, up, d);
                if (lane >= d) up += other;
            }
            unsigned all = __shfl_sync(0xffffffff, up, 31), before = __shfl_sync(0xffffffff, up - t, warp);
            if (threadIdx.x == 0) {
                total_of[stage] = all;
                write_status(status + tile, status_of(tile ? 1 : 2, all));
            }
            pack<ROUNDS>(data + stage * TILE, v, at, before);
        }
        if (threadIdx.x == 0) barrier_arrive(added + stage);
        if (k > 0) { // the tile before: its warps have packed it before the bar.sync above
            unsigned last = (k - 1) % STAGES;
            barrier_wait(placed + last, (k - 1) / STAGES & 1);
            store(y, data + last * TILE, start_of[last], total_of[last], capacity, WARPS * 32);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (lane == 0) barrier_arrive(empty + last);
        }
        if (!more) return;
    }
}
