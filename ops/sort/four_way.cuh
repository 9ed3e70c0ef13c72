// Merges of four runs at once: half as many passes over memory as merges of two.

// The first keys of a tile of the result are those of four runs: a warp finds how many of
// each are before the tile. Every lane takes a sample, eight of each run. The order of
// keys is that of (key, run, place), so that there is one answer.
//
// A run's share is between `low` and `high`. If a sample belongs to the keys before the
// tile, then so do all before it; `above` counts what may be, and the sample
// itself. Where no more than `diagonal` may be, it does belong to them. `below` counts what
// must be before the sample; where that is `diagonal` or more, it does not. Of all samples
// the first or the last is always decided, so that every iteration narrows a run.
struct Range {
    unsigned low, high;
    __device__ unsigned sample(unsigned j) const {
        unsigned span = high - low; // span * (2 j + 1) / 16 without an overflow
        return low + span / 16 * (2 * j + 1) + span % 16 * (2 * j + 1) / 16;
    }
};

template <class Order> static __device__ unsigned split_four(const typename Order::Bits* __restrict__ run, unsigned count, unsigned all, unsigned diagonal) {
    typedef typename Order::Bits Bits;
    struct __align__(16) Four {
        Bits v[4];
    };
    __shared__ __align__(16) Bits samples[8][32]; // of each warp of a block
    Bits* mine = samples[threadIdx.x / 32];
    unsigned lane = threadIdx.x % 32, own = lane / 8, j = lane % 8, others = all - count;
    Range range = {diagonal > others ? diagonal - others : 0, min(count, diagonal)};
    while (__any_sync(all_lanes, range.low < range.high)) {
        bool open = range.low < range.high;
        unsigned at = range.sample(j), below = 0, above = 0;
        Bits key = open ? run[at] : Bits(0);
        mine[lane] = key;
        __syncwarp();
#pragma unroll
        for (unsigned q = 0; q < 4; q++) {
            Range other = {__shfl_sync(all_lanes, range.low, 8 * q), __shfl_sync(all_lanes, range.high, 8 * q)};
            unsigned before = 0; // samples of run q
#pragma unroll
            for (unsigned i = 0; i < 2; i++) {
                Four four = ((const Four*)mine)[2 * q + i];
#pragma unroll
                for (Bits sample : four.v) before += q < own ? !less<Order>(key, sample) : less<Order>(sample, key);
            }
            bool known = other.low == other.high;
            unsigned least = known || before == 0 ? other.low : other.sample(before - 1) + 1;
            unsigned most = known || before == 8 ? other.high : other.sample(before);
            below += q == own ? at : least;
            above += q == own ? at + 1 : most;
        }
        __syncwarp(); // all have read the samples
        unsigned in = __ballot_sync(all_lanes, open && above <= diagonal) >> 8 * own & 255;
        unsigned out = __ballot_sync(all_lanes, open && below >= diagonal) >> 8 * own & 255;
        Range next = range;
        if (in) next.low = range.sample(31 - __clz(in)) + 1;
        if (out) next.high = range.sample(__ffs(out) - 1);
        range = next;
    }
    return range.low;
}

// The runs that a tile of the result is merged from: four of `width` keys, of which the
// last may be shorter or missing.
struct Group {
    unsigned start, width, n;
    __device__ Group(unsigned first, unsigned width, unsigned n) : start(first / (4 * width) * (4 * width)), width(width), n(n) {}
    __device__ unsigned run(unsigned r) const { return min(start + r * width, n); }
    __device__ unsigned count(unsigned r) const { return min(width, n - run(r)); }
    __device__ unsigned all() const { return min(4 * width, n - start); }
};

// A warp for each tile of the result: splits[tile][run].
template <class Order, bool pairs> static __device__ void split_tiles(const typename Order::Bits* __restrict__ in, unsigned* __restrict__ splits, unsigned n, unsigned width, unsigned tiles) {
    unsigned tile = blockIdx.x * 8 + threadIdx.x / 32, own = threadIdx.x % 32 / 8;
    if (tile >= tiles) return;
    unsigned first = tile * Part<Order, pairs>::tile;
    Group group(first, width, n);
    unsigned share = split_four<Order>(in + group.run(own), group.count(own), group.all(), first - group.start);
    if (threadIdx.x % 8 == 0) splits[tile * 4 + own] = share;
}

// Merges fours of runs, whose width is a multiple of the tile. A block reads its parts of
// a, b, c and d once, merges a with b and c with d, then both results, and writes one tile.
template <class Order, bool pairs> static __device__ void merge_four(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ splits, unsigned n, unsigned width) {
    typedef Part<Order, pairs> Items;
    __shared__ typename Order::Bits keys[Items::tile];
    __shared__ unsigned values[pairs ? Items::tile : 1], starts[4], counts[4];
    Shelf<Order, pairs> s = {keys, values};
    unsigned first = blockIdx.x * Items::tile, count = min(Items::tile, n - first);
    if (threadIdx.x < 4) {
        unsigned r = threadIdx.x, from = splits[blockIdx.x * 4 + r];
        Group group(first, width, n);
        bool last = first + count == group.start + group.all(); // of the group
        starts[r] = group.run(r) + from;
        counts[r] = (last ? group.count(r) : splits[blockIdx.x * 4 + 4 + r]) - from;
    }
    __syncthreads();
    // The shelf has a, c, b, d: the runs that end a merge are followed by those of the next.
    unsigned a = counts[0], b = counts[1], ac = a + counts[2], acb = ac + b;
    unsigned to_a = starts[0], to_b = starts[1] - ac, to_c = starts[2] - a, to_d = starts[3] - acb;
    Items part;
    part.load(in, values_in, merge_threads, count, [=](unsigned i) { return i + (i < ac ? (i < a ? to_a : to_c) : (i < acb ? to_b : to_d)); });
    part.keep(s, merge_threads, count);
    __syncthreads();

    unsigned mine = min(threadIdx.x * Items::items, count), ab = a + b;
    bool second = mine >= ab; // of the two merges
    unsigned x = second ? a : 0, x_end = second ? ac : a, y = second ? acb : ac, y_end = second ? count : acb;
    unsigned diagonal = second ? mine - ab : mine, from_x = merge_path<Order>(keys + x, x_end - x, keys + y, y_end - y, diagonal);
    part.merge(s, count, x + from_x, x_end, y + diagonal - from_x, y_end, second ? Items::items : ab - mine, ac, count);
    __syncthreads();
    part.put(s, count);
    __syncthreads();

    unsigned from_ab = merge_path<Order>(keys, ab, keys + ab, count - ab, mine);
    part.merge(s, count, from_ab, ab, ab + mine - from_ab, count);
    __syncthreads();
    part.put(s, count);
    __syncthreads();
    write_shelf(s, out + first, values_out + first, merge_threads, count);
}
