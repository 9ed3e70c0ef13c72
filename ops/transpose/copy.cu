// Copies of a float32 matrix of rows x columns: b[r][c] = a[r][c]. A transpose
// moves as many bytes, so a copy is its limit.

// A thread copies one element of a tile of 32 x 32.
extern "C" __global__ void copy_tile(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    unsigned c = blockIdx.x * 32 + threadIdx.x;
    unsigned r = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns) b[(size_t)r * columns + c] = a[(size_t)r * columns + c];
}

// A thread copies four neighbours of four rows of a tile of 64 x 64: as many
// bytes in flight as the transposes of tiles of that size.
extern "C" __global__ void __launch_bounds__(256) copy_tile64(const float* __restrict__ a, float* __restrict__ b, unsigned rows, unsigned columns) {
    unsigned c = blockIdx.x * 64 + threadIdx.x % 16 * 4;
    unsigned r = blockIdx.y * 64 + threadIdx.x / 16;
    if (columns % 4 == 0 && ((size_t)a | (size_t)b) % 16 == 0) {
        if (c >= columns) return;
#pragma unroll
        for (unsigned i = 0; i < 64; i += 16)
            if (r + i < rows) *(float4*)(b + (size_t)(r + i) * columns + c) = *(const float4*)(a + (size_t)(r + i) * columns + c);
        return;
    }
    for (unsigned i = 0; i < 64; i += 16)
        for (unsigned k = 0; k < 4; k++)
            if (r + i < rows && c + k < columns) b[(size_t)(r + i) * columns + c + k] = a[(size_t)(r + i) * columns + c + k];
}
