// Softmax with a cluster of eight blocks per row, on Hopper: the row stays in the
// registers of eight multiprocessors, and the blocks exchange their maxima and sums
// through distributed shared memory.

#include "softmax.cuh"

constexpr unsigned cluster_blocks = 8, cluster_threads = 256;

static __device__ unsigned rank_in_cluster() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Writes a number to the same place in the shared memory of another block.
static __device__ void send(float* to, unsigned rank, float value) {
    unsigned here = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f32 [there], %2;}" ::"r"(here), "r"(rank), "f"(value) : "memory");
}

// A cluster of so many blocks that has a row. It arrives at the barrier when it starts: no
// block may write to another that has not started.
template <unsigned blocks, unsigned block> struct ClusterOf : Streamed {
    static constexpr unsigned threads = blocks * block;
    static __device__ void started() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
    static __device__ unsigned id() { return rank_in_cluster() * block + threadIdx.x; }
    static __device__ float max(float v) { return across_block<true, block>(v); }
    static __device__ float sum(float v) { return across_block<false, block>(v); }
};
using Cluster = ClusterOf<cluster_blocks, cluster_threads>;

// Every block sends its maximum and sum to all blocks, and each adds them up.
template <unsigned blocks> static __device__ Partial exchanged(Partial part) {
    __shared__ float maxima[blocks], sums[blocks];
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x < blocks) {
        send(&maxima[rank_in_cluster()], threadIdx.x, part.maximum);
        send(&sums[rank_in_cluster()], threadIdx.x, part.sum);
    }
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    Partial all = {minus_infinity(), 0};
#pragma unroll
    for (unsigned i = 0; i < blocks; i++) all.maximum = fmaxf(all.maximum, maxima[i]);
#pragma unroll
    for (unsigned i = 0; i < blocks; i++) all.sum += sums[i] * exponential(maxima[i] - shift_of(all.maximum));
    return all;
}
template <> __device__ Partial whole_of<Cluster>(Partial part) { return exchanged<cluster_blocks>(part); }

#define CLUSTER __cluster_dims__(cluster_blocks, 1, 1) __launch_bounds__(cluster_threads)

// A cluster has a row: of up to 131072 columns in registers.
extern "C" __global__ void CLUSTER softmax_cluster(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    Cluster::started();
    fitted<plain, Cluster, 16>({x, nullptr, y, blockIdx.x / cluster_blocks, columns});
}

// The logarithm, one cluster per row.
extern "C" __global__ void CLUSTER log_softmax_cluster(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    Cluster::started();
    fitted<logarithm, Cluster, 16>({x, nullptr, y, blockIdx.x / cluster_blocks, columns});
}

// The masked form, one cluster per row.
extern "C" __global__ void CLUSTER masked_softmax_cluster(const float* __restrict__ x, const unsigned char* __restrict__ mask, float* __restrict__ y, unsigned rows, unsigned columns) {
    Cluster::started();
    fitted<masked, Cluster, 16>({x, mask, y, blockIdx.x / cluster_blocks, columns});
}

// Blocks of 128 threads, half of whose part is in registers and half in shared memory,
// which the copy engine fills: four blocks share a multiprocessor, in place of two.
constexpr unsigned small_threads = 128, register_vectors = 16, shared_vectors = 16;
using SmallCluster = ClusterOf<cluster_blocks, small_threads>;
template <> __device__ Partial whole_of<SmallCluster>(Partial part) { return exchanged<cluster_blocks>(part); }

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Brings vectors to shared memory; the barrier is new.
static __device__ void bring(float4* to, const float4* from, unsigned vectors, unsigned long long* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(address(barrier)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(16 * vectors) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)), "l"(from), "r"(16 * vectors), "r"(address(barrier)) : "memory");
}

static __device__ void wait_for(unsigned long long* barrier) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], 0; @!done bra again;}" ::"r"(address(barrier)) : "memory");
}

