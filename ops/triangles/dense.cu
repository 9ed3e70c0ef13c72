// Counting triangles without a table of row u: the rows of the first vertices, the hubs, are
// bits in memory, and a lane has a word of row u, which it compares with the word of row v
// at the same place. The caches keep the rows that many edges look up.

typedef unsigned long long u64;

#define ALL 0xffffffffu

// Edges of a unit, one per lane. A warp counts the rows that start in its unit.
#define UNIT 32

// Units of a long row that one warp counts: other warps count the rest.
#define SPLIT 8

// Units that a warp takes before it draws the first: they spare the ticket some atomics.
#define ROUNDS 4

// Words of row u that a warp packs before it looks them up.
#define WORDS 128

// Edges whose words a lane loads at a time.
#define AHEAD 8

// Rows that a lane searches at a time.
#define SEARCHES 4

// How many words the rows of the hubs before v have: row v has a bit for each vertex of the
// blocks of 256 up to its own, so that it starts a sector.
static __device__ unsigned row_bits(unsigned v) {
    unsigned block = v / 256;
    return 8 * (block + 1) * (v - 128 * block);
}

// The lanes up to this one.
static __device__ unsigned lanes_to_here() { return (2u << threadIdx.x % 32) - 1; }

// Packs the columns c of the lanes that are in as words of 32 bits with their places in a row.
// A word starts at each lane of starts; place is that of this lane's word in a list.
static __device__ void pack(uint2* list, unsigned place, unsigned c, bool in, bool starts) {
    if (starts) list[place] = make_uint2(c / 32, 0);
    __syncwarp();
    if (in) atomicOr(&list[place].y, 1u << c % 32);
    __syncwarp();
}

// The first blocks: owner[k] is the vertex in whose row the edge 32 k is, and where that row
// starts. The others: a warp a hub clears the bits of its row and sets them.
extern "C" __global__ void __launch_bounds__(256) triangles_dense(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, uint2* __restrict__ owner, unsigned* __restrict__ bits, unsigned* __restrict__ ticket, unsigned n, unsigned hubs, unsigned owners) {
    __shared__ uint2 lists[8][32];
    if (blockIdx.x == 0 && threadIdx.x == 0) *ticket = 0;
    if (blockIdx.x < owners) {
        unsigned u = blockIdx.x * 256 + threadIdx.x;
        if (u >= n) return;
        unsigned from = rows[u], to = rows[u + 1];
        for (unsigned k = (from + UNIT - 1) / UNIT; k < (to + UNIT - 1) / UNIT; k++) owner[k] = make_uint2(u, from);
        return;
    }
    unsigned v = (blockIdx.x - owners) * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (v >= hubs) return;
    uint2* list = lists[threadIdx.x / 32];
    unsigned* own = bits + row_bits(v);
    for (unsigned i = lane; i < v / 256 * 2 + 2; i += 32) ((uint4*)own)[i] = make_uint4(0, 0, 0, 0);
    __syncwarp();
    unsigned before = ALL, before_bits = 0;
    for (unsigned at = rows[v], to = rows[v + 1]; at < to; at += 32) {
        bool in = at + lane < to;
        unsigned c = in ? columns[at + lane] : ALL, left = __shfl_up_sync(ALL, c / 32, 1);
        bool starts = in && (lane == 0 || left != c / 32);
        unsigned all = __ballot_sync(ALL, starts), count = __popc(all);
        pack(list, __popc(all & lanes_to_here()) - 1, c, in, starts);
        uint2 mine = make_uint2(ALL, 0);
        if (lane < count) mine = list[lane];
        if (lane == 0 && mine.x == before) mine.y |= before_bits;
        if (lane < count) own[mine.x] = mine.y;
        before = __shfl_sync(ALL, mine.x, count - 1), before_bits = __shfl_sync(ALL, mine.y, count - 1);
        __syncwarp();
    }
}

// An edge u-v: how many bytes the bits of row v are behind those of row 0, the place of the
// last word of row v, and where the words of row u are in a list.
struct __align__(16) Edge {
    unsigned bits, last, from, to;
};

