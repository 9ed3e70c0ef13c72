// Merge sorts whose blocks sort large tiles: as many keys as the shared memory of a block
// holds. Of two equal keys, the one that came first stays first.

// Threads of a block that merges. A block that sorts a tile has 1, 2 or 4 times as many.
constexpr unsigned merge_threads = 256;

// Keys in shared memory, and values where they are pairs.
template <class Order, bool pairs> struct Shelf {
    typename Order::Bits* keys;
    unsigned* values;
};

// The items of a thread: neighbours in the result. Their number is odd, so that lanes that
// read or write item k of their own are in 32 different banks.
template <class Order, bool pairs> struct Part {
    typedef typename Order::Bits Bits;
    static constexpr unsigned items = pairs ? 17 : 33, tile = merge_threads * items;
    Bits keys[items];
    unsigned values[pairs ? items : 1];

    // Reads `count` items of a shelf that are `threads` apart: neighbouring lanes read
    // neighbours. at(i) is the place of item i in memory.
    template <class At> __device__ void load(const Bits* __restrict__ in, const unsigned* __restrict__ values_in, unsigned threads, unsigned count, At at) {
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned i = k * threads + threadIdx.x;
            if (i >= count) break;
            unsigned from = at(i);
            keys[k] = in[from];
            if (pairs) values[k] = values_in[from];
        }
    }

    __device__ void keep(Shelf<Order, pairs> s, unsigned threads, unsigned count) const {
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned i = k * threads + threadIdx.x;
            if (i >= count) break;
            s.keys[i] = keys[k];
            if (pairs) s.values[i] = values[k];
        }
    }

    // Exchanges of neighbours sort the first `count` items, all where it is more, and keep
    // the order of equal keys.
    __device__ void sort_pairs(unsigned count) {
#pragma unroll
        for (unsigned round = 0; round < items; round++) {
#pragma unroll
            for (unsigned k = round % 2; k + 1 < items; k += 2) {
                bool swap = k + 1 < count && less<Order>(keys[k + 1], keys[k]);
                Bits key = keys[k];
                unsigned value = values[pairs ? k : 0];
                keys[k] = swap ? keys[k + 1] : key;
                keys[k + 1] = swap ? key : keys[k + 1];
                if (pairs) values[k] = swap ? values[k + 1] : value;
                if (pairs) values[k + 1] = swap ? value : values[k + 1];
            }
        }
    }

    // Batcher's odd-even merge sort. Missing keys are the largest that there is: a real key
    // of that value has the same bits, so that without values none can be lost.
    __device__ void sort_keys(unsigned count) {
#pragma unroll
        for (unsigned k = 0; k < items; k++) keys[k] = k < count ? keys[k] : Order::largest;
#pragma unroll
        for (unsigned width = 1; width < items; width *= 2) {
#pragma unroll
            for (unsigned step = width; step > 0; step /= 2) {
#pragma unroll
                for (unsigned low = step % width; low + step < items; low++) {
                    bool first = (low - step % width) % (2 * step) < step;
                    if (!first || low / (2 * width) != (low + step) / (2 * width)) continue;
                    Bits a = keys[low], b = keys[low + step];
                    bool swap = less<Order>(b, a);
                    keys[low] = swap ? b : a;
                    keys[low + step] = swap ? a : b;
                }
            }
        }
    }

    // Merges the runs [a, a_end) and [b, b_end) of a shelf. After `turn` items both have
    // ended, and the runs up to a_last and b_last follow them. A key is read once: the next
    // of either run waits in a register. Nothing from `end` on is read, where another warp
    // may write; `end` is not 0.
    __device__ void merge(Shelf<Order, pairs> s, unsigned end, unsigned a, unsigned a_end, unsigned b, unsigned b_end, unsigned turn = items, unsigned a_last = 0, unsigned b_last = 0) {
        Bits key_a = s.keys[min(a, end - 1)], key_b = s.keys[min(b, end - 1)];
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            if (k == turn) a_end = a_last, b_end = b_last;
            bool second = b < b_end && (a >= a_end || less<Order>(key_b, key_a));
            keys[k] = second ? key_b : key_a;
            unsigned from = second ? b : a;
            if (pairs) values[k] = s.values[min(from, end - 1)];
            from++;
            Bits key = s.keys[min(from, end - 1)];
            if (second) b = from, key_b = key;
            else a = from, key_a = key;
        }
    }

    // Writes the items to the thread's place, of which `count` are left.
    __device__ void put(Shelf<Order, pairs> s, unsigned count) const {
        unsigned mine = threadIdx.x * items;
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            if (mine + k >= count) break;
            s.keys[mine + k] = keys[k];
            if (pairs) s.values[mine + k] = values[k];
        }
    }
};

