// Winograd's algorithm for filters of 3 x 3: what the rungs of winograd.cu and of
// winograd_fused.cu share.
#pragma once

// The matrices of F(m x m, 3 x 3), element by element: of the tiles of x, of the filters, and
// of the way back.
template <int m> struct Matrices;

template <> struct Matrices<2> {
    static __device__ constexpr float x(int i, int j) {
        constexpr float of[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
        return of[i][j];
    }
    static __device__ constexpr float w(int i, int j) {
        constexpr float of[4][3] = {{1, 0, 0}, {.5f, .5f, .5f}, {.5f, -.5f, .5f}, {0, 0, 1}};
        return of[i][j];
    }
    static __device__ constexpr float y(int i, int j) {
        constexpr float of[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
        return of[i][j];
    }
};

template <> struct Matrices<4> {
    static __device__ constexpr float x(int i, int j) {
        constexpr float of[6][6] = {{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
        return of[i][j];
    }
    static __device__ constexpr float w(int i, int j) {
        constexpr float of[6][3] = {{1.f / 4, 0, 0}, {-1.f / 6, -1.f / 6, -1.f / 6}, {-1.f / 6, 1.f / 6, -1.f / 6}, {1.f / 24, 1.f / 12, 1.f / 6}, {1.f / 24, -1.f / 12, 1.f / 6}, {0, 0, 1}};
        return of[i][j];
    }
    static __device__ constexpr float y(int i, int j) {
        constexpr float of[4][6] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
        return of[i][j];
    }
};

// to = matrix * from * matrix^T, unrolled: zeros of the matrix are no instructions.
template <float (*matrix)(int, int), int rows, int columns> __device__ __forceinline__ void transform(const float (&from)[columns][columns], float (&to)[rows][rows]) {
    float half_way[rows][columns];
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int j = 0; j < columns; j++) {
            float sum = 0;
#pragma unroll
            for (int l = 0; l < columns; l++)
                if (matrix(i, l) != 0) sum += matrix(i, l) * from[l][j];
            half_way[i][j] = sum;
        }
#pragma unroll
    for (int i = 0; i < rows; i++)
#pragma unroll
        for (int j = 0; j < rows; j++) {
            float sum = 0;
#pragma unroll
            for (int l = 0; l < columns; l++)
                if (matrix(j, l) != 0) sum += matrix(j, l) * half_way[i][l];
            to[i][j] = sum;
        }
}
