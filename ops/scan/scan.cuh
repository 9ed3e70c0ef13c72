// What the rungs of scan share: the scan of a warp, of a block and of a tile of vectors,
// and the status words by which tiles pass their sums on.
//
// T is float, int, unsigned long long, or a Segment: the sum of a scan by key. Integers
// wrap around. Segments may not change places: every sum is add(earlier, later).

constexpr unsigned all_lanes = 0xffffffff;

static __device__ float add(float a, float b) { return a + b; }
static __device__ int add(int a, int b) { return (unsigned)a + (unsigned)b; }
static __device__ unsigned long long add(unsigned long long a, unsigned long long b) { return a + b; }

// The sum of some neighbours since the last of them that begins a segment, and whether
// one does.
struct Segment {
    float sum;
    unsigned begins;
    Segment() = default;
    __device__ Segment(float sum, unsigned begins = 0) : sum(sum), begins(begins) {}
};
static __device__ Segment add(Segment a, Segment b) { return {b.begins ? b.sum : a.sum + b.sum, a.begins | b.begins}; }

template <typename T> static __device__ T from_lane(T v, unsigned lane) { return __shfl_sync(all_lanes, v, lane); }
template <typename T> static __device__ T from_below(T v, unsigned step) { return __shfl_up_sync(all_lanes, v, step); }
static __device__ Segment from_lane(Segment v, unsigned lane) { return {from_lane(v.sum, lane), from_lane(v.begins, lane)}; }
static __device__ Segment from_below(Segment v, unsigned step) { return {from_below(v.sum, step), from_below(v.begins, step)}; }

// Some neighbours, in accesses of 16 bytes.
template <typename T, unsigned count> struct __align__(16) Vector {
    T v[count];
};
template <typename T> using Four = Vector<T, 4>;

// The sum of this lane's value and those of the lanes before it.
template <typename T> static __device__ T scan_warp(T v) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        T other = from_below(v, step);
        if (lane >= step) v = add(other, v);
    }
    return v;
}

// Of a scan across lanes: what lies before this lane.
template <typename T> static __device__ T before_lane(T scanned) {
    T other = from_below(scanned, 1);
    return threadIdx.x % 32 ? other : T(0);
}

// The sum of the warps before this one, and of all. Every warp passes its own sum;
// totals is shared memory of a word for each warp, which is free after the next barrier.
template <typename T, unsigned warps> static __device__ T before_warp(T own, T* totals, T& all) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 31) totals[warp] = own;
    __syncthreads();
    T scanned = scan_warp(lane < warps ? totals[lane] : T(0));
    all = from_lane(scanned, warps - 1);
    T before = from_lane(scanned, (warp + 31) % 32);
    return warp ? before : T(0);
}

// The elements from i on; 0 beyond the end.
template <typename T, unsigned count = 4> static __device__ Vector<T, count> load_vector(const T* __restrict__ x, size_t i, unsigned n) {
    Vector<T, count> f;
    if (i + count <= n && (size_t)x % 16 == 0) {
#pragma unroll
        for (unsigned k = 0; k < sizeof f / 16; k++) ((float4*)&f)[k] = __ldcs((const float4*)(x + i) + k);
        return f;
    }
#pragma unroll
    for (unsigned k = 0; k < count; k++) f.v[k] = i + k < n ? x[i + k] : T(0);
    return f;
}

template <typename T, unsigned count> static __device__ void store_vector(T* __restrict__ y, size_t i, unsigned n, Vector<T, count> f) {
    if (i + count <= n && (size_t)y % 16 == 0) {
#pragma unroll
        for (unsigned k = 0; k < sizeof f / 16; k++) __stcs((float4*)(y + i) + k, ((float4*)&f)[k]);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < count; k++)
        if (i + k < n) y[i + k] = f.v[k];
}

// Scans neighbours in place, and returns their sum.
template <typename T, unsigned count> static __device__ T scan_vector(Vector<T, count>& f) {
#pragma unroll
    for (unsigned k = 1; k < count; k++) f.v[k] = add(f.v[k - 1], f.v[k]);
    return f.v[count - 1];
}