static __device__ float4 minus_infinities() { return make_float4(minus_infinity(), minus_infinity(), minus_infinity(), minus_infinity()); }
static __device__ float maximum_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
static __device__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
static __device__ float4 exponentials(float4 v, float shift) { return make_float4(exponential(v.x - shift), exponential(v.y - shift), exponential(v.z - shift), exponential(v.w - shift)); }
static __device__ float4 scaled(float4 v, float scale) { return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale); }

// Each block has a stretch of the row's vectors: the first ones in registers, and those
// that do not fit in shared memory. full: the row has as many columns as there is room
// for, and no bound is tested. Rows of other than whole vectors, and longer ones, are read
// twice.
template <bool full> static __device__ __forceinline__ void in_stretches(Row<plain> row) {
    extern __shared__ float4 rest[];
    __shared__ alignas(8) unsigned long long barrier;
    constexpr unsigned most = SmallCluster::threads * (register_vectors + shared_vectors), unrolled = full ? shared_vectors : 4;
    if (!row.wide() || (full ? row.columns != 4 * most : row.columns > 4 * most)) return online<plain, SmallCluster>(row);
    unsigned vectors = full ? most : row.columns / 4, each = (vectors + cluster_blocks - 1) / cluster_blocks, first = rank_in_cluster() * each;
    unsigned count = full ? each : first < vectors ? min(each, vectors - first) : 0, kept = min(count, register_vectors * small_threads), shared = count - kept;
    const float4* from = (const float4*)row.x + first;
    float4* to = (float4*)row.y + first;
    if (threadIdx.x == 0 && shared > 0) bring(rest, from + kept, shared, &barrier);
    float4 v[register_vectors];
    Partial own = {minus_infinity(), 0};
#pragma unroll
    for (unsigned i = 0; i < register_vectors; i++) {
        unsigned at = threadIdx.x + i * small_threads;
        v[i] = full || at < kept ? SmallCluster::load(from + at) : minus_infinities();
    }
#pragma unroll
    for (unsigned i = 0; i < register_vectors; i++) own.maximum = fmaxf(own.maximum, maximum_of(v[i]));
    __syncthreads();  // thread 0 has made the barrier
    if (shared > 0) wait_for(&barrier);
#pragma unroll unrolled
    for (unsigned i = 0, at = threadIdx.x; full ? i < shared_vectors : at < shared; i++, at += small_threads) own.maximum = fmaxf(own.maximum, maximum_of(rest[at]));
    own.maximum = SmallCluster::max(own.maximum);
    float shift = shift_of(own.maximum);
#pragma unroll
    for (unsigned i = 0; i < register_vectors; i++) {
        v[i] = exponentials(v[i], shift);
        own.sum += sum_of(v[i]);
    }
#pragma unroll unrolled
    for (unsigned i = 0, at = threadIdx.x; full ? i < shared_vectors : at < shared; i++, at += small_threads) {
        float4 e = exponentials(rest[at], shift);
        own.sum += sum_of(e);
        rest[at] = e;
    }
    own.sum = SmallCluster::sum(own.sum);
    Partial whole = exchanged<cluster_blocks>(own);
    float scale = scale_of<plain>(whole.sum) * exponential(own.maximum - shift_of(whole.maximum));
#pragma unroll
    for (unsigned i = 0; i < register_vectors; i++)
        if (full || threadIdx.x + i * small_threads < kept) __stcs(to + threadIdx.x + i * small_threads, scaled(v[i], scale));
#pragma unroll unrolled
    for (unsigned i = 0, at = threadIdx.x; full ? i < shared_vectors : at < shared; i++, at += small_threads) __stcs(to + kept + at, scaled(rest[at], scale));
}

#define SMALL_CLUSTER __cluster_dims__(cluster_blocks, 1, 1) __launch_bounds__(small_threads, 4)

// Rows of up to 131072 columns, and of 131072.
extern "C" __global__ void SMALL_CLUSTER softmax_cluster_shared(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    SmallCluster::started();
    in_stretches<false>({x, nullptr, y, blockIdx.x / cluster_blocks, columns});
}
extern "C" __global__ void SMALL_CLUSTER softmax_cluster_shared_of_131072(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    SmallCluster::started();
    in_stretches<true>({x, nullptr, y, blockIdx.x / cluster_blocks, columns});
}
