// Trials of single rungs of transpose: each changes one thing of the rung that its
// comment names. Every trial takes any number of rows and columns.

// transpose_coalesced_write without __restrict__, as note 002 prints it: a could
// overlap b, so the compiler reads it with plain loads.
extern "C" __global__ void transpose_write_plain(const float* a, float* b, unsigned rows, unsigned columns) {
    unsigned r = blockIdx.x * 32 + threadIdx.x;
    unsigned c = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns) b[(size_t)c * rows + r] = a[(size_t)r * columns + c];
}

// The same with __ldg, which asks for the read-only path.
extern "C" __global__ void transpose_write_ldg(const float* a, float* b, unsigned rows, unsigned columns) {
    unsigned r = blockIdx.x * 32 + threadIdx.x;
    unsigned c = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns) b[(size_t)c * rows + r] = __ldg(a + (size_t)r * columns + c);
}

// transpose_swizzle with 16 warps for a tile of 64 x 64: a thread loads two float4
// and stores two, and reads four float2 of shared memory between them.
//
// Vectors of a row exchange places by the row, as in transpose_swizzle. In the lower
// half of the tile the two float2 of a vector exchange places too: 16 lanes that read
// a column would otherwise use half of the banks twice.
extern "C" __global__ void __launch_bounds__(512) transpose_16_warps(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    __shared__ float4 s[64][16];
    unsigned c0 = blockIdx.x * 64, r0 = blockIdx.y * 64;
    unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    if ((rows | columns) % 4 || ((size_t)a | (size_t)b) % 16) { // float by float
        float* f = (float*)s;
        for (unsigned i = threadIdx.x; i < 64 * 64; i += 512) {
            unsigned r = i / 64, c = i % 64;
            if (r0 + r < rows && c0 + c < columns) f[r * 64 + (c ^ (r & 31))] = a[(size_t)(r0 + r) * columns + c0 + c];
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 64 * 64; i += 512) {
            unsigned r = i % 64, c = i / 64;
            if (r0 + r < rows && c0 + c < columns) b[(size_t)(c0 + c) * rows + r0 + r] = f[r * 64 + (c ^ (r & 31))];
        }
        return;
    }
    float4 v[2];
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
        unsigned r = r0 + y + 32 * i, c = c0 + 4 * x;
        v[i] = r < rows && c < columns ? *(const float4*)(a + (size_t)r * columns + c) : float4{};
    }
    s[y][x ^ y / 4] = v[0];
    s[y + 32][x ^ (y / 4 + 8)] = {v[1].z, v[1].w, v[1].x, v[1].y};
    __syncthreads();
    // This thread owns rows 4x to 4x+3 and columns 2y and 2y+1 of the tile.
    float2 u[4];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) u[i] = ((const float2*)&s[4 * x + i][y / 2 ^ x])[y % 2 ^ x / 8];
    float4 w[2] = {{u[0].x, u[1].x, u[2].x, u[3].x}, {u[0].y, u[1].y, u[2].y, u[3].y}};
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
        unsigned r = r0 + 4 * x, c = c0 + 2 * y + i;
        if (r < rows && c < columns) *(float4*)(b + (size_t)c * rows + r) = w[i];
    }
}