// Their results: those of the scan after the elements before, or one place later.
template <typename T, unsigned count> static __device__ Vector<T, count> results(Vector<T, count> f, T before, bool exclusive) {
    Vector<T, count> r;
#pragma unroll
    for (unsigned k = 0; k < count; k++) r.v[k] = exclusive ? (k ? add(before, f.v[k - 1]) : before) : add(before, f.v[k]);
    return r;
}

// A block's tile: each of its warps has `rounds` times 128 neighbours, four per lane.
template <typename T, unsigned rounds, unsigned warps> struct Tile {
    static constexpr unsigned size = warps * rounds * 128;
    Four<T> v[rounds];
    T before[rounds]; // of the lane's four, within the warp

    static __device__ size_t at(unsigned tile) { return (size_t)tile * size + threadIdx.x / 32 * rounds * 128 + threadIdx.x % 32 * 4; }

    __device__ void load(const T* __restrict__ x, unsigned tile, unsigned n) {
#pragma unroll
        for (unsigned r = 0; r < rounds; r++) v[r] = load_vector(x, at(tile) + r * 128, n);
    }

    // The sum of this thread's elements.
    __device__ T sum() const {
        T sum = T(0);
#pragma unroll
        for (unsigned r = 0; r < rounds; r++) sum = add(sum, add(add(v[r].v[0], v[r].v[1]), add(v[r].v[2], v[r].v[3])));
        return sum;
    }

    // The sum of the warp's part; every round goes on where the one before ended.
    __device__ T scan() {
        T sum = T(0);
#pragma unroll
        for (unsigned r = 0; r < rounds; r++) {
            T scanned = scan_warp(scan_vector(v[r]));
            before[r] = add(sum, before_lane(scanned));
            sum = add(sum, from_lane(scanned, 31));
        }
        return sum;
    }

    __device__ void store(T* __restrict__ y, unsigned tile, unsigned n, T earlier, bool exclusive) {
#pragma unroll
        for (unsigned r = 0; r < rounds; r++) store_vector(y, at(tile) + r * 128, n, results(v[r], add(earlier, before[r]), exclusive));
    }
};

// What a tile has published: nothing yet, its own sum, or the sum up to its end.
enum State : unsigned { nothing, tile_sum, prefix };
template <typename T> struct Seen {
    State state;
    T value;
};

// State and value share a word where they fit, so that both are there at once and no
// fence is needed. A status of uint64 has two words.
typedef unsigned long long Word;

static __device__ Word read_word(const Word* at) {
    Word w;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(w) : "l"(at) : "memory");
    return w;
}

static __device__ void write_word(Word* at, Word w) { asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(at), "l"(w) : "memory"); }

static __device__ Word packed(float v) { return __float_as_uint(v); }
static __device__ Word packed(int v) { return (unsigned)v; }
static __device__ Word packed(Segment v) { return (Word)v.begins << 34 | __float_as_uint(v.sum); }
static __device__ void unpack(Word w, float& v) { v = __uint_as_float((unsigned)w); }
static __device__ void unpack(Word w, int& v) { v = (int)(unsigned)w; }
static __device__ void unpack(Word w, Segment& v) { v = {__uint_as_float((unsigned)w), (unsigned)(w >> 34)}; }

template <typename T> static __device__ Seen<T> read_status(const Word* status, size_t tile) {
    Word w = read_word(status + tile);
    Seen<T> s = {State((unsigned)(w >> 32) & 3)};
    unpack(w, s.value);
    return s;
}

template <typename T> static __device__ void write_status(Word* status, size_t tile, State state, T v) {
    write_word(status + tile, packed(v) | (Word)state << 32);
}

// A value of 64 bits leaves no room for a state, so that each half of it has a word with the
// state. The words need not arrive together: only two words of one state are a sum, and
// until then the status says nothing.
template <> __device__ Seen<Word> read_status<Word>(const Word* status, size_t tile) {
    Word low, high;
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(status + 2 * tile) : "memory");
    return {low >> 32 == high >> 32 ? State((unsigned)(low >> 32)) : nothing, high << 32 | (unsigned)low};
}

template <> __device__ void write_status<Word>(Word* status, size_t tile, State state, Word v) {
    Word low = (Word)state << 32 | (unsigned)v, high = (Word)state << 32 | v >> 32;
    asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(status + 2 * tile), "l"(low), "l"(high) : "memory");
}

