// Products of float32 matrices, row-major: D = alpha A B + beta C.
//
// A is (m, k), B is (k, n), C and D are (m, n); their rows start lda, ldb and
// ldc floats apart. C is read only where beta is not 0, and may be D.
//
// Each rung makes one change to the rung before it. Every rung takes any size
// and any alignment: what lies outside of a matrix counts as 0 and is neither
// read nor written. Tiles of D are numbered row by row in a grid of one
// dimension, because the others end at 65535.

#include "gemm_problem.cuh"

// One element of D, as the triple loop has it.
static __device__ void element(const Problem& p, unsigned row, unsigned column) {
    if (row >= p.m || column >= p.n) return;
    const float *a = p.a + (size_t)row * p.lda, *b = p.b + column;
    float sum = 0;
    for (unsigned i = 0; i < p.k; i++) sum += a[i] * b[(size_t)i * p.ldb];
    store(p, row, column, sum);
}

// One thread per element: the threads of a warp walk down a column of D, so
// that each reads another row of A.
extern "C" __global__ void gemm_uncoalesced(MATRICES) {
    Problem p = PROBLEM;
    Place tile = corner<32, 32>(p);
    element(p, tile.row + threadIdx.x, tile.column + threadIdx.y);
}

// The threads of a warp lie along rows of D: their reads of B are coalesced.
extern "C" __global__ void gemm_naive_16(MATRICES) {
    Problem p = PROBLEM;
    Place tile = corner<16, 16>(p);
    element(p, tile.row + threadIdx.y, tile.column + threadIdx.x);
}

// A warp is one row: A is read once a warp.
extern "C" __global__ void gemm_naive_32(MATRICES) {
    Problem p = PROBLEM;
    Place tile = corner<32, 32>(p);
    element(p, tile.row + threadIdx.y, tile.column + threadIdx.x);
}

// A block reads each element of its tiles of A and B once, into shared memory.
extern "C" __global__ void gemm_shared(MATRICES) {
    Problem p = PROBLEM;
    __shared__ float as[32][32], bs[32][32];
    Place tile = corner<32, 32>(p);
    unsigned x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (unsigned i = 0; i < p.k; i += 32) {
        as[y][x] = load(p.a, p.lda, p.m, p.k, tile.row + y, i + x);
        bs[y][x] = load(p.b, p.ldb, p.k, p.n, i + y, tile.column + x);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j++) sum += as[y][j] * bs[j][x];
        __syncthreads();
    }
    store(p, tile.row + y, tile.column + x, sum);
}

// A thread computes eight elements of a column: what it reads of B it uses
// eight times.
extern "C" __global__ void gemm_tile_1d(MATRICES) {
    Problem p = PROBLEM;
    __shared__ float as[64][8], bs[8][64];
    Place tile = corner<64, 64>(p);
    unsigned tid = threadIdx.x, row = tid / 64 * 8, column = tid % 64;
    float sums[8] = {};
    for (unsigned i = 0; i < p.k; i += 8) {
        as[tid / 8][tid % 8] = load(p.a, p.lda, p.m, p.k, tile.row + tid / 8, i + tid % 8);
        bs[tid / 64][tid % 64] = load(p.b, p.ldb, p.k, p.n, i + tid / 64, tile.column + tid % 64);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int r = 0; r < 8; r++) sums[r] += as[row + r][j] * bs[j][column];
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; r++) store(p, tile.row + row + r, tile.column + column, sums[r]);
}

// Adds the outer product of eight elements of A and eight of B.
static __device__ void outer(float (&sums)[8][8], const float (&a)[8], const float (&b)[8]) {
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) sums[r][c] += a[r] * b[c];
}

