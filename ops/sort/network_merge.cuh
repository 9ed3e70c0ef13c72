// A merge sort of keys of uint32 without values, of which equal ones are the same bits.
// Warps sort keys in registers. Merges then need no comparison of places: behind every
// run in shared memory stand as many sentinels, the largest key, as a thread takes keys. A
// sentinel that is taken in place of a key of that value has the same bits, and the number
// of keys that are written is known.

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ unsigned load_shared(unsigned address) {
    unsigned value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
}

static __device__ void exchange(unsigned& a, unsigned& b) {
    unsigned low = min(a, b);
    b = max(a, b);
    a = low;
}

// Sorts the keys of a thread: Batcher's odd-even merge sort.
template <unsigned items> static __device__ void sort_thread(unsigned (&keys)[items]) {
#pragma unroll
    for (unsigned width = 1; width < items; width *= 2)
#pragma unroll
        for (unsigned step = width; step > 0; step /= 2)
#pragma unroll
            for (unsigned low = step % width; low + step < items; low++)
                if ((low - step % width) % (2 * step) < step && low / (2 * width) == (low + step) / (2 * width)) exchange(keys[low], keys[low + step]);
}

// Sorts the keys of a warp by bitonic merges: lane l then has the `items` from items * l on.
// Each merge first compares places that mirror each other.
template <unsigned items> static __device__ void sort_warp(unsigned (&keys)[items]) {
    unsigned lane = threadIdx.x % 32;
    sort_thread(keys);
#pragma unroll 1
    for (unsigned lanes = 1; lanes < 32; lanes *= 2) { // of a run
        bool low = !(lane & lanes);
#pragma unroll
        for (unsigned k = 0; k < items / 2; k++) {
            unsigned mirror = __shfl_xor_sync(all_lanes, keys[items - 1 - k], 2 * lanes - 1), other = __shfl_xor_sync(all_lanes, keys[k], 2 * lanes - 1);
            keys[k] = low ? min(keys[k], mirror) : max(keys[k], mirror);
            keys[items - 1 - k] = low ? min(keys[items - 1 - k], other) : max(keys[items - 1 - k], other);
        }
#pragma unroll 1
        for (unsigned step = lanes / 2; step > 0; step /= 2) {
            low = !(lane & step);
#pragma unroll
            for (unsigned k = 0; k < items; k++) {
                unsigned other = __shfl_xor_sync(all_lanes, keys[k], step);
                keys[k] = low ? min(keys[k], other) : max(keys[k], other);
            }
        }
#pragma unroll
        for (unsigned step = items / 2; step > 0; step /= 2)
#pragma unroll
            for (unsigned k = 0; k < items; k++)
                if (!(k & step)) exchange(keys[k], keys[k + step]);
    }
}

// How many of the first `diagonal` keys of the merge of runs a and b in shared memory come
// from a. Each step is half of the one before, rounded up, and `first` is the first of them:
// 33 times a power of two, of which twice as many, less one, are no fewer than the keys of
// the shorter run. With powers of two, lanes would read from one bank.
static __device__ unsigned shared_path(unsigned a, unsigned a_count, unsigned b, unsigned b_count, unsigned diagonal, unsigned first) {
    unsigned low = diagonal > b_count ? diagonal - b_count : 0, open = min(diagonal, a_count) - low;
    unsigned next_a = a + 4 * low - 4, next_b = b + 4 * (diagonal - low);
    for (unsigned step = first;; step = (step + 1) / 2) {
        if (step <= open && load_shared(next_a + 4 * step) <= load_shared(next_b - 4 * step)) next_a += 4 * step, next_b -= 4 * step, open -= step;
        if (step == 1) return (next_a + 4 - a) / 4;
    }
}

