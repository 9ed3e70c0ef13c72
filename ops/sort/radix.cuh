// Sorts by the digits of the codes, the lowest digit first. Each pass is stable: keys of
// equal digits keep their order, so that the passes before are not undone.

constexpr unsigned radix_items = 8, radix_tile = 256 * radix_items;

template <class Order, unsigned bits> static __device__ unsigned digit_of(typename Order::Bits key, unsigned shift) {
    return (unsigned)(Order::code(key) >> shift) & ((1u << bits) - 1);
}

static __device__ unsigned lanes_before() { return (1u << threadIdx.x % 32) - 1; }

// Counts the digits of a block's tile: counts[digit][block].
template <class Order, unsigned bits> static __device__ void count_digits(const typename Order::Bits* __restrict__ in, unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    __shared__ unsigned sums[1 << bits];
    if (threadIdx.x < 1 << bits) sums[threadIdx.x] = 0;
    __syncthreads();
    unsigned first = blockIdx.x * radix_tile, end = min(first + radix_tile, n);
    for (unsigned i = first + threadIdx.x; i < end; i += 256) atomicAdd(&sums[digit_of<Order, bits>(in[i], shift)], 1);
    __syncthreads();
    if (threadIdx.x < 1 << bits) counts[threadIdx.x * gridDim.x + blockIdx.x] = sums[threadIdx.x];
}

// The sum of the values of the threads before this one. Every thread of `warps` warps
// calls it; totals is shared memory of a word for each warp, free after the next barrier.
template <unsigned warps> static __device__ unsigned sum_before(unsigned value, unsigned* totals, unsigned& all) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(all_lanes, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    unsigned before = 0;
    all = 0;
    for (unsigned w = 0; w < warps; w++) {
        if (w == warp) before = all;
        all += totals[w];
    }
    return before + sum - value;
}

// One block replaces counts by the sums of the counts before them.
static __device__ void scan_counts(unsigned* counts, unsigned n) {
    __shared__ unsigned totals[8];
    unsigned earlier = 0;
    for (unsigned first = 0; first < n; first += 256 * 16) {
        unsigned v[16], sum = 0, at = first + threadIdx.x * 16, all;
#pragma unroll
        for (unsigned k = 0; k < 16; k++) {
            v[k] = at + k < n ? counts[at + k] : 0;
            sum += v[k];
        }
        unsigned before = earlier + sum_before<8>(sum, totals, all);
#pragma unroll
        for (unsigned k = 0; k < 16; k++) {
            if (at + k < n) counts[at + k] = before;
            before += v[k];
        }
        earlier += all;
        __syncthreads();
    }
}

// Moves the keys of a block's tile. The rank of a key is the number of equal digits
// before it in the tile: ballots, one per bit, mark the lanes with the same digit.
template <class Order, bool pairs, unsigned bits> static __device__ void scatter(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    constexpr unsigned digits = 1 << bits;
    __shared__ unsigned sums[8][digits];
    unsigned warp = threadIdx.x / 32, first = blockIdx.x * radix_tile + warp * 32 * radix_items + threadIdx.x % 32;
    for (unsigned i = threadIdx.x; i < 8 * digits; i += 256) sums[i / digits][i % digits] = 0;
    __syncthreads();
    typename Order::Bits keys[radix_items];
    unsigned ranks[radix_items];
#pragma unroll
    for (unsigned k = 0; k < radix_items; k++) {
        bool valid = first + 32 * k < n;
        keys[k] = valid ? in[first + 32 * k] : 0;
        unsigned digit = digit_of<Order, bits>(keys[k], shift), same = __ballot_sync(all_lanes, valid);
#pragma unroll
        for (unsigned bit = 0; bit < bits; bit++) {
            unsigned set = __ballot_sync(all_lanes, digit >> bit & 1);
            same &= digit >> bit & 1 ? set : ~set;
        }
        ranks[k] = sums[warp][digit] + __popc(same & lanes_before());
        __syncwarp();
        if (valid && !(same & lanes_before())) sums[warp][digit] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < digits) {
        unsigned sum = counts[threadIdx.x * gridDim.x + blockIdx.x];
        for (unsigned w = 0; w < 8; w++) {
            unsigned own = sums[w][threadIdx.x];
            sums[w][threadIdx.x] = sum;
            sum += own;
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < radix_items; k++) {
        if (first + 32 * k >= n) break;
        unsigned to = sums[warp][digit_of<Order, bits>(keys[k], shift)] + ranks[k];
        out[to] = keys[k];
        if (pairs) values_out[to] = values_in[first + 32 * k];
    }
}