// Reads a status until it says more than nothing.
template <typename T> static __device__ Seen<T> await(const Word* status, size_t tile) {
    Seen<T> s;
    do s = read_status<T>(status, tile);
    while (s.state == nothing);
    return s;
}

// The sum over the lanes of a warp, in each of them; lane 0 is the earliest, or the
// latest. The steps grow, so that only neighbours are added.
template <typename T> static __device__ T sum_lanes(T v, bool latest_first) {
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned lane = threadIdx.x % 32;
        T other = from_lane(v, lane ^ step);
        v = ((lane & step) != 0) == latest_first ? add(v, other) : add(other, v);
    }
    return v;
}

// The sum of the tiles before one, in every lane of a warp. Lane k reads the status of
// the k-th tile before; the sums are added from the nearest back to the first prefix.
template <typename T> static __device__ T look_back(const Word* status, unsigned tile) {
    unsigned lane = threadIdx.x % 32;
    T sum = T(0);
    for (long long at = (long long)tile - 1 - lane;; at -= 32) {
        Seen<T> s = {prefix, T(0)};
        if (at >= 0) s = read_status<T>(status, at);
        unsigned prefixes, last;
        for (;;) { // until no tile is missing before the first prefix
            prefixes = __ballot_sync(all_lanes, s.state == prefix);
            unsigned missing = __ballot_sync(all_lanes, s.state == nothing);
            last = prefixes ? __ffs(prefixes) - 1 : 31;
            if (!(missing & ((2u << last) - 1))) break;
            if (s.state == nothing) s = read_status<T>(status, at);
        }
        sum = add(sum_lanes(lane <= last ? s.value : T(0), true), sum);
        if (prefixes) return sum;
    }
}

// The sum before a tile, in every lane of a warp, from the sums of the tiles of its group and of
// the group before, and the sum before both: one order of additions. The first tile of a group
// publishes the sum before it, which is needed a whole group later: no tile waits for the
// chain. A lane has 16 reads in flight.
template <typename T> struct OfGroup {
    static constexpr unsigned windows = 8, size = windows * 32;
    Word *status, *groups; // groups[g]: the sum before group g

    __device__ T before(unsigned tile) const {
        unsigned lane = threadIdx.x % 32, group = tile / size, first = group ? (group - 1) * size : 0;
        const Word* own = status + (sizeof(T) == 8 ? 2 : 1) * (size_t)first;
        Seen<T> start = {prefix, T(0)}, s[2 * windows];
        if (group > 1) start = read_status<T>(groups, group - 1);
#pragma unroll
        for (unsigned w = 0; w < 2 * windows; w++) {
            s[w] = {tile_sum, T(0)};
            if (w * 32 + lane < tile - first) s[w] = read_status<T>(own, w * 32 + lane);
        }
        for (;;) {
            bool missing = start.state == nothing;
#pragma unroll
            for (unsigned w = 0; w < 2 * windows; w++) missing = missing || s[w].state == nothing;
            if (!__any_sync(all_lanes, missing)) break;
            if (start.state == nothing) start = read_status<T>(groups, group - 1);
#pragma unroll
            for (unsigned w = 0; w < 2 * windows; w++)
                if (s[w].state == nothing) s[w] = read_status<T>(own, w * 32 + lane);
        }
        T sums[2] = {s[0].value, s[windows].value}; // of the group before, or of the first; of this one
#pragma unroll
        for (unsigned w = 1; w < windows; w++) sums[0] = add(sums[0], s[w].value), sums[1] = add(sums[1], s[windows + w].value);
        T base = add(start.value, sum_lanes(sums[0], false));
        if (!group) return base;
        if (tile % size == 0 && lane == 0) write_status<T>(groups, group, prefix, base);
        return add(base, sum_lanes(sums[1], false));
    }

    __device__ void publish(unsigned, T) const {}
};

// Draws the next tile, in every thread of a block. Blocks draw in the order in which
// they start, so that all tiles before one belong to blocks that run.
static __device__ unsigned draw(unsigned* ticket) {
    __shared__ unsigned drawn;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
    __syncthreads();
    return drawn;
}
