// Sorts by comparison: a bitonic network in a block, and merges. No key is padded with a
// sentinel: every loop knows how many keys there are. Of two equal keys, the one that
// came first stays first.

constexpr unsigned merge_items = 8, merge_tile = 256 * merge_items;

// Sorts `count` keys in shared memory by a bitonic network. Each merge first compares
// places that mirror each other, so that every comparison puts the smaller key first.
// Keys beyond the end would be the largest ones and would never move: they are left out.
template <class Order> static __device__ void bitonic(typename Order::Bits* keys, unsigned count) {
    auto exchange = [&](unsigned low, unsigned high) {
        if (high < count && less<Order>(keys[high], keys[low])) {
            auto key = keys[low];
            keys[low] = keys[high];
            keys[high] = key;
        }
    };
    for (unsigned width = 2; width < 2 * count; width *= 2) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < merge_tile / 2; i += 256) {
            unsigned run = i / (width / 2) * width, place = i % (width / 2);
            exchange(run + place, run + width - 1 - place);
        }
        for (unsigned step = width / 4; step > 0; step /= 2) {
            __syncthreads();
            for (unsigned i = threadIdx.x; i < merge_tile / 2; i += 256) {
                unsigned low = i / step * 2 * step + i % step;
                exchange(low, low + step);
            }
        }
    }
    __syncthreads();
}

// Sorts the tile of a block.
template <class Order> static __device__ void bitonic_tile(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, unsigned n) {
    __shared__ typename Order::Bits keys[merge_tile];
    unsigned first = blockIdx.x * merge_tile, count = min(merge_tile, n - first);
    for (unsigned i = threadIdx.x; i < count; i += 256) keys[i] = in[first + i];
    bitonic<Order>(keys, count);
    for (unsigned i = threadIdx.x; i < count; i += 256) out[first + i] = keys[i];
}

// One thread merges two sorted runs of `width` keys.
template <class Order> static __device__ void merge_serial(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, unsigned n, unsigned width) {
    size_t first = ((size_t)blockIdx.x * 256 + threadIdx.x) * 2 * width;
    if (first >= n) return;
    size_t a = first, a_end = min(first + width, (size_t)n), b = a_end, b_end = min(first + 2 * (size_t)width, (size_t)n);
    for (size_t i = first; i < b_end; i++) {
        bool from_a = b == b_end || (a < a_end && !less<Order>(in[b], in[a]));
        out[i] = from_a ? in[a++] : in[b++];
    }
}

// How many of the first `diagonal` keys of the merge of a and b come from a.
template <class Order> static __device__ unsigned merge_path(const typename Order::Bits* a, unsigned a_count, const typename Order::Bits* b, unsigned b_count, unsigned diagonal) {
    unsigned low = diagonal > b_count ? diagonal - b_count : 0, high = min(diagonal, a_count);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (less<Order>(b[diagonal - 1 - middle], a[middle])) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Keys, and values where they are pairs, in shared memory.
template <class Order, bool pairs> struct Tile {
    typename Order::Bits keys[merge_tile];
    unsigned values[pairs ? merge_tile : 1];
};

// The keys of a thread: neighbours in the result. Those beyond the end are 0 and are not
// used, but the compiler may compare them and drop the result.
template <class Order, bool pairs> struct Items {
    typename Order::Bits keys[merge_items] = {};
    unsigned values[pairs ? merge_items : 1] = {};

    __device__ void take(const Tile<Order, pairs>& tile, unsigned k, unsigned from) {
        keys[k] = tile.keys[from];
        if (pairs) values[k] = tile.values[from];
    }

    // Merges the runs a and b of a tile from a diagonal on.
    __device__ void merge(const Tile<Order, pairs>& tile, unsigned a, unsigned a_count, unsigned b, unsigned b_count, unsigned diagonal) {
        diagonal = min(diagonal, a_count + b_count);
        unsigned from_a = merge_path<Order>(tile.keys + a, a_count, tile.keys + b, b_count, diagonal);
        unsigned a_end = a + a_count, b_end = b + b_count;
        a += from_a;
        b += diagonal - from_a;
#pragma unroll
        for (unsigned k = 0; k < merge_items; k++) {
            if (a == a_end && b == b_end) break;
            bool first = b == b_end || (a < a_end && !less<Order>(tile.keys[b], tile.keys[a]));
            take(tile, k, first ? a++ : b++);
        }
    }

    // Writes the thread's items into a tile that every thread has read.
    __device__ void put(Tile<Order, pairs>& tile, unsigned count) {
        unsigned first = threadIdx.x * merge_items;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < merge_items; k++) {
            if (first + k >= count) break;
            tile.keys[first + k] = keys[k];
            if (pairs) tile.values[first + k] = values[k];
        }
        __syncthreads();
    }

    // Sorts the thread's items in registers: neighbours exchange.
    __device__ void sort(unsigned count) {
#pragma unroll
        for (unsigned round = 0; round < merge_items; round++) {
#pragma unroll
            for (unsigned k = round % 2; k + 1 < merge_items; k += 2) {
                if (k + 1 >= count || !less<Order>(keys[k + 1], keys[k])) continue;
                auto key = keys[k];
                keys[k] = keys[k + 1];
                keys[k + 1] = key;
                if (pairs) {
                    unsigned value = values[k];
                    values[k] = values[k + 1];
                    values[k + 1] = value;
                }
            }
        }
    }
};

