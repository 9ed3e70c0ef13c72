// y = A x. Row r of A has the entries offsets[r] to offsets[r + 1] - 1, each a column and
// a value; entries of a row have any order, and equal columns add up. A row without
// entries gives 0. A stored 0 is an entry: 0 * NaN and 0 * inf are NaN.
//
// Each rung makes one change to the rung before it.

#include "heads.cuh"
#include "merge.cuh"
#include "vector.cuh"

// One thread per row: neighbouring threads read addresses a row apart.
extern "C" __global__ void __launch_bounds__(256) spmv_scalar_row(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows) {
    unsigned row = blockIdx.x * 256 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = offsets[row], end = offsets[row + 1]; i < end; i++) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

// One warp per row: the lanes read neighbours, and a row shorter than 32 leaves lanes idle.
extern "C" __global__ void __launch_bounds__(256) spmv_warp_row(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows) {
    unsigned row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = offsets[row] + lane, end = offsets[row + 1]; i < end; i += 32) sum += values[i] * x[columns[i]];
    sum = group_sum(sum, 32);
    if (lane == 0) y[row] = sum;
}

// 2^shift lanes per row, as many as a row has entries on average.
extern "C" __global__ void __launch_bounds__(256) spmv_vector_row(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned shift) {
    unsigned lanes = 1u << shift, row = (blockIdx.x * 256 + threadIdx.x) >> shift, lane = threadIdx.x & (lanes - 1);
    float sum = 0;
    if (row < rows)
        for (int i = offsets[row] + lane, end = offsets[row + 1]; i < end; i += lanes) sum += values[i] * x[columns[i]];
    sum = group_sum(sum, lanes);
    if (row < rows && lane == 0) y[row] = sum;
}

// 2^shift lanes per row, a quarter of its entries on average: a lane loads 16 bytes of columns
// and of values, from the row's first entry rounded down to a multiple of 4 on. It does so
// for two rows before it waits for the first of them. The branch between loads and products
// keeps the assembler from moving loads of values behind those of x.
extern "C" __global__ void __launch_bounds__(256, 6) spmv_vec4(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned nnz, unsigned shift) {
    constexpr unsigned N = 2;
    unsigned lanes = 1u << shift, lane = threadIdx.x & (lanes - 1), groups = 32 >> shift;
    unsigned row = (blockIdx.x * 8 + threadIdx.x / 32) * groups * N + (threadIdx.x % 32 >> shift);
    // Vectors that begin before this entry can be loaded: none of arrays that are misaligned.
    unsigned whole = ((size_t)columns | (size_t)values) % 16 == 0 ? nnz / 4 * 4 : 0;
    unsigned begin[N], end[N], odd = whole == 0;
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        unsigned r = row + k * groups;
        begin[k] = end[k] = 0;
        if (r < rows) begin[k] = offsets[r], end[k] = offsets[r + 1];
    }
    int4 c[N];
    float4 v[N], g[N];
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        unsigned i = begin[k] / 4 * 4 + 4 * lane;
        c[k] = make_int4(0, 0, 0, 0), v[k] = make_float4(0, 0, 0, 0);
        if (i < min(end[k], whole)) c[k] = __ldcs((const int4*)(columns + i)), v[k] = __ldcs((const float4*)(values + i));
        odd |= (begin[k] | end[k]) % 4;
    }
    float sum[N];
    if (__any_sync(0xffffffff, odd)) {
#pragma unroll
        for (unsigned k = 0; k < N; k++) {
            unsigned i = begin[k] / 4 * 4 + 4 * lane;
            g[k] = gather(x, c[k], i, begin[k], i < whole ? end[k] - begin[k] : 0);
        }
#pragma unroll
        for (unsigned k = 0; k < N; k++) {
            unsigned i = begin[k] / 4 * 4 + 4 * lane;
            sum[k] = dot(v[k], g[k], i, begin[k], i < whole ? end[k] - begin[k] : 0);
        }
    } else { // no vector has entries of two rows
#pragma unroll
        for (unsigned k = 0; k < N; k++) {
            g[k] = make_float4(0, 0, 0, 0);
            if (begin[k] + 4 * lane < end[k]) g[k] = make_float4(x[c[k].x], x[c[k].y], x[c[k].z], x[c[k].w]);
        }
#pragma unroll
        for (unsigned k = 0; k < N; k++) sum[k] = (v[k].x * g[k].x + v[k].y * g[k].y) + (v[k].z * g[k].z + v[k].w * g[k].w);
    }
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        unsigned i = begin[k] / 4 * 4 + 4 * lane;
        if (i < whole) i += 4 * lanes;
