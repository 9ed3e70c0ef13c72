// What every rung of GEMM is given, and how it reads and writes a few elements
// at an edge.

struct Problem {
    const float *a, *b, *c;
    float* d;
    unsigned m, n, k, lda, ldb, ldc;
    float alpha, beta;
    const float* bias; // added to every row of D before what is negative becomes 0; null for neither
};

#define MATRICES const float *a, const float *b, const float *c, float *d, unsigned m, unsigned n, unsigned k, \
                 unsigned lda, unsigned ldb, unsigned ldc, float alpha, float beta
#define PROBLEM {a, b, c, d, m, n, k, lda, ldb, ldc, alpha, beta}

struct Place { unsigned row, column; };

// The upper left corner of this block's tile of D.
template <int rows, int columns> static __device__ Place corner(const Problem& p) {
    unsigned across = (p.n + columns - 1) / columns;
    return {blockIdx.x / across * rows, blockIdx.x % across * columns};
}

// Reads an element of a matrix, 0 outside of it.
static __device__ float load(const float* x, unsigned ld, unsigned rows, unsigned columns, unsigned row, unsigned column) {
    return row < rows && column < columns ? x[(size_t)row * ld + column] : 0;
}

// NaN stays NaN.
static __device__ float relu(float v) { return v < 0 ? 0 : v; }

// Writes an element of D.
static __device__ void store(const Problem& p, unsigned row, unsigned column, float sum) {
    if (row >= p.m || column >= p.n) return;
    size_t at = (size_t)row * p.ldc + column;
    float v = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * p.c[at];
    p.d[at] = p.bias ? relu(v + p.bias[column]) : v;
}

// Reads four elements of a row, as one vector where they are inside and
// aligned.
static __device__ float4 load4(const float* x, unsigned ld, unsigned rows, unsigned columns, unsigned row, unsigned column) {
    float4 v = {};
    if (row >= rows || column >= columns) return v;
    x += (size_t)row * ld + column;
    if (columns - column >= 4 && (size_t)x % 16 == 0) return *(const float4*)x;
    v.x = x[0];
    if (column + 1 < columns) v.y = x[1];
    if (column + 2 < columns) v.z = x[2];
    if (column + 3 < columns) v.w = x[3];
    return v;
}

// Writes four elements of a row of D, in the same way.
static __device__ void store4(const Problem& p, unsigned row, unsigned column, float4 sum) {
    size_t at = (size_t)row * p.ldc + column;
    if (row >= p.m || p.n < 4 || column > p.n - 4 || ((size_t)(p.d + at) | (size_t)(p.c + at)) % 16 != 0) {
        store(p, row, column, sum.x), store(p, row, column + 1, sum.y);
        store(p, row, column + 2, sum.z), store(p, row, column + 3, sum.w);
        return;
    }
    float4 v = {p.alpha * sum.x, p.alpha * sum.y, p.alpha * sum.z, p.alpha * sum.w};
    if (p.beta != 0) {
        float4 c = *(const float4*)(p.c + at);
        v.x += p.beta * c.x, v.y += p.beta * c.y, v.z += p.beta * c.z, v.w += p.beta * c.w;
    }
    if (p.bias) {
        v.x = relu(v.x + p.bias[column]), v.y = relu(v.y + p.bias[column + 1]);
        v.z = relu(v.z + p.bias[column + 2]), v.w = relu(v.w + p.bias[column + 3]);
    }
    *(float4*)(p.d + at) = v;
}
