// The rung of scan for short vectors on Hopper: one launch, and neither statuses nor
// tickets, because the blocks of a cluster run together.

#include "scan.cuh"

constexpr unsigned cluster_blocks = 8, cluster_warps = 8, cluster_sums = cluster_blocks * cluster_warps;

static __device__ unsigned place_in(unsigned rank, const void* here) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(here)), "r"(rank));
    return there;
}

// Writes a sum to the same place in the shared memory of another block of the cluster.
static __device__ void send(const float* to, unsigned rank, float v) { asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(place_in(rank, to)), "f"(v) : "memory"); }
static __device__ void send(const int* to, unsigned rank, int v) { asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(place_in(rank, to)), "r"(v) : "memory"); }
static __device__ void send(const Word* to, unsigned rank, Word v) { asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(place_in(rank, to)), "l"(v) : "memory"); }

// This thread's share of the sum of the first `vectors` vectors of x, which the threads of a
// cluster add up: 128 bytes in flight.
template <typename T> static __device__ T share_of(const T* __restrict__ x, unsigned vectors, unsigned thread, unsigned n) {
    constexpr unsigned threads = cluster_sums * 32, at_once = 32 / sizeof(T);
    T sum = T(0);
    for (unsigned i = thread; i < vectors; i += at_once * threads) {
        Four<T> v[at_once] = {};
#pragma unroll
        for (unsigned k = 0; k < at_once; k++)
            if (i + k * threads < vectors) v[k] = load_vector(x, (size_t)(i + k * threads) * 4, n);
#pragma unroll
        for (unsigned k = 0; k < at_once; k++) sum = add(sum, add(add(v[k].v[0], v[k].v[1]), add(v[k].v[2], v[k].v[3])));
    }
    return sum;
}

// A block has a tile in registers. Every warp sends its sum to all blocks of its cluster, and
// adds those of the warps before it. A later cluster also adds all that lies before it: for a
// few clusters these reads of L2 take less time than a word through global memory.
template <typename T, unsigned rounds> static __device__ void in_clusters(const T* __restrict__ x, T* __restrict__ y, unsigned n, unsigned exclusive) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    typedef Tile<T, rounds, cluster_warps> Own;
    __shared__ T totals[cluster_sums], earlier[cluster_sums];
    unsigned lane = threadIdx.x % 32, rank = blockIdx.x % cluster_blocks, warp = rank * cluster_warps + threadIdx.x / 32;
    unsigned before = blockIdx.x / cluster_blocks * (cluster_blocks * Own::size / 4);
    Own t;
    t.load(x, blockIdx.x, n);
    T prior = T(0);
    if (before) prior = sum_lanes(share_of(x, before, warp * 32 + lane, n), false);
    T sum = t.scan();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); // all blocks have started
    if (lane < cluster_blocks) {
        send(totals + warp, lane, sum);
        if (before) send(earlier + warp, lane, prior);
    }
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    T own = T(0);
#pragma unroll
    for (unsigned i = lane; i < cluster_sums; i += 32) {
        if (before) own = add(own, earlier[i]);
        if (i < warp) own = add(own, totals[i]);
    }
    t.store(y, blockIdx.x, n, sum_lanes(own, false), exclusive);
}

// A warp's part has so many rounds of 128 elements.
template <typename T> static __device__ void in_rounds(const T* __restrict__ x, T* __restrict__ y, unsigned n, unsigned exclusive, unsigned rounds) {
    if (rounds == 1) in_clusters<T, 1>(x, y, n, exclusive);
    else if (rounds == 2) in_clusters<T, 2>(x, y, n, exclusive);
    else in_clusters<T, 4>(x, y, n, exclusive);
}

#define CLUSTER __cluster_dims__(cluster_blocks, 1, 1) __launch_bounds__(cluster_warps * 32)

// Clusters of eight blocks exchange sums through distributed shared memory.
extern "C" __global__ void CLUSTER scan_cluster(const float* __restrict__ x, float* __restrict__ y, unsigned n, unsigned exclusive, unsigned rounds) { in_rounds(x, y, n, exclusive, rounds); }

extern "C" __global__ void CLUSTER scan_i32_cluster(const int* __restrict__ x, int* __restrict__ y, unsigned n, unsigned exclusive, unsigned rounds) { in_rounds(x, y, n, exclusive, rounds); }

extern "C" __global__ void CLUSTER scan_u64_cluster(const Word* __restrict__ x, Word* __restrict__ y, unsigned n, unsigned exclusive, unsigned rounds) { in_rounds(x, y, n, exclusive, rounds); }