// The word of row v at a place, if the row is that long; else 0. at is the address of the place
// in row 0; v has the bits and the last place of an edge. The compiler makes half as many
// instructions of this as of the same in C++, where it keeps no address in registers.
static __device__ unsigned word_of(const unsigned* at, unsigned place, uint2 v) {
    unsigned x;
    asm("{\n .reg .pred inside;\n .reg .u64 address;\n setp.le.s32 inside, %1, %2;\n cvt.u64.u32 address, %3;\n add.u64 address, address, %4;\n mov.u32 %0, 0;\n @inside ld.global.nc.u32 %0, [address];\n}"
        : "=r"(x)
        : "r"(place), "r"(v.y), "r"(v.x), "l"(at));
    return x;
}

// A word of row u that is in no row v.
static __device__ uint2 no_word() { return make_uint2(0x7fffffff, 0); }

// Looks up the words [0, words) of row u in the rows v of the first of 32 edges, by 2^SHIFT
// lanes per edge; with TWO, a lane has two words.
template <int SHIFT, bool TWO> static __device__ unsigned look_up_by(const unsigned* __restrict__ bits, const uint2* list, unsigned words, const uint2* edges, unsigned count) {
    constexpr unsigned lanes = 1 << SHIFT, step = 32 / lanes;
    unsigned hits = 0, lane = threadIdx.x % 32;
    for (unsigned w = lane % lanes; w - lane % lanes < words; w += TWO ? 2 * lanes : lanes) {
        uint2 a = w < words ? list[w] : no_word(), b = TWO && w + lanes < words ? list[w + lanes] : no_word();
        const unsigned *at_a = bits + a.x, *at_b = bits + b.x;
        const uint4* pair = (const uint4*)edges + lane / lanes;
        for (unsigned i = 0; i < count; i += AHEAD * step, pair += AHEAD / 2 * step) {
            unsigned x[AHEAD], y[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k += 2) {
                uint4 two = pair[k / 2 * step];
                uint2 first = make_uint2(two.x, two.y), second = make_uint2(two.z, two.w);
                x[k] = word_of(at_a, a.x, first), x[k + 1] = word_of(at_a, a.x, second);
                if (TWO) y[k] = word_of(at_b, b.x, first), y[k + 1] = word_of(at_b, b.x, second);
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                hits += __popc(x[k] & a.y);
                if (TWO) hits += __popc(y[k] & b.y);
            }
        }
    }
    return hits;
}

// The same with as many lanes per edge as there are words.
static __device__ unsigned look_up(const unsigned* __restrict__ bits, const uint2* list, unsigned words, const uint2* edges, unsigned count) {
    if (words > 32) return look_up_by<5, true>(bits, list, words, edges, count);
    if (words > 16) return look_up_by<5, false>(bits, list, words, edges, count);
    if (words > 8) return look_up_by<4, false>(bits, list, words, edges, count);
    return look_up_by<3, false>(bits, list, words, edges, count);
}

// Searches the vertex c, that of the edge i of a unit, in the rows v of the edges of which,
// which are no hubs: those behind i whose row u begins before it. start and length are of row v.
static __device__ unsigned search(const unsigned* __restrict__ columns, unsigned c, int i, unsigned which, unsigned start, unsigned length, int begins) {
    unsigned hits = 0;
    while (which) {
        unsigned at[SEARCHES], left[SEARCHES], most = 0;
#pragma unroll
        for (int k = 0; k < SEARCHES; k++) {
            int edge = which ? __ffs(which) - 1 : 0, row_begins = __shfl_sync(ALL, begins, edge);
            unsigned all = __shfl_sync(ALL, length, edge);
            at[k] = __shfl_sync(ALL, start, edge);
            left[k] = which && i < edge && i >= row_begins ? all : 0;
            if (which) most = max(most, all);
            which &= which - 1;
        }
        for (; most > 1; most -= most / 2) {
#pragma unroll
            for (int k = 0; k < SEARCHES; k++) {
                unsigned half = left[k] / 2;
                if (half && columns[at[k] + half] <= c) at[k] += half;
                left[k] -= half;
            }
        }
#pragma unroll
        for (int k = 0; k < SEARCHES; k++)
            if (left[k]) hits += columns[at[k]] == c;
    }
    return hits;
}

