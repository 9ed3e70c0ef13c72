// Winograd's algorithm for filters of 3 x 3 with stride 1: m x m outputs from (m + 2) x (m +
// 2) elements by (m + 2)^2 multiplications per channel in place of 9 m^2. Four launches: the
// filters and the tiles of x are transformed, multiplied, and the sums transformed back.

#include "conv2d.cuh"
#include "winograd.cuh"

// u[f][k][c]: the transformed filters, one thread each.
template <int m> __device__ __forceinline__ void filters(const float* w, float* u, const Shape& s) {
    constexpr int a = m + 2;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.k * s.c) return;
    w += (size_t)(i / s.c) * s.wk + (size_t)(i % s.c) * s.wc;
    float from[3][3];
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int q = 0; q < 3; q++) from[r][q] = w[r * s.wr + q * s.ws];
    float to[a][a];
    transform<Matrices<m>::w, a, 3>(from, to);
#pragma unroll
    for (int f = 0; f < a * a; f++) u[(size_t)f * s.k * s.c + i] = to[f / a][f % a];
}

// v[f][c][tile]: the transformed tiles of x, one thread each.
template <int m> __device__ __forceinline__ void tiles(const float* x, float* v, const Shape& s, unsigned across, unsigned down) {
    constexpr int a = m + 2;
    unsigned count = s.images * across * down, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.c * count) return;
    unsigned c = i / count, at = i % count;
    x += (size_t)(at / across / down) * s.xn + (size_t)c * s.xc;
    int top = (int)(at / across % down * m) - s.padding, left = (int)(at % across * m) - s.padding;
    float from[a][a];
#pragma unroll
    for (int r = 0; r < a; r++)
#pragma unroll
        for (int q = 0; q < a; q++) {
            int row = top + r, column = left + q;
            bool inside = row >= 0 && row < (int)s.h && column >= 0 && column < (int)s.w;
            from[r][q] = inside ? x[(size_t)row * s.xh + (size_t)column * s.xw] : 0;
        }
    float to[a][a];
    transform<Matrices<m>::x, a, a>(from, to);
#pragma unroll
    for (int f = 0; f < a * a; f++) v[(size_t)f * s.c * count + i] = to[f / a][f % a];
}

// A row-major matrix as a factor.
struct Rows {
    const float* at;
    unsigned rows, columns, first;
    __device__ float operator()(unsigned row, unsigned i) const { return first + row < rows && i < columns ? at[(size_t)(first + row) * columns + i] : 0; }
};
struct Column {
    const float* at;
    unsigned rows, columns, column;
    __device__ float operator()(unsigned i) const { return i < rows && column < columns ? at[(size_t)i * columns + column] : 0; }
};
struct Sums {
    float* at;
    unsigned rows, columns, first, column;
    __device__ void operator()(unsigned row, unsigned c, float v) const {
        if (first + row < rows && column + c < columns) at[(size_t)(first + row) * columns + column + c] = v;
    }
};

// sums[f][k][tile] = u[f] v[f], one product for each f.
__device__ __forceinline__ void multiply(const float* u, const float* v, float* sums, const Shape& s, unsigned count) {
    unsigned f = blockIdx.z, column = blockIdx.x * tile, first = blockIdx.y * tile;
    product(s.c, Rows{u + (size_t)f * s.k * s.c, s.k, s.c, first}, Column{v + (size_t)f * s.c * count, s.c, count, column + threadIdx.x % tile},
            Sums{sums + (size_t)f * s.k * count, s.k, count, first, column});
}

// y: the sums of a tile transformed back, one thread each.
template <int m> __device__ __forceinline__ void outputs(const float* sums, const float* bias, float* y, const Shape& s, unsigned across, unsigned down) {
    constexpr int a = m + 2;
    unsigned count = s.images * across * down, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.k * count) return;
    unsigned k = i / count, at = i % count, row = at / across % down * m, column = at % across * m;
    float from[a][a];
#pragma unroll
    for (int f = 0; f < a * a; f++) from[f / a][f % a] = sums[(size_t)f * s.k * count + i];
    float to[m][m];
    transform<Matrices<m>::y, m, a>(from, to);
    y += (size_t)(at / across / down) * s.yn + (size_t)k * s.yk;
#pragma unroll
    for (int r = 0; r < m; r++)
#pragma unroll
        for (int q = 0; q < m; q++)
            if (row + r < s.oh && column + q < s.ow) y[(size_t)(row + r) * s.yh + (size_t)(column + q) * s.yw] = finish(to[r][q], bias, k, s);
}

// F(2 x 2, 3 x 3): 16 multiplications for 4 outputs in place of 36. The launches are the
// filters, the tiles of x, the products and the outputs.
extern "C" __global__ void conv2d_winograd2(const float* __restrict__ w, float* __restrict__ u, Shape s) { filters<2>(w, u, s); }
extern "C" __global__ void conv2d_winograd2_2(const float* __restrict__ x, float* __restrict__ v, Shape s, unsigned across, unsigned down) { tiles<2>(x, v, s, across, down); }
extern "C" __global__ void __launch_bounds__(256) conv2d_winograd2_3(const float* __restrict__ u, const float* __restrict__ v, float* __restrict__ sums, Shape s, unsigned count) { multiply(u, v, sums, s, count); }
extern "C" __global__ void conv2d_winograd2_4(const float* __restrict__ sums, const float* __restrict__ bias, float* __restrict__ y, Shape s, unsigned across, unsigned down) { outputs<2>(sums, bias, y, s, across, down); }

// F(4 x 4, 3 x 3): 36 multiplications for 16 outputs in place of 144.
extern "C" __global__ void conv2d_winograd4(const float* __restrict__ w, float* __restrict__ u, Shape s) { filters<4>(w, u, s); }
extern "C" __global__ void conv2d_winograd4_2(const float* __restrict__ x, float* __restrict__ v, Shape s, unsigned across, unsigned down) { tiles<4>(x, v, s, across, down); }
extern "C" __global__ void __launch_bounds__(256) conv2d_winograd4_3(const float* __restrict__ u, const float* __restrict__ v, float* __restrict__ sums, Shape s, unsigned count) { multiply(u, v, sums, s, count); }
extern "C" __global__ void conv2d_winograd4_4(const float* __restrict__ sums, const float* __restrict__ bias, float* __restrict__ y, Shape s, unsigned across, unsigned down) { outputs<4>(sums, bias, y, s, across, down); }
