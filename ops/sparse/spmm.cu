// C = A B. A has rows as of spmv.cu; B and C are row-major with k columns.
//
// Each rung makes one change to the rung before it.

// One thread per element of C: neighbours share the row of A and read neighbours of B.
extern "C" __global__ void __launch_bounds__(256) spmm_row(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned k) {
    unsigned i = blockIdx.x * 256 + threadIdx.x, row = i / k, j = i % k;
    if (row >= rows) return;
    float sum = 0;
    for (int e = offsets[row], end = offsets[row + 1]; e < end; e++) sum += values[e] * b[(size_t)columns[e] * k + j];
    c[i] = sum;
}

// A warp has 32 columns of a row. Its lanes load 32 entries at once and pass them round.
extern "C" __global__ void __launch_bounds__(256) spmm_warp(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned k) {
    unsigned groups = (k + 31) / 32, warp = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned row = warp / groups, j = warp % groups * 32 + lane;
    if (row >= rows) return;
    float sum = 0;
    int end = offsets[row + 1];
    for (int e = offsets[row]; e < end; e += 32) {
        int mine = e + lane < end ? columns[e + lane] : 0, n = min(32, end - e);
        float value = e + lane < end ? values[e + lane] : 0;
#pragma unroll 4
        for (int t = 0; t < n; t++) {
            int column = __shfl_sync(0xffffffff, mine, t);
            float v = __shfl_sync(0xffffffff, value, t);
            if (j < k) sum += v * b[(size_t)column * k + j];
        }
    }
    if (j < k) c[(size_t)row * k + j] = sum;
}

static __device__ void add(float4& sum, float v, float4 b) {
    sum.x += v * b.x, sum.y += v * b.y, sum.z += v * b.z, sum.w += v * b.w;
}

// The four columns of a lane from j on: neighbours where rows of B start at multiples of 16
// bytes, else 32 apart.
struct Four {
    bool wide;
    unsigned j, k;
    __device__ Four(const float* b, const float* c, unsigned first, unsigned k) : k(k) {
        unsigned lane = threadIdx.x % 32;
        wide = k % 4 == 0 && ((size_t)b | (size_t)c) % 16 == 0;
        j = first + (wide ? 4 * lane : lane);
    }
    __device__ float4 load(const float* __restrict__ row) const {
        if (wide) return j < k ? *(const float4*)(row + j) : make_float4(0, 0, 0, 0);
        return make_float4(j < k ? row[j] : 0, j + 32 < k ? row[j + 32] : 0, j + 64 < k ? row[j + 64] : 0, j + 96 < k ? row[j + 96] : 0);
    }
    __device__ void store(float* __restrict__ row, float4 v) const {
        if (wide) {
            if (j < k) *(float4*)(row + j) = v;
            return;
        }
        if (j < k) row[j] = v.x;
        if (j + 32 < k) row[j + 32] = v.y;
        if (j + 64 < k) row[j + 64] = v.z;
        if (j + 96 < k) row[j + 96] = v.w;
    }
};

// A warp has 128 columns of a row, four per lane: a quarter of the shuffles, and 16 bytes per
// load.
extern "C" __global__ void __launch_bounds__(256) spmm_vec4(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned k) {
    unsigned groups = (k + 127) / 128, warp = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned row = warp / groups;
    if (row >= rows) return;
    Four four(b, c, warp % groups * 128, k);
    float4 sum = make_float4(0, 0, 0, 0);
    int end = offsets[row + 1];
    for (int e = offsets[row]; e < end; e += 32) {
        int mine = e + lane < end ? columns[e + lane] : 0, n = min(32, end - e), t = 0;
        float value = e + lane < end ? values[e + lane] : 0;
        for (; t + 4 <= n; t += 4) {
            float4 of[4];
#pragma unroll
            for (int u = 0; u < 4; u++) of[u] = four.load(b + (size_t)__shfl_sync(0xffffffff, mine, t + u) * k);
#pragma unroll
            for (int u = 0; u < 4; u++) add(sum, __shfl_sync(0xffffffff, value, t + u), of[u]);
        }
        for (; t < n; t++) {
            int column = __shfl_sync(0xffffffff, mine, t);
            add(sum, __shfl_sync(0xffffffff, value, t), four.load(b + (size_t)column * k));
        }
    }
    four.store(c + (size_t)row * k, sum);
}
