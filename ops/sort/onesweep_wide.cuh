// Onesweep with tiles of twice the keys, and a count of digits in which lanes never meet.

constexpr unsigned wide_threads = 512, wide_warps = wide_threads / 32, wide_items = 16, wide_tile = wide_threads * wide_items;

// Counts the digits of all passes: histogram[pass][digit], which is 0 before. Each counter
// has `columns` copies, one for each lane or, where shared memory is short, for some lanes:
// with 32, bank and lane are one number. The next vectors of a thread are on their way
// while these are counted.
template <class Order> static __device__ void count_columns(const typename Order::Bits* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    constexpr unsigned passes = sizeof(typename Order::Bits), vectors = 2;
    struct __align__(16) Vector {
        typename Order::Bits v[16 / sizeof(typename Order::Bits)];
    };
    constexpr unsigned keys = sizeof(Vector::v) / sizeof(typename Order::Bits);
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < passes * 256 * columns; i += 1024) table[i] = 0;
    __syncthreads();
    unsigned* own = table + threadIdx.x % columns;
    auto count = [&](typename Order::Bits key) {
#pragma unroll
        for (unsigned pass = 0; pass < passes; pass++) atomicAdd(&own[(pass * 256 + digit_of<Order, 8>(key, 8 * pass)) * columns], 1);
    };
    unsigned whole = (size_t)in % 16 == 0 ? n / keys : 0; // vectors
    const Vector* from = (const Vector*)in;
    Vector now[vectors], next[vectors];
    unsigned stride = gridDim.x * 1024 * vectors, i = blockIdx.x * 1024 * vectors + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < vectors; k++)
        if (i + k * 1024 < whole) now[k] = from[i + k * 1024];
    for (; i < whole; i += stride) {
#pragma unroll
        for (unsigned k = 0; k < vectors; k++)
            if (i + stride + k * 1024 < whole) next[k] = from[i + stride + k * 1024];
#pragma unroll
        for (unsigned k = 0; k < vectors; k++) {
            if (i + k * 1024 < whole)
#pragma unroll
                for (unsigned e = 0; e < keys; e++) count(now[k].v[e]);
            now[k] = next[k];
        }
    }
    for (i = whole * keys + blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) count(in[i]);
    __syncthreads();
    for (unsigned d = threadIdx.x / 32; d < passes * 256; d += 32) { // a warp adds the copies of a counter
        unsigned sum = threadIdx.x % 32 < columns ? table[d * columns + threadIdx.x % 32] : 0;
#pragma unroll
        for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(all_lanes, sum, step);
        if (threadIdx.x % 32 == 0 && sum) atomicAdd(&histogram[d], sum);
    }
}

// The count of a digit in the tiles before one, of which several are read at a time.
template <unsigned width> static __device__ unsigned look_back_by(const unsigned* status, unsigned tile, unsigned digit) {
    unsigned sum = 0;
    for (unsigned at = tile;; at -= width) {
        unsigned word[width];
#pragma unroll
        for (unsigned i = 0; i < width; i++) word[i] = at > i ? read_status(status + (size_t)(at - 1 - i) * 256 + digit) : prefix_count;
#pragma unroll
        for (unsigned i = 0; i < width; i++) {
            while (word[i] == 0) word[i] = read_status(status + (size_t)(at - 1 - i) * 256 + digit);
            sum += word[i] & count_bits;
            if (word[i] & prefix_count) return sum;
        }
    }
}

// The lanes with the same digit as this one, of those that are valid: one ballot per bit.
static __device__ unsigned same_digit(unsigned digit, bool valid) {
    unsigned same = __ballot_sync(all_lanes, valid);
#pragma unroll
    for (unsigned bit = 0; bit < 8; bit++) {
        unsigned set = __ballot_sync(all_lanes, digit >> bit & 1);
        same &= digit >> bit & 1 ? set : ~set;
    }
    return same;
}

