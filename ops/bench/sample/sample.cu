// Sums of float32 for the tests of the bench: one kernel for each way in which an
// operator's launches use memory. None is tuned.

// The sum of a block's 256 elements, in thread 0.
static __device__ float block_sum(float sum) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    s[tid] = sum;
    for (unsigned step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (tid < step) s[tid] += s[tid + step];
    }
    return s[0];
}

static __device__ float element(const float* __restrict__ x, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    return i < n ? x[i] : 0;
}

// One thread adds everything.
extern "C" __global__ void sum_serial(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += x[i];
    *y = sum;
}

// One sum a block, in a buffer; a second launch adds these.
extern "C" __global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = block_sum(element(x, n));
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__device__ float sum_static_sums[64];

// One sum a block, in a variable of the module ...
extern "C" __global__ void sum_static(const float* __restrict__ x, unsigned n) {
    float sum = 0;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sum_static_sums[blockIdx.x] = sum;
}

// ... and one block that adds them.
extern "C" __global__ void sum_static_2(float* __restrict__ y, unsigned blocks) {
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += 256) sum += sum_static_sums[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *y = sum;
}

// Blocks of one warp meet in an atomicAdd.
extern "C" __global__ void sum_atomic(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    float sum = i < n ? x[i] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0) atomicAdd(y, sum);
}

__device__ unsigned sum_ticket_ticket;

// The block that draws the last ticket adds the sums of all.
extern "C" __global__ void sum_ticket(const float* __restrict__ x, float* sums, float* y, unsigned n) {
    __shared__ bool last;
    float sum = block_sum(element(x, n));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&sum_ticket_ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += 256) sum += __ldcg(sums + i);
    sum = block_sum(sum);
    if (threadIdx.x == 0) *y = sum;
}

// A mistake: the tree is in the input itself, and without a bound.
extern "C" __global__ void sum_in_place(float* x, float* sums) {
    x += blockIdx.x * 256;
    for (unsigned step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) x[threadIdx.x] += x[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = x[0];
}

// One thread adds bfloat16, the upper halves of float32.
extern "C" __global__ void sum_bfloat16(const unsigned short* __restrict__ x, float* __restrict__ y, unsigned n) {
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += __uint_as_float((unsigned)x[i] << 16);
    *y = sum;
}
