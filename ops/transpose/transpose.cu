// Transposes of a float32 matrix: b[c][r] = a[r][c], for a of rows x columns.
//
// Each rung makes one change to the rung before it. Every rung takes any number
// of rows and columns; offsets are 64-bit, because a matrix may hold more than
// 2^31 elements.

// A warp reads 32 neighbours of a row and writes them to 32 rows.
extern "C" __global__ void transpose_coalesced_read(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    unsigned c = blockIdx.x * 32 + threadIdx.x;
    unsigned r = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns) b[(size_t)c * rows + r] = a[(size_t)r * columns + c];
}

// A warp reads from 32 rows and writes 32 neighbours of a row.
extern "C" __global__ void transpose_coalesced_write(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    unsigned r = blockIdx.x * 32 + threadIdx.x;
    unsigned c = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns) b[(size_t)c * rows + r] = a[(size_t)r * columns + c];
}

// Transposes a tile through shared memory with rows of `width` floats: both
// global accesses are coalesced.
template <unsigned width>
static __device__ void through_shared(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    __shared__ float s[32][width];
    unsigned c = blockIdx.x * 32 + threadIdx.x;
    unsigned r = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns) s[threadIdx.y][threadIdx.x] = a[(size_t)r * columns + c];
    __syncthreads();
    c = blockIdx.x * 32 + threadIdx.y;
    r = blockIdx.y * 32 + threadIdx.x;
    if (r < rows && c < columns) b[(size_t)c * rows + r] = s[threadIdx.x][threadIdx.y];
}

// A tile goes through shared memory. The 32 floats of a column share one bank.
extern "C" __global__ void transpose_shared(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    through_shared<32>(a, b, rows, columns);
}

// A row of the tile is one float longer: the floats of a column lie in 32 banks.
extern "C" __global__ void transpose_padded(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    through_shared<33>(a, b, rows, columns);
}

// A thread moves four rows of the tile: four loads are in flight.
extern "C" __global__ void transpose_four_rows(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    __shared__ float s[32][33];
    unsigned c = blockIdx.x * 32 + threadIdx.x;
    unsigned r = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (unsigned i = 0; i < 32; i += 8)
        if (r + i < rows && c < columns) s[threadIdx.y + i][threadIdx.x] = a[(size_t)(r + i) * columns + c];
    __syncthreads();
    c = blockIdx.x * 32 + threadIdx.y;
    r = blockIdx.y * 32 + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < 32; i += 8)
        if (r < rows && c + i < columns) b[(size_t)(c + i) * rows + r] = s[threadIdx.x][threadIdx.y + i];
}

// Whether rows of both matrices start at multiples of 16 bytes.
static __device__ bool vectors_fit(const float* a, const float* b, unsigned rows, unsigned columns) {
    return (rows | columns) % 4 == 0 && ((size_t)a | (size_t)b) % 16 == 0;
}

// The tile of 64 x 64 at (r0, c0), float by float: for matrices whose rows are
// not made of whole vectors.
static __device__ void scalar_tile(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns,
                                   unsigned r0, unsigned c0, float* s) {
    for (unsigned i = threadIdx.x; i < 64 * 64; i += 256) {
        unsigned r = i / 64, c = i % 64;
        if (r0 + r < rows && c0 + c < columns) s[r * 64 + (c ^ (r & 31))] = a[(size_t)(r0 + r) * columns + c0 + c];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 64 * 64; i += 256) {
        unsigned r = i % 64, c = i / 64;
        if (r0 + r < rows && c0 + c < columns) b[(size_t)(c0 + c) * rows + r0 + r] = s[r * 64 + (c ^ (r & 31))];
    }
}

// A tile of 64 x 64: a thread loads four float4, exchanges 4 x 4 floats in its
// registers, and stores four float4. With `swizzle`, a vector's place in its
// row of shared memory is exchanged by the row, so that eight threads that read
// a column read eight different groups of banks.
template <bool swizzle>
static __device__ void tile64(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    __shared__ float4 s[64][16];
    unsigned c0 = blockIdx.x * 64, r0 = blockIdx.y * 64;
    if (!vectors_fit(a, b, rows, columns)) {
        scalar_tile(a, b, rows, columns, r0, c0, (float*)s);
        return;
    }
    unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    float4 v[4];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned r = r0 + y + 16 * i, c = c0 + 4 * x;
        v[i] = r < rows && c < columns ? *(const float4*)(a + (size_t)r * columns + c) : float4{};
    }
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned r = y + 16 * i;
        s[r][swizzle ? x ^ (r / 4 % 16) : x] = v[i];
    }
    __syncthreads();
    // This thread owns rows 4x to 4x+3 and columns 4y to 4y+3 of the tile.
#pragma unroll
    for (unsigned i = 0; i < 4; i++) v[i] = s[4 * x + i][swizzle ? y ^ x : y];
    float4 w[4] = {{v[0].x, v[1].x, v[2].x, v[3].x}, {v[0].y, v[1].y, v[2].y, v[3].y},
                   {v[0].z, v[1].z, v[2].z, v[3].z}, {v[0].w, v[1].w, v[2].w, v[3].w}};
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned r = r0 + 4 * x, c = c0 + 4 * y + i;
        if (r < rows && c < columns) *(float4*)(b + (size_t)c * rows + r) = w[i];
    }
}

// Tiles of 64 x 64 and accesses of 16 bytes.
extern "C" __global__ void __launch_bounds__(256) transpose_tile64(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    tile64<false>(a, b, rows, columns);
}

// The tile is swizzled: no bank conflicts.
extern "C" __global__ void __launch_bounds__(256) transpose_swizzle(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    tile64<true>(a, b, rows, columns);
}
