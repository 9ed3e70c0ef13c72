// C = A B of two sparse n x n matrices. Rows of C are sorted by column, without equal
// ones. Each rung counts the columns of every row, turns the counts into offsets, and
// multiplies again to write columns and values; nothing is written from place room on.
//
// Each rung makes one change to the rung before it.

#include "products.cuh"

// The number of products of a row, by so many threads: a part for each.
static __device__ unsigned products_of(const Matrix& a, const Matrix& b, unsigned row, unsigned thread, unsigned threads) {
    unsigned sum = 0;
    for (unsigned e = a.offsets[row] + thread, end = a.offsets[row + 1]; e < end; e += threads) {
        int k = a.columns[e];
        sum += b.offsets[k + 1] - b.offsets[k];
    }
    return sum;
}

// Sorts 2^k pairs by key, by threads that meet by sync: a bitonic network whose
// comparisons all have one direction.
template <bool VALUES, class Sync>
static __device__ void sort(int* key, float* value, unsigned n, unsigned thread, unsigned threads, Sync sync) {
    auto order = [&](unsigned i, unsigned j) {
        int x = key[i], y = key[j];
        if (x <= y) return;
        key[i] = y, key[j] = x;
        if (VALUES) {
            float v = value[i];
            value[i] = value[j], value[j] = v;
        }
    };
    for (unsigned run = 2; run <= n; run *= 2) {
        for (unsigned p = thread; p < n / 2; p += threads) {
            unsigned begin = p / (run / 2) * run, at = p % (run / 2);
            order(begin + at, begin + run - 1 - at);
        }
        sync();
        for (unsigned step = run / 4; step > 0; step /= 2) {
            for (unsigned p = thread; p < n / 2; p += threads) {
                unsigned i = p / step * 2 * step + p % step;
                order(i, i + step);
            }
            sync();
        }
    }
}

// Whether a row of C has no columns; the first pass says so.
template <bool NUMERIC>
static __device__ bool empty_row(const Result& c, unsigned row, unsigned products) {
    if (!NUMERIC && products == 0 && threadIdx.x == 0) c.offsets[row + 1] = 0;
    return products == 0;
}

static __device__ unsigned power_of_two(unsigned n) { return n <= 32 ? 32 : 1u << (32 - __clz(n - 1)); }

// Finds the place of a column in a table of 2^k places, or takes a free one; fresh says
// which.
static __device__ unsigned place(int* key, unsigned size, int column, bool& fresh) {
    unsigned at = (unsigned)column * 2654435761u >> 7 & (size - 1);
    for (;;) {
        int there = *(volatile int*)(key + at);
        if (there == none) there = atomicCAS(key + at, none, column);
        if ((fresh = there == none) || there == column) return at;
        at = (at + 1) & (size - 1);
    }
}

// A row by a table of enough places. Sorted, its columns come first.
template <bool NUMERIC, class Sync>
static __device__ void hash_row(const Matrix& a, const Matrix& b, const Result& c, unsigned row, int* key, float* value, unsigned size, unsigned thread, unsigned threads, unsigned shift, Sync sync, unsigned& fresh_ones) {
    for (unsigned i = thread; i < size; i += threads) {
        key[i] = none;
        if (NUMERIC) value[i] = 0;
    }
    sync();
    fresh_ones = 0;
    each_product(a, b, row, thread, threads, shift, [&](int column, float v) {
        bool fresh;
        unsigned at = place(key, size, column, fresh);
        fresh_ones += fresh;
        if (NUMERIC) atomicAdd(value + at, v);
    });
    sync();
    if (!NUMERIC) return;
    sort<true>(key, value, size, thread, threads, sync);
    unsigned first = c.offsets[row], length = c.offsets[row + 1] - first;
    for (unsigned i = thread; i < length && first + i < c.room; i += threads) c.columns[first + i] = key[i], c.values[first + i] = value[i];
    sync(); // the table is read
}

const unsigned window = 4096; // columns, and places of a block's table

// A row with many products by one window of columns after the other: sums in shared
// memory, and a bit for each column that has one. Every window reads all products.
template <bool NUMERIC>
static __device__ void windows_row(const Matrix& a, const Matrix& b, const Result& c, unsigned row, unsigned n, unsigned* bits, float* sum, unsigned shift) {
    unsigned at = NUMERIC ? c.offsets[row] : 0, lane = threadIdx.x % 32;
    for (unsigned first = 0; first < n; first += window) {
        for (unsigned i = threadIdx.x; i < window; i += 256) {
            if (i < window / 32) bits[i] = 0;
            if (NUMERIC) sum[i] = 0;
        }
        __syncthreads();
        each_product(a, b, row, threadIdx.x, 256, shift, [&](int column, float v) {
            unsigned i = column - first;
            if (i >= window) return;
            atomicOr(bits + i / 32, 1u << i % 32);
            if (NUMERIC) atomicAdd(sum + i, v);
        });
        __syncthreads();
        unsigned count = 0; // every warp scans the words by itself
        for (unsigned i = 0; i < window / 32; i += 32) {
            unsigned word = bits[i + lane], up = __popc(word);
            for (unsigned d = 1; d < 32; d *= 2) {
                unsigned other = __shfl_up_sync(0xffffffff, up, d);
                if (lane >= d) up += other;
            }
            if (NUMERIC && i / 32 % 8 == threadIdx.x / 32) // this warp writes them
                for (unsigned to = at + count + up - __popc(word); word; word &= word - 1, to++) {
                    unsigned column = (i + lane) * 32 + __ffs(word) - 1;
                    if (to < c.room) c.columns[to] = first + column, c.values[to] = sum[column];
                }
            count += __shfl_sync(0xffffffff, up, 31);
        }
        at += count;
        __syncthreads();
    }
    if (!NUMERIC && threadIdx.x == 0) c.offsets[row + 1] = at;
}

