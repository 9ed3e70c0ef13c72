// Scans by key: y[i] is the sum of x since the key last changed, up to and with x[i].
// The pair of a sum and whether a segment begins in it is added like a number, in order.

#include "scan.cuh"

// Elements are read as segments of one: the first of its key begins one.
static __device__ Segment element(const int* __restrict__ keys, const float* __restrict__ x, size_t i, unsigned n) {
    return i < n ? Segment(x[i], i == 0 || keys[i] != keys[i - 1]) : Segment(0);
}

// One block goes through x, 256 elements per iteration.
extern "C" __global__ void __launch_bounds__(256) scan_by_key_shuffle(const int* __restrict__ keys, const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    __shared__ Segment totals[8];
    Segment earlier(0);
    for (size_t first = 0; first < n; first += 256) {
        size_t i = first + threadIdx.x;
        Segment scanned = scan_warp(element(keys, x, i, n)), all;
        Segment before = before_warp<Segment, 8>(scanned, totals, all);
        if (i < n) y[i] = add(add(earlier, before), scanned).sum;
        earlier = add(earlier, all);
        __syncthreads();
    }
}

// One pass over many tiles: a thread has four elements, and a warp looks back.
extern "C" __global__ void __launch_bounds__(256) scan_by_key_look_back(const int* __restrict__ keys, const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n) {
    __shared__ Segment totals[8], earlier;
    unsigned tile = draw(ticket);
    size_t first = (size_t)tile * 1024 + threadIdx.x * 4;
    Segment own[4], sum(0);
#pragma unroll
    for (unsigned k = 0; k < 4; k++) own[k] = sum = add(sum, element(keys, x, first + k, n));
    Segment scanned = scan_warp(sum), all;
    Segment before = before_warp<Segment, 8>(scanned, totals, all);
    before = add(before, before_lane(scanned));
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0 && tile) write_status(status, tile, tile_sum, all);
        Segment back = tile ? look_back<Segment>(status, tile) : Segment(0);
        if (threadIdx.x == 0) {
            write_status(status, tile, prefix, add(back, all));
            earlier = back;
        }
    }
    __syncthreads();
    before = add(earlier, before);
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (first + k < n) y[first + k] = add(before, own[k]).sum;
}

// A warp's scan of sums since the last lane in `begun`, a mask of the lanes in which a
// segment begins: a lane adds no lane before the last of them, up to itself.
static __device__ float scan_segments(float v, unsigned begun) {
    unsigned lane = threadIdx.x % 32, own = begun & (2u << lane) - 1, head = own ? 31 - __clz(own) : 0;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        float other = from_below(v, step);
        if (lane >= head + step) v = other + v;
    }
    return v;
}

// Four neighbours in one access: they are all there, and begin at a multiple of 16 bytes.
template <typename T> static __device__ Four<T> load_whole(const T* __restrict__ x) {
    Four<T> f;
    *(float4*)&f = __ldg((const float4*)x);
    return f;
}

// Wider tiles: a thread has seven times four neighbours, loads all of them at once, and
// compares a key with the register or the lane before. A tile in which a segment begins
// waits for no other before it publishes: nothing before that begin counts after it. Whether all
// accesses of a tile are whole vectors is decided once: with a test before each of them, the loads
// do not start together.
extern "C" __global__ void __launch_bounds__(256, 3) scan_by_key_look_back_wide(const int* __restrict__ keys, const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n) {
    constexpr unsigned rounds = 7;
    __shared__ Segment totals[8], earlier;
    unsigned tile = draw(ticket), lane = threadIdx.x % 32;
    size_t first = Tile<float, rounds, 8>::at(tile);
    bool whole = (size_t)(tile + 1) * Tile<float, rounds, 8>::size <= n; // the same for all, and cheaper than a test of each element
    bool vectors = whole && ((size_t)keys | (size_t)x | (size_t)y) % 16 == 0;
    Four<int> key[rounds];
    Tile<float, rounds, 8> t;
    if (vectors) {
#pragma unroll
        for (unsigned r = 0; r < rounds; r++) key[r] = load_whole(keys + first + r * 128);
#pragma unroll
        for (unsigned r = 0; r < rounds; r++) t.v[r] = load_whole(x + first + r * 128);
    } else {
#pragma unroll
        for (unsigned r = 0; r < rounds; r++)
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                size_t i = first + r * 128 + k;
                key[r].v[k] = i < n ? keys[i] : 0;
                t.v[r].v[k] = i < n ? x[i] : 0;
            }
    }
    int last = lane == 0 && first && first < n ? keys[first - 1] : 0;

    unsigned in_four = 0, in_warp = 0; // whether a segment began: a bit for each element, and for each round before this lane
    Segment sum(0);
#pragma unroll
    for (unsigned r = 0; r < rounds; r++) {
        int left = from_below(key[r].v[3], 1);
        if (lane) last = left;
        unsigned begun = 0; // in these four, up to k
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            size_t i = first + r * 128 + k;
            bool begins = key[r].v[k] != (k ? key[r].v[k - 1] : last);
            begins = (begins || i == 0) && (whole || i < n);
            if (k && !begins) t.v[r].v[k] += t.v[r].v[k - 1];
            begun |= begins;
            in_four |= begun << (4 * r + k);
        }
        unsigned lanes = __ballot_sync(all_lanes, begun);
        float scanned = scan_segments(t.v[r].v[3], lanes);
        Segment before = add(sum, Segment(before_lane(scanned), (lanes & (1u << lane) - 1) != 0));
        t.before[r] = before.sum;
        in_warp |= before.begins << r;
        sum = add(sum, Segment(from_lane(scanned, 31), lanes != 0));
        last = from_lane(key[r].v[3], 31);
    }

    Segment all, before = before_warp<Segment, 8>(sum, totals, all);
    if (threadIdx.x < 32) {
        bool known = tile == 0 || all.begins;
        if (threadIdx.x == 0) write_status(status, tile, known ? prefix : tile_sum, all);
        Segment back = tile ? look_back<Segment>(status, tile) : Segment(0);
        if (threadIdx.x == 0) {
            if (!known) write_status(status, tile, prefix, add(back, all));
            earlier = back;
        }
    }
    __syncthreads();
    float open = add(earlier, before).sum; // of the segment that goes on into this warp's part
#pragma unroll
    for (unsigned r = 0; r < rounds; r++) {
        float base = in_warp >> r & 1 ? t.before[r] : open + t.before[r];
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            if (!(in_four >> (4 * r + k) & 1)) t.v[r].v[k] += base;
        if (vectors) {
            __stcs((float4*)(y + first + r * 128), *(const float4*)&t.v[r]);
        } else {
#pragma unroll
            for (unsigned k = 0; k < 4; k++)
                if (first + r * 128 + k < n) y[first + r * 128 + k] = t.v[r].v[k];
        }
    }
}