// Sorts the tile of a block: eight keys in a thread's registers, and then merges in
// shared memory, in which every thread finds its eight results by merge path.
template <class Order, bool pairs> static __device__ void merge_sort_tile(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n) {
    __shared__ Tile<Order, pairs> tile;
    unsigned first = blockIdx.x * merge_tile, count = min(merge_tile, n - first);
    for (unsigned i = threadIdx.x; i < count; i += 256) {
        tile.keys[i] = in[first + i];
        if (pairs) tile.values[i] = values_in[first + i];
    }
    __syncthreads();
    unsigned mine = threadIdx.x * merge_items;
    Items<Order, pairs> items;
#pragma unroll
    for (unsigned k = 0; k < merge_items; k++)
        if (mine + k < count) items.take(tile, k, mine + k);
    items.sort(mine < count ? count - mine : 0);
    items.put(tile, count);
    for (unsigned width = merge_items; width < count; width *= 2) {
        unsigned a = min(mine / (2 * width) * 2 * width, count), b = min(a + width, count), end = min(b + width, count);
        items.merge(tile, a, b - a, b, end - b, mine - min(mine, a));
        items.put(tile, count);
    }
    for (unsigned i = threadIdx.x; i < count; i += 256) {
        out[first + i] = tile.keys[i];
        if (pairs) values_out[first + i] = tile.values[i];
    }
}

// Merges pairs of runs of `width` keys, a multiple of the tile. A block writes one tile
// of the result: two searches in global memory find what it needs of either run.
template <class Order, bool pairs> static __device__ void merge_runs(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n, unsigned width) {
    __shared__ Tile<Order, pairs> tile;
    __shared__ unsigned ends[2];
    unsigned first = blockIdx.x * merge_tile, count = min(merge_tile, n - first);
    unsigned a = first / (2 * width) * 2 * width, a_count = min(width, n - a), b = a + a_count, b_count = min(width, n - b);
    unsigned diagonal = first - a;
    if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
        ends[threadIdx.x / 32] = merge_path<Order>(in + a, a_count, in + b, b_count, diagonal + (threadIdx.x ? count : 0));
    __syncthreads();
    unsigned from_a = ends[1] - ends[0];
    a += ends[0];
    b += diagonal - ends[0];
    for (unsigned i = threadIdx.x; i < count; i += 256) {
        unsigned at = i < from_a ? a + i : b + i - from_a;
        tile.keys[i] = in[at];
        if (pairs) tile.values[i] = values_in[at];
    }
    __syncthreads();
    Items<Order, pairs> items;
    items.merge(tile, 0, from_a, from_a, count - from_a, threadIdx.x * merge_items);
    items.put(tile, count);
    for (unsigned i = threadIdx.x; i < count; i += 256) {
        out[first + i] = tile.keys[i];
        if (pairs) values_out[first + i] = tile.values[i];
    }
}
