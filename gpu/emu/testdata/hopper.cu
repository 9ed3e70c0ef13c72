// Kernels of sm_90a with one mistake each, as in defects.cu, whose rules hold here
// too: the copy engine (TMA), mbarriers, clusters and warpgroup products. They were
// written before the checks that find them.

#define ARGUMENTS const int* x, int* y, int* z, int n
#define INDEX const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid; (void)i
#define CASE(name) template <bool ok> static __device__ __forceinline__ void name(ARGUMENTS)
#define PAIR(name) \
    extern "C" __global__ void bad_##name(ARGUMENTS) { name<false>(x, y, z, n); } \
    extern "C" __global__ void ok_##name(ARGUMENTS) { name<true>(x, y, z, n); }
#define PAIR_CLUSTER(name) \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) bad_##name(ARGUMENTS) { name<false>(x, y, z, n); } \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) ok_##name(ARGUMENTS) { name<true>(x, y, z, n); }

typedef unsigned long long u64;

static __device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void init(u64* b, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void expect(u64* b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void arrive(u64* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void load(void* to, const void* from, int bytes, u64* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory"); // defect, earlier: of the kernel that calls it
}
static __device__ __forceinline__ void store(void* to, const void* from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory"); // defect, earlier: of the kernel that calls it
}
static __device__ __forceinline__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ bool passed(u64* b, int parity) {
    unsigned done;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(b)), "r"(parity) : "memory"); // defect, earlier: of the kernel that calls it
    return done;
}
static __device__ __forceinline__ void wait(u64* b, int parity) { while (!passed(b, parity)) {} }
static __device__ __forceinline__ int rank() { int r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ unsigned peer(const void* p) {
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank() ^ 1)); // defect, earlier: of the kernel that calls it
    return a;
}
static __device__ __forceinline__ int read(unsigned a) { int v; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void write(unsigned a, int v) { asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void meet() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); } // defect, earlier: of the kernel that calls it

// Loads by the copy engine: 64 words a block.

#define TILE __shared__ __align__(128) int tile[64]; __shared__ u64 bar; const int* from = x + blockIdx.x * 64
#define READY if (tid == 0) init(&bar, 1), fence_init(); __syncthreads()

CASE(load_not_waited_for) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar); // earlier
    if (ok) wait(&bar, 0);
    else __syncthreads();
    y[i] = tile[tid]; // defect
}
PAIR(load_not_waited_for)

CASE(load_waited_for_by_one_thread) {
    INDEX; TILE; READY;
    if (tid == 0) {
        expect(&bar, 256), load(tile, from, 256, &bar); // defect, earlier
        wait(&bar, 0);
    }
    if (ok) __syncthreads();
    y[i] = tile[tid]; // defect, earlier
}
PAIR(load_waited_for_by_one_thread)

CASE(parity_of_the_first_phase) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar); // defect, earlier
    wait(&bar, ok ? 0 : 1);
    y[i] = tile[tid]; // defect, earlier
}
PAIR(parity_of_the_first_phase)

CASE(parity_never_flips) {
    INDEX; TILE; READY;
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar); // defect, earlier
        wait(&bar, ok ? k : 0);
        sum += tile[tid]; // defect, earlier
        __syncthreads();
    }
    y[i] = sum;
}
PAIR(parity_never_flips)

CASE(try_wait_is_no_wait) {
    INDEX; TILE; READY;
    if (tid == 0) load(tile, from, 256, &bar); // defect, earlier
    if (ok) {
        if (tid == 0) expect(&bar, 256);
        wait(&bar, 0);
    } else {
        passed(&bar, 0);
        if (tid == 0) expect(&bar, 256);
    }
    y[i] = tile[tid]; // defect, earlier
}
PAIR(try_wait_is_no_wait)

CASE(bytes_not_expected) {
    INDEX; TILE; READY;
    if (tid == 0) {
        if (ok) expect(&bar, 256);
        else arrive(&bar);
        load(tile, from, 256, &bar); // earlier
    }
    wait(&bar, 0);
    y[i] = tile[tid]; // defect
}
PAIR(bytes_not_expected)

