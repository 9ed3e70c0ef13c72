// C = A B with panels of B in shared memory: many rows of A read each of them. Asynchronous
// copies need sm_80.

const unsigned panel = 64, wide = 128; // rows and columns of B

// Copies 16 bytes to shared memory, or zeros.
static __device__ void copy16(float* to, const float* from, bool there) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to), bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

// Copies 4 bytes, or a zero.
static __device__ void copy4(float* to, const float* from, bool there) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to), bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

// A block has 256 rows and 128 columns of C in registers, a warp 16 of these rows, a lane
// four columns. It goes through B in panels of 64 rows, of which the next is on its way. A
// row takes its entries in their order, up to the first beyond the panel: an entry before
// the panel, where a row is not sorted, reads B itself.
extern "C" __global__ void __launch_bounds__(512) spmm_panels(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned width, unsigned k) {
    extern __shared__ __align__(16) float staged[]; // two panels
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, groups = (k + wide - 1) / wide;
    unsigned row0 = blockIdx.x / groups * 256 + warp * 16, j0 = blockIdx.x % groups * wide, j = j0 + 4 * lane;
    bool vectors = k % 4 == 0 && ((size_t)b | (size_t)c) % 16 == 0;
    float4 sum[16];
    int mine[16]; // columns of the next 32 entries of each row, a lane each
    float value[16];
    unsigned next = 0, end = 0; // lane r: the entries of row r that are not in mine yet
    unsigned taken = 0;         // lane r: of those in mine
    if (lane < 16 && row0 + lane < rows) next = offsets[row0 + lane], end = offsets[row0 + lane + 1];

    auto fetch = [&](unsigned first) {
        for (unsigned i = threadIdx.x; i < panel * (wide / 4); i += 512) {
            unsigned r = i / (wide / 4), column = j0 + i % (wide / 4) * 4;
            float* to = staged + first / panel % 2 * panel * wide + i * 4;
            const float* from = b + (size_t)(first + r) * k + column;
            bool there = first + r < width;
            if (vectors) copy16(to, there && column < k ? from : b, there && column < k);
            else
                for (unsigned q = 0; q < 4; q++) copy4(to + q, there && column + q < k ? from + q : b, there && column + q < k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    auto refill = [&](unsigned r, int& columns_of, float& values_of) {
        unsigned from = __shfl_sync(0xffffffff, next, r), to = __shfl_sync(0xffffffff, end, r);
        columns_of = from + lane < to ? columns[from + lane] : 0x7fffffff;
        values_of = from + lane < to ? values[from + lane] : 0;
        if (lane == r) next = min(from + 32, to), taken = 0;
    };
#pragma unroll
    for (unsigned r = 0; r < 16; r++) {
        sum[r] = make_float4(0, 0, 0, 0);
        refill(r, mine[r], value[r]);
    }
    fetch(0);
    for (unsigned first = 0; first < width; first += panel) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads(); // the panel is here, and the one before is read
        if (first + panel < width) fetch(first + panel);
        const float* of_panel = staged + first / panel % 2 * panel * wide + 4 * lane;
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
