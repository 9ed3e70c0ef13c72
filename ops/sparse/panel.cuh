// What the rungs with panels of B in shared memory share: the part of C of a warp.

const unsigned panel = 64, wide = 128; // rows and columns of B

// Part is 16 rows of C and 128 columns in the registers of a warp, a lane four columns. A row
// takes its entries in their order, up to the first beyond the panel: an entry before the
// panel, where a row is not sorted, reads B itself.
struct Part {
    float4 sum[16];
    int mine[16]; // columns of the next 32 entries of each row, a lane each
    float value[16];
    unsigned next = 0, end = 0; // lane r: the entries of row r that are not in mine yet
    unsigned taken = 0;         // lane r: of those in mine
    const int* columns;
    const float* values;
    unsigned lane;

    __device__ __forceinline__ void refill(unsigned r, int& columns_of, float& values_of) {
        unsigned from = __shfl_sync(0xffffffff, next, r), to = __shfl_sync(0xffffffff, end, r);
        columns_of = from + lane < to ? columns[from + lane] : 0x7fffffff;
        values_of = from + lane < to ? values[from + lane] : 0;
        if (lane == r) next = min(from + 32, to), taken = 0;
    }

    __device__ __forceinline__ Part(const int* offsets, const int* columns, const float* values, unsigned row0, unsigned rows) : columns(columns), values(values), lane(threadIdx.x % 32) {
        if (lane < 16 && row0 + lane < rows) next = offsets[row0 + lane], end = offsets[row0 + lane + 1];
#pragma unroll
        for (unsigned r = 0; r < 16; r++) {
            sum[r] = make_float4(0, 0, 0, 0);
            refill(r, mine[r], value[r]);
        }
    }

    // Adds the entries up to the end of the panel that begins at row first of B. j is the
    // lane's first column of B.
    __device__ __forceinline__ void add(const float* staged, unsigned first, const float* b, unsigned k, unsigned j) {
        const float* of_panel = staged + 4 * lane;
#pragma unroll
        for (unsigned r = 0; r < 16; r++) {
            unsigned at = __shfl_sync(0xffffffff, taken, r), stop;
            for (;;) {
                unsigned beyond = __ballot_sync(0xffffffff, mine[r] >= (int)(first + panel)) >> at << at;
                stop = beyond ? __ffs(beyond) - 1 : 32;
                for (; at < stop; at++) {
                    unsigned column = __shfl_sync(0xffffffff, mine[r], at);
                    float v = __shfl_sync(0xffffffff, value[r], at);
                    float4 x = make_float4(0, 0, 0, 0);
                    if (column >= first) x = *(const float4*)(of_panel + (column - first) * wide);
                    else {
                        const float* of = b + (size_t)column * k + j;
                        x = make_float4(j < k ? of[0] : 0, j + 1 < k ? of[1] : 0, j + 2 < k ? of[2] : 0, j + 3 < k ? of[3] : 0);
                    }
                    sum[r].x += v * x.x, sum[r].y += v * x.y, sum[r].z += v * x.z, sum[r].w += v * x.w;
                }
                if (stop < 32 || __shfl_sync(0xffffffff, next >= end, r)) break;
                refill(r, mine[r], value[r]);
                at = 0;
            }
            if (lane == r) taken = at;
        }
    }

    __device__ __forceinline__ void store(float* c, unsigned row0, unsigned rows, unsigned k, unsigned j, bool vectors) {
#pragma unroll
        for (unsigned r = 0; r < 16; r++) {
            if (row0 + r >= rows) break;
            float* to = c + (size_t)(row0 + r) * k + j;
            if (vectors) {
                if (j < k) *(float4*)to = sum[r];
                continue;
            }
            if (j < k) to[0] = sum[r].x;
            if (j + 1 < k) to[1] = sum[r].y;
            if (j + 2 < k) to[2] = sum[r].z;
            if (j + 3 < k) to[3] = sum[r].w;
        }
    }
};
