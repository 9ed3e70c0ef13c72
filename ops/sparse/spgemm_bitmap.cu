// C = A B of two sparse n x n matrices, without a table and without sorting: a bitmap in
// shared memory has a bit for each column of a window of C's row, and a column's place is
// the number of bits before its own. The first pass counts the products that set a bit.

#include "products.cuh"

const unsigned steps = 16; // products of a row that a thread keeps in registers: 512 per warp, 4096 per block

template <unsigned THREADS>
static __device__ void sync() {
    if (THREADS == 32) __syncwarp();
    else __syncthreads();
}

// The sum over the threads before this one, of a warp or a block; all is that over all.
template <unsigned THREADS>
static __device__ unsigned sum_before(unsigned v, unsigned& all) {
    __shared__ unsigned of_warp[8];
    unsigned lane = threadIdx.x % 32, up = v, earlier = 0;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, up, d);
        if (lane >= d) up += other;
    }
    all = __shfl_sync(0xffffffff, up, 31);
    if (THREADS == 32) return up - v;
    __syncthreads(); // of_warp is read
    if (lane == 31) of_warp[threadIdx.x / 32] = up;
    __syncthreads();
    all = 0;
    for (unsigned w = 0; w < 8; w++) {
        if (w < threadIdx.x / 32) earlier += of_warp[w];
        all += of_warp[w];
    }
    return earlier + up - v;
}

// The least number of the threads of a warp or a block.
template <unsigned THREADS>
static __device__ int least(int v) {
    __shared__ int of_warp[8];
    for (unsigned d = 16; d > 0; d /= 2) v = min(v, __shfl_xor_sync(0xffffffff, v, d));
    if (THREADS == 32) return v;
    __syncthreads(); // of_warp is read
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    for (unsigned w = 0; w < 8; w++) v = min(v, of_warp[w]);
    return v;
}

