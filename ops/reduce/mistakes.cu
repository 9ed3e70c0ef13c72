// The reduce kernels of the notes where they are wrong, as they stand there:
// only names and the last launch are ours. reduce.cu holds the corrected ones,
// reduce_mistakes.go what is wrong with each and which check finds it.

#include <cooperative_groups.h>

// Adds what a kernel left in one sum per block. One block, correct.
extern "C" __global__ void block_sums(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    float sum = 0;
    for (unsigned i = tid; i < n; i += 256) sum += x[i];
    s[tid] = sum;
    __syncthreads();
    for (unsigned step = 128; step > 0; step /= 2) {
        if (tid < step) s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0) *y = s[0];
}

// Every block loads the first 256 elements.
extern "C" __global__ void mistake_block_offset(float* d_in, float* d_out) {
    __shared__ float smem[256];
    int tid = threadIdx.x;
    smem[tid] = d_in[tid];
    __syncthreads();
    for (int index = 1; index < blockDim.x; index *= 2) {
        if (tid % (2 * index) == 0) smem[tid] += smem[tid + index];
        __syncthreads();
    }
    if (tid == 0) d_out[blockIdx.x] = smem[0];
}

// n is a parameter that nothing looks at.
extern "C" __global__ void mistake_bounds_one_element(float* nums, float* res, unsigned n) {
    __shared__ float shared[256];
    int tx = threadIdx.x;
    int id = blockDim.x * blockIdx.x + threadIdx.x;
    shared[tx] = nums[id];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (tx % (stride * 2) == 0) shared[tx] += shared[tx + stride];
        __syncthreads();
    }
    if (tx == 0) atomicAdd(res, shared[0]);
}

// Two elements per thread: up to 511 past the end.
extern "C" __global__ void mistake_bounds_two_elements(float* nums, float* res, unsigned n) {
    __shared__ float shared[256];
    int tx = threadIdx.x;
    int id = blockDim.x * blockIdx.x * 2 + threadIdx.x;
    shared[tx] = nums[id] + nums[id + blockDim.x];
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        if (tx < stride) shared[tx] += shared[tx + stride];
        __syncthreads();
    }
    if (tx == 0) atomicAdd(res, shared[0]);
}

// The last warp relies on volatile and on lockstep.
extern "C" __global__ void mistake_no_syncwarp(float* d_in, float* d_out) {
    __shared__ float smem[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    smem[tid] = d_in[i] + d_in[i + blockDim.x];
    __syncthreads();
    if (tid < 128) smem[tid] += smem[tid + 128];
    __syncthreads();
    if (tid < 64) smem[tid] += smem[tid + 64];
    __syncthreads();
    if (tid < 32) {
        volatile float* vshm = smem;
        if (blockDim.x >= 64) vshm[tid] += vshm[tid + 32];
        vshm[tid] += vshm[tid + 16];
        vshm[tid] += vshm[tid + 8];
        vshm[tid] += vshm[tid + 4];
        vshm[tid] += vshm[tid + 2];
        vshm[tid] += vshm[tid + 1];
    }
    if (tid == 0) d_out[blockIdx.x] = smem[0];
}

// The last warp relies on lockstep alone: the compiler may read before other
// lanes have written.
static __device__ void last_warp(float* shared, int tx) {
    shared[tx] += shared[tx + 32];
    shared[tx] += shared[tx + 16];
    shared[tx] += shared[tx + 8];
    shared[tx] += shared[tx + 4];
    shared[tx] += shared[tx + 2];
    shared[tx] += shared[tx + 1];
}

extern "C" __global__ void mistake_no_volatile_loop(float* nums, float* res, unsigned n) {
    __shared__ float shared[256];
    int tx = threadIdx.x;
    int id = blockDim.x * blockIdx.x * 2 + threadIdx.x;
    shared[tx] = nums[id] + nums[id + blockDim.x];
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tx < stride) shared[tx] += shared[tx + stride];
        __syncthreads();
    }
    if (tx < 32) last_warp(shared, tx);
    if (tx == 0) atomicAdd(res, shared[0]);
}

