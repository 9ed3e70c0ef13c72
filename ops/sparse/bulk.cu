// y = A x with entries that the copy engine streams into shared memory. It needs sm_90.

#include "barrier.cuh"
#include "vector.cuh"
#include "warp.cuh"

constexpr unsigned tile = 1024, stages = 3, threads = 256, end_steps = 4;

// Copies bytes, a multiple of 16, to shared memory, and counts them at the barrier. L2 keeps
// x and y rather than these.
static __device__ void copy(void* to, const void* from, unsigned bytes, unsigned long long* b) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(b)), "l"(policy)
                 : "memory");
}

// A path goes through the entries, a step each, and through the ends of the rows, four steps
// each: a row without entries costs time too. Returns the number of ends before step d. A
// warp probes 32 rows at a time, at first those around the one that it is where all rows are
// equally long.
static __device__ unsigned ends_before(const int* __restrict__ offsets, unsigned rows, unsigned long long steps, unsigned long long d) {
    unsigned lane = threadIdx.x % 32, guess = (double)rows * d / steps, low = guess > 16 ? guess - 16 : 0, high = rows;
    auto after = [&](unsigned i, unsigned limit) { return __ballot_sync(0xffffffff, i >= limit || (unsigned)offsets[i + 1] + (unsigned long long)end_steps * (i + 1) > d); };
    unsigned found = after(low + lane, rows);
    if (found & 1) high = low, low = 0;
    else if (found == 0) low += 32;
    else return low + __ffs(found) - 1;
    while (low < high) {
        unsigned step = (high - low + 31) / 32;
        found = after(low + lane * step, high);
        unsigned first = found == 0 ? 32 : __ffs(found) - 1;
        if (first == 0) return low;
        high = min(high, low + first * step);
        low += (first - 1) * step + 1;
    }
    return low;
}

// A block walks an equal share of the path, by tiles of entries. Three tiles are in shared
// memory: a tile's place gets the tile three later when all threads have passed the barrier
// after it. A pass adds at most 255 rows of a tile, 2^k lanes a row. A row that goes on in
// the next tile is in open until then; one that goes on in the next share, in carry. Arrays
// that are misaligned are copied by the threads.
extern "C" __global__ void __launch_bounds__(threads, 5) spmv_bulk(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int* __restrict__ carry_row, float* __restrict__ carry, unsigned rows, unsigned nnz) {
    extern __shared__ __align__(128) int column[];
    float* value = (float*)(column + stages * tile);
    __shared__ unsigned long long full[stages];
    __shared__ unsigned start[2][threads], share_row[2], share_entry[2];
    __shared__ float open[2];
    if (threadIdx.x < 64) {
        unsigned end = threadIdx.x / 32; // of the share: the first or the last
        unsigned long long steps = nnz + (unsigned long long)end_steps * rows, d = steps * (blockIdx.x + end) / gridDim.x;
        unsigned r = ends_before(offsets, rows, steps, d);
        if (threadIdx.x % 32 == 0) {
            share_row[end] = r;
            share_entry[end] = r < rows ? min(d - (unsigned long long)end_steps * r, (unsigned long long)(unsigned)offsets[r + 1]) : nnz;
        }
    } else if (threadIdx.x == 64) {
        for (unsigned i = 0; i < stages; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(full + i)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        open[0] = 0;
    }
    __syncthreads();

    unsigned row = share_row[0], row1 = share_row[1], entry0 = share_entry[0], entry1 = share_entry[1];
    unsigned base = entry0 / 4 * 4, tiles = max(1, (entry1 - base + tile - 1) / tile);
    bool vectors = ((size_t)columns | (size_t)values) % 16 == 0;
    bool cut = row1 < rows && (unsigned)offsets[row1] < entry1; // row1 has entries here, and ends in a later share
    if (threadIdx.x == 0 && !cut) carry_row[blockIdx.x] = rows, carry[blockIdx.x] = 0;

    auto put = [&](unsigned place, unsigned entry) { // zeros beyond the last entry
        column[place] = entry < nnz ? columns[entry] : 0;
        value[place] = entry < nnz ? values[entry] : 0;
    };
    auto fetch = [&](unsigned t) { // by one thread
        unsigned place = t % stages * tile, first = base + t * tile, n = (min(tile, entry1 - first) + 3) / 4 * 4, whole = min(n, (nnz - first) / 4 * 4);
        unsigned long long* b = full + t % stages;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(2 * whole * 4) : "memory");
        if (whole > 0) {
            copy(column + place, columns + first, whole * 4, b);
            copy(value + place, values + first, whole * 4, b);
        }
#pragma unroll 1
        for (unsigned i = whole; i < n; i++) put(place + i, first + i);
    };
    if (threadIdx.x == 0 && vectors)
#pragma unroll 1
        for (unsigned t = 0; t < min(stages, tiles); t++) fetch(t);

    unsigned from = offsets[min(row + threadIdx.x, rows)], pass = 0;
    for (unsigned t = 0; t < tiles; t++) {
        unsigned first = base + t * tile, stop = min(first + tile, entry1);
        unsigned limit = t + 1 == tiles ? 0xffffffff : stop; // rows that begin before it: in the last tile all
        if (!vectors)
            for (unsigned i = threadIdx.x; i < tile; i += threads) put(t % stages * tile + i, first + i);
        unsigned n = threads;
        for (bool again = false; n == threads; again = true, pass++) {
            unsigned* at = start[pass % 2];
            at[threadIdx.x] = from;
            n = __syncthreads_count(row + threadIdx.x < row1 + cut && from < limit);
            unsigned m = min(n, threads - 1); // the end of a row is the start of the next
            unsigned next = row + m - (n == m && n > 0 && at[m] > limit);
            from = offsets[min(next + threadIdx.x, rows)];
            if (!again && vectors) {
                if (threadIdx.x == 0 && t > 0 && t - 1 + stages < tiles) fetch(t - 1 + stages);
                barrier_wait(full + t % stages, t / stages % 2);
            }
            unsigned lanes = 32;
            while (lanes > 1 && lanes * m > threads) lanes /= 2;
            unsigned lane = threadIdx.x & (lanes - 1);
            for (unsigned group = 0; group < m; group += threads / lanes) {
                unsigned r = group + threadIdx.x / lanes;
                float sum = 0;
                if (r < m) {
                    unsigned begin = max(at[r], max(first, entry0)), end = min(at[r + 1], stop);
#pragma unroll 1
                    for (unsigned i = begin / 4 * 4 + 4 * lane; i < end; i += 4 * lanes) {
                        unsigned place = t % stages * tile + (i - first);
                        float4 g = gather(x, *(const int4*)(column + place), i, begin, end - begin);
                        sum += dot(*(const float4*)(value + place), g, i, begin, end - begin);
                    }
                }
                sum = group_sum(sum, lanes);
                if (r >= m || lane > 0) continue;
                if (r == 0 && at[0] < first) sum += open[pass % 2];
                if (at[r + 1] > limit) open[(pass + 1) % 2] = sum;
                else if (row + r < row1) y[row + r] = sum;
                else carry_row[blockIdx.x] = row1, carry[blockIdx.x] = sum;
            }
            row = next;
        }
    }
}

// Adds to each row what the shares before its end had of it.
extern "C" __global__ void __launch_bounds__(256) spmv_bulk_2(const int* __restrict__ carry_row, const float* __restrict__ carry, float* __restrict__ y, unsigned rows, unsigned blocks) {
    add_carries(carry_row, carry, y, rows, blocks);
}
