// y = A x by the merge path, with x of the columns that have most entries in shared memory.
// See spmv.cu for the operands. It needs sm_80 for maxima and unions of a warp's words in one
// instruction.
//
// A gather is bound by the tags of L2: each load of x that misses L1 looks up one, however near
// to each other the places in x are. Of a power law, a few columns have half of all entries. A
// table has 2^log_buckets buckets of two columns, those that have most entries in a sample.
// The place of a column is bijective, so that a bucket and a tag name one column.

#include "merge.cuh"

constexpr unsigned groups = 2; // of 32 entries that a warp loads at once
constexpr unsigned all_lanes = 0xffffffff;

// The place of a column among 2^bits, and the column of a place.
static __device__ unsigned place_of(unsigned column, unsigned bits) { return column * 0x9E3779B1u & ((1u << bits) - 1); }
static __device__ unsigned column_of(unsigned place, unsigned bits) { return place * 0x0E8B2F51u & ((1u << bits) - 1); }

// start[t] is the number of rows that have ended at the path's step t * 2^log_steps: a thread has
// four rows, and writes the starts between the steps at which a row begins and ends. Blocks
// beyond the rows count a sample of the entries, 32 neighbours per warp, in 16 bits per column; a
// count that overflows makes the choice worse, and no result wrong.
extern "C" __global__ void __launch_bounds__(256) spmv_hot_columns(const int* __restrict__ offsets, const int* __restrict__ columns, unsigned* __restrict__ start, unsigned* __restrict__ count, unsigned rows, unsigned nnz, unsigned log_steps, unsigned shares, unsigned bits) {
    unsigned with_rows = (rows + 1023) / 1024, lane = threadIdx.x % 32;
    if (blockIdx.x < with_rows) {
        unsigned from[4], to[4], most = (1u << log_steps) - 1;
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned r = blockIdx.x * 1024 + 256 * k + threadIdx.x;
            from[k] = to[k] = 0;
            if (r < rows) from[k] = (offsets[r] + r + most) >> log_steps, to[k] = (offsets[r + 1] + r + 1 + most) >> log_steps;
        }
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned r = blockIdx.x * 1024 + 256 * k + threadIdx.x;
            bool many = to[k] - from[k] > 8;
            for (unsigned t = from[k]; t < to[k] && !many; t++) start[t] = r;
            for (unsigned left = __ballot_sync(all_lanes, many); left; left &= left - 1) {
                unsigned of = __ffs(left) - 1, end = __shfl_sync(all_lanes, to[k], of);
                for (unsigned t = __shfl_sync(all_lanes, from[k], of) + lane; t < end; t += 32) start[t] = r - lane + of;
            }
            if (r == rows - 1) start[shares] = rows;
        }
        return;
    }
    unsigned warp = (blockIdx.x - with_rows) * 8 + threadIdx.x / 32, warps = (gridDim.x - with_rows) * 8;
    unsigned i = (unsigned)((unsigned long long)nnz * warp / warps) / 32 * 32 + lane;
    if (i >= nnz) return;
    unsigned place = place_of(columns[i], bits);
    atomicAdd(&count[place / 2], 1u << place % 2 * 16);
}

// A warp chooses the two columns of a bucket. table has the tags of the first in the lower
// and of the second in the upper halves of 2^log_buckets words, then x of all first columns,
// then x of all second ones.
extern "C" __global__ void __launch_bounds__(256) spmv_hot_columns_2(const unsigned* __restrict__ count, const float* __restrict__ x, unsigned* __restrict__ table, unsigned columns, unsigned bits, unsigned log_buckets) {
    unsigned bucket = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, buckets = 1u << log_buckets, words = 1u << (bits - log_buckets - 1);
    if (bucket >= buckets) return;
    unsigned first = 0, second = 0; // a count, and the tag below it
#pragma unroll 4
    for (unsigned k = lane; k < words; k += 32) {
        unsigned pair = count[bucket * words + k], a = pair << 16 | 2 * k, b = (pair & 0xffff0000) | (2 * k + 1);
        second = max(max(second, min(a, b)), min(first, max(a, b)));
        first = max(first, max(a, b));
    }
    unsigned best = __reduce_max_sync(all_lanes, first);
    unsigned next = __reduce_max_sync(all_lanes, first == best ? second : first);
    if (lane == 0) table[bucket] = (best & 0xffff) | next << 16;
    if (lane < 2) {
        unsigned tag = (lane ? next : best) & 0xffff, column = column_of(bucket << (bits - log_buckets) | tag, bits);
        table[(1 + lane) * buckets + bucket] = __float_as_uint(column < columns ? x[column] : 0);
    }
}

// The sums of runs of lanes that begin at the heads, each in the run's last lane.
static __device__ float run_sums(float v, unsigned heads) {
    unsigned lane = threadIdx.x % 32, before = heads & all_lanes >> (31 - lane), first = before ? 31 - __clz(before) : 0;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(all_lanes, v, d);
        if (lane >= first + d) v += other;
    }
    return v;
}

