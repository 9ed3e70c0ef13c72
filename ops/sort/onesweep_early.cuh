// Onesweep whose tiles publish their counts before they rank their keys. A tile that looks
// back then rarely meets a tile without a count.

constexpr unsigned early_threads = 384, early_warps = early_threads / 32;

// A key of uint32, and its value in the upper half: both move as one number of 64 bits.
struct Pair {
    typedef unsigned long long Bits;
    static __device__ unsigned code(Bits b) { return (unsigned)b; }
};

// Moves the keys by one digit, as `sweep` does. Each warp first counts its digits. With the
// sums of these counts a rank is the place of its key in the tile, and the key goes there
// at once. A thread has so many bytes of keys, or of keys and values, in registers.
template <class Order, class Key = typename Order::Bits, unsigned bytes = 96> static __device__ void sweep_early(const Key* __restrict__ in, Key* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift) {
    typedef typename Order::Bits Bits;
    constexpr bool pairs = sizeof(Key) < sizeof(Bits);
    constexpr unsigned early_items = bytes / sizeof(Bits), early_tile = early_threads * early_items;
    // Dynamic shared memory: the places of the next keys of a warp, masks of lanes, the keys.
    extern __shared__ __align__(8) unsigned memory[];
    __shared__ unsigned go[256], totals[early_warps], drawn;
    Bits* buffer = (Bits*)(memory + 2 * early_warps * 256);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned *next = memory + warp * 256, *masks = memory + (early_warps + warp) * 256;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1);
    for (unsigned d = lane; d < 256; d += 32) next[d] = masks[d] = 0;
    __syncthreads();
    unsigned tile = drawn, tile_first = tile * early_tile, count = min(early_tile, n - tile_first);
    unsigned first = warp * 32 * early_items + lane; // in the tile

    Bits keys[early_items];
    auto load = [&](bool whole) { // the compiler makes a copy of it without comparisons
#pragma unroll
        for (unsigned k = 0; k < early_items; k++) keys[k] = whole || first + 32 * k < count ? in[tile_first + first + 32 * k] : 0;
        if constexpr (pairs)
#pragma unroll
            for (unsigned k = 0; k < early_items; k++) keys[k] |= (Bits)(whole || first + 32 * k < count ? values_in[tile_first + first + 32 * k] : 0) << 32;
#pragma unroll
        for (unsigned k = 0; k < early_items; k++)
            if (whole || first + 32 * k < count) atomicAdd(&next[digit_of<Order, 8>(keys[k], shift)], 1);
    };
    if (count == early_tile) load(true);
    else load(false);
    __syncthreads();

    // Thread d has digit d.
    unsigned own = 0, all, *mine = status + (size_t)tile * 256 + threadIdx.x, *column = memory + threadIdx.x;
    if (threadIdx.x < 256) {
        for (unsigned w = 0; w < early_warps; w++) {
            unsigned sum = column[w * 256];
            column[w * 256] = own;
            own += sum;
        }
        if (tile) write_status(mine, tile_count | own);
    }
    unsigned in_tile = sum_before<early_warps>(own, totals, all);
    if (threadIdx.x < 256)
        for (unsigned w = 0; w < early_warps; w++) column[w * 256] += in_tile;
    __syncthreads();

    // One lane for each digit in a row of keys takes the places of that row.
#pragma unroll
    for (unsigned k = 0; k < early_items; k++) {
        bool valid = first + 32 * k < count;
        unsigned digit = digit_of<Order, 8>(keys[k], shift), place = 0;
        if (valid) atomicOr(&masks[digit], 1u << lane);
        __syncwarp();
        unsigned same = masks[digit], leader = __ffs(same) - 1;
        if (valid && lane == leader) place = atomicAdd(&next[digit], __popc(same));
        place = __shfl_sync(all_lanes, place, leader) + __popc(same & lanes_before());
        __syncwarp();
        if (valid && lane == leader) masks[digit] = 0;
        __syncwarp();
        if (valid) buffer[place] = keys[k];
    }
    if (threadIdx.x < 256) {
        unsigned earlier = look_back_by<8>(status, tile, threadIdx.x);
        write_status(mine, prefix_count | (earlier + own));
        go[threadIdx.x] = starts[threadIdx.x] + earlier - in_tile;
    }
    __syncthreads();

    // The tile is sorted in shared memory, so that neighbours are written together.
    auto store = [&](bool whole) {
#pragma unroll
        for (unsigned k = 0; k < early_items; k++) {
            unsigned i = k * early_threads + threadIdx.x;
            if (!whole && i >= count) break;
            Bits key = buffer[i];
            unsigned to = go[digit_of<Order, 8>(key, shift)] + i;
            out[to] = (Key)key;
            if constexpr (pairs) values_out[to] = (unsigned)(key >> 32);
        }
    };
    if (count == early_tile) store(true);
    else store(false);
}
