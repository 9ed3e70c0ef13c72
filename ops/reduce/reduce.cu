// Sums of float32: y[0] = x[0] + ... + x[n-1].
//
// Each rung makes one change to the rung before it. Unless a kernel says
// otherwise it writes the sum of its block to y[blockIdx.x], and is launched
// again on these sums until one is left. Every rung takes any n below 2^31:
// indices are unsigned, so that the first index past the end still fits.

#include <cooperative_groups.h>

// One thread adds everything.
extern "C" __global__ void reduce_serial(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += x[i];
    *y = sum;
}

// A block adds 256 elements as a tree in shared memory, neighbours first.
extern "C" __global__ void reduce_v0_interleaved(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * 256 + tid;
    s[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (tid % (2 * step) == 0) s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}

// The threads that add are neighbours, so that whole warps go idle.
extern "C" __global__ void reduce_v1_strided_index(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * 256 + tid;
    s[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        unsigned index = 2 * step * tid;
        if (index < blockDim.x) s[index] += s[index + step];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}

// The elements that are added lie side by side, so that no banks conflict.
extern "C" __global__ void reduce_v2_sequential(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * 256 + tid;
    s[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (tid < step) s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}

// Each thread adds two elements while it loads them: half the blocks.
extern "C" __global__ void reduce_v3_first_add(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * 512 + tid;
    s[tid] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (tid < step) s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}

// Adds s[0] to s[63] within one warp. Between a read and the write of what
// another lane reads stands a __syncwarp: lanes do not run in lockstep.
static __device__ void last_warp(volatile float* s, unsigned lane) {
    float sum = s[lane];
    sum += s[lane + 32]; __syncwarp(); s[lane] = sum; __syncwarp();
    sum += s[lane + 16]; __syncwarp(); s[lane] = sum; __syncwarp();
    sum += s[lane + 8];  __syncwarp(); s[lane] = sum; __syncwarp();
    sum += s[lane + 4];  __syncwarp(); s[lane] = sum; __syncwarp();
    sum += s[lane + 2];  __syncwarp(); s[lane] = sum; __syncwarp();
    sum += s[lane + 1];  __syncwarp(); s[lane] = sum; __syncwarp();
}

// The last warp synchronises itself, not the block.
extern "C" __global__ void reduce_v4_last_warp(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * 512 + tid;
    s[tid] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 32; step /= 2) {
        if (tid < step) s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid < 32) last_warp(s, tid);
    if (tid == 0) y[blockIdx.x] = s[0];
}

// Adds s[0] to s[255] into s[0], for a block of 256 threads.
static __device__ void unrolled(float* s, unsigned tid) {
    if (tid < 128) s[tid] += s[tid + 128];
    __syncthreads();
    if (tid < 64) s[tid] += s[tid + 64];
    __syncthreads();
    if (tid < 32) last_warp(s, tid);
}

// The loop is gone: the size of the block is known to the compiler.
extern "C" __global__ void reduce_v5_unrolled(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * 512 + tid;
    s[tid] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
    __syncthreads();
    unrolled(s, tid);
    if (tid == 0) y[blockIdx.x] = s[0];
}

// The sum of every element that this thread comes to when all threads of the
// grid walk over x together.
static __device__ float grid_stride(const float* __restrict__ x, unsigned n) {
    float sum = 0;
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) sum += x[i];
    return sum;
}

static __device__ void v6_grid_stride(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    s[tid] = grid_stride(x, n);
    __syncthreads();
    unrolled(s, tid);
    if (tid == 0) y[blockIdx.x] = s[0];
}

// Few blocks walk over x with the stride of the grid ...
extern "C" __global__ void reduce_v6_grid_stride(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    v6_grid_stride(x, y, n);
}

// ... and one block adds their sums.
extern "C" __global__ void reduce_v6_grid_stride_2(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    v6_grid_stride(x, y, n);
}

// The sum over the warp, in lane 0.
static __device__ float warp_sum(float sum) {
    for (unsigned offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    return sum;
}

// The sum over a block of up to 1024 threads, in thread 0.
static __device__ float block_sum(float sum) {
    __shared__ float sums[32]; // (warps)
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) sum = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
    return sum;
}

// Lanes pass registers to each other; shared memory holds one sum per warp.
extern "C" __global__ void reduce_warp_shuffle(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = block_sum(grid_stride(x, n));
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// The tree of v2 in global memory, on a copy w of x: w has whole blocks.
extern "C" __global__ void reduce_global(const float* __restrict__ x, float* w, float* __restrict__ y, unsigned n) {
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    w += blockIdx.x * blockDim.x;
    w[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (tid < offset) w[tid] += w[tid + offset];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = w[0];
}

// The tree moves to shared memory, of a size that the compiler knows.
extern "C" __global__ void reduce_shared_static(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[128];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    s[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (tid < offset) s[tid] += s[tid + offset];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}

extern __shared__ float dynamic[]; // (blockDim.x)

// The launch names the size of the shared memory.
extern "C" __global__ void reduce_shared_dynamic(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float* s = dynamic;
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    s[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (tid < offset) s[tid] += s[tid + offset];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = s[0];
}

// Adds the elements of the block that have the same lane: what is left for
// the rungs below is s[0] to s[31].
static __device__ void sum_lanes(float* s, float value) {
    unsigned tid = threadIdx.x;
    s[tid] = value;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset >= 32; offset /= 2) {
        if (tid < offset) s[tid] += s[tid + offset];
        __syncthreads();
    }
}

// The last five steps synchronise a warp; block sums meet in y[0], which the
// launch sets to 0.
extern "C" __global__ void reduce_syncwarp(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float* s = dynamic;
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sum_lanes(s, i < n ? x[i] : 0);
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        if (tid < offset) s[tid] += s[tid + offset];
        __syncwarp();
    }
    if (tid == 0) atomicAdd(y, s[0]);
}

// The last five steps are shuffles.
extern "C" __global__ void reduce_shfl_down(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float* s = dynamic;
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sum_lanes(s, i < n ? x[i] : 0);
    float sum = s[tid];
    for (unsigned offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (tid == 0) atomicAdd(y, sum);
}

// Lanes exchange values, so that every lane ends with the sum.
extern "C" __global__ void reduce_shfl_xor(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float* s = dynamic;
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sum_lanes(s, i < n ? x[i] : 0);
    float sum = s[tid];
    for (unsigned offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (tid == 0) atomicAdd(y, sum);
}

namespace cg = cooperative_groups;

// The warp is a tile of 32 threads, and shuffles need no mask.
extern "C" __global__ void reduce_cooperative_groups(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float* s = dynamic;
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sum_lanes(s, i < n ? x[i] : 0);
    float sum = s[tid];
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
    if (tid == 0) atomicAdd(y, sum);
}

// Block sums wait here between the passes, so that no launch allocates. Two
// launches of the rung at the same time would share it: use one stream.
__device__ float reduce_two_pass_sums[10240];

static __device__ float tile_sum(float value) {
    float* s = dynamic;
    sum_lanes(s, value);
    float sum = s[threadIdx.x];
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
    return sum;
}

// A grid of at most 10240 blocks strides over x, then one block adds its sums.
extern "C" __global__ void reduce_two_pass(const float* __restrict__ x, unsigned n) {
    float sum = tile_sum(grid_stride(x, n));
    if (threadIdx.x == 0) reduce_two_pass_sums[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_two_pass_2(float* __restrict__ y, unsigned n) {
    float sum = tile_sum(grid_stride(reduce_two_pass_sums, n));
    if (threadIdx.x == 0) *y = sum;
}

static __device__ void add(float4& sum, float4 a) {
    sum.x += a.x; sum.y += a.y; sum.z += a.z; sum.w += a.w;
}

// Loads a vector by the read-only path.
struct Plain {
    __device__ float4 operator()(const float4* at) const { return __ldg(at); }
};

// The sum of every float4 that this thread comes to, so many loads in flight, and
// of at most one element before the first and one after the last float4. A block
// of 512 threads takes tiles of loads times as many, which lie side by side.
template <unsigned loads, typename Load>
static __device__ float tiles_float4(const float* __restrict__ x, unsigned n, Load load) {
    const unsigned threads = 512;
    unsigned thread = blockIdx.x * threads + threadIdx.x, step = gridDim.x * threads * loads;
    unsigned head = min(n, (unsigned)(-(size_t)x / sizeof(float)) % 4); // to the next 16 bytes
    unsigned vectors = (n - head) / 4, tail = head + 4 * vectors;
    const float4* v = (const float4*)(x + head);
    float4 sums[loads] = {};
    unsigned i = blockIdx.x * threads * loads + threadIdx.x;
    for (; i + (loads - 1) * threads < vectors; i += step) {
        float4 a[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++) a[k] = load(v + i + k * threads);
#pragma unroll
        for (unsigned k = 0; k < loads; k++) add(sums[k], a[k]);
    }
    float4 a[loads] = {}; // what is left of the last tile, in flight at once too
#pragma unroll
    for (unsigned k = 0; k < loads; k++) if (i + k * threads < vectors) a[k] = load(v + i + k * threads);
#pragma unroll
    for (unsigned k = 0; k < loads; k++) add(sums[k], a[k]);
    if (thread < head) sums[0].x += x[thread];
    if (thread < n - tail) sums[0].y += x[tail + thread];
#pragma unroll
    for (unsigned k = 1; k < loads; k++) add(sums[0], sums[k]);
    return (sums[0].x + sums[0].y) + (sums[0].z + sums[0].w);
}

// Three quarters of the threads that a device holds, each with wide loads in flight.
extern "C" __global__ void reduce_bandwidth(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = block_sum(tiles_float4<4>(x, n, Plain()));
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_bandwidth_2(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = block_sum(grid_stride(x, n));
    if (threadIdx.x == 0) *y = sum;
}

// Takes a ticket with a fence on each side: whoever sees the ticket sees the sum.
struct Fenced {
    __device__ unsigned operator()(unsigned* ticket) const {
        __threadfence();
        unsigned taken = atomicInc(ticket, gridDim.x - 1);
        __threadfence();
        return taken;
    }
};

// Takes a ticket with one atomic that releases this block's sum and acquires those
// of the blocks before it.
struct AcquireRelease {
    __device__ unsigned operator()(unsigned* ticket) const {
        unsigned taken;
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(taken) : "l"(ticket), "r"(gridDim.x - 1) : "memory");
        return taken;
    }
};

// Writes the sum of the block to sums[blockIdx.x]; the block that comes last
// adds these, in their order, and writes y[0]. The ticket is 0 before a launch,
// and the last block makes it 0 again.
template <typename Take>
static __device__ void last_block_sum(float sum, float* sums, float* y, unsigned* ticket, Take take) {
    __shared__ bool last;
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        last = take(ticket) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += __ldcg(sums + i); // L1 may hold old ones
    sum = block_sum(sum);
    if (threadIdx.x == 0) *y = sum;
}

// Asks for the ticket's line early: from memory it takes as long as a block
// takes to end.
static __device__ void fetch(unsigned* ticket) {
    if (threadIdx.x == 0) asm volatile("prefetch.global.L2 [%0];" :: "l"(ticket));
}

// Two launches of the rung at the same time would share it: use one stream.
__device__ unsigned reduce_last_block_ticket;

// The last block to finish adds the sums of all: one launch.
extern "C" __global__ void reduce_last_block(const float* __restrict__ x, float* sums, float* y, unsigned n) {
    fetch(&reduce_last_block_ticket);
    last_block_sum(tiles_float4<4>(x, n, Plain()), sums, y, &reduce_last_block_ticket, Fenced());
}

__device__ unsigned reduce_acquire_release_ticket;

// One atomic orders the sums; no fence waits for every store of the block.
extern "C" __global__ void reduce_acquire_release(const float* __restrict__ x, float* sums, float* y, unsigned n) {
    fetch(&reduce_acquire_release_ticket);
    last_block_sum(tiles_float4<4>(x, n, Plain()), sums, y, &reduce_acquire_release_ticket, AcquireRelease());
}

// Loads a vector by the read-only path and leaves nothing of it in L1.
struct PastL1 {
    __device__ float4 operator()(const float4* at) const {
        float4 a;
        asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(a.x), "=f"(a.y), "=f"(a.z), "=f"(a.w) : "l"(at));
        return a;
    }
};

__device__ unsigned reduce_eight_loads_ticket;

// Twice the loads in flight in two thirds of the threads: fewer blocks end, and
// the last one adds fewer sums.
extern "C" __global__ void reduce_eight_loads(const float* __restrict__ x, float* sums, float* y, unsigned n) {
    fetch(&reduce_eight_loads_ticket);
    last_block_sum(tiles_float4<8>(x, n, PastL1()), sums, y, &reduce_eight_loads_ticket, AcquireRelease());
}

#if __CUDA_ARCH__ >= 800

// Loads a vector with a policy for L2, past L1.
struct Hinted {
    unsigned long long policy;

    __device__ float4 operator()(const float4* at) const {
        float4 a;
        asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=f"(a.x), "=f"(a.y), "=f"(a.z), "=f"(a.w) : "l"(at), "l"(policy));
        return a;
    }
};

__device__ unsigned reduce_l2_resident_ticket;

// Of the lines of x a share is evicted last and the rest first, so that the
// share is still in L2 when x is read again.
extern "C" __global__ void reduce_l2_resident(const float* __restrict__ x, float* sums, float* y, unsigned n, float share) {
    Hinted load;
    fetch(&reduce_l2_resident_ticket);
    asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;" : "=l"(load.policy) : "f"(share));
    last_block_sum(tiles_float4<4>(x, n, load), sums, y, &reduce_l2_resident_ticket, Fenced());
}

#endif