// Merges `items` keys of two runs in shared memory, from places a and b on. `key` was loaded
// from the run that gave the key before; `other` waits for it at the head of the other run.
// Where the other run gives a key, the two change roles. The next places of the runs have a
// sum that grows by one word per key, so that one of them is enough; it is kept without that
// growth, which stands in the address of the load.
template <unsigned items> static __device__ void merge_shared(unsigned (&keys)[items], unsigned a, unsigned b) {
    unsigned key = load_shared(a), other = load_shared(b), next = a + 4, both = a + b + 8;
#pragma unroll
    for (unsigned k = 0; k < items; k++) {
        keys[k] = min(key, other);
        if (k + 1 == items) break;
        if (other < key) next = both - next - 4 * k;
        other = max(key, other);
        key = load_shared(next + 4 * k);
    }
}

// Writes the keys of a thread, or as many of them as there are.
template <unsigned items> static __device__ void put_keys(const unsigned (&keys)[items], unsigned* to, unsigned count) {
#pragma unroll
    for (unsigned k = 0; k < items; k++)
        if (count >= items || k < count) to[k] = keys[k];
}

// Writes a tile of shared memory, by vectors where it is whole and `out` is aligned.
static __device__ void write_tile(const unsigned* keys, unsigned* __restrict__ out, unsigned tile, unsigned count) {
    if (count == tile && (size_t)out % 16 == 0) {
        for (unsigned i = threadIdx.x; i < tile / 4; i += blockDim.x) ((uint4*)out)[i] = ((const uint4*)keys)[i];
    } else {
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x) out[i] = keys[i];
    }
}

// Sorts the tile of a block, of so many keys per thread. Shared memory has the runs of warps
// and longer ones, each with its sentinels. A merge takes one more key per thread: an odd
// number, so that lanes never meet in a bank when they write. The last threads have none.
template <unsigned own> static __device__ void sort_network_tile(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    constexpr unsigned items = own + 1, warp_run = 32 * own, sentinels = 33;
    static_assert(items <= sentinels, "a thread may take a sentinel for each of its keys");
    extern __shared__ __align__(16) unsigned memory[];
    unsigned tile = own * blockDim.x, first = blockIdx.x * tile, count = min(tile, n - first), lane = threadIdx.x % 32;
    {
        unsigned keys[own];
        if (count == tile && (size_t)(in + first) % 16 == 0) {
#pragma unroll
            for (unsigned q = 0; q < own / 4; q++) {
                uint4 v = ((const uint4*)(in + first))[q * blockDim.x + threadIdx.x];
                keys[4 * q] = v.x, keys[4 * q + 1] = v.y, keys[4 * q + 2] = v.z, keys[4 * q + 3] = v.w;
            }
        } else {
#pragma unroll
            for (unsigned q = 0; q < own; q++) {
                unsigned i = q * blockDim.x + threadIdx.x;
                keys[q] = i < count ? in[first + i] : U32::largest;
            }
        }
        sort_warp(keys);
        // Through rows of an odd length, to a run without gaps.
        unsigned* run = memory + threadIdx.x / 32 * (warp_run + sentinels);
#pragma unroll
        for (unsigned k = 0; k < own; k++) run[lane * items + k] = keys[k];
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < own; k++) keys[k] = run[32 * k + lane + (32 * k + lane) / own];
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < own; k++) run[32 * k + lane] = keys[k];
        for (unsigned i = lane; i < sentinels; i += 32) run[warp_run + i] = U32::largest;
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned width = warp_run; width < tile; width *= 2) {
        unsigned threads = 2 * width / own, thread = threadIdx.x % threads, pair = threadIdx.x / threads, diagonal = items * thread;
        unsigned a = shared_address(memory + pair * 2 * (width + sentinels)), b = a + 4 * (width + sentinels), keys[items];
        bool busy = diagonal < 2 * width;
        if (busy) {
            unsigned from_a = shared_path(a, width, b, width, diagonal, width / 64 * 33);
            merge_shared(keys, a + 4 * from_a, b + 4 * (diagonal - from_a));
        }
        __syncthreads();
        unsigned* run = memory + pair * (2 * width + sentinels);
        if (busy) put_keys(keys, run + diagonal, 2 * width - diagonal);
        if (thread < items) run[2 * width + thread] = U32::largest;
        __syncthreads();
    }
    write_tile(memory, out + first, tile, count);
}