CASE(words_expected_for_bytes) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, ok ? 256 : 64), load(tile, from, 256, &bar);
    wait(&bar, 0); // defect
    y[i] = tile[tid];
}
PAIR(words_expected_for_bytes)

CASE(more_expected_than_loaded) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, ok ? 256 : 512), load(tile, from, 256, &bar);
    wait(&bar, 0); // defect
    y[i] = tile[tid];
}
PAIR(more_expected_than_loaded)

CASE(every_thread_loads) {
    INDEX; TILE; READY;
    if (!ok || tid == 0) {
        if (tid == 0) expect(&bar, 256);
        load(tile, from, 256, &bar); // defect
    }
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(every_thread_loads)

CASE(every_thread_arrives) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar);
    else if (!ok) arrive(&bar); // defect, earlier
    wait(&bar, 0);
    y[i] = tile[tid]; // defect, earlier
}
PAIR(every_thread_arrives)

CASE(mbarrier_without_init) {
    INDEX; TILE;
    if (ok) {
        READY;
    }
    if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar); // defect
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(mbarrier_without_init)

CASE(init_without_fence) {
    INDEX; TILE;
    if (tid == 0) {
        init(&bar, 1); // earlier
        if (ok) fence_init();
    }
    __syncthreads();
    if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar); // defect
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(init_without_fence)

CASE(init_seen_by_one_warp) {
    INDEX; TILE;
    if (tid == 0) init(&bar, 1), fence_init();
    if (ok) __syncthreads();
    else __syncwarp();
    if (tid == 32) expect(&bar, 256), load(tile, from, 256, &bar); // defect
    if (!ok) __syncthreads();
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(init_seen_by_one_warp)

CASE(tile_refilled_before_read) {
    INDEX; TILE; READY;
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        if (tid == 0) expect(&bar, 256), load(tile, from, 256, &bar); // defect
        wait(&bar, k);
        sum += tile[tid]; // earlier
        if (ok) __syncthreads();
    }
    y[i] = sum;
}
PAIR(tile_refilled_before_read)

CASE(stage_released_before_read) {
    INDEX; TILE;
    __shared__ u64 empty;
    if (tid == 0) init(&bar, 1), init(&empty, 32), fence_init();
    __syncthreads();
    if (tid == 32)
        for (int k = 0; k < 2; k++) {
            if (k) wait(&empty, 0);
            expect(&bar, 256), load(tile, from, 256, &bar); // defect
        }
    if (tid < 32)
        for (int k = 0; k < 2; k++) {
            wait(&bar, k);
            if (!ok) arrive(&empty);
            y[blockIdx.x * 64 + tid] = tile[tid]; // earlier
            if (ok) arrive(&empty);
        }
}
PAIR(stage_released_before_read)

CASE(two_loads_overlap) {
    INDEX; TILE; READY;
    if (tid == 0) {
        expect(&bar, 256);
        load(tile, from, 128, &bar);
        load(tile + (ok ? 32 : 16), from, 128, &bar); // defect
    }
    wait(&bar, 0);
    if (ok || tid < 48) y[i] = tile[tid];
}
PAIR(two_loads_overlap)

CASE(stored_while_loading) {
    INDEX; TILE; READY;
    if (tid == 0) {
        if (ok) tile[0] = 0, fence_async();
        expect(&bar, 256), load(tile, from, 256, &bar); // earlier
        if (!ok) tile[0] = 0; // defect
    }
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(stored_while_loading)

CASE(load_past_the_tile) {
    INDEX; TILE; READY;
    if (tid == 0) {
        expect(&bar, ok ? 256 : 512);
        load(tile, x, ok ? 256 : 512, &bar); // defect
    }
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(load_past_the_tile)

CASE(load_past_the_buffer) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, 256), load(tile, from + (ok ? 0 : 16), 256, &bar); // defect
    wait(&bar, 0);
    y[i] = tile[tid];
}
PAIR(load_past_the_buffer)