#pragma unroll 1
        for (; i < end[k]; i += 4 * lanes) {
            if (i < whole) {
                int4 ci = __ldcs((const int4*)(columns + i));
                float4 vi = __ldcs((const float4*)(values + i));
                sum[k] += dot(vi, gather(x, ci, i, begin[k], end[k] - begin[k]), i, begin[k], end[k] - begin[k]);
            } else {
#pragma unroll 1
                for (unsigned j = max(i, begin[k]); j < min(i + 4, end[k]); j++) sum[k] += values[j] * x[columns[j]];
            }
        }
        sum[k] = group_sum(sum[k], lanes);
        if (lane == 0 && row + k * groups < rows) y[row + k * groups] = sum[k];
    }
}

// 16 bytes that are read once, and that L1 does not keep.
static __device__ int4 load_once(const void* p) {
    int4 v;
    asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

// As spmv_vec4, with one row of a lane at a time. A tile is the rows of a warp. The first
// `resident` blocks, as many as the device holds at once, have the `early` tiles: a warp loads the
// entries of the rows that it has next, and the offsets of those behind, before it adds up the
// rows of a tile. Blocks behind them have 16 tiles each, and begin where one has ended: blocks
// with equally many tiles end at different times.
extern "C" __global__ void __launch_bounds__(256, 6) spmv_vec4_ahead(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned nnz, unsigned shift, unsigned resident, unsigned early) {
    unsigned lanes = 1u << shift, lane = threadIdx.x & (lanes - 1), groups = 32 >> shift, of_tile = threadIdx.x % 32 >> shift;
    unsigned tiles = (rows + groups - 1) / groups, tile = blockIdx.x * 8 + threadIdx.x / 32, step = resident * 8;
    if (blockIdx.x < resident) {
        tiles = early;
    } else {
        unsigned first = early + (blockIdx.x - resident) * 16;
        tile = first + threadIdx.x / 32, step = 8, tiles = min(tiles, first + 16);
    }
    // Tiles before the first one with an entry that no vector has: none of arrays that are misaligned.
    unsigned fast = tiles, whole = ((size_t)columns | (size_t)values) % 16 == 0 ? nnz / 4 * 4 : 0;
    for (unsigned low = 0; whole < nnz && low < fast;) {
        unsigned middle = low + (fast - low) / 2;
        if ((unsigned)offsets[min(rows, (middle + 1) * groups)] <= whole) low = middle + 1;
        else fast = middle;
    }
    unsigned begin, end, next_begin, next_end;
    int4 c, next_c, v, next_v;
    auto find = [&](unsigned tile, unsigned& begin, unsigned& end) {
        unsigned r = tile * groups + of_tile;
        begin = end = 0;
        if (tile < fast && r < rows) begin = offsets[r], end = offsets[r + 1];
    };
    auto load = [&](unsigned begin, unsigned end, int4& c, int4& v) {
        unsigned i = begin / 4 * 4 + 4 * lane;
        c = v = make_int4(0, 0, 0, 0);
        if (i < end) c = load_once(columns + i), v = load_once(values + i);
    };
    auto floats = [](int4 v) { return make_float4(__int_as_float(v.x), __int_as_float(v.y), __int_as_float(v.z), __int_as_float(v.w)); };
    find(tile, begin, end);
    find(tile + step, next_begin, next_end);
    load(begin, end, c, v);
    for (; tile < fast; tile += step) {
        load(next_begin, next_end, next_c, next_v);
        unsigned behind_begin, behind_end;
        find(tile + 2 * step, behind_begin, behind_end);
        unsigned i = begin / 4 * 4 + 4 * lane, r = tile * groups + of_tile, n = end - begin;
        float sum = dot(floats(v), gather(x, c, i, begin, n), i, begin, n);
#pragma unroll 1
        for (i += 4 * lanes; i < end; i += 4 * lanes) {
            int4 ci = load_once(columns + i), vi = load_once(values + i);
            sum += dot(floats(vi), gather(x, ci, i, begin, n), i, begin, n);
        }
        sum = group_sum(sum, lanes);
        if (lane == 0 && r < rows) __stcs(y + r, sum);
        begin = next_begin, end = next_end, next_begin = behind_begin, next_end = behind_end;
        c = next_c, v = next_v;
    }
#pragma unroll 1
    for (; tile < tiles; tile += step) {
        unsigned r = tile * groups + of_tile;
        float sum = 0;
        if (r < rows)
            for (unsigned j = offsets[r] + lane, stop = offsets[r + 1]; j < stop; j += lanes) sum += values[j] * x[columns[j]];
        sum = group_sum(sum, lanes);
        if (lane == 0 && r < rows) y[r] = sum;
    }
}

// Calls put(i, v) with the products of the entries from first to end - 1, in loads of
// 16 bytes where the vectors start at multiples of it. 256 threads, N vectors each; end
// is at most first / 4 * 4 + 1024 N.
template <unsigned N, class Put>
static __device__ void products(const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, unsigned first, unsigned end, Put put) {
    if (((size_t)columns | (size_t)values) % 16 != 0) {
        for (unsigned i = first + threadIdx.x; i < end; i += 256) put(i, values[i] * x[columns[i]]);
        return;
    }
    unsigned at = first / 4 * 4 + 4 * threadIdx.x;
    int4 c[N];
    float4 v[N];
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        unsigned i = at + 1024 * k;
        if (i >= first && i + 4 <= end) {
            c[k] = __ldcs((const int4*)(columns + i));
            v[k] = __ldcs((const float4*)(values + i));
        }
    }
#pragma unroll
    for (unsigned k = 0; k < N; k++) {
        unsigned i = at + 1024 * k;
        if (i >= first && i + 4 <= end) {
            float a = x[c[k].x], b = x[c[k].y], e = x[c[k].z], f = x[c[k].w];
            put(i, v[k].x * a), put(i + 1, v[k].y * b), put(i + 2, v[k].z * e), put(i + 3, v[k].w * f);
        } else if (i < end) { // at most two vectors of the block reach beyond its entries
            for (unsigned j = max(i, first); j < min(i + 4, end); j++) put(j, values[j] * x[columns[j]]);
        }
    }
}