// A row by sorting: all products in shared memory in the order of their columns, and the
// first of equal ones adds the others.
template <bool NUMERIC>
static __device__ void sort_row(const Matrix& a, const Matrix& b, const Result& c, unsigned row, unsigned products, int* key, float* value, unsigned shift) {
    __shared__ unsigned filled;
    unsigned size = power_of_two(products);
    if (threadIdx.x == 0) filled = 0;
    for (unsigned i = threadIdx.x; i < size; i += 256) key[i] = none;
    __syncthreads();
    each_product(a, b, row, threadIdx.x, 256, shift, [&](int column, float v) {
        unsigned i = atomicAdd(&filled, 1u);
        key[i] = column;
        if (NUMERIC) value[i] = v;
    });
    __syncthreads();
    sort<NUMERIC>(key, value, size, threadIdx.x, 256, [] { __syncthreads(); });
    unsigned each = size / 256 + (size < 256), from = min(threadIdx.x * each, size), to = min(from + each, size), own = 0;
    for (unsigned i = from; i < to; i++) own += key[i] != none && (i == 0 || key[i - 1] != key[i]);
    if (!NUMERIC) {
        unsigned all = block_sum(own);
        if (threadIdx.x == 0) c.offsets[row + 1] = all;
        return;
    }
    // Where this thread's columns begin: the sum of the threads before it.
    __shared__ unsigned of_warp[8];
    unsigned lane = threadIdx.x % 32, up = own;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, up, d);
        if (lane >= d) up += other;
    }
    if (lane == 31) of_warp[threadIdx.x / 32] = up;
    __syncthreads();
    unsigned at = c.offsets[row] + up - own;
    for (unsigned w = 0; w < threadIdx.x / 32; w++) at += of_warp[w];
    for (unsigned i = from; i < to; i++) {
        int column = key[i];
        if (column == none || i > 0 && key[i - 1] == column) continue;
        float sum = value[i];
        for (unsigned j = i + 1; j < size && key[j] == column; j++) sum += value[j];
        if (at < c.room) c.columns[at] = column, c.values[at] = sum;
        at++;
    }
}

template <bool NUMERIC>
static __device__ void by_sort(Matrix a, Matrix b, Result c, unsigned n, unsigned shift) {
    __shared__ int key[window];
    __shared__ float value[window];
    unsigned row = blockIdx.x, products = block_sum(products_of(a, b, row, threadIdx.x, 256));
    if (empty_row<NUMERIC>(c, row, products)) return;
    if (products <= window) sort_row<NUMERIC>(a, b, c, row, products, key, value, shift);
    else windows_row<NUMERIC>(a, b, c, row, n, (unsigned*)key, value, shift);
}

// One block per row: it counts the columns by sorting them.
extern "C" __global__ void __launch_bounds__(256) spgemm_sort(OPERANDS) {
    by_sort<false>(A, B, C, n, shift);
}

extern "C" __global__ void __launch_bounds__(256) spgemm_sort_2(OPERANDS) {
    by_sort<true>(A, B, C, n, shift);
}

// One block turns the counts of the rows into offsets.
extern "C" __global__ void __launch_bounds__(1024) spgemm_offsets(int* __restrict__ offsets, unsigned* __restrict__ count, unsigned n) {
    offsets_of_counts(offsets, count, n);
}

template <bool NUMERIC>
static __device__ void by_global_hash(Matrix a, Matrix b, Result c, int* keys, float* values, unsigned n, unsigned places, unsigned shift) {
    size_t own = (size_t)blockIdx.x * places;
    for (unsigned row = blockIdx.x; row < n; row += gridDim.x) {
        unsigned products = block_sum(products_of(a, b, row, threadIdx.x, 256)), fresh;
        hash_row<NUMERIC>(a, b, c, row, keys + own, values + own, power_of_two(2 * min(products, n)), threadIdx.x, 256, shift, [] { __syncthreads(); }, fresh);
        if (!NUMERIC) {
            fresh = block_sum(fresh);
            if (threadIdx.x == 0) c.offsets[row + 1] = fresh;
        }
    }
}

