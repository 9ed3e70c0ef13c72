// Histograms of more bins than 48 KiB of shared memory have words for: Hopper has 227
// KiB per block, and blocks of a cluster reach each other's.

// Counters of 16 bits, two in a word. A counter that reaches 2^15 gives 2^15 to the global
// one before it can pass 2^16: of the 1024 threads each has at most one addition on its
// way, and one of them alone sees the old number 2^15 - 1.
static __device__ void add_u16(unsigned* table, unsigned* __restrict__ counts, unsigned v) {
    unsigned half = v % 2 * 16, old = atomicAdd(&table[v / 2], 1u << half);
    if ((old >> half & 0xffff) == 0x7fff) {
        atomicSub(&table[v / 2], 0x8000u << half);
        atomicAdd(&counts[v], 0x8000);
    }
}

// Adds the counters of 16 bits of the block to the global ones.
static __device__ void publish_u16(const unsigned* table, unsigned* __restrict__ counts, unsigned bins) {
    for (unsigned v = threadIdx.x; v < bins; v += 1024) {
        unsigned sum = table[v / 2] >> v % 2 * 16 & 0xffff;
        if (sum) atomicAdd(&counts[v], sum);
    }
}

// 65536 bins of 16 bits fit one block.
extern "C" __global__ void __launch_bounds__(1024) histogram_u16_counters(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < (bins + 1) / 2; i += 1024) table[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
        unsigned v = x[i];
        if (v < bins) add_u16(table, counts, v);
        else atomicAdd(dropped, 1);
    }
    __syncthreads();
    publish_u16(table, counts, bins);
}

// Passes each element to add in loads of 16 bytes, four per thread; the next four are in
// flight meanwhile.
template <class Add>
static __device__ void each(const int* __restrict__ x, unsigned n, Add add) {
    unsigned vectors = (size_t)x % 16 == 0 ? n / 4 : 0, stride = gridDim.x * 4096;
    const int4* x4 = (const int4*)x;
    int4 now[4], next[4];
    unsigned i = blockIdx.x * 4096 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (i + k * 1024 < vectors) now[k] = __ldcs(x4 + i + k * 1024);
    for (; i < vectors; i += stride) {
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            if (i + stride + k * 1024 < vectors) next[k] = __ldcs(x4 + i + stride + k * 1024);
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            if (i + k * 1024 < vectors) add(now[k].x), add(now[k].y), add(now[k].z), add(now[k].w);
            now[k] = next[k];
        }
    }
    for (i = vectors * 4 + blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) add(x[i]);
}

// Loads of 16 bytes, and the next in flight while these are counted.
extern "C" __global__ void __launch_bounds__(1024) histogram_u16_prefetch(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < (bins + 1) / 2; i += 1024) table[i] = 0;
    __syncthreads();
    each(x, n, [&](unsigned v) {
        if (v < bins) add_u16(table, counts, v);
        else atomicAdd(dropped, 1);
    });
    __syncthreads();
    publish_u16(table, counts, bins);
}

// Counters of 32 bits: no addition needs the old number, and none can overflow.
extern "C" __global__ void __launch_bounds__(1024) histogram_wide(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    for (unsigned v = threadIdx.x; v < bins; v += 1024) table[v] = 0;
    __syncthreads();
    each(x, n, [&](unsigned v) {
        if (v < bins) atomicAdd(&table[v], 1);
        else atomicAdd(dropped, 1);
    });
    __syncthreads();
    for (unsigned v = threadIdx.x; v < bins; v += 1024)
        if (table[v]) atomicAdd(&counts[v], table[v]);
}

static __device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// The counters of 32 bits are spread over the four blocks of a cluster: a thread adds to
// the block that has the bin.
extern "C" __global__ void __launch_bounds__(1024) __cluster_dims__(4, 1, 1) histogram_cluster(const int* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ dropped, unsigned n, unsigned bins) {
    extern __shared__ unsigned table[];
    unsigned own = (bins + 3) / 4, start = blockIdx.x % 4 * own;
    for (unsigned i = threadIdx.x; i < own; i += 1024) table[i] = 0;
    cluster_sync();
    unsigned base = (unsigned)__cvta_generic_to_shared(table);
    for (unsigned i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
        unsigned v = x[i];
        if (v < bins) asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; red.shared::cluster.add.u32 [there], 1;}" ::"r"(base + v % own * 4), "r"(v / own) : "memory");
        else atomicAdd(dropped, 1);
    }
    cluster_sync();
    for (unsigned i = threadIdx.x; i < own && start + i < bins; i += 1024)
        if (table[i]) atomicAdd(&counts[start + i], table[i]);
}