// Counts the edges [start, to) of the row that begins at from, 32 at a time: its words up to
// there are packed, and looked up in the rows v. Words behind a full list take another turn.
static __device__ unsigned count_row(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, const unsigned* __restrict__ bits, unsigned from, unsigned start, unsigned to, unsigned hubs, uint2* list, Edge* edges) {
    unsigned lane = threadIdx.x % 32, hits = 0;
    for (unsigned begin = from; begin < to;) {
        unsigned packed = 0, before = ALL, end = to, next = begin + lane < to ? columns[begin + lane] : ALL;
        for (unsigned at = begin; at < to; at += 32) {
            unsigned i = at + lane, c = next, left = __shfl_up_sync(ALL, c / 32, 1);
            next = i + 32 < to ? columns[i + 32] : ALL;
            if (end == to && packed + 32 > WORDS) end = at;
            if (end == to) {
                if (lane == 0) left = before;
                bool starts = i < to && left != c / 32;
                unsigned all = __ballot_sync(ALL, starts);
                pack(list, packed + __popc(all & lanes_to_here()) - 1, c, i < to, starts);
                packed += __popc(all), before = __shfl_sync(ALL, c / 32, 31);
            }
            if (at < start) continue;
            ((uint2*)edges)[lane] = c < hubs ? make_uint2(4 * row_bits(c), c / 32) : make_uint2(0, ALL);
            unsigned count = __popc(__ballot_sync(ALL, c < hubs));
            __syncwarp();
            hits += look_up(bits, list, packed, (const uint2*)edges, count);
            __syncwarp();
            if (begin > from || count == min(to - at, 32u)) continue;
            unsigned row = 0, length = 0;
            if (i < to && c >= hubs) row = rows[c], length = rows[c + 1] - row;
            unsigned which = __ballot_sync(ALL, length);
            for (unsigned j = from; which && j <= at; j += 32) hits += search(columns, j < at ? columns[j + lane] : c, (int)(j + lane - at), which, row, length, (int)(from - at));
        }
        begin = end;
    }
    return hits;
}

// Counts the rows that start at the lanes of fresh and end before lane end: v are the columns.
// Four lanes or more have the words of row u, of whichever row an edge is.
static __device__ unsigned count_rows(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, const unsigned* __restrict__ bits, unsigned v, unsigned fresh, unsigned end, unsigned hubs, uint2* list, Edge* edges) {
    unsigned lane = threadIdx.x % 32, left = __shfl_up_sync(ALL, v / 32, 1), begun = fresh & lanes_to_here(), hits = 0;
    bool in = lane < end && begun, starts = in && (fresh >> lane & 1 || left != v / 32);
    unsigned all = __ballot_sync(ALL, starts), place = __popc(all & lanes_to_here()) - 1;
    int begins = 31 - __clz(begun);
    unsigned from = __popc(all & (2u << begins) - 1) - 1, to = place + !starts; // of the words before v
    bool active = in && v < hubs && from < to;
    unsigned which = __ballot_sync(ALL, active), count = __popc(which);
    if (which) {
        edges[lane] = Edge{0, ALL, 0, 0};
        __syncwarp();
        if (active) edges[__popc(which & (1u << lane) - 1)] = Edge{4 * row_bits(v), v / 32, from, to};
        pack(list, place, v, in, starts);
        unsigned most = active ? to - from : 0;
        unsigned shift = __any_sync(ALL, most > 16) ? 5 : __any_sync(ALL, most > 8) ? 4 : __any_sync(ALL, most > 4) ? 3 : 2, step = 32 >> shift;
        for (unsigned i = lane >> shift, done = 0; done < count; done += 4 * step, i += 4 * step) {
            unsigned x[4], y[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                Edge e = edges[i + k * step];
                unsigned w = e.from + (lane & (1u << shift) - 1);
                uint2 own = w < e.to ? list[w] : no_word();
                x[k] = word_of(bits + own.x, own.x, make_uint2(e.bits, e.last)), y[k] = own.y;
            }
#pragma unroll
            for (int k = 0; k < 4; k++) hits += __popc(x[k] & y[k]);
        }
        __syncwarp();
    }
    unsigned start = 0, length = 0;
    if (in && v >= hubs) start = rows[v], length = rows[v + 1] - start;
    which = __ballot_sync(ALL, length);
    if (which) hits += search(columns, v, lane, which, start, length, begins);
    return hits;
}