// A warp walks the path's steps of a share, and takes the next one that no warp has: which one
// that is, and where its rows are, it asks while it walks the share before. Entries, and the ends of rows, are counted from
// the share's first entry on; a warp begins up to 31 before it, at a multiple of 32. A lane has
// the end of one row, and its sum until the window of 32 rows is stored.
extern "C" __global__ void __launch_bounds__(1024) spmv_hot_columns_3(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, const unsigned* __restrict__ start, const unsigned* __restrict__ chosen, int* __restrict__ carry_row, float* __restrict__ carry, unsigned* __restrict__ ticket, unsigned rows, unsigned nnz, unsigned log_steps, unsigned shares, unsigned bits, unsigned log_buckets) {
    extern __shared__ __align__(16) unsigned table[];
    unsigned buckets = 1u << log_buckets, shift = bits - log_buckets, lane = threadIdx.x % 32;
    const float* held = (const float*)(table + buckets);
    for (unsigned i = threadIdx.x; i < 3 * buckets / 4; i += blockDim.x) ((uint4*)table)[i] = ((const uint4*)chosen)[i];
    __syncthreads();
    ticket += 1u << (bits - 1); // behind the counts
    unsigned warps = gridDim.x * (blockDim.x / 32), t = blockIdx.x + gridDim.x * (threadIdx.x / 32), next = 0, row = 0, end_row = 0;
    if (lane == 0) next = warps + atomicAdd(ticket, 1);
    if (t < shares) row = start[t], end_row = start[t + 1];
    next = __shfl_sync(all_lanes, next, 0);
    while (t < shares) {
        unsigned behind = 0, next_row = 0, next_end_row = 0;
        if (lane == 0) behind = warps + atomicAdd(ticket, 1);
        if (next < shares) next_row = start[next], next_end_row = start[next + 1];
        unsigned step = t << log_steps, begin = step - row, length = step + min(1u << log_steps, rows + nnz - step) - end_row - begin;
        int at = -(int)(begin % 32); // of the lanes' entries
        const int* next_column = columns + begin + at + lane;
        const float* next_value = values + begin + at + lane;
        int c[groups];
        float v[groups];
        auto load = [&](unsigned entry) {
#pragma unroll
            for (unsigned k = 0; k < groups; k++) {
                c[k] = 0, v[k] = 0;
                if (entry + 32 * k < length) c[k] = __ldcs(next_column + 32 * k), v[k] = __ldcs(next_value + 32 * k);
            }
            next_column += 32 * groups, next_value += 32 * groups;
        };
        auto end_of = [&](unsigned r) { return r < end_row ? (int)(offsets[r + 1] - begin) : 0x7fffffff; };
        load(at + lane);
        int row_end = end_of(row + lane), next_end = end_of(row + 32 + lane), row_begin = __shfl_up_sync(all_lanes, row_end, 1);
        if (lane == 0) row_begin = 0;
        unsigned done = 0;        // rows of the window that have ended
        float sum = 0, whole = 0; // of this lane, for the row that has not ended; of the row that this lane has
        do {
            float p[groups];
#pragma unroll
            for (unsigned k = 0; k < groups; k++) {
                unsigned place = place_of(c[k], bits), bucket = place >> shift, tag = place & ((1u << shift) - 1), tags = table[bucket];
                bool second = tags >> 16 == tag;
                if (second || (tags & 0xffff) == tag) p[k] = held[(second ? buckets : 0) + bucket];
                else p[k] = x[c[k]];
            }
#pragma unroll
            for (unsigned k = 0; k < groups; k++) p[k] = at + lane + 32 * k < length ? p[k] * v[k] : 0;
            load(at + lane + 32 * groups);
#pragma unroll
            for (unsigned k = 0; k < groups; k++, at += 32) {
                bool ends = lane >= done && row_end <= at + 32;
                unsigned ending = __ballot_sync(all_lanes, ends);
                if (ending == 0) {
                    sum += p[k];
                    continue;
                }
                int last = __shfl_sync(all_lanes, row_end, done); // the end of the last row that has ended
                float of_first = group_sum(sum + (at + (int)lane < last ? p[k] : 0), 32);
                if (lane == done) whole = of_first;
                if (ending & (ending - 1)) {
                    unsigned heads = __reduce_or_sync(all_lanes, ends && row_end < at + 32 ? 1u << (row_end - at) : 0);
                    float own = __shfl_sync(all_lanes, run_sums(p[k], heads), (row_end - 1 - at) % 32u);
                    if (ends && lane != done) whole = row_end > row_begin ? own : 0;
                }
                done += __popc(ending), last = __shfl_sync(all_lanes, row_end, done - 1);
                while (done == 32) {
                    y[row + lane] = whole;
                    row += 32, done = 0, row_end = next_end, next_end = end_of(row + 32 + lane);
                    row_begin = __shfl_up_sync(all_lanes, row_end, 1);
                    if (lane == 0) row_begin = last;
                    ends = row_end <= at + 32, ending = __ballot_sync(all_lanes, ends);
                    if (ending == 0) break;
                    unsigned heads = __reduce_or_sync(all_lanes, (ends && row_end < at + 32 ? 1u << (row_end - at) : 0) | (last < at + 32 ? 1u << (last - at) : 0));
                    float own = __shfl_sync(all_lanes, run_sums(p[k], heads), (row_end - 1 - at) % 32u);
                    if (ends) whole = row_end > row_begin ? own : 0;
                    done = __popc(ending), last = __shfl_sync(all_lanes, row_end, done - 1);
                }
                sum = at + (int)lane >= last ? p[k] : 0;
            }
        } while (at < (int)length);
        if (lane < done) y[row + lane] = whole;
        sum = group_sum(sum, 32);
        if (lane == 0) carry_row[t] = end_row, carry[t] = sum;
        t = next, row = next_row, end_row = next_end_row, next = __shfl_sync(all_lanes, behind, 0);
    }
}

// Adds to each row what the shares before its end had of it.
extern "C" __global__ void __launch_bounds__(256) spmv_hot_columns_4(const int* __restrict__ carry_row, const float* __restrict__ carry, float* __restrict__ y, unsigned rows, unsigned shares) { add_carries(carry_row, carry, y, rows, shares); }