CASE(load_from_odd_word) {
    INDEX; TILE; READY;
    if (tid == 0) expect(&bar, 240), load(tile, from + (ok ? 4 : 1), 240, &bar); // defect
    wait(&bar, 0);
    if (tid < 60) y[i] = tile[tid];
}
PAIR(load_from_odd_word)

CASE(exit_before_load_ends) {
    INDEX; TILE; READY;
    if (tid == 0) {
        expect(&bar, 256), load(tile, from, 256, &bar); // defect
        if (ok) wait(&bar, 0);
    }
    y[i] = tid;
}
PAIR(exit_before_load_ends)

// Stores by the copy engine.

#define OUT __shared__ __align__(128) int out[64]

CASE(store_without_fence) {
    INDEX; OUT;
    out[tid] = tid; // earlier
    if (ok) fence_async();
    __syncthreads();
    if (tid == 0) store(y + blockIdx.x * 64, out, 256), commit(), wait_read(); // defect
}
PAIR(store_without_fence)

CASE(store_before_barrier) {
    INDEX; OUT;
    out[tid] = tid; // earlier
    fence_async();
    if (ok) __syncthreads();
    if (tid == 0) store(y + blockIdx.x * 64, out, 256), commit(), wait_read(); // defect
}
PAIR(store_before_barrier)

CASE(source_written_again) {
    INDEX; OUT;
    out[tid] = tid;
    fence_async();
    __syncthreads();
    if (tid == 0) {
        store(y + blockIdx.x * 64, out, 256), commit(); // defect
        if (ok) wait_read();
        out[0] = 99;
        if (!ok) wait_read();
    }
}
PAIR(source_written_again)

CASE(source_written_by_another) {
    INDEX; OUT;
    out[tid] = tid;
    fence_async();
    __syncthreads();
    if (tid == 0) {
        store(y + blockIdx.x * 64, out, 256), commit(); // defect
        if (ok) wait_read();
    }
    __syncthreads();
    out[tid] = 0;
    __syncthreads();
    if (tid == 0 && !ok) wait_read();
    if (z == 0) y[0] = out[tid];
}
PAIR(source_written_by_another)

CASE(store_without_commit) {
    INDEX; OUT;
    out[tid] = tid;
    fence_async();
    __syncthreads();
    if (tid == 0) {
        store(y + blockIdx.x * 64, out, 256); // defect
        if (ok) commit();
        wait_read();
    }
}
PAIR(store_without_commit)

CASE(exit_before_store_reads) {
    INDEX; OUT;
    out[tid] = tid;
    fence_async();
    __syncthreads();
    if (tid == 0) {
        store(y + blockIdx.x * 64, out, 256), commit(); // defect
        if (ok) wait_read();
    }
}
PAIR(exit_before_store_reads)

// Clusters.

CASE(peer_read_before_it_wrote) {
    INDEX;
    __shared__ int s[64];
    s[tid] = tid; // defect, earlier
    if (ok) meet();
    else __syncthreads();
    y[i] = read(peer(s + tid)); // defect, earlier
    meet();
}
PAIR_CLUSTER(peer_read_before_it_wrote)

CASE(exit_before_peer_reads) {
    INDEX;
    __shared__ int s[64];
    s[tid] = tid;
    meet();
    y[i] = read(peer(s + tid)); // defect
    if (ok) meet();
}
PAIR_CLUSTER(exit_before_peer_reads)

CASE(peer_written_without_barrier) {
    INDEX;
    __shared__ int s[64];
    s[tid] = 0; // defect, earlier
    meet();
    write(peer(s + tid), tid); // defect, earlier
    if (ok) meet();
    y[i] = s[tid]; // defect, earlier
    if (!ok) meet();
}
PAIR_CLUSTER(peer_written_without_barrier)

CASE(rank_past_the_cluster) {
    INDEX;
    __shared__ int s[64];
    s[tid] = tid;
    meet();
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(s + tid)), "r"(ok ? rank() ^ 1 : rank() + 1)); // defect
    y[i] = read(a);
    meet();
}
PAIR_CLUSTER(rank_past_the_cluster)