static __device__ void copy_async_4(unsigned to, const unsigned* from) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory"); }
static __device__ void copy_async_16(unsigned to, const unsigned* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); }

// The runs of `width` keys that a tile of the result is merged from, of which the last may be
// shorter or missing.
template <unsigned ways> struct Runs {
    unsigned start, width, n;
    __device__ Runs(unsigned first, unsigned width, unsigned n) : start(first / width / ways * ways * width), width(width), n(n) {}
    __device__ unsigned run(unsigned r) const { return (unsigned)min(start + (unsigned long long)r * width, (unsigned long long)n); }
    __device__ unsigned count(unsigned r) const { return min(width, n - run(r)); }
    __device__ unsigned all() const { return run(ways) - start; }
};

// Finds how many keys of each of the runs are before a place of the result. A warp has an
// equal number of lanes for each run, and each lane a sample; the order of keys is that of
// (key, run, place), as in split_four. Samples of a run have equal distances, so that bounds
// take few instructions: a key that is after `before` samples of run q is after at least
// before * step_q of its keys from low_q on, and at most step_q - 1 more.
template <unsigned ways> static __device__ unsigned split_evenly(const Runs<ways>& runs, const unsigned* __restrict__ in, unsigned diagonal) {
    constexpr unsigned each = 32 / ways; // samples
    static_assert(each % 4 == 0, "a run has whole vectors of samples");
    __shared__ __align__(16) uint4 samples[8][8]; // of each warp of a block
    uint4* mine = samples[threadIdx.x / 32];
    unsigned lane = threadIdx.x % 32, own = lane / each, count = runs.count(own), others = runs.all() - count;
    unsigned low = diagonal > others ? diagonal - others : 0, high = min(count, diagonal);
    const unsigned* run = in + runs.run(own);
    while (__any_sync(all_lanes, low < high)) {
        unsigned step = (high - low) / (each + 1) + 1, at = low + step * (lane % each + 1) - 1, below = at, above = at + 1;
        bool valid = at < high;
        unsigned key = valid ? run[at] : U32::largest; // a sample beyond the range counts only beyond `high`
        ((unsigned*)mine)[lane] = key;
        __syncwarp();
#pragma unroll
        for (unsigned q = 0; q < ways; q++) {
            unsigned low_q = __shfl_sync(all_lanes, low, each * q), high_q = __shfl_sync(all_lanes, high, each * q), step_q = __shfl_sync(all_lanes, step, each * q), before = 0;
            unsigned bound = q > own ? key - 1 : key; // of the keys that are before this one
#pragma unroll
            for (unsigned i = 0; i < each / 4; i++) {
                uint4 v = mine[each / 4 * q + i];
                before += (v.x <= bound) + (v.y <= bound) + (v.z <= bound) + (v.w <= bound);
            }
            if (q > own && key == 0) before = 0;
            unsigned least = min(low_q + step_q * before, high_q), most = min(low_q + step_q * (before + 1) - 1, high_q);
            below += q == own ? 0 : least;
            above += q == own ? 0 : most;
        }
        __syncwarp(); // all have read the samples
        unsigned in_part = __ballot_sync(all_lanes, valid && above <= diagonal) >> each * own & ((1u << each) - 1);
        unsigned beyond = __ballot_sync(all_lanes, valid && below >= diagonal) >> each * own & ((1u << each) - 1), first = low;
        if (in_part) low = first + step * (32 - __clz(in_part));
        if (beyond) high = first + step * __ffs(beyond) - 1;
    }
    return low;
}

// A warp for each tile of the result: splits[tile][run].
template <unsigned ways, unsigned tile> static __device__ void split_network(const unsigned* __restrict__ in, unsigned* __restrict__ splits, unsigned n, unsigned width, unsigned tiles) {
    unsigned t = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (t >= tiles) return;
    Runs<ways> runs(t * tile, width, n);
    unsigned share = split_evenly(runs, in, t * tile - runs.start);
    if (lane % (32 / ways) == 0) splits[t * ways + lane / (32 / ways)] = share;
}

