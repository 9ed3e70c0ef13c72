// Copies of a vector: y[i] = x[i], for i from 0 to n-1.
//
// The first five rungs run one loop and differ in their launch alone. Every rung
// takes any n below 2^31 and vectors that start at any element.

// Copies with a grid-stride loop: the threads of the grid take neighbouring elements,
// and step over the whole grid to their next ones.
static __device__ __forceinline__ void grid_stride(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = x[i];
}

// One thread copies everything.
extern "C" __global__ void vectorcopy_one_thread(const float* __restrict__ x, float* __restrict__ y, unsigned n) { grid_stride(x, y, n); }

// The threads of one block share the work: one multiprocessor is busy.
extern "C" __global__ void vectorcopy_one_block(const float* __restrict__ x, float* __restrict__ y, unsigned n) { grid_stride(x, y, n); }

// A thread for each element, in blocks of one warp.
extern "C" __global__ void vectorcopy_block_32(const float* __restrict__ x, float* __restrict__ y, unsigned n) { grid_stride(x, y, n); }

// Blocks of 256 threads.
extern "C" __global__ void vectorcopy_block_256(const float* __restrict__ x, float* __restrict__ y, unsigned n) { grid_stride(x, y, n); }

// As many blocks as the GPU holds at a time, which stride over the vector.
extern "C" __global__ void vectorcopy_grid_stride(const float* __restrict__ x, float* __restrict__ y, unsigned n) { grid_stride(x, y, n); }

// Whether both vectors start at a multiple of 16 bytes.
static __device__ __forceinline__ bool vectors_fit(const float* x, const float* y) { return ((size_t)x | (size_t)y) % 16 == 0; }

// Copies the elements behind the last whole vector.
static __device__ __forceinline__ void rest(const float* __restrict__ x, float* __restrict__ y, unsigned n, unsigned thread) {
    unsigned i = n / 4 * 4 + thread;
    if (thread < 4 && i < n) y[i] = x[i];
}

// Accesses of 16 bytes: a thread copies four neighbours per iteration.
extern "C" __global__ void vectorcopy_vec4(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    if (!vectors_fit(x, y)) return grid_stride(x, y, n);
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (unsigned i = first; i < n / 4; i += gridDim.x * blockDim.x) ((float4*)y)[i] = ((const float4*)x)[i];
    rest(x, y, n, first);
}

// Four vectors per iteration: four loads are in flight before the first store.
extern "C" __global__ void vectorcopy_in_flight(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    if (!vectors_fit(x, y)) return grid_stride(x, y, n);
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x, i = first;
    for (; i + 3 * stride < n / 4; i += 4 * stride) {
        float4 v[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) v[k] = ((const float4*)x)[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) ((float4*)y)[i + k * stride] = v[k];
    }
    for (; i < n / 4; i += stride) ((float4*)y)[i] = ((const float4*)x)[i];
    rest(x, y, n, first);
}

// No loop: a block copies 1024 neighbouring vectors, four per thread. New blocks start
// while others wait for memory.
extern "C" __global__ void __launch_bounds__(256) vectorcopy_one_turn(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    if (!vectors_fit(x, y)) return grid_stride(x, y, n);
    unsigned i = blockIdx.x * 1024 + threadIdx.x;
    float4 v[4];
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (i + 256 * k < n / 4) v[k] = ((const float4*)x)[i + 256 * k];
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (i + 256 * k < n / 4) ((float4*)y)[i + 256 * k] = v[k];
    rest(x, y, n, blockIdx.x * 256 + threadIdx.x);
}

// A thread for each vector: more blocks, and one load a thread in flight.
extern "C" __global__ void __launch_bounds__(256) vectorcopy_one_vector(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    if (!vectors_fit(x, y)) return grid_stride(x, y, n);
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n / 4) ((float4*)y)[i] = ((const float4*)x)[i];
    rest(x, y, n, i);
}

// Blocks of 1024 threads, one vector each: two of them fill a multiprocessor.
extern "C" __global__ void __launch_bounds__(1024) vectorcopy_block_1024(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    if (!vectors_fit(x, y)) return grid_stride(x, y, n);
    unsigned i = blockIdx.x * 1024 + threadIdx.x;
    if (i < n / 4) ((float4*)y)[i] = ((const float4*)x)[i];
    rest(x, y, n, i);
}