// A row of at most 16 products per thread, by a warp or a block; false for a longer one.
// memory has 128 bytes per thread and is used three times: for the entries of A, for the
// bitmap and its places, and for columns and sums. heads has a word for 32 products, with
// a bit where a row of B begins, and the number of such bits before.
template <bool NUMERIC, unsigned THREADS>
static __device__ bool held_row(const Matrix& a, const Matrix& b, const Result& c, unsigned row, unsigned n, uint4* memory, uint2* heads) {
    const unsigned window = THREADS * steps * 32; // columns: 16384 or 131072
    unsigned thread = threadIdx.x % THREADS, lane = threadIdx.x % 32, warp = thread / 32;
    uint2* list = (uint2*)memory; // of entries that have products: where the row of B begins, less the products before it, and the value

    if (thread < THREADS / 32 * steps) heads[thread].x = 0;
    sync<THREADS>();
    unsigned products = 0, entries = 0;
    for (unsigned first = a.offsets[row], end = a.offsets[row + 1]; first < end; first += THREADS) {
        unsigned begin = 0, length = 0, more, full;
        float v = 0;
        if (first + thread < end) {
            int k = a.columns[first + thread];
            if (NUMERIC) v = a.values[first + thread];
            begin = b.offsets[k];
            length = b.offsets[k + 1] - begin;
        }
        unsigned start = products + sum_before<THREADS>(length, more), at = entries + sum_before<THREADS>(length > 0, full);
        if (more > THREADS * steps - products) return false;
        if (length > 0) {
            list[at] = make_uint2(begin - start, __float_as_uint(v));
            atomicOr(&heads[start / 32].x, 1u << start % 32);
        }
        products += more;
        entries += full;
    }
    if (products == 0) {
        if (!NUMERIC && thread == 0) c.offsets[row + 1] = 0;
        return true;
    }
    sync<THREADS>();
    unsigned head = thread < THREADS / 32 * steps ? __popc(heads[thread].x) : 0, begun;
    head = sum_before<THREADS>(head, begun);
    if (thread < THREADS / 32 * steps) heads[thread].y = head;
    sync<THREADS>();

    int column[steps];
    float value[steps];
#pragma unroll
    for (unsigned s = 0; s < steps; s++) column[s] = none;
#pragma unroll
    for (unsigned four = 0; four < steps; four += 4) { // eight loads in flight
        if (four * THREADS >= products) break;
        uint2 e[4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            uint2 h = heads[(four + i) * (THREADS / 32) + warp];
            e[i] = list[h.y + __popc(h.x & (2u << lane) - 1) - 1];
        }
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            unsigned p = (four + i) * THREADS + thread, from = e[i].x + min(p, products - 1);
            int k = b.columns[from];
            if (NUMERIC) value[four + i] = b.values[from];
            column[four + i] = p < products ? k : none;
        }
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            if (NUMERIC) value[four + i] *= __uint_as_float(e[i].y);
    }

    unsigned at = NUMERIC ? c.offsets[row] : 0;
    unsigned* bits = (unsigned*)memory;
    unsigned short* places = (unsigned short*)(bits + window / 32); // of the first column of each word
    uint2* found = (uint2*)memory;                                // columns of C and their sums
    for (;;) { // windows, each from the least column on that is left
        unsigned first = 0, fresh = 0, here = 0;
        if (n > window) {
            int low = none;
#pragma unroll
            for (unsigned s = 0; s < steps; s++) low = min(low, column[s]);
            first = least<THREADS>(low);
            if (first == none) break;
        }
        sync<THREADS>(); // memory is read
#pragma unroll
        for (unsigned i = 0; i < 4; i++) memory[i * THREADS + thread] = make_uint4(0, 0, 0, 0);
        sync<THREADS>();
#pragma unroll
        for (unsigned four = 0; four < steps; four += 4) {
            if (four * THREADS >= products) break;
            unsigned there[4];
#pragma unroll
            for (unsigned i = 0; i < 4; i++) { // four atomics in flight; those of no column set no bit
                unsigned k = column[four + i] - first;
                bool in = k < window;
                there[i] = atomicOr(bits + (in ? k / 32 : thread), in ? 1u << k % 32 : 0) >> k % 32 & 1;
                if (in) here |= 1u << (four + i);
            }
#pragma unroll
            for (unsigned i = 0; i < 4; i++) fresh |= (there[i] ^ 1) << (four + i);
        }
        fresh &= here;
        if (!NUMERIC) {
            at += __popc(fresh);
            if (n <= window) break;
#pragma unroll
            for (unsigned s = 0; s < steps; s++)
                if (here >> s & 1) column[s] = none;
            continue;
        }
        sync<THREADS>();
        unsigned sum[4], low, high, all_low, all_high;
        uint4 word[4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            word[i] = memory[i * THREADS + thread];
            sum[i] = __popc(word[i].x) + __popc(word[i].y) + __popc(word[i].z) + __popc(word[i].w);
        }
        low = sum_before<THREADS>(sum[0] | sum[1] << 16, all_low); // two in a word: at most 4096 each
        high = sum_before<THREADS>(sum[2] | sum[3] << 16, all_high);
        unsigned before[4] = {low & 0xffff, low >> 16, high & 0xffff, high >> 16}, of[4] = {all_low & 0xffff, all_low >> 16, all_high & 0xffff, all_high >> 16}, all = 0;
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            unsigned x = all + before[i], y = x + __popc(word[i].x), z = y + __popc(word[i].y), w = z + __popc(word[i].z);
            ((uint2*)places)[i * THREADS + thread] = make_uint2(x | y << 16, z | w << 16);
            all += of[i];
        }
        sync<THREADS>();
#pragma unroll
        for (unsigned four = 0; four < steps; four += 4) {
            if (four * THREADS >= products) break;
            unsigned word[4], place[4];
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                unsigned k = min(column[four + i] - first, window - 1);
                word[i] = bits[k / 32], place[i] = places[k / 32];
            }
#pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                unsigned k = column[four + i] - first, packed = k | (place[i] + __popc(word[i] & (1u << k % 32) - 1)) * window;
                if (here >> (four + i) & 1) column[four + i] = packed;
            }
        }
        sync<THREADS>(); // bits and places are read
#pragma unroll
        for (unsigned four = 0; four < steps; four += 4) {
            if (four * THREADS >= products) break;
#pragma unroll
            for (unsigned s = four; s < four + 4; s++)
                if (fresh >> s & 1) found[(unsigned)column[s] / window] = make_uint2(first + (unsigned)column[s] % window, __float_as_uint(value[s]));
        }
        sync<THREADS>();
        unsigned equal = here & ~fresh; // to columns that another product has taken
#pragma unroll
        for (unsigned four = 0; four < steps; four += 4) {
            if (equal >> four == 0) break;
#pragma unroll
            for (unsigned s = four; s < four + 4; s++)
                if (equal >> s & 1) atomicAdd((float*)&found[(unsigned)column[s] / window].y, value[s]);
        }
        sync<THREADS>();
        for (unsigned i = thread; i < all && at + i < c.room; i += THREADS) {
            uint2 f = found[i];
            c.columns[at + i] = f.x;
            c.values[at + i] = __uint_as_float(f.y);
        }
        if (n <= window) break;
        at += all;
