// Kernels for the emulator's own tests and benchmarks.

// A block adds 256 elements as a tree in shared memory, neighbours first: lanes diverge.
extern "C" __global__ void sum_interleaved(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
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

// c = a b for square matrices of a multiple of 128: tiles of 128 x 128, of which each
// of 256 threads computes 8 x 8 elements from registers.
extern "C" __global__ void product_tile(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
    __shared__ __align__(16) float as[8][128], bs[8][128];
    unsigned tid = threadIdx.x, tiles = n / 128;
    unsigned row = blockIdx.x / tiles * 128, column = blockIdx.x % tiles * 128;
    unsigned top = tid / 16 * 8, left = tid % 16 * 8;
    float sum[8][8] = {};
    for (unsigned k = 0; k < n; k += 8) {
        float4 from_a = *(const float4*)&a[(row + tid / 2) * n + k + tid % 2 * 4];
        float4 from_b = *(const float4*)&b[(k + tid / 32) * n + column + tid % 32 * 4];
        __syncthreads();
        as[tid % 2 * 4 + 0][tid / 2] = from_a.x;
        as[tid % 2 * 4 + 1][tid / 2] = from_a.y;
        as[tid % 2 * 4 + 2][tid / 2] = from_a.z;
        as[tid % 2 * 4 + 3][tid / 2] = from_a.w;
        *(float4*)&bs[tid / 32][tid % 32 * 4] = from_b;
        __syncthreads();
#pragma unroll 1
        for (unsigned step = 0; step < 8; step++) {
            float x[8], y[8];
#pragma unroll
            for (unsigned i = 0; i < 8; i += 4) {
                *(float4*)&x[i] = *(const float4*)&as[step][top + i];
                *(float4*)&y[i] = *(const float4*)&bs[step][left + i];
            }
#pragma unroll
            for (unsigned i = 0; i < 8; i++) {
#pragma unroll
                for (unsigned j = 0; j < 8; j++) sum[i][j] += x[i] * y[j];
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
#pragma unroll
        for (unsigned j = 0; j < 8; j += 4)
            *(float4*)&c[(row + top + i) * n + column + left + j] = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
    }
}

// z = x + y.
extern "C" __global__ void add(const float* x, const float* y, float* z, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