// How a lane finds the lanes with its digit: by masks in shared memory, by one ballot per bit,
// or by one instruction.
enum Match { masks_of_digits, ballot_a_bit, match_any };

// Moves the keys by one digit, as `sweep` does.
template <class Order, Match match> static __device__ void sweep_wide(const typename Order::Bits* __restrict__ in, typename Order::Bits* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift) {
    typedef typename Order::Bits Bits;
    __shared__ Bits buffer[wide_tile]; // match masks first, then the keys
    __shared__ unsigned short sums[wide_warps][256];
    __shared__ unsigned go[256], totals[wide_warps], drawn;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, *masks = (unsigned*)buffer + warp * 256;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
    for (unsigned d = lane; d < 256; d += 32) {
        sums[warp][d] = 0;
        if (match == masks_of_digits) masks[d] = 0;
    }
    __syncthreads();
    unsigned tile = drawn, tile_first = tile * wide_tile, count = min(wide_tile, n - tile_first);
    unsigned first = warp * 32 * wide_items + lane; // in the tile

    // The rank of a key: how many keys of its digit the warp has before it.
    Bits keys[wide_items];
    unsigned ranks[wide_items / 2]; // two per word: half the registers
#pragma unroll
    for (unsigned k = 0; k < wide_items; k++) keys[k] = first + 32 * k < count ? in[tile_first + first + 32 * k] : 0;
#pragma unroll
    for (unsigned k = 0; k < wide_items; k++) {
        bool valid = first + 32 * k < count;
        unsigned digit = digit_of<Order, 8>(keys[k], shift), same;
        if (match == ballot_a_bit) {
            same = same_digit(digit, valid);
        } else if (match == match_any) {
            same = __match_any_sync(all_lanes, valid ? digit : 256);
        } else {
            if (valid) atomicOr(&masks[digit], 1u << lane);
            __syncwarp();
            same = masks[digit];
        }
        unsigned before = sums[warp][digit];
        unsigned rank = before + __popc(same & lanes_before());
        ranks[k / 2] = k % 2 ? ranks[k / 2] | rank << 16 : rank;
        __syncwarp();
        if (valid && !(same & lanes_before())) {
            sums[warp][digit] = before + __popc(same);
            if (match == masks_of_digits) masks[digit] = 0;
        }
        __syncwarp();
    }
    __syncthreads();

    // Thread d has digit d: it publishes the tile's count, and looks back. The other half
    // of the block waits.
    unsigned own = 0, all, *mine = status + (size_t)tile * 256 + threadIdx.x;
    if (threadIdx.x < 256) {
        for (unsigned w = 0; w < wide_warps; w++) {
            unsigned sum = sums[w][threadIdx.x];
            sums[w][threadIdx.x] = own;
            own += sum;
        }
        if (tile) write_status(mine, tile_count | own);
    }
    unsigned in_tile = sum_before<wide_warps>(own, totals, all);
    if (threadIdx.x < 256) {
        for (unsigned w = 0; w < wide_warps; w++) sums[w][threadIdx.x] += in_tile;
        unsigned earlier = look_back_by<4>(status, tile, threadIdx.x);
        write_status(mine, prefix_count | (earlier + own));
        go[threadIdx.x] = starts[threadIdx.x] + earlier - in_tile;
    }
    __syncthreads();

    // The tile is sorted in shared memory, so that neighbours are written together.
#pragma unroll
    for (unsigned k = 0; k < wide_items; k++)
        if (first + 32 * k < count) buffer[(k % 2 ? ranks[k / 2] >> 16 : ranks[k / 2] & 0xffff) + sums[warp][digit_of<Order, 8>(keys[k], shift)]] = keys[k];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < wide_items; k++) {
        unsigned i = k * wide_threads + threadIdx.x;
        if (i >= count) break;
        Bits key = buffer[i];
        out[go[digit_of<Order, 8>(key, shift)] + i] = key;
    }
}
