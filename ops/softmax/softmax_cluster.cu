// Softmax with a cluster of eight blocks a row, on Hopper: the row stays in the
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

// A cluster that has a row. It arrives at the barrier when it starts: no block may
// write to another that has not started.
struct Cluster : Streamed {
    static constexpr unsigned threads = cluster_blocks * cluster_threads;
    static __device__ void started() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
    static __device__ unsigned id() { return rank_in_cluster() * cluster_threads + threadIdx.x; }
    static __device__ float max(float v) { return across_block<true, cluster_threads>(v); }
    static __device__ float sum(float v) { return across_block<false, cluster_threads>(v); }
};

// Every block sends its maximum and sum to all blocks, and each adds them up.
template <> __device__ Partial whole_of<Cluster>(Partial part) {
    __shared__ float maxima[cluster_blocks], sums[cluster_blocks];
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x < cluster_blocks) {
        send(&maxima[rank_in_cluster()], threadIdx.x, part.maximum);
        send(&sums[rank_in_cluster()], threadIdx.x, part.sum);
    }
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    Partial all = {minus_infinity(), 0};
#pragma unroll
    for (unsigned i = 0; i < cluster_blocks; i++) all.maximum = fmaxf(all.maximum, maxima[i]);
#pragma unroll
    for (unsigned i = 0; i < cluster_blocks; i++) all.sum += sums[i] * exponential(maxima[i] - shift_of(all.maximum));
    return all;
}

#define CLUSTER __cluster_dims__(cluster_blocks, 1, 1) __launch_bounds__(cluster_threads)

// A cluster has a row: of up to 131072 columns in registers.
extern "C" __global__ void CLUSTER softmax_cluster(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    Cluster::started();
    fitted<plain, Cluster, 16>({x, nullptr, y, blockIdx.x / cluster_blocks, columns});
}

// The logarithm, a cluster a row.
extern "C" __global__ void CLUSTER log_softmax_cluster(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    Cluster::started();
    fitted<logarithm, Cluster, 16>({x, nullptr, y, blockIdx.x / cluster_blocks, columns});
}

// The masked form, a cluster a row.
extern "C" __global__ void CLUSTER masked_softmax_cluster(const float* __restrict__ x, const unsigned char* __restrict__ mask, float* __restrict__ y, unsigned rows, unsigned columns) {
    Cluster::started();
    fitted<masked, Cluster, 16>({x, mask, y, blockIdx.x / cluster_blocks, columns});
}