CASE(remote_words_not_expected) {
    INDEX;
    __shared__ __align__(16) int s[64];
    __shared__ u64 bar;
    if (tid == 0) init(&bar, 1), fence_init();
    meet();
    if (tid == 0) {
        if (ok) expect(&bar, 256);
        else arrive(&bar);
    }
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(peer(s + tid)), "r"(tid), "r"(peer(&bar)) : "memory"); // earlier
    wait(&bar, 0);
    y[i] = s[tid]; // defect
    meet();
}
PAIR_CLUSTER(remote_words_not_expected)

// Products of a warpgroup: 64 x 8 sums of 64 x 16 by 16 x 8 halves.

#define FACTORS __shared__ __align__(1024) unsigned short a[1024], b[128]; for (int k = tid; k < 1024; k += 128) a[k] = 0x3c00, b[k % 128] = 0x3c00 // earlier
#define SUMS float d0 = 0, d1 = 0, d2 = 0, d3 = 0
static __device__ __forceinline__ u64 describe(const void* p, int leading) { return (u64)(at(p) >> 4) | (u64)(leading >> 4) << 16 | (u64)(128 >> 4) << 32; }
static __device__ __forceinline__ void fence_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); } // defect, earlier: of the kernel that calls it
static __device__ __forceinline__ void wait_group() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); } // defect, earlier: of the kernel that calls it
#define MULTIPLY asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(describe(a, 1024)), "l"(describe(b, 128)))

CASE(factors_without_fence) {
    INDEX; FACTORS;
    SUMS;
    if (ok) fence_async();
    __syncthreads();
    fence_group();
    MULTIPLY; // defect
    commit_group(), wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3);
}
PAIR(factors_without_fence)

CASE(sums_read_before_wait) {
    INDEX; FACTORS;
    SUMS;
    fence_async();
    __syncthreads();
    fence_group();
    MULTIPLY; // earlier
    commit_group();
    if (ok) wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3); // defect
    if (!ok) wait_group();
}
PAIR(sums_read_before_wait)

CASE(sums_not_committed) {
    INDEX; FACTORS;
    SUMS;
    fence_async();
    __syncthreads();
    fence_group();
    MULTIPLY; // earlier
    if (ok) commit_group();
    wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3); // defect
}
PAIR(sums_not_committed)

CASE(product_without_fence) {
    INDEX; FACTORS;
    SUMS;
    fence_async();
    __syncthreads();
    if (ok) fence_group();
    MULTIPLY; // defect
    commit_group(), wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3);
}
PAIR(product_without_fence)

CASE(sums_scaled_before_wait) {
    INDEX; FACTORS;
    SUMS;
    fence_async();
    __syncthreads();
    fence_group();
    MULTIPLY; // earlier
    commit_group();
    if (ok) wait_group();
    d0 *= 2, d1 *= 2, d2 *= 2, d3 *= 2; // defect
    fence_group();
    MULTIPLY;
    commit_group(), wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3);
}
PAIR(sums_scaled_before_wait)

CASE(sums_scaled_without_fence) {
    INDEX; FACTORS;
    SUMS;
    fence_async();
    __syncthreads();
    fence_group();
    MULTIPLY;
    commit_group(), wait_group();
    d0 *= 2, d1 *= 2, d2 *= 2, d3 *= 2;
    if (ok) fence_group();
    MULTIPLY; // defect
    commit_group(), wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3);
}
PAIR(sums_scaled_without_fence)

CASE(factors_overwritten_before_wait) {
    INDEX; FACTORS;
    SUMS;
    fence_async();
    __syncthreads();
    fence_group();
    MULTIPLY; // defect
    commit_group();
    if (ok) wait_group();
    __syncthreads();
    a[tid] = 0; // earlier
    __syncthreads();
    if (!ok) wait_group();
    y[i] = (int)(d0 + d1 + d2 + d3);
    if (z == 0) y[0] = a[n];
}
PAIR(factors_overwritten_before_wait)
