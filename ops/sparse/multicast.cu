// C = A B with panels of B that the copy engine writes to the shared memory of both blocks
// of a cluster at once: each of them reads half of a panel from L2. It needs sm_90.

#include "panel.cuh"

constexpr unsigned cluster_blocks = 2, stages = 4;

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_wait(unsigned long long* b, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(shared_address(b)), "r"(phase) : "memory");
}

static __device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }

static __device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// Copies bytes, a multiple of 16, to the same place of both blocks, and counts them at the
// barrier of each.
static __device__ void copy_to_both(float* to, const float* from, unsigned bytes, unsigned long long* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(b)),
                 "h"((unsigned short)((1 << cluster_blocks) - 1))
                 : "memory");
}

// A block has a part of C as that of spmm_panels; the blocks of a cluster have neighbouring
// rows and the same columns. Four panels are in shared memory. A block passes the barrier of
// the cluster one panel behind: then both have read the panel before, and its place gets
// the one that comes three panels later. Rows of B that do not begin at a multiple of 16 bytes are
// copied by the threads of each block.
extern "C" __global__ void __cluster_dims__(cluster_blocks, 1, 1) __launch_bounds__(512) spmm_multicast(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned width, unsigned k) {
    extern __shared__ __align__(128) float staged[];
    __shared__ unsigned long long full[stages];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, groups = (k + wide - 1) / wide;
    unsigned rank = blockIdx.x % cluster_blocks, cluster = blockIdx.x / cluster_blocks;
    unsigned row0 = (cluster / groups * cluster_blocks + rank) * 256 + warp * 16, j0 = cluster % groups * wide, j = j0 + 4 * lane;
    unsigned there = min(wide, k - j0), panels = (width + panel - 1) / panel;
    bool vectors = k % 4 == 0 && ((size_t)b | (size_t)c) % 16 == 0;

    auto fetch = [&](unsigned p) {
        if (p >= panels) return;
        unsigned first = p * panel, last = min(panel, width - first), stage = p % stages;
        if (threadIdx.x == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full + stage)), "r"(last * there * 4) : "memory");
        unsigned r = rank * (panel / cluster_blocks) + threadIdx.x;
        if (threadIdx.x < panel / cluster_blocks && r < last) copy_to_both(staged + (stage * panel + r) * wide, b + (size_t)(first + r) * k + j0, there * 4, full + stage);
    };
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < stages; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(full + i)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (there < wide) // the columns beyond B, which no copy writes
        for (unsigned i = threadIdx.x; i < stages * panel * wide; i += 512)
            if (i % wide >= there) staged[i] = 0;
    cluster_arrive();
    Part part(offsets, columns, values, row0, rows);
    cluster_wait();
    if (vectors)
        for (unsigned p = 0; p < stages; p++) fetch(p);
    for (unsigned p = 0; p < panels; p++) {
        float* of = staged + p % stages * panel * wide;
        if (vectors) barrier_wait(full + p % stages, p / stages & 1);
        else {
            __syncthreads();
            for (unsigned i = threadIdx.x; i < panel * wide; i += 512)
                if (i % wide < there && p * panel + i / wide < width) of[i] = b[(size_t)(p * panel + i / wide) * k + j0 + i % wide];
            __syncthreads();
        }
        part.add(of, p * panel, b, k, j);
        if (!vectors) continue;
        if (p > 0) {
            cluster_wait();
            fetch(p - 1 + stages);
        }
        cluster_arrive();
    }
    if (vectors && panels > 0) cluster_wait();
    part.store(c, row0, rows, k, j, vectors);
}