// A thread computes 8 x 8 elements: 16 reads of shared memory for 64 products.
extern "C" __global__ void gemm_tile_2d(MATRICES) {
    Problem p = PROBLEM;
    __shared__ float as[128][8], bs[8][128];
    Place tile = corner<128, 128>(p);
    unsigned tid = threadIdx.x, row = tid / 16 * 8, column = tid % 16 * 8;
    float sums[8][8] = {};
    for (unsigned i = 0; i < p.k; i += 8) {
#pragma unroll
        for (unsigned e = tid; e < 1024; e += 256) {
            as[e / 8][e % 8] = load(p.a, p.lda, p.m, p.k, tile.row + e / 8, i + e % 8);
            bs[e / 128][e % 128] = load(p.b, p.ldb, p.k, p.n, i + e / 128, tile.column + e % 128);
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float ra[8], rb[8];
#pragma unroll
            for (int r = 0; r < 8; r++) ra[r] = as[row + r][j], rb[r] = bs[j][column + r];
            outer(sums, ra, rb);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) store(p, tile.row + row + r, tile.column + column + c, sums[r][c]);
}

// Writes a thread's 8 x 8 elements: two groups of four rows, which start apart
// by so many, times two groups of four columns.
static __device__ void store_tile(const Problem& p, Place at, int rows_apart, int columns_apart, const float (&sums)[8][8]) {
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
        for (int c = 0; c < 8; c += 4)
            store4(p, at.row + r / 4 * rows_apart + r % 4, at.column + c / 4 * columns_apart,
                   {sums[r][c], sums[r][c + 1], sums[r][c + 2], sums[r][c + 3]});
}

// Reads eight elements of a tile's row in shared memory: two vectors, the
// second so far from the first.
static __device__ void read8(float (&to)[8], const float* from, int apart) {
    *(float4*)to = *(const float4*)from;
    *(float4*)(to + 4) = *(const float4*)(from + apart);
}

// Keeps four elements of a row of A as a part of a column.
template <int width> static __device__ void put_column(float (*as)[width], unsigned row, unsigned column, float4 v) {
    as[column][row] = v.x, as[column + 1][row] = v.y, as[column + 2][row] = v.z, as[column + 3][row] = v.w;
}

// Reads are vectors of four: A is transposed on its way into shared memory.
extern "C" __global__ void gemm_float4(MATRICES) {
    Problem p = PROBLEM;
    __shared__ __align__(16) float as[8][128], bs[8][128];
    Place tile = corner<128, 128>(p);
    unsigned tid = threadIdx.x, row = tid / 16 * 8, column = tid % 16 * 8;
    float sums[8][8] = {};
    for (unsigned i = 0; i < p.k; i += 8) {
        put_column<128>(as, tid / 2, tid % 2 * 4, load4(p.a, p.lda, p.m, p.k, tile.row + tid / 2, i + tid % 2 * 4));
        *(float4*)&bs[tid / 32][tid % 32 * 4] = load4(p.b, p.ldb, p.k, p.n, i + tid / 32, tile.column + tid % 32 * 4);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float ra[8], rb[8];
            read8(ra, &as[j][row], 4);
            read8(rb, &bs[j][column], 4);
            outer(sums, ra, rb);
        }
        __syncthreads();
    }
    store_tile(p, {tile.row + row, tile.column + column}, 4, 4, sums);
}

// The tile after the next is on its way from global memory to registers while
// a tile is multiplied, and the eight elements after the next from shared
// memory: one barrier per tile. A thread's rows and columns are two groups of
// four; a row of A in shared memory is width floats long.
template <int width, int rows_apart, int columns_apart>
static __device__ void prefetched(const Problem& p, unsigned row, unsigned column) {
    __shared__ __align__(16) float as[2][8][width], bs[2][8][128];
    Place tile = corner<128, 128>(p);
    unsigned tid = threadIdx.x, a_row = tid / 2, a_column = tid % 2 * 4, b_row = tid / 32, b_column = tid % 32 * 4;
    float sums[8][8] = {}, ra[2][8], rb[2][8];
    float4 next_a = load4(p.a, p.lda, p.m, p.k, tile.row + a_row, a_column);
    float4 next_b = load4(p.b, p.ldb, p.k, p.n, b_row, tile.column + b_column);
    for (unsigned i = 0, stage = 0; i < p.k; i += 8, stage ^= 1) {
        put_column<width>(as[stage], a_row, a_column, next_a);
        *(float4*)&bs[stage][b_row][b_column] = next_b;
        __syncthreads();
        if (i + 8 < p.k) {
            next_a = load4(p.a, p.lda, p.m, p.k, tile.row + a_row, i + 8 + a_column);
            next_b = load4(p.b, p.ldb, p.k, p.n, i + 8 + b_row, tile.column + b_column);
        }
        read8(ra[0], &as[stage][0][row], rows_apart);
        read8(rb[0], &bs[stage][0][column], columns_apart);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            if (j < 7) {
                read8(ra[(j + 1) % 2], &as[stage][j + 1][row], rows_apart);
                read8(rb[(j + 1) % 2], &bs[stage][j + 1][column], columns_apart);
            }
            outer(sums, ra[j % 2], rb[j % 2]);
        }
    }
    store_tile(p, {tile.row + row, tile.column + column}, rows_apart, columns_apart, sums);
}

// Two buffers: what comes next is read while the present is multiplied.
extern "C" __global__ void __launch_bounds__(256) gemm_double_buffer(MATRICES) {
    prefetched<128, 4, 4>(PROBLEM, threadIdx.x / 16 * 8, threadIdx.x % 16 * 8);
}