// A block merges its parts of the runs in pairs, and then the results. Where there are no
// splits, two of its warps find where its parts begin and end.
template <unsigned ways, unsigned threads, unsigned own, unsigned items> static __device__ void merge_network(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ splits, unsigned n, unsigned width) {
    constexpr unsigned tile = threads * own;
    extern __shared__ __align__(16) unsigned memory[];
    __shared__ unsigned parts[2][ways]; // where they begin and end in the runs
    unsigned first = blockIdx.x * tile, count = min(tile, n - first);
    Runs<ways> group(first, width, n);
    bool last = first + count == group.start + group.all(); // tile of these runs
    if (splits) {
        if (threadIdx.x < 2 * ways) parts[threadIdx.x / ways][threadIdx.x % ways] = threadIdx.x >= ways && last ? group.count(threadIdx.x % ways) : splits[blockIdx.x * ways + threadIdx.x];
    } else if (threadIdx.x < 64) {
        unsigned end = threadIdx.x / 32, r = threadIdx.x % 32 / (32 / ways);
        unsigned share = end && last ? group.count(r) : split_evenly(group, in, first - group.start + (end ? count : 0));
        if (threadIdx.x % (32 / ways) == 0) parts[end][r] = share;
    }
    __syncthreads();
    // A run has the alignment in shared memory that it has in memory, so that it can be
    // copied in vectors.
    unsigned places[ways], lengths[ways], end = 0;
#pragma unroll
    for (unsigned r = 0; r < ways; r++) {
        const unsigned* from = in + group.run(r) + parts[0][r];
        unsigned length = parts[1][r] - parts[0][r], misaligned = (unsigned)(size_t)from / 4 % 4, head = min((4 - misaligned) % 4, length), vectors = (length - head) / 4, rest = head + 4 * vectors;
        places[r] = (end + 3) / 4 * 4 + misaligned, lengths[r] = length;
        end = places[r] + length + items;
        unsigned to = shared_address(memory + places[r]), i = threadIdx.x;
        if (i < head) copy_async_4(to + 4 * i, from + i);
        if (i < length - rest) copy_async_4(to + 4 * (rest + i), from + rest + i);
        for (; i < vectors; i += threads) copy_async_16(to + 4 * (head + 4 * i), from + head + 4 * i);
        for (i = threadIdx.x; i < items; i += threads) memory[places[r] + length + i] = U32::largest;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
#pragma unroll
    for (unsigned runs = ways; runs > 1; runs /= 2) {
        // Each pair of runs has as many threads as it needs.
        unsigned a = 0, a_count = 0, b = 0, b_count = 0, to = 0, thread = 0, used = 0;
        end = 0;
#pragma unroll
        for (unsigned p = 0; p < runs / 2; p++) {
            unsigned length = lengths[2 * p] + lengths[2 * p + 1];
            if (threadIdx.x >= used) thread = threadIdx.x - used, to = end, a = places[2 * p], a_count = lengths[2 * p], b = places[2 * p + 1], b_count = lengths[2 * p + 1];
            places[p] = end, lengths[p] = length;
            end += length + items;
            used += (length + items - 1) / items;
        }
        unsigned diagonal = items * thread, length = a_count + b_count, keys[items];
        bool busy = diagonal < length;
        if (busy) {
            a = shared_address(memory + a), b = shared_address(memory + b);
            unsigned from_a = shared_path(a, a_count, b, b_count, diagonal, 33u << (32 - __clz(min(a_count, b_count) / 66)));
            merge_shared(keys, a + 4 * from_a, b + 4 * (diagonal - from_a));
        }
        __syncthreads();
        if (busy) put_keys(keys, memory + to + diagonal, length - diagonal);
        if (runs > 2)
#pragma unroll
            for (unsigned p = 0; p < runs / 2; p++)
                for (unsigned i = threadIdx.x; i < items; i += threads) memory[places[p] + lengths[p] + i] = U32::largest;
        __syncthreads();
    }
    write_tile(memory, out + first, tile, count);
}