#pragma unroll
        for (unsigned s = 0; s < steps; s++)
            if (here >> s & 1) column[s] = none;
    }
    if (!NUMERIC) {
        sum_before<THREADS>(at, at);
        if (thread == 0) c.offsets[row + 1] = at;
    }
    return true;
}

// A longer row by a block, one window of columns after the other, in each of which every
// product is read again. The second pass has a sum for each of the window's 8192 columns.
template <bool NUMERIC>
static __device__ void long_row(const Matrix& a, const Matrix& b, const Result& c, unsigned row, unsigned n, uint4* memory, uint2* heads, unsigned shift) {
    const unsigned window = NUMERIC ? 8192 : 131072;
    unsigned *bits = NUMERIC ? (unsigned*)heads : (unsigned*)memory, lane = threadIdx.x % 32, warp = threadIdx.x / 32, at = NUMERIC ? c.offsets[row] : 0;
    float* sum = (float*)memory;
    for (unsigned first = 0; first < (unsigned)none;) {
        unsigned words = (min(n - first, window) + 31) / 32;
        int next = none;
        __syncthreads(); // bits and sums are read
        for (unsigned i = threadIdx.x; i < words; i += 256) bits[i] = 0;
        if (NUMERIC)
            for (unsigned i = threadIdx.x; i < window; i += 256) sum[i] = 0;
        __syncthreads();
        each_product(a, b, row, threadIdx.x, 256, shift, [&](int column, float v) {
            unsigned i = column - first;
            if (column < first) return; // of a window before
            if (i >= window) {
                next = min(next, column);
                return;
            }
            atomicOr(bits + i / 32, 1u << i % 32);
            if (NUMERIC) atomicAdd(sum + i, v);
        });
        unsigned start = first;
        first = least<256>(next); // bits and sums are complete
        if (!NUMERIC) {
            for (unsigned i = threadIdx.x; i < words; i += 256) at += __popc(bits[i]);
            continue;
        }
        unsigned own = threadIdx.x < words ? bits[threadIdx.x] : 0, all, before = sum_before<256>(__popc(own), all);
        for (unsigned w = 0; w < 32; w++) { // one lane per column
            unsigned word = __shfl_sync(0xffffffff, own, w), to = at + __shfl_sync(0xffffffff, before, w) + __popc(word & (1u << lane) - 1);
            if (!(word >> lane & 1) || to >= c.room) continue;
            unsigned i = (warp * 32 + w) * 32 + lane;
            c.columns[to] = start + i;
            c.values[to] = sum[i];
        }
        at += all;
    }
    if (!NUMERIC) {
        at = block_sum(at);
        if (threadIdx.x == 0) c.offsets[row + 1] = at;
    }
}

// One warp per row, and the whole block for those of its rows that are too long for a warp.
template <bool NUMERIC>
static __device__ void by_bitmap(const Matrix& a, const Matrix& b, const Result& c, unsigned n, unsigned shift) {
    __shared__ uint4 memory[2048];
    __shared__ uint2 heads[128];
    __shared__ bool longer[8];
    unsigned warp = threadIdx.x / 32, row = blockIdx.x * 8 + warp;
    bool left = row < n && !held_row<NUMERIC, 32>(a, b, c, row, n, memory + warp * 256, heads + warp * 16);
    if (threadIdx.x % 32 == 0) longer[warp] = left;
    if (!__syncthreads_or(left)) return;
    for (unsigned w = 0; w < 8; w++) {
        if (!longer[w]) continue;
        row = blockIdx.x * 8 + w;
        if (!held_row<NUMERIC, 256>(a, b, c, row, n, memory, heads)) long_row<NUMERIC>(a, b, c, row, n, memory, heads, shift);
        __syncthreads(); // memory is read
    }
}

// A bitmap in place of the table: the first pass counts the products that set a bit.
extern "C" __global__ void __launch_bounds__(256, 4) spgemm_bitmap(OPERANDS) {
    by_bitmap<false>(A, B, C, n, shift);
}

extern "C" __global__ void __launch_bounds__(1024) spgemm_bitmap_2(int* __restrict__ offsets, unsigned* __restrict__ count, unsigned n) {
    offsets_of_counts(offsets, count, n);
}

// Columns and sums go to their places among those of the row, and from there to C.
extern "C" __global__ void __launch_bounds__(256, 3) spgemm_bitmap_3(OPERANDS) {
    by_bitmap<true>(A, B, C, n, shift);
}