extern "C" __global__ void mistake_no_volatile_unrolled(float* nums, float* res, unsigned n) {
    __shared__ float shared[256];
    int tx = threadIdx.x;
    int id = blockDim.x * blockIdx.x * 2 + threadIdx.x;
    shared[tx] = nums[id] + nums[id + blockDim.x];
    __syncthreads();
    int blockSize = blockDim.x;
    if (blockSize >= 512 && tx < 256) shared[tx] += shared[tx + 256];
    __syncthreads();
    if (blockSize >= 256 && tx < 128) shared[tx] += shared[tx + 128];
    __syncthreads();
    if (blockSize >= 128 && tx < 64) shared[tx] += shared[tx + 64];
    __syncthreads();
    if (tx < 32) last_warp(shared, tx);
    if (tx == 0) atomicAdd(res, shared[0]);
}

// The tree of the block, in global memory: what it adds into is the input.
extern "C" __global__ void mistake_destroys_input(float* d_x, float* d_y) {
    const int tid = threadIdx.x;
    float* x = d_x + blockDim.x * blockIdx.x;
    for (int half_block = blockDim.x >> 1; half_block > 0; half_block >>= 1) {
        if (tid < half_block) x[tid] += x[tid + half_block];
        __syncthreads();
    }
    if (tid == 0) d_y[blockIdx.x] = x[0];
}

extern __shared__ float s_y[]; // (blockDim.x)

static __device__ void load(const float* d_x, int n, int N) {
    const int tid = threadIdx.x;
    s_y[tid] = (n < N) ? d_x[n] : 0.0f;
    __syncthreads();
    for (int offset = blockDim.x >> 1; offset >= 32; offset >>= 1) {
        if (tid < offset) s_y[tid] += s_y[tid + offset];
        __syncthreads();
    }
}

// The mask lacks a digit: lanes 28 to 31 wait for a barrier they are not in.
extern "C" __global__ void mistake_mask_28_bits(const float* d_x, float* d_y, const int N) {
    const int tid = threadIdx.x;
    load(d_x, blockIdx.x * blockDim.x + tid, N);
    for (int offset = 16; offset > 0; offset >>= 1) {
        if (tid < offset) s_y[tid] += s_y[tid + offset];
        __syncwarp(0xfffffff);
    }
    if (tid == 0) atomicAdd(d_y, s_y[0]);
}

// The correction reads into v, which nothing uses, and reads again while
// others write; and all threads run, past the end of s_y.
extern "C" __global__ void mistake_two_syncwarps(const float* d_x, float* d_y, const int N) {
    const int tid = threadIdx.x;
    load(d_x, blockIdx.x * blockDim.x + tid, N);
    float v = 0;
    for (int offset = 16; offset > 0; offset >>= 1) {
        v += s_y[tid + offset];
        __syncwarp();
        s_y[tid] += s_y[tid + offset];
        __syncwarp();
    }
    if (tid == 0) atomicAdd(d_y, s_y[0]);
}

using namespace cooperative_groups;

// The first shuffle asks for lane + 32, which is the lane itself.
extern "C" __global__ void mistake_shuffle_from_32(const float* d_x, float* d_y, const int N) {
    const int tid = threadIdx.x;
    const int stride = blockDim.x * gridDim.x;
    float temp = 0.0;
    for (int n = blockIdx.x * blockDim.x + tid; n < N; n += stride) temp += d_x[n];
    s_y[tid] = temp;
    __syncthreads();
    for (int offset = blockDim.x >> 1; offset >= 32; offset >>= 1) {
        if (tid < offset) s_y[tid] += s_y[tid + offset];
        __syncthreads();
    }
    temp = s_y[tid];
    thread_block_tile<32> g = tiled_partition<32>(this_thread_block());
    for (int offset = 32; offset > 0; offset >>= 1) temp += g.shfl_down(temp, offset);
    if (tid == 0) d_y[blockIdx.x] = temp;
}

// Right, but launched with a thread for every element: the loop runs once.
extern "C" __global__ void mistake_never_strides(const float* d_in, float* d_out, unsigned n) {
    __shared__ float smem[256];
    unsigned tid = threadIdx.x;
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += d_in[i];
    smem[tid] = sum;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (tid < step) smem[tid] += smem[tid + step];
        __syncthreads();
    }
    if (tid == 0) d_out[blockIdx.x] = smem[0];
}
