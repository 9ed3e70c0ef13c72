// Onesweep: one launch counts the digits of all passes. Then each pass of 8 bits reads
// the keys once and writes them once. A tile learns by a look-back where its digits go.

constexpr unsigned sweep_items = 16, sweep_tile = 256 * sweep_items;

// Counts the digits of all passes: histogram[pass][digit], which is 0 before.
template <class Order> static __device__ void count_all(const typename Order::Bits* __restrict__ in, unsigned* __restrict__ histogram, unsigned n) {
    constexpr unsigned passes = sizeof(typename Order::Bits);
    __shared__ unsigned sums[passes * 256];
    for (unsigned i = threadIdx.x; i < passes * 256; i += 256) sums[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        auto key = in[i];
#pragma unroll
        for (unsigned pass = 0; pass < passes; pass++) atomicAdd(&sums[pass * 256 + digit_of<Order, 8>(key, 8 * pass)], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < passes * 256; i += 256)
        if (sums[i]) atomicAdd(&histogram[i], sums[i]);
}

// A block replaces the counts of its pass by the sums of the counts before them.
static __device__ void scan_histogram(unsigned* histogram) {
    __shared__ unsigned totals[8];
    unsigned all, *count = histogram + blockIdx.x * 256 + threadIdx.x;
    *count = sum_before<8>(*count, totals, all);
}

// A status is one word, so that state and count are there at once and no fence is
// needed: two bits of state, and 30 bits of the count of the tile, or of all tiles up to
// its end. A word of 0 says nothing yet.
constexpr unsigned tile_count = 1u << 30, prefix_count = 2u << 30, count_bits = (1u << 30) - 1;

static __device__ unsigned read_status(const unsigned* at) {
    unsigned word;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}

static __device__ void write_status(unsigned* at, unsigned word) { asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory"); }

// The count of a digit in the tiles before one. Thread d looks back for digit d.
static __device__ unsigned look_back(const unsigned* status, unsigned tile, unsigned digit) {
    unsigned sum = 0;
    while (tile-- > 0) {
        unsigned word;
        do word = read_status(status + (size_t)tile * 256 + digit);
        while (word == 0);
        sum += word & count_bits;
        if (word & prefix_count) break;
    }
    return sum;
}

// Moves the keys by one digit. Blocks draw their tiles in the order in which they start,
// so that every tile before one belongs to a block that runs.
template <class Order, bool pairs> static __device__ void sweep(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift) {
    typedef typename Order::Bits Bits;
    __shared__ Bits buffer[sweep_tile]; // match masks first, then the keys, then the values
    __shared__ unsigned sums[8][256], go[256], totals[8], drawn;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, *masks = (unsigned*)buffer + warp * 256;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
    for (unsigned d = lane; d < 256; d += 32) sums[warp][d] = masks[d] = 0;
    __syncthreads();
    unsigned tile = drawn, tile_first = tile * sweep_tile, count = min(sweep_tile, n - tile_first);
    unsigned first = warp * 32 * sweep_items + lane; // in the tile

    // The rank of a key: how many keys of its digit the warp has before it.
    Bits keys[sweep_items];
    unsigned ranks[sweep_items];
#pragma unroll
    for (unsigned k = 0; k < sweep_items; k++) keys[k] = first + 32 * k < count ? in[tile_first + first + 32 * k] : 0;
#pragma unroll
    for (unsigned k = 0; k < sweep_items; k++) {
        bool valid = first + 32 * k < count;
        unsigned digit = digit_of<Order, 8>(keys[k], shift);
        if (valid) atomicOr(&masks[digit], 1u << lane);
        __syncwarp();
        unsigned same = masks[digit];
        ranks[k] = sums[warp][digit] + __popc(same & lanes_before());
        __syncwarp();
        if (valid && !(same & lanes_before())) {
            sums[warp][digit] += __popc(same);
            masks[digit] = 0;
        }
        __syncwarp();
    }
    __syncthreads();

    // Thread d has digit d: it publishes the tile's count, and looks back.
    unsigned own = 0, all;
    for (unsigned w = 0; w < 8; w++) {
        unsigned sum = sums[w][threadIdx.x];
        sums[w][threadIdx.x] = own;
        own += sum;
    }
    unsigned* mine = status + (size_t)tile * 256 + threadIdx.x;
    if (tile) write_status(mine, tile_count | own);
    unsigned in_tile = sum_before<8>(own, totals, all);
    for (unsigned w = 0; w < 8; w++) sums[w][threadIdx.x] += in_tile;
    unsigned earlier = look_back(status, tile, threadIdx.x);
    write_status(mine, prefix_count | (earlier + own));
    go[threadIdx.x] = starts[threadIdx.x] + earlier - in_tile;
    __syncthreads();

    // The tile is sorted in shared memory, so that neighbours are written together.
#pragma unroll
    for (unsigned k = 0; k < sweep_items; k++) {
        ranks[k] += sums[warp][digit_of<Order, 8>(keys[k], shift)];
        if (first + 32 * k < count) buffer[ranks[k]] = keys[k];
    }
    __syncthreads();
    unsigned to[sweep_items];
#pragma unroll
    for (unsigned k = 0; k < sweep_items; k++) {
        unsigned i = k * 256 + threadIdx.x;
        if (i >= count) break;
        Bits key = buffer[i];
        to[k] = go[digit_of<Order, 8>(key, shift)] + i;
        out[to[k]] = key;
    }
    if (!pairs) return;
    __syncthreads();
    unsigned* values = (unsigned*)buffer;
#pragma unroll
    for (unsigned k = 0; k < sweep_items; k++)
        if (first + 32 * k < count) values[ranks[k]] = values_in[tile_first + first + 32 * k];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < sweep_items; k++)
        if (k * 256 + threadIdx.x < count) values_out[to[k]] = values[k * 256 + threadIdx.x];
}
