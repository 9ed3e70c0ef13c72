// Counting the triangles of a graph that is oriented by degree: row u of (rows, columns)
// lists the neighbours of u with smaller numbers, in rising order. rows[n] is the number
// of edges; columns may have room for more. Triangles of the vertices from first on are
// counted: the rows before are those of other parts of a graph.

typedef unsigned long long u64;

// Adds the sums of a warp to the count.
static __device__ void publish(u64 sum, u64* __restrict__ count) {
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0 && sum) atomicAdd(count, sum);
}

// The vertex in whose row the edge e is.
static __device__ unsigned row_of(const unsigned* __restrict__ rows, unsigned n, unsigned e) {
    unsigned low = 0, high = n;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (rows[middle + 1] <= e) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Whether x is among the rising columns [from, to).
static __device__ bool has(const unsigned* __restrict__ columns, unsigned from, unsigned to, unsigned x) {
    while (from < to) {
        unsigned middle = from + (to - from) / 2, found = columns[middle];
        if (found == x) return true;
        if (found < x) from = middle + 1;
        else to = middle;
    }
    return false;
}

// One thread per edge u-v: it merges row u, as far as v, with row v.
extern "C" __global__ void triangles_merge(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first) {
    u64 sum = 0;
    unsigned edges = rows[n];
    for (unsigned e = rows[first] + blockIdx.x * 256 + threadIdx.x; e < edges; e += gridDim.x * 256) {
        unsigned v = columns[e], i = rows[row_of(rows, n, e)], j = rows[v], end = rows[v + 1];
        while (i < e && j < end) {
            unsigned a = columns[i], b = columns[j];
            sum += a == b;
            i += a <= b;
            j += b <= a;
        }
    }
    publish(sum, count);
}

// One thread per edge: it searches the longer row for each vertex of the shorter one.
extern "C" __global__ void triangles_search(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first) {
    u64 sum = 0;
    unsigned edges = rows[n];
    for (unsigned e = rows[first] + blockIdx.x * 256 + threadIdx.x; e < edges; e += gridDim.x * 256) {
        unsigned v = columns[e], i = rows[row_of(rows, n, e)], i_end = e, j = rows[v], j_end = rows[v + 1];
        if (i_end - i > j_end - j) {
            unsigned from = i, to = i_end;
            i = j, i_end = j_end, j = from, j_end = to;
        }
        for (; i < i_end; i++) sum += has(columns, j, j_end, columns[i]);
    }
    publish(sum, count);
}

// One warp per edge: its lanes share the searches.
extern "C" __global__ void triangles_search_warp(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first) {
    u64 sum = 0;
    unsigned edges = rows[n], lane = threadIdx.x % 32;
    for (unsigned e = rows[first] + blockIdx.x * 8 + threadIdx.x / 32; e < edges; e += gridDim.x * 8) {
        unsigned v = columns[e], i = rows[row_of(rows, n, e)], i_end = e, j = rows[v], j_end = rows[v + 1];
        if (i_end - i > j_end - j) {
            unsigned from = i, to = i_end;
            i = j, i_end = j_end, j = from, j_end = to;
        }
        for (i += lane; i < i_end; i += 32) sum += has(columns, j, j_end, columns[i]);
    }
    publish(sum, count);
}

// The bit of vertex v in its word.
static __device__ unsigned bit_of(unsigned v) { return 1u << v % 32; }

// The work of a block of 256 threads on the vertices first + blockIdx.x + k gridDim.x: the bits of
// row u are set, each row v of a neighbour is looked up, and the bits are cleared.
static __device__ u64 by_bitmap(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, unsigned n, unsigned first, unsigned* bits) {
    u64 sum = 0;
    unsigned lane = threadIdx.x % 32;
    for (unsigned u = first + blockIdx.x; u < n; u += gridDim.x) {
        unsigned from = rows[u], to = rows[u + 1];
        if (to - from < 2) continue;
        for (unsigned i = from + threadIdx.x; i < to; i += 256) atomicOr(&bits[columns[i] / 32], bit_of(columns[i]));
        __syncthreads();
        for (unsigned i = from + threadIdx.x / 32; i < to; i += 8) {
            unsigned v = columns[i], end = rows[v + 1];
            for (unsigned j = rows[v] + lane; j < end; j += 32) {
                unsigned w = columns[j];
                sum += bits[w / 32] >> w % 32 & 1;
            }
        }
        __syncthreads();
        for (unsigned i = from + threadIdx.x; i < to; i += 256) atomicAnd(&bits[columns[i] / 32], ~bit_of(columns[i]));
        __syncthreads();
    }
    return sum;
}

// One block per vertex: a bitmap of all vertices in global memory.
extern "C" __global__ void __launch_bounds__(256) triangles_bitmap(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first, unsigned* bits, unsigned words) {
    publish(by_bitmap(rows, columns, n, first, bits + (size_t)blockIdx.x * words), count);
}

// The bitmap is in shared memory.
extern "C" __global__ void __launch_bounds__(256) triangles_bitmap_shared(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first, unsigned words) {
    extern __shared__ unsigned bits[];
    for (unsigned i = threadIdx.x; i < words; i += 256) bits[i] = 0;
    __syncthreads();
    publish(by_bitmap(rows, columns, n, first, bits), count);
}

#define EMPTY 0xffffffffu

// Vertices of a row that a hash table takes at a time: longer rows take several turns.
#define TAKEN 2048

// The slots of a table for so many vertices, a power of 2: at most half of them are taken.
static __device__ unsigned slots_for(unsigned vertices) { return max(64u, 1u << (32 - __clz(2 * vertices - 1))); }

// The slot at which the search for v starts; consecutive numbers are spread.
static __device__ unsigned slot_of(unsigned v, unsigned slots) { return v * 0x9e3779b1u >> __clz(slots - 1); }

// Makes a table of the columns [from, to) in shared memory, by a block of 256 threads.
static __device__ void insert(const unsigned* __restrict__ columns, unsigned from, unsigned to, unsigned* keys, unsigned slots) {
    for (unsigned s = threadIdx.x; s < slots; s += 256) keys[s] = EMPTY;
    __syncthreads();
    for (unsigned i = from + threadIdx.x; i < to; i += 256) {
        unsigned s = slot_of(columns[i], slots);
        while (atomicCAS(&keys[s], EMPTY, columns[i]) != EMPTY) s = (s + 1) & (slots - 1);
    }
    __syncthreads();
}

// The slot of v, or an empty one.
static __device__ unsigned find(const unsigned* keys, unsigned slots, unsigned v) {
    unsigned s = slot_of(v, slots);
    while (keys[s] != v && keys[s] != EMPTY) s = (s + 1) & (slots - 1);
    return s;
}

// One block per vertex: row u is a hash table in shared memory.
extern "C" __global__ void __launch_bounds__(256) triangles_hash(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first) {
    __shared__ unsigned keys[2 * TAKEN];
    u64 sum = 0;
    unsigned lane = threadIdx.x % 32;
    for (unsigned u = first + blockIdx.x; u < n; u += gridDim.x) {
        unsigned from = rows[u], to = rows[u + 1];
        if (to - from < 2) continue;
        for (unsigned begin = from; begin < to; begin += TAKEN) {
            unsigned last = min(begin + TAKEN, to), slots = slots_for(last - begin);
            insert(columns, begin, last, keys, slots);
            for (unsigned i = from + threadIdx.x / 32; i < to; i += 8) {
                unsigned v = columns[i], end = rows[v + 1];
                for (unsigned j = rows[v] + lane; j < end; j += 32) sum += keys[find(keys, slots, columns[j])] != EMPTY;
            }
            __syncthreads();
        }
    }
    publish(sum, count);
}

// The product L L where L has an element, row by row: C[u][w] is the number of v with
// edges u-v and v-w. A table in shared memory has the columns of row u and adds up.
extern "C" __global__ void __launch_bounds__(256) triangles_masked_product(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, unsigned* __restrict__ product, unsigned n, unsigned first) {
    __shared__ unsigned keys[2 * TAKEN], sums[2 * TAKEN];
    unsigned lane = threadIdx.x % 32;
    for (unsigned u = first + blockIdx.x; u < n; u += gridDim.x) {
        unsigned from = rows[u], to = rows[u + 1];
        for (unsigned begin = from; begin < to; begin += TAKEN) {
            unsigned last = min(begin + TAKEN, to), slots = slots_for(last - begin);
            for (unsigned s = threadIdx.x; s < slots; s += 256) sums[s] = 0;
            insert(columns, begin, last, keys, slots);
            for (unsigned i = from + threadIdx.x / 32; i < to; i += 8) {
                unsigned v = columns[i], end = rows[v + 1];
                for (unsigned j = rows[v] + lane; j < end; j += 32) {
                    unsigned s = find(keys, slots, columns[j]);
                    if (keys[s] != EMPTY) atomicAdd(&sums[s], 1);
                }
            }
            __syncthreads();
            for (unsigned i = begin + threadIdx.x; i < last; i += 256) product[i] = sums[find(keys, slots, columns[i])];
            __syncthreads();
        }
    }
}

// Adds up the elements of the product.
extern "C" __global__ void triangles_masked_product_2(const unsigned* __restrict__ rows, const unsigned* __restrict__ product, u64* __restrict__ count, unsigned n, unsigned first) {
    u64 sum = 0;
    unsigned edges = rows[n];
    for (unsigned e = rows[first] + blockIdx.x * 256 + threadIdx.x; e < edges; e += gridDim.x * 256) sum += product[e];
    publish(sum, count);
}

// The wedges of vertex u are the pairs of its row.
static __device__ u64 wedges_of(const unsigned* __restrict__ rows, unsigned u) {
    u64 d = rows[u + 1] - rows[u];
    return d * (d - (d > 0)) / 2;
}

// The sum of x over the threads before this one in a block of 1024, and over all.
static __device__ u64 scan_block(u64 x, u64* total) {
    __shared__ u64 warps[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 sum = x;
    for (int d = 1; d < 32; d *= 2) {
        u64 before = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d) sum += before;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    u64 before = 0;
    *total = 0;
    for (unsigned i = 0; i < 32; i++) {
        if (i < warp) before += warps[i];
        *total += warps[i];
    }
    __syncthreads();
    return before + sum - x;
}

// How many wedges there are before each vertex, within its part of 1024 vertices.
extern "C" __global__ void __launch_bounds__(1024) triangles_wedges(const unsigned* __restrict__ rows, u64* __restrict__ starts, u64* __restrict__ parts, unsigned n, unsigned first) {
    unsigned u = blockIdx.x * 1024 + threadIdx.x;
    u64 total, before = scan_block(u >= first && u < n ? wedges_of(rows, u) : 0, &total);
    if (u < n) starts[u] = before;
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// How many there are before each part, in one block; parts[count] is the number of all.
extern "C" __global__ void __launch_bounds__(1024) triangles_wedges_2(u64* __restrict__ parts, unsigned count) {
    u64 sum = 0;
    for (unsigned first = 0; first < count; first += 1024) {
        unsigned i = first + threadIdx.x;
        u64 total, before = scan_block(i < count ? parts[i] : 0, &total);
        if (i < count) parts[i] = sum + before;
        sum += total;
    }
    if (threadIdx.x == 0) parts[count] = sum;
}

// The last i in [0, count) with x[i] <= k; x[0] is.
static __device__ unsigned last_to(const u64* __restrict__ x, unsigned count, u64 k) {
    unsigned low = 0, high = count;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (x[middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

// Every warp has an equal share of all wedges, lane by lane the next: the wedge i, j of
// vertex u is closed if vertex j of its row is in the row of vertex i.
extern "C" __global__ void __launch_bounds__(256) triangles_wedges_3(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, const u64* __restrict__ starts, const u64* __restrict__ parts, unsigned n) {
    unsigned part_count = (n + 1023) / 1024, warps = gridDim.x * 8;
    u64 all = parts[part_count], share = (all + warps - 1) / warps;
    u64 k = share * (blockIdx.x * 8 + threadIdx.x / 32), end = min(k + share, all), sum = 0;
    k += threadIdx.x % 32;
    if (k < end) {
        unsigned part = last_to(parts, part_count, k);
        unsigned u = part * 1024 + last_to(starts + part * 1024, min(1024u, n - part * 1024), k - parts[part]);
        u64 j = k - parts[part] - starts[u];
        u64 i = (u64)((1 + sqrt(1 + 8 * (double)j)) / 2);
        while (i * (i - 1) / 2 > j) i--;
        j -= i * (i - 1) / 2;
        for (unsigned row = rows[u], degree = rows[u + 1] - row;; j += 32) {
            while (i >= degree || j >= i) {
                if (i >= degree) {
                    row += degree, u++, i = 1;
                    degree = rows[u + 1] - row;
                } else j -= i++;
            }
            unsigned v = columns[row + i];
            sum += has(columns, rows[v], rows[v + 1], columns[row + j]);
            k += 32;
            if (k >= end) break;
        }
    }
    publish(sum, count);
}

// Edges that a warp of triangles_packed draws at a time.
#define DRAWN 64

// One warp per row: its columns as words of 32 bits with their places, at the place of the row
// in columns. span[u] is where they start and how many they are; a word whose columns are
// on both sides of a multiple of 32 is there twice. owner[k] is the vertex in whose row the
// edge 64 k is.
extern "C" __global__ void __launch_bounds__(256) triangles_packed(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, uint2* __restrict__ packed, uint2* __restrict__ span, unsigned* __restrict__ owner, unsigned n) {
    __shared__ uint2 words[256];
    uint2* own = words + threadIdx.x / 32 * 32;
    unsigned u = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (u >= n) return;
    unsigned from = rows[u], to = rows[u + 1], done = from;
    for (unsigned first = from; first < to; first += 32) {
        unsigned i = first + lane, c = i < to ? columns[i] : EMPTY, word = c / 32;
        unsigned before = __shfl_up_sync(0xffffffff, word, 1);
        bool starts = i < to && (lane == 0 || before != word);
        unsigned all = __ballot_sync(0xffffffff, starts), place = __popc(all & (2u << lane) - 1) - 1;
        if (starts) own[place] = make_uint2(word, 0);
        __syncwarp();
        if (i < to) atomicOr(&own[place].y, bit_of(c));
        __syncwarp();
        unsigned count = __popc(all);
        if (lane < count) packed[done + lane] = own[lane];
        __syncwarp();
        done += count;
    }
    if (lane == 0) span[u] = make_uint2(from, done - from);
    for (unsigned k = (from + DRAWN - 1) / DRAWN + lane; k < (to + DRAWN - 1) / DRAWN; k += 32) owner[k] = u;
}

// Words of a row that the table of a warp takes at a time.
#define WORDS 256

// A warp draws 64 edges: the words of row u are a hash table of its own in shared memory,
// and eight lanes look up the words of a row v. A word is up to 32 wedges; the next is in
// flight while it is looked up.
extern "C" __global__ void __launch_bounds__(256) triangles_packed_2(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, const uint2* __restrict__ packed, const uint2* __restrict__ span, const unsigned* __restrict__ owner, unsigned* __restrict__ ticket, unsigned n, unsigned first) {
    __shared__ uint2 tables[8][2 * WORDS];
    uint2* table = tables[threadIdx.x / 32];
    unsigned lane = threadIdx.x % 32, edges = rows[n], skipped = rows[first] / DRAWN;
    u64 sum = 0;
    for (;;) {
        unsigned drawn = 0;
        if (lane == 0) drawn = atomicAdd(ticket, 1);
        drawn = skipped + __shfl_sync(0xffffffff, drawn, 0);
        if (drawn >= (edges + DRAWN - 1) / DRAWN) break;
        unsigned e = drawn * DRAWN, end = min(e + DRAWN, edges);
        for (unsigned u = owner[drawn]; e < end; u++) {
            unsigned row = rows[u], row_end = rows[u + 1], last = min(row_end, end);
            uint2 own = span[u];
            for (unsigned begin = 0; u >= first && row_end - row > 1 && begin < own.y; begin += WORDS) {
                unsigned taken = min(own.y - begin, (unsigned)WORDS), slots = slots_for(taken);
                for (unsigned s = lane; s < slots; s += 32) table[s] = make_uint2(EMPTY, 0);
                __syncwarp();
                for (unsigned i = lane; i < taken; i += 32) {
                    uint2 word = packed[own.x + begin + i];
                    unsigned s = slot_of(word.x, slots);
                    for (unsigned old; (old = atomicCAS(&table[s].x, EMPTY, word.x)) != EMPTY && old != word.x;) s = (s + 1) & (slots - 1);
                    atomicOr(&table[s].y, word.y);
                }
                __syncwarp();
                for (unsigned batch = e; batch < last; batch += 32) {
                    uint2 mine = make_uint2(0, 0);
                    if (batch + lane < last) mine = span[columns[batch + lane]];
                    unsigned from = __shfl_sync(0xffffffff, mine.x, lane / 8), words = __shfl_sync(0xffffffff, mine.y, lane / 8);
                    uint2 word = make_uint2(0, 0);
                    if (lane % 8 < words) word = packed[from + lane % 8];
                    for (unsigned i = 0; i < min(32u, last - batch); i += 4) {
                        unsigned next_from = __shfl_sync(0xffffffff, mine.x, i + 4 + lane / 8), next_words = __shfl_sync(0xffffffff, mine.y, i + 4 + lane / 8);
                        uint2 head = make_uint2(0, 0), next = head;
                        if (i + 4 < 32 && lane % 8 < next_words) head = packed[next_from + lane % 8];
                        unsigned hits = 0;
                        for (unsigned j = lane % 8; j < words; j += 8) {
                            if (j + 8 < words) next = packed[from + j + 8];
                            unsigned s = slot_of(word.x, slots);
                            uint2 found = table[s];
                            while (found.x != word.x && found.x != EMPTY) found = table[s = (s + 1) & (slots - 1)];
                            hits += found.x == word.x ? __popc(found.y & word.y) : 0;
                            word = next;
                        }
                        sum += hits;
                        word = head, from = next_from, words = next_words;
                    }
                }
                __syncwarp();
            }
            e = last;
        }
    }
    publish(sum, count);
}