// Columns go to a hash table in global memory, one for each block that is there: only
// different columns are sorted.
extern "C" __global__ void __launch_bounds__(256) spgemm_global_hash(OPERANDS, int* table, float* sums, unsigned places) {
    by_global_hash<false>(A, B, C, table, sums, n, places, shift);
}

extern "C" __global__ void __launch_bounds__(256) spgemm_global_hash_2(OPERANDS, int* table, float* sums, unsigned places) {
    by_global_hash<true>(A, B, C, table, sums, n, places, shift);
}

// A row by a block: a table in shared memory, or windows where it could be three quarters
// full, because 3072 products would take a table of 8192 places.
template <bool NUMERIC>
static __device__ void block_row(const Matrix& a, const Matrix& b, const Result& c, unsigned row, unsigned products, int* key, float* value, unsigned n, unsigned shift) {
    unsigned fresh;
    if (empty_row<NUMERIC>(c, row, products)) return;
    if (products >= window / 4 * 3) {
        windows_row<NUMERIC>(a, b, c, row, n, (unsigned*)key, value, shift);
        return;
    }
    hash_row<NUMERIC>(a, b, c, row, key, value, power_of_two(products + products / 3 + 1), threadIdx.x, 256, shift, [] { __syncthreads(); }, fresh);
    if (NUMERIC) return;
    fresh = block_sum(fresh);
    if (threadIdx.x == 0) c.offsets[row + 1] = fresh;
}

template <bool NUMERIC>
static __device__ void by_shared_hash(Matrix a, Matrix b, Result c, unsigned n, unsigned shift) {
    __shared__ int key[window];
    __shared__ float value[window];
    unsigned products = block_sum(products_of(a, b, blockIdx.x, threadIdx.x, 256));
    block_row<NUMERIC>(a, b, c, blockIdx.x, products, key, value, n, shift);
}

// The table is in shared memory, of as many places as the row needs.
extern "C" __global__ void __launch_bounds__(256) spgemm_shared_hash(OPERANDS) {
    by_shared_hash<false>(A, B, C, n, shift);
}

extern "C" __global__ void __launch_bounds__(256) spgemm_shared_hash_2(OPERANDS) {
    by_shared_hash<true>(A, B, C, n, shift);
}

const unsigned small = window / 8; // places of a warp's table

// A warp counts the products of a row and puts its number into a list: rows whose table a
// warp has room for from the start of it, others from the end. sizes are the two lengths.
extern "C" __global__ void __launch_bounds__(256) spgemm_binned(OPERANDS, unsigned* list, unsigned* sizes) {
    unsigned row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= n) return;
    unsigned products = products_of(A, B, row, threadIdx.x % 32, 32);
    for (unsigned d = 16; d > 0; d /= 2) products += __shfl_xor_sync(0xffffffff, products, d);
    if (threadIdx.x % 32 > 0) return;
    if (products <= small / 4 * 3) list[atomicAdd(&sizes[0], 1u)] = row;
    else list[n - 1 - atomicAdd(&sizes[1], 1u)] = row;
}

// The first blocks have a row each of many products, the others eight of few.
template <bool NUMERIC>
static __device__ void by_bins(Matrix a, Matrix b, Result c, const unsigned* list, const unsigned* sizes, unsigned n, unsigned shift) {
    __shared__ int key[window];
    __shared__ float value[window];
    unsigned few = sizes[0], many = sizes[1];
    if (blockIdx.x < many) {
        unsigned row = list[n - 1 - blockIdx.x], products = block_sum(products_of(a, b, row, threadIdx.x, 256));
        block_row<NUMERIC>(a, b, c, row, products, key, value, n, shift);
        return;
    }
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = (blockIdx.x - many) * 8 + warp, fresh;
    if (i >= few) return;
    unsigned row = list[i], products = products_of(a, b, row, lane, 32);
    for (unsigned d = 16; d > 0; d /= 2) products += __shfl_xor_sync(0xffffffff, products, d);
    hash_row<NUMERIC>(a, b, c, row, key + warp * small, value + warp * small, power_of_two(products + products / 3), lane, 32, min(shift, 5u), [] { __syncwarp(); }, fresh);
    if (!NUMERIC) {
        for (unsigned d = 16; d > 0; d /= 2) fresh += __shfl_xor_sync(0xffffffff, fresh, d);
        if (lane == 0) c.offsets[row + 1] = fresh;
    }
}

extern "C" __global__ void __launch_bounds__(256) spgemm_binned_2(OPERANDS, const unsigned* list, const unsigned* sizes) {
    by_bins<false>(A, B, C, list, sizes, n, shift);
}

extern "C" __global__ void __launch_bounds__(256) spgemm_binned_3(OPERANDS, const unsigned* list, const unsigned* sizes) {
    by_bins<true>(A, B, C, list, sizes, n, shift);
}