// first[c] is the first row that begins at the entry 2048 c or later. The last one is rows.
extern "C" __global__ void __launch_bounds__(256) spmv_stream(const int* __restrict__ offsets, unsigned* __restrict__ first, unsigned rows, unsigned chunks) {
    unsigned c = blockIdx.x * 256 + threadIdx.x;
    if (c > chunks) return;
    unsigned low = 0, high = rows;
    while (c < chunks && low < high) {
        unsigned middle = low + (high - low) / 2;
        if ((unsigned)offsets[middle] < c * 2048) low = middle + 1;
        else high = middle;
    }
    first[c] = c < chunks ? low : rows;
}

// A block takes the rows that begin in its 2048 entries. It streams their products into
// shared memory, at most 3072; of the entries beyond, which are of its last row, every
// thread adds some. Then 2^k lanes add each row.
extern "C" __global__ void __launch_bounds__(256) spmv_stream_2(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, const unsigned* __restrict__ first) {
    __shared__ float product[3072 + 96], beyond[8];
    unsigned row0 = first[blockIdx.x], row1 = first[blockIdx.x + 1];
    if (row0 == row1) return;
    unsigned begin = offsets[row0], end = offsets[row1], base = begin / 4 * 4, held = min(end, base + 3072);
    products<3>(columns, values, x, begin, held, [&](unsigned i, float v) { product[padded(i - base)] = v; });
    float rest = 0;
    for (unsigned i = held + threadIdx.x; i < end; i += 256) rest += values[i] * x[columns[i]];
    rest = group_sum(rest, 32);
    if (threadIdx.x % 32 == 0) beyond[threadIdx.x / 32] = rest;
    __syncthreads();

    unsigned lanes = 32;
    while (lanes > 1 && lanes * (row1 - row0) > 256) lanes /= 2;
    unsigned lane = threadIdx.x & (lanes - 1);
    for (unsigned group = row0; group < row1; group += 256 / lanes) {
        unsigned row = group + threadIdx.x / lanes;
        float sum = 0;
        if (row < row1)
            for (unsigned i = offsets[row] + lane, stop = min((unsigned)offsets[row + 1], held); i < stop; i += lanes) sum += product[padded(i - base)];
        sum = group_sum(sum, lanes);
        if (row < row1 && lane == 0) {
            if (row == row1 - 1)
                for (unsigned w = 0; w < 8; w++) sum += beyond[w];
            y[row] = sum;
        }
    }
}

// start[t] is the number of rows that have ended at step 2048 t of the merge path.
extern "C" __global__ void __launch_bounds__(256) spmv_merge_path(const int* __restrict__ offsets, unsigned* __restrict__ start, unsigned rows, unsigned nnz, unsigned tiles) {
    unsigned t = blockIdx.x * 256 + threadIdx.x;
    if (t > tiles) return;
    start[t] = ends_before(t < tiles ? t * 2048 : rows + nnz, rows, nnz, [&](unsigned i) { return (unsigned)offsets[i + 1]; });
}

