// One block sorts few keys that differ in their first bits: one pass puts them into buckets,
// most of which hold one key or none, and exchanges of neighbours then sort the buckets. Keys
// that crowd a bucket are sorted by passes over all digits instead.

template <unsigned threads, unsigned items, unsigned bits> struct Buckets {
    typedef Block<threads, items> Sort;
    static constexpr unsigned warps = threads / 32, most = 16; // keys of a bucket
    // Counters of 16 bits: two in a word, `words` of a thread. The keys lie behind them, or,
    // where both together exceed 64 KB, in their place.
    static constexpr unsigned words = (1u << bits) / 2 / threads, table_words = words * threads;
    static constexpr bool apart = table_words + threads * items < 16384;

    static __device__ unsigned bucket(unsigned key) { return key >> (32 - bits); }

    // The place of a word in the table: lanes that read four of their own words at once meet
    // in no bank.
    static __device__ unsigned at(unsigned word) { return word ^ (word >> 3 & words - 4); }

    // Counts the keys of each bucket. ranks[k] is how many came to the bucket of key k before
    // it. Returns whether a bucket of the block has too many.
    static __device__ bool count(const unsigned (&keys)[items], unsigned (&ranks)[(items + 1) / 2], unsigned* table, unsigned n) {
        bool crowded = false;
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned d = bucket(keys[k]), half = d % 2 * 16, rank = 0;
            if (!crowded && k * threads + threadIdx.x < n) rank = atomicAdd(&table[at(d / 2)], 1u << half) >> half & 0xffff;
            crowded = crowded || rank >= most;
            if (k % 4 == 3) crowded = __any_sync(all_lanes, crowded); // a warp then adds no more: equal keys wait for each other
            ranks[k / 2] = k % 2 ? ranks[k / 2] | rank << 16 : rank;
        }
        return __syncthreads_or(crowded);
    }

    // Replaces the counts by the sums of the counts before them.
    static __device__ void scan(unsigned* table, unsigned* totals) {
        uint4* own = (uint4*)table; // uint4 q of this thread: at(threadIdx.x * words + 4 * q) / 4
        uint4 v[words / 4];
        unsigned sum = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
        for (unsigned q = 0; q < words / 4; q++) {
            v[q] = own[at(threadIdx.x * words + 4 * q) / 4];
            unsigned both = v[q].x + v[q].y + v[q].z + v[q].w; // at most 16 384 in either half
            sum += (both & 0xffff) + (both >> 16);
        }
        unsigned before = sum;
#pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            unsigned other = __shfl_up_sync(all_lanes, before, step);
            if (lane >= step) before += other;
        }
        if (lane == 31) totals[warp] = before;
        before -= sum;
        __syncthreads();
#pragma unroll
        for (unsigned w = 0; w < warps; w++) before += w < warp ? totals[w] : 0;
        auto next = [&](unsigned counts) {
            unsigned first = before, second = first + (counts & 0xffff);
            before = second + (counts >> 16);
            return first | second << 16;
        };
#pragma unroll
        for (unsigned q = 0; q < words / 4; q++) {
            uint4 w;
            w.x = next(v[q].x), w.y = next(v[q].y), w.z = next(v[q].z), w.w = next(v[q].w);
            own[at(threadIdx.x * words + 4 * q) / 4] = w;
        }
        __syncthreads();
    }

    // Sorts the keys, which lie in the order of their buckets, and writes them. A warp has 16
    // keys of either neighbour, too, so that each of its own buckets is whole, and exchanges
    // neighbours until all are in order. The items of a lane are odd: lanes never meet in a bank.
    static __device__ void finish(unsigned* buffer, unsigned* __restrict__ out, unsigned n) {
        constexpr unsigned own = 32 * items, wide = items + 1;
        unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * own, key[wide];
#pragma unroll
        for (unsigned j = 0; j < wide; j++) {
            unsigned i = first + lane * wide + j - most;
            key[j] = i < n ? buffer[i] : (int)i < 0 ? 0 : U32::largest;
        }
        auto exchange = [&](unsigned j) {
            unsigned a = key[j], b = key[j + 1];
            key[j] = min(a, b);
            key[j + 1] = max(a, b);
        };
        bool more;
        do {
#pragma unroll
            for (unsigned turn = 0; turn < 2; turn++) {
#pragma unroll
                for (unsigned j = 0; j + 1 < wide; j += 2) exchange(j);
#pragma unroll
                for (unsigned j = 1; j + 1 < wide; j += 2) exchange(j);
                unsigned after = __shfl_down_sync(all_lanes, key[0], 1), before = __shfl_up_sync(all_lanes, key[wide - 1], 1);
                if (lane < 31) key[wide - 1] = min(key[wide - 1], after);
                if (lane > 0) key[0] = max(key[0], before);
            }
            more = key[wide - 1] > __shfl_down_sync(all_lanes, key[0], 1) && lane < 31;
#pragma unroll
            for (unsigned j = 0; j + 1 < wide; j++) more = more || key[j] > key[j + 1];
        } while (__any_sync(all_lanes, more));
        __syncthreads(); // the neighbours have read their 16
#pragma unroll
        for (unsigned j = 0; j < wide; j++) {
            unsigned i = lane * wide + j - most;
            if (i < own) buffer[first + i] = key[j];
        }
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned i = first + k * 32 + lane;
            if (i < n) out[i] = buffer[i];
        }
    }

    static __device__ void sort(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
        extern __shared__ __align__(16) unsigned memory[];
        unsigned *table = memory, *buffer = memory + (apart ? table_words : 0);
        unsigned ranks[(items + 1) / 2];
        Sort keys;
        keys.load(in, n);
#pragma unroll
        for (unsigned q = 0; q < words / 4; q++) ((uint4*)table)[q * threads + threadIdx.x] = make_uint4(0, 0, 0, 0);
        __syncthreads();
        if (count(keys.keys, ranks, table, n)) {
            keys.all_passes(memory, memory + (Sort::apart ? threads * items : 0));
            Sort::store(memory, out, n);
            return;
        }
        scan(table, memory + table_words);
#pragma unroll
        for (unsigned k = 0; k < items; k++) {
            unsigned d = bucket(keys.keys[k]), start = table[at(d / 2)] >> d % 2 * 16;
            ranks[k / 2] += k % 2 ? start << 16 : start & 0xffff;
        }
        if (!apart) __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < items; k++)
            if (k * threads + threadIdx.x < n) buffer[k % 2 ? ranks[k / 2] >> 16 : ranks[k / 2] & 0xffff] = keys.keys[k];
        __syncthreads();
        finish(buffer, out, n);
    }
};