// A warp takes units of 32 edges. It counts the rows that start and end there at once, and the
// row that starts there and ends behind, as far as SPLIT units, by itself. The rest of a long
// row is counted at every SPLIT-th unit behind.
extern "C" __global__ void __launch_bounds__(256, 4) triangles_dense_2(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns, u64* __restrict__ count, unsigned n, unsigned first, const uint2* __restrict__ owner, const unsigned* __restrict__ bits, unsigned* __restrict__ ticket, unsigned hubs) {
    __shared__ uint2 lists[8][WORDS];
    __shared__ Edge all_edges[8][32];
    uint2* list = lists[threadIdx.x / 32];
    Edge* edges = all_edges[threadIdx.x / 32];
    unsigned lane = threadIdx.x % 32, begin = rows[first], end = rows[n], units = (end + UNIT - 1) / UNIT, warps = gridDim.x * 8;
    unsigned unit = begin / UNIT + blockIdx.x * 8 + threadIdx.x / 32, next = 0;
    u64 sum = 0;
    for (int round = 1; unit < units; round++) {
        bool draws = round >= ROUNDS;
        if (draws && lane == 0) next = atomicAdd(ticket, 1); // it is needed at the end of the turn
        unsigned base = unit * UNIT, limit = min(base + UNIT, end), hits = 0;
        unsigned v = base + lane < limit ? columns[base + lane] : ALL;
        uint2 old = owner[unit];
        // A bit for each edge at which a row starts, and where the last one of them ends.
        list[lane].x = lane == 0 && old.y == base && base >= begin;
        __syncwarp();
        unsigned last_end = 0, old_end = 0, beyond = 0;
        for (unsigned u = old.x + 1; !beyond; u += 32) {
            unsigned row = rows[min(u + lane, n)];
            if (u == old.x + 1) old_end = __shfl_sync(ALL, row, 0);
            if (row < limit && row >= begin) list[row - base].x = 1;
            beyond = __ballot_sync(ALL, row >= limit);
            last_end = __shfl_sync(ALL, row, __ffs(beyond | 1u << 31) - 1);
        }
        __syncwarp();
        unsigned fresh = __ballot_sync(ALL, list[lane].x), last = limit - base;
        __syncwarp();
        if (fresh && last_end > limit) last = 31 - __clz(fresh);
        if (fresh && last > __ffs(fresh)) hits += count_rows(rows, columns, bits, v, fresh, last, hubs, list, edges);
        // The row that ends behind, and the rest of a long row from before.
        unsigned behind = unit - old.y / UNIT, row = base + last, start = row, row_end = fresh ? last_end : limit;
#pragma unroll 1
        for (int part = 0; part < 2; part++) {
            if (part) {
                row = old.y, start = row + behind * UNIT, row_end = old_end;
                if (!behind || behind % SPLIT || start >= row_end || row < begin) break;
            } else if (row_end <= limit) continue;
            hits += count_row(rows, columns, bits, row, start, min(row_end, start + SPLIT * UNIT), hubs, list, edges);
        }
        sum += hits;
        unit = draws ? begin / UNIT + warps * ROUNDS + __shfl_sync(ALL, next, 0) : unit + warps;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(ALL, sum, d);
    if (lane == 0 && sum) atomicAdd(count, sum);
}