// A block walks 2048 steps of the path, each thread 8: each step adds a product or ends a
// row. What a thread has of a row that it does not end goes to the threads after it, by
// a segmented scan; what a block has so, to carry_row and carry.
extern "C" __global__ void __launch_bounds__(256) spmv_merge_path_2(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, const unsigned* __restrict__ start, int* __restrict__ carry_row, float* __restrict__ carry, unsigned rows, unsigned nnz) {
    __shared__ float product[2048 + 4 + 65], warp_carry[8];
    __shared__ unsigned end[2048], warp_first[8], warp_last[8];
    unsigned row0 = start[blockIdx.x], row1 = start[blockIdx.x + 1];
    unsigned step0 = blockIdx.x * 2048, steps = min(2048u, rows + nnz - step0);
    unsigned entry0 = step0 - row0, entry1 = step0 + steps - row1, base = entry0 / 4 * 4;
    for (unsigned i = threadIdx.x; i < row1 - row0; i += 256) end[i] = offsets[row0 + i + 1] - entry0;
    products<3>(columns, values, x, entry0, entry1, [&](unsigned i, float v) { product[padded(i - base)] = v; });
    __syncthreads();

    unsigned d = min(8 * threadIdx.x, steps), last = min(d + 8, steps);
    unsigned i = ends_before(d, row1 - row0, entry1 - entry0, [&](unsigned i) { return end[i]; }), entry = d - i;
    unsigned first_row = i;
    float sum = 0, first_sum = 0;
    for (; d < last; d++) {
        if (i < row1 - row0 && entry >= end[i]) {
            if (i == first_row) first_sum = sum;
            else y[row0 + i] = sum;
            i++, sum = 0;
        } else {
            sum += product[padded(entry0 - base + entry)];
            entry++;
        }
    }

    // What comes to the row that this thread had at first, from the threads before it.
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool unused;
    float own = segment_sum(i, sum, unused), before = __shfl_up_sync(0xffffffff, own, 1);
    if (lane == 0) before = 0, warp_first[warp] = first_row;
    if (lane == 31) warp_last[warp] = i, warp_carry[warp] = own;
    __syncthreads();
    unsigned of_warp = warp_first[warp];
    float in = 0;
    for (unsigned w = warp; w-- > 0;) {
        in += warp_carry[w];
        if (warp_first[w] != warp_last[w]) break; // a row ended in that warp
    }
    if (first_row == of_warp) before += in;
    if (i != first_row) y[row0 + first_row] = first_sum + before;
    if (threadIdx.x == 255) {
        carry_row[blockIdx.x] = row0 + i;
        carry[blockIdx.x] = own + (i == of_warp ? in : 0);
    }
}

// Adds to each row what the blocks before its end had of it.
extern "C" __global__ void __launch_bounds__(256) spmv_merge_path_3(const int* __restrict__ carry_row, const float* __restrict__ carry, float* __restrict__ y, unsigned rows, unsigned tiles) {
    add_carries(carry_row, carry, y, rows, tiles);
}

// The same matrix as triples of row, column and value, in any order: one thread per entry,
// and an atomic addition for each. y is 0 before.
extern "C" __global__ void __launch_bounds__(256) spmv_coo_atomic(const int* __restrict__ row, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned nnz) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < nnz) atomicAdd(&y[row[i]], values[i] * x[columns[i]]);
}

// Neighbouring lanes of one row add up first: one atomic for each run of a row in a warp.
extern "C" __global__ void __launch_bounds__(256) spmv_coo_segmented(const int* __restrict__ row, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned nnz) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    bool there = i < nnz, last;
    int r = there ? row[i] : -1;
    float sum = segment_sum(r, there ? values[i] * x[columns[i]] : 0, last);
    if (last && there) atomicAdd(&y[r], sum);
}

// A lane has eight neighbours of its own. It adds what it has of a row; the runs that
// begin and end inside a lane go to memory at once, those of its last row to the scan.
extern "C" __global__ void __launch_bounds__(256) spmv_coo_runs(const int* __restrict__ row, const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, unsigned nnz) {
    unsigned first = (blockIdx.x * 256 + threadIdx.x) * 8;
    int r[8], c[8];
    float v[8];
    if (first + 8 <= nnz && ((size_t)row | (size_t)columns | (size_t)values) % 16 == 0) {
#pragma unroll
        for (unsigned k = 0; k < 8; k += 4) {
            *(int4*)(r + k) = __ldcs((const int4*)(row + first + k));
            *(int4*)(c + k) = __ldcs((const int4*)(columns + first + k));
            *(float4*)(v + k) = __ldcs((const float4*)(values + first + k));
        }
    } else {
#pragma unroll
        for (unsigned k = 0; k < 8; k++) {
            bool there = first + k < nnz;
            r[k] = there ? row[first + k] : -1, c[k] = there ? columns[first + k] : 0, v[k] = there ? values[first + k] : 0;
        }
    }
#pragma unroll
    for (unsigned k = 0; k < 8; k++)
        if (r[k] >= 0) v[k] *= x[c[k]];
    int at = r[0];
    float sum = v[0];
#pragma unroll
    for (unsigned k = 1; k < 8; k++) {
        if (r[k] != at) {
            if (at >= 0) atomicAdd(&y[at], sum);
            at = r[k], sum = 0;
        }
        sum += v[k];
    }
    bool last;
    sum = segment_sum(at, sum, last);
    if (last && at >= 0) atomicAdd(&y[at], sum);
}
