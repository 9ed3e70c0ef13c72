// Hopper's own instructions: the copy engine (TMA) brings boxes of a matrix to
// shared memory, a warpgroup of four warps multiplies them there (wgmma), and
// barriers in shared memory hand them over, between the blocks of a cluster too.

struct alignas(64) TensorMap { unsigned long long words[16]; };

static __device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

static __device__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Arrives at the barrier of the block of that rank in the cluster. It hands over
// nothing that this thread has written: .release.cluster would wait each time until
// the whole GPU sees all of its writes.
static __device__ void barrier_arrive(unsigned barrier, unsigned rank) {
    asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier), "r"(rank) : "memory");
}

static __device__ void barrier_wait(unsigned barrier, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(barrier), "r"(phase) : "memory");
}

// Fetches a map before its first copy needs it.
static __device__ void prefetch(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// Copies a box whose corner is at column x and row y.
static __device__ void copy_box(unsigned to, const TensorMap& map, unsigned x, unsigned y, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

// The same, to the same place in each block of the cluster that mask names.
static __device__ void copy_box_to(unsigned to, const TensorMap& map, unsigned x, unsigned y, unsigned barrier, unsigned short mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(mask) : "memory");
}

// Copies a box from shared memory, as far as it lies inside of the matrix.
static __device__ void store_box(const TensorMap& map, unsigned x, unsigned y, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
}

// Ends a group of stores; waits until the copy engine has read what all groups store
// but those pending last.
static __device__ void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int pending> static __device__ void store_wait() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory"); }

// Lets the copy engine see what threads wrote to shared memory.
static __device__ void store_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// What wgmma is told of a tile in shared memory with rows of 128 bytes, whose
// vectors of 16 bytes are exchanged by the copy engine against bank conflicts.
static __device__ unsigned long long tile_at(unsigned at, unsigned leading, unsigned stride) {
    return (unsigned long long)(at >> 4 & 0x3fff) | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 | 1ull << 62;
}

static __device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending> static __device__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory"); }

// The names of ten operands of wgmma in its text, from TENS 0 on, and the sums that
// eight and 64 of them are.
#define TEN(tens) "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens "6, %" #tens "7, %" #tens "8, %" #tens "9, "
#define SUMS8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS64(d, i) SUMS8(d, i), SUMS8(d, i + 8), SUMS8(d, i + 16), SUMS8(d, i + 24), SUMS8(d, i + 32), SUMS8(d, i + 40), SUMS8(d, i + 48), SUMS8(d, i + 56)

// 64 x 256 of D from 64 x 16 of A, rows along k, and 16 x 256 of B, rows along n.
#define WGMMA16(type)                                                                                                                 \
    static __device__ void wgmma_##type(float (&d)[128], unsigned long long a, unsigned long long b, int add) {                       \
        asm volatile("{.reg .pred add; setp.ne.b32 add, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32." #type "." #type " {"   \
                     TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11)                             \
                     "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, add, 1, 1, 0, 1;}"                                 \
                     : SUMS64(d, 0), SUMS64(d, 64) : "l"(a), "l"(b), "r"(add));                                                       \
    }
WGMMA16(bf16)
WGMMA16(f16)

// 64 x 128 of D from 64 x 16 of A and 16 x 128 of B, so too.
#define WGMMA16_128(type)                                                                                                             \
    static __device__ void wgmma_##type(float (&d)[64], unsigned long long a, unsigned long long b, int add) {                        \
        asm volatile("{.reg .pred add; setp.ne.b32 add, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32." #type "." #type " {"    \
                     TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60, %61, %62, %63}, %64, %65, add, 1, 1, 0, 1;}"                      \
                     : SUMS64(d, 0) : "l"(a), "l"(b), "r"(add));                                                                      \
    }
WGMMA16_128(bf16)
WGMMA16_128(f16)

// 64 x 256 of D from 64 x 8 of A in registers and 8 x 256 of B, rows along k.
static __device__ void wgmma_tf32(float (&d)[128], const unsigned (&a)[4], unsigned long long b, int add) {
    asm volatile("{.reg .pred add; setp.ne.b32 add, %133, 0; wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {"
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11)
                 "%120, %121, %122, %123, %124, %125, %126, %127}, {%128, %129, %130, %131}, %132, add, 1, 1;}"
                 : SUMS64(d, 0), SUMS64(d, 64) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

// 64 x 128 of D from 64 x 8 of A in registers and 8 x 128 of B, so too.
static __device__ void wgmma_tf32(float (&d)[64], const unsigned (&a)[4], unsigned long long b, int add) {
    asm volatile("{.reg .pred add; setp.ne.b32 add, %69, 0; wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"
                 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60, %61, %62, %63}, {%64, %65, %66, %67}, %68, add, 1, 1;}"
                 : SUMS64(d, 0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

static __device__ unsigned rank_in_cluster() {
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

// Waits for the other blocks of the cluster, and hands over nothing that they wrote.
static __device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Is true in one lane of a warp.
static __device__ bool elected() {
    unsigned p;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(p));
    return p;
}