// The layout of note 003: a thread's eight columns are two groups of four, 64
// apart, so that the lanes that read together read side by side.
extern "C" __global__ void __launch_bounds__(256) gemm_conflict_free(MATRICES) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prefetched<128, 64, 64>(PROBLEM, warp / 2 * 16 + lane / 8 * 4, warp % 2 * 32 + lane % 8 * 4);
}

// Rows of A are four floats longer in shared memory: the stores that transpose
// it do not conflict either.
extern "C" __global__ void __launch_bounds__(256) gemm_padded(MATRICES) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prefetched<132, 64, 64>(PROBLEM, warp / 2 * 16 + lane / 8 * 4, warp % 2 * 32 + lane % 8 * 4);
}

// A warp owns 64 x 32 elements. Of two neighbouring lanes, and of two that are
// two apart, one address is the same: each read takes two wavefronts, not four.
extern "C" __global__ void __launch_bounds__(256) gemm_warp_tile(MATRICES) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prefetched<132, 32, 16>(PROBLEM, warp / 4 * 64 + lane % 16 / 2 * 4, warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4);
}

#if __CUDA_ARCH__ >= 800
#include "gemm_async.cuh"
#include "gemm_pipeline.cuh"
#include "gemm_wide.cuh"

// A thread computes 8 x 16 elements, a warp 64 x 64: 6 reads of shared memory for
// 128 products, not 8.
extern "C" __global__ void __launch_bounds__(128, 2) gemm_wide(MATRICES) {
    wide<Wide>(PROBLEM);
}

// Tiles of 64 x 64, whose steps along k are cut among four slices of two warps.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_sliced_64(MATRICES) {
    wide<Shape<1, 2, 4, 8, 8, 8, 32, 3, 4>>(PROBLEM);
}

// Tiles of 32 x 64, and a slice is one warp.
extern "C" __global__ void __launch_bounds__(128, 4) gemm_sliced_32(MATRICES) {
    wide<Shape<1, 1, 4, 4, 8, 8, 32, 3, 2>>(PROBLEM);
}

// As many blocks as the GPU runs at once take whole tiles in turn, and share the
// steps along k of the tiles that are left: all end together ...
extern "C" __global__ void __launch_bounds__(128, 2) gemm_stream_k(MATRICES, unsigned whole, float* parts) {
    stream_k<Wide>(PROBLEM, whole, parts);
}

// ... and what they leave of a tile is added.
extern "C" __global__ void __launch_bounds__(128) gemm_stream_k_2(MATRICES, unsigned whole, const float* parts, unsigned blocks) {
    stream_k_2<Wide>(PROBLEM, whole, parts, blocks);
}

// Tiles of 64 x 64 in the same way, each step cut among four slices of one warp:
// a D with few rows or columns has work for every multiprocessor.
using Square = Shape<1, 1, 4, 8, 8, 16, 32, 3, 4>;

extern "C" __global__ void __launch_bounds__(128, 2) gemm_stream_k_64(MATRICES, unsigned whole, float* parts) {
    stream_k<Square>(PROBLEM, whole, parts);
}

extern "C" __global__ void __launch_bounds__(32) gemm_stream_k_64_2(MATRICES, unsigned whole, const float* parts, unsigned blocks) {
    stream_k_2<Square>(PROBLEM, whole, parts, blocks);
}
#endif

// Each block takes a share of k, by the second dimension of the grid, and
// leaves its sums in a matrix of its own ...
extern "C" __global__ void __launch_bounds__(256, 2) gemm_split_k(MATRICES, unsigned share) {
    Problem p = PROBLEM;
    unsigned first = blockIdx.y * share;
    p.a += first, p.b += (size_t)first * p.ldb, p.d += (size_t)blockIdx.y * m * ldc;
    p.k = min(share, k - first);
#if __CUDA_ARCH__ >= 800
    pipelined<true>(p);
#else
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    prefetched<132, 32, 16>(p, warp / 4 * 64 + lane % 16 / 2 * 4, warp % 4 * 32 + (lane % 2 + lane / 16 * 2) * 4);
#endif
}

// ... which are added.
extern "C" __global__ void gemm_split_k_2(const float* parts, const float* c, float* d, unsigned m, unsigned n,
                                          unsigned ldc, float alpha, float beta, unsigned splits) {
    Problem p = {0, 0, c, d, m, n, 0, 0, 0, ldc, alpha, beta};
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, elements = (size_t)m * n;
    if (i >= elements) return;
    float sum = 0;
    for (unsigned s = 0; s < splits; s++) sum += parts[s * elements + i];
    store(p, i / n, i % n, sum);
}
