// Sums of two vectors: z[i] = x[i] + y[i], for i from 0 to n-1.
//
// The first five rungs run the loop of note 003 and differ in their launch alone.
// Every rung takes any n below 2^31 and vectors that start at any element.

// Adds with a grid-stride loop: the threads of the grid take neighbouring elements,
// and step over the whole grid to their next ones.
static __device__ __forceinline__ void grid_stride(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) z[i] = x[i] + y[i];
}

// One thread adds everything.
extern "C" __global__ void vectoradd_one_thread(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    grid_stride(x, y, z, n);
}

// The threads of one block share the work: one multiprocessor is busy.
extern "C" __global__ void vectoradd_one_block(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    grid_stride(x, y, z, n);
}

// A thread for each element, in blocks of one warp.
extern "C" __global__ void vectoradd_block_32(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    grid_stride(x, y, z, n);
}

// Blocks of 256 threads.
extern "C" __global__ void vectoradd_block_256(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    grid_stride(x, y, z, n);
}

// As many blocks as the GPU holds at a time, which stride over the vectors.
extern "C" __global__ void vectoradd_grid_stride(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    grid_stride(x, y, z, n);
}

// Whether all three vectors start at a multiple of 16 bytes.
static __device__ __forceinline__ bool vectors_fit(const float* x, const float* y, const float* z) {
    return ((size_t)x | (size_t)y | (size_t)z) % 16 == 0;
}

static __device__ __forceinline__ float4 sum(float4 a, float4 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

// The elements behind the last whole vector.
static __device__ __forceinline__ void rest(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n, unsigned thread) {
    unsigned i = n / 4 * 4 + thread;
    if (thread < 4 && i < n) z[i] = x[i] + y[i];
}

// Accesses of 16 bytes: a thread adds four neighbours per iteration.
extern "C" __global__ void vectoradd_vec4(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    if (!vectors_fit(x, y, z)) return grid_stride(x, y, z, n);
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = first; i < n / 4; i += gridDim.x * blockDim.x) ((float4*)z)[i] = sum(((const float4*)x)[i], ((const float4*)y)[i]);
    rest(x, y, z, n, first);
}

// Four vectors per iteration: eight loads are on their way before the first sum.
extern "C" __global__ void vectoradd_in_flight(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    if (!vectors_fit(x, y, z)) return grid_stride(x, y, z, n);
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x, i = first;
    for (; i + 3 * stride < n / 4; i += 4 * stride) {
        float4 a[4], b[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) a[k] = ((const float4*)x)[i + k * stride], b[k] = ((const float4*)y)[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) ((float4*)z)[i + k * stride] = sum(a[k], b[k]);
    }
    for (; i < n / 4; i += stride) ((float4*)z)[i] = sum(((const float4*)x)[i], ((const float4*)y)[i]);
    rest(x, y, z, n, first);
}

// No loop: a thread for each vector. New blocks start while others wait for memory.
extern "C" __global__ void __launch_bounds__(256) vectoradd_one_vector(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    if (!vectors_fit(x, y, z)) return grid_stride(x, y, z, n);
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n / 4) ((float4*)z)[i] = sum(((const float4*)x)[i], ((const float4*)y)[i]);
    rest(x, y, z, n, i);
}

// Two vectors per thread, of 256 that a block of 128 threads takes: all four loads are on
// their way before the first sum.
extern "C" __global__ void __launch_bounds__(128) vectoradd_two_vectors(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    if (!vectors_fit(x, y, z)) return grid_stride(x, y, z, n);
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i + 128 < n / 4) {
        float4 a = ((const float4*)x)[i], b = ((const float4*)y)[i], c = ((const float4*)x)[i + 128], d = ((const float4*)y)[i + 128];
        ((float4*)z)[i] = sum(a, b);
        ((float4*)z)[i + 128] = sum(c, d);
    } else if (i < n / 4) {
        ((float4*)z)[i] = sum(((const float4*)x)[i], ((const float4*)y)[i]);
    }
    rest(x, y, z, n, blockIdx.x * 128 + threadIdx.x);
}

// Loads and stores are marked as used once, so that they leave the caches first.
extern "C" __global__ void __launch_bounds__(256) vectoradd_streaming(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    if (!vectors_fit(x, y, z)) return grid_stride(x, y, z, n);
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n / 4) __stcs((float4*)z + i, sum(__ldcs((const float4*)x + i), __ldcs((const float4*)y + i)));
    rest(x, y, z, n, i);
}

// Blocks of 1024 threads, one vector each: two of them fill a multiprocessor.
extern "C" __global__ void __launch_bounds__(1024) vectoradd_block_1024(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, unsigned n) {
    if (!vectors_fit(x, y, z)) return grid_stride(x, y, z, n);
    unsigned i = blockIdx.x * 1024 + threadIdx.x;
    if (i < n / 4) ((float4*)z)[i] = sum(((const float4*)x)[i], ((const float4*)y)[i]);
    rest(x, y, z, n, i);
}