// Writes the items of a shelf to memory, neighbouring lanes to neighbours.
template <class Order, bool pairs> static __device__ void write_shelf(Shelf<Order, pairs> s, typename Order::Bits* __restrict__ out, unsigned* __restrict__ values_out, unsigned threads, unsigned count) {
#pragma unroll
    for (unsigned k = 0; k < Part<Order, pairs>::items; k++) {
        unsigned i = k * threads + threadIdx.x;
        if (i >= count) break;
        out[i] = s.keys[i];
        if (pairs) values_out[i] = s.values[i];
    }
}

// Threads that merge runs of so many threads meet: those of a warp, or all.
static __device__ void meet(unsigned threads) {
    if (threads <= 32) __syncwarp();
    else __syncthreads();
}

// Sorts the tile of a block: the items of a thread in registers, and then merges in shared
// memory, which is dynamic and holds the tile.
template <class Order, bool pairs> static __device__ void sort_large_tile(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n) {
    extern __shared__ __align__(16) unsigned char memory[];
    typedef Part<Order, pairs> Items;
    unsigned threads = blockDim.x, tile = threads * Items::items, first = blockIdx.x * tile, count = min(tile, n - first);
    Shelf<Order, pairs> s = {(typename Order::Bits*)memory, (unsigned*)(memory + tile * sizeof(typename Order::Bits))};
    Items part;
    part.load(in + first, values_in + first, threads, count, [](unsigned i) { return i; });
    part.keep(s, threads, count);
    __syncthreads();
    unsigned mine = threadIdx.x * Items::items;
#pragma unroll
    for (unsigned k = 0; k < Items::items; k++) {
        part.keys[k] = mine + k < count ? s.keys[mine + k] : 0;
        if (pairs) part.values[k] = mine + k < count ? s.values[mine + k] : 0;
    }
    unsigned left = mine < count ? count - mine : 0;
    if constexpr (pairs) part.sort_pairs(left);
    else part.sort_keys(left);
    part.put(s, count);
    for (unsigned run = 1; run < threads && run * Items::items < count; run *= 2) { // of so many threads
        meet(2 * run);
        unsigned from = (threadIdx.x & ~(2 * run - 1)) * Items::items;
        unsigned a = min(from, count), b = min(from + run * Items::items, count), end = min(from + 2 * run * Items::items, count);
        unsigned diagonal = mine - from;
        if (mine < end) {
            unsigned from_a = merge_path<Order>(s.keys + a, b - a, s.keys + b, end - b, diagonal);
            part.merge(s, end, a + from_a, b, b + diagonal - from_a, end);
        }
        meet(2 * run);
        part.put(s, count);
    }
    __syncthreads();
    write_shelf(s, out + first, values_out + first, threads, count);
}

// Merges pairs of runs of `width` keys, a multiple of the tile. A block writes one tile of
// the result: two searches in global memory find the part of either run.
template <class Order, bool pairs> static __device__ void merge_two(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n, unsigned width) {
    typedef Part<Order, pairs> Items;
    __shared__ typename Order::Bits keys[Items::tile];
    __shared__ unsigned values[pairs ? Items::tile : 1], ends[2];
    Shelf<Order, pairs> s = {keys, values};
    unsigned first = blockIdx.x * Items::tile, count = min(Items::tile, n - first);
    unsigned a = first / (2 * width) * 2 * width, a_count = min(width, n - a), b = a + a_count, b_count = min(width, n - b);
    unsigned diagonal = first - a;
    if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
        ends[threadIdx.x / 32] = merge_path<Order>(in + a, a_count, in + b, b_count, diagonal + (threadIdx.x ? count : 0));
    __syncthreads();
    unsigned from_a = ends[1] - ends[0];
    a += ends[0];
    b += diagonal - ends[0];
    Items part;
    part.load(in, values_in, merge_threads, count, [=](unsigned i) { return i < from_a ? a + i : b + i - from_a; });
    part.keep(s, merge_threads, count);
    __syncthreads();
    unsigned mine = min(threadIdx.x * Items::items, count), mine_a = merge_path<Order>(keys, from_a, keys + from_a, count - from_a, mine);
    part.merge(s, count, mine_a, from_a, from_a + mine - mine_a, count);
    __syncthreads();
    part.put(s, count);
    __syncthreads();
    write_shelf(s, out + first, values_out + first, merge_threads, count);
}
