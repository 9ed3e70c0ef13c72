// The rungs of scan for any type: y[i] = x[0] + ... + x[i], or with `exclusive`
// y[i] = x[0] + ... + x[i-1].

#include "scan.cuh"

// One block goes through x, 256 elements per iteration. In every step each thread adds what
// lies 1, 2, 4, ... places before: log2 256 steps, and 8 additions per element.
template <typename T> static __device__ void hillis_steele(const T* __restrict__ x, T* __restrict__ y, unsigned n, unsigned exclusive) {
    __shared__ T s[2][256];
    unsigned t = threadIdx.x;
    T earlier = T(0);
    for (size_t first = 0; first < n; first += 256) {
        unsigned now = 0;
        s[now][t] = first + t < n ? x[first + t] : T(0);
        __syncthreads();
        for (unsigned step = 1; step < 256; step *= 2, now ^= 1) {
            s[now ^ 1][t] = t >= step ? add(s[now][t - step], s[now][t]) : s[now][t];
            __syncthreads();
        }
        T own = exclusive ? (t ? s[now][t - 1] : T(0)) : s[now][t];
        if (first + t < n) y[first + t] = add(earlier, own);
        earlier = add(earlier, s[now][255]);
        __syncthreads();
    }
}

// A tree over 512 elements: sums on the way up, and what lies before each on the way
// down. Two additions per element, in twice as many steps.
template <typename T> static __device__ void blelloch(const T* __restrict__ x, T* __restrict__ y, unsigned n, unsigned exclusive) {
    __shared__ T s[512];
    unsigned t = threadIdx.x;
    T earlier = T(0);
    for (size_t first = 0; first < n; first += 512) {
        for (unsigned i = t; i < 512; i += 256) s[i] = first + i < n ? x[first + i] : T(0);
        __syncthreads();
        for (unsigned step = 1; step < 512; step *= 2) {
            unsigned right = (t + 1) * 2 * step - 1;
            if (right < 512) s[right] = add(s[right - step], s[right]);
            __syncthreads();
        }
        T all = s[511];
        __syncthreads();
        if (t == 0) s[511] = 0;
        __syncthreads();
        for (unsigned step = 256; step > 0; step /= 2) {
            unsigned right = (t + 1) * 2 * step - 1;
            if (right < 512) {
                T left = s[right - step];
                s[right - step] = s[right];
                s[right] = add(s[right], left);
            }
            __syncthreads();
        }
        for (unsigned i = t; i < 512; i += 256)
            if (first + i < n) y[first + i] = add(earlier, exclusive ? s[i] : add(s[i], x[first + i]));
        earlier = add(earlier, all);
        __syncthreads();
    }
}

// Scans x from `first` to `last`, 256 elements per iteration, after what lies before.
template <typename T> static __device__ void by_shuffles(const T* __restrict__ x, T* __restrict__ y, size_t first, size_t last, T earlier, unsigned exclusive) {
    __shared__ T totals[8];
    for (size_t i = first + threadIdx.x; first < last; first += 256, i += 256) {
        T scanned = scan_warp(i < last ? x[i] : T(0)), all;
        T before = add(earlier, before_warp<T, 8>(scanned, totals, all));
        T lane = before_lane(scanned);
        if (i < last) y[i] = add(before, exclusive ? lane : scanned);
        earlier = add(earlier, all);
        __syncthreads();
    }
}

// The sum of a thread's values over the block, in every thread, in one fixed order.
template <typename T> static __device__ T sum_block(T v) {
    __shared__ T totals[8];
    T all;
    before_warp<T, 8>(scan_warp(v), totals, all);
    __syncthreads();
    return all;
}

// Each block has a chunk; the first launch adds it up.
template <typename T> static __device__ void sum_chunk(const T* __restrict__ x, T* __restrict__ sums, unsigned n, unsigned chunk) {
    size_t first = (size_t)blockIdx.x * chunk, last = min(first + chunk, (size_t)n);
    T sum = T(0);
    for (size_t i = first + threadIdx.x; i < last; i += 256) sum = add(sum, x[i]);
    sum = sum_block(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// The second adds the sums of the chunks before, and scans its chunk.
template <typename T> static __device__ void scan_chunk(const T* __restrict__ x, T* __restrict__ y, const T* __restrict__ sums, unsigned n, unsigned chunk, unsigned exclusive) {
    size_t first = (size_t)blockIdx.x * chunk;
    T earlier = T(0);
    for (unsigned b = threadIdx.x; b < blockIdx.x; b += 256) earlier = add(earlier, sums[b]);
    by_shuffles(x, y, first, min(first + chunk, (size_t)n), sum_block(earlier), exclusive);
}

// Each block has a chunk of `turns` tiles; the first launch adds it up.
template <typename T, unsigned rounds> static __device__ void sum_tiles(const T* __restrict__ x, T* __restrict__ sums, unsigned n, unsigned turns) {
    __shared__ T totals[8];
    T sum = T(0), all;
    for (unsigned k = 0; k < turns; k++) {
        Tile<T, rounds, 8> t;
        t.load(x, blockIdx.x * turns + k, n);
        sum = add(sum, t.sum());
    }
    before_warp<T, 8>(sum_lanes(sum, false), totals, all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// The second adds the sums of the chunks before, and scans its chunk. Sums and elements are
// loaded at the same time, and one barrier is enough for both.
template <typename T, unsigned rounds> static __device__ void scan_tiles(const T* __restrict__ x, T* __restrict__ y, const T* __restrict__ sums, unsigned n, unsigned turns, unsigned exclusive) {
    __shared__ T totals[8], chunks[8];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T earlier = T(0);
    for (unsigned b = threadIdx.x; b < blockIdx.x; b += 256) earlier = add(earlier, sums[b]);
    for (unsigned k = 0; k < turns; k++) {
        Tile<T, rounds, 8> t;
        t.load(x, blockIdx.x * turns + k, n);
        T sum = t.scan();
        if (lane == 0) totals[warp] = sum;
        if (k == 0) {
            earlier = sum_lanes(earlier, false);
            if (lane == 0) chunks[warp] = earlier;
        }
        __syncthreads();
        if (k == 0) earlier = sum_lanes(lane < 8 ? chunks[lane] : T(0), false);
        T scanned = scan_warp(lane < 8 ? totals[lane] : T(0)), before = from_lane(scanned, (warp + 31) % 32);
        t.store(y, blockIdx.x * turns + k, n, add(earlier, warp ? before : T(0)), exclusive);
        earlier = add(earlier, from_lane(scanned, 7));
        __syncthreads();
    }
}

// One launch that reads x once: a tile waits for the sum of all tiles before it.
template <typename T> static __device__ void chained(const T* __restrict__ x, T* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    __shared__ T totals[8], earlier;
    unsigned tile = draw(ticket);
    Tile<T, 1, 8> t;
    t.load(x, tile, n);
    T all, before = before_warp<T, 8>(t.scan(), totals, all);
    if (threadIdx.x == 0) {
        earlier = tile ? await<T>(status, tile - 1).value : T(0);
        write_status<T>(status, tile, prefix, add(earlier, all));
    }
    __syncthreads();
    t.store(y, tile, n, add(earlier, before), exclusive);
}

// A tile publishes its own sum at once. One thread looks back: it adds the sums of the
// tiles before, until it meets one that knows the sum up to its end.
template <typename T> static __device__ void by_thread(const T* __restrict__ x, T* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive) {
    __shared__ T totals[8], earlier;
    unsigned tile = draw(ticket);
    Tile<T, 1, 8> t;
    t.load(x, tile, n);
    T all, before = before_warp<T, 8>(t.scan(), totals, all);
    if (threadIdx.x == 0) {
        if (tile) write_status<T>(status, tile, tile_sum, all);
        T sum = T(0);
        for (unsigned at = tile; at > 0; at--) {
            Seen<T> s = await<T>(status, at - 1);
            sum = add(s.value, sum);
            if (s.state == prefix) break;
        }
        write_status<T>(status, tile, prefix, add(sum, all));
        earlier = sum;
    }
    __syncthreads();
    t.store(y, tile, n, add(earlier, before), exclusive);
}

// A warp looks back, 32 tiles at a time. A warp's part of a tile is `rounds` times 128.
template <typename T, unsigned rounds> static __device__ void by_warp(const T* __restrict__ x, T* __restrict__ y, Word* status, unsigned tile, unsigned n, unsigned exclusive) {
    __shared__ T totals[8], earlier;
    Tile<T, rounds, 8> t;
    t.load(x, tile, n);
    T all, before = before_warp<T, 8>(t.scan(), totals, all);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0 && tile) write_status<T>(status, tile, tile_sum, all);
        T sum = tile ? look_back<T>(status, tile) : T(0);
        if (threadIdx.x == 0) {
            write_status<T>(status, tile, prefix, add(sum, all));
            earlier = sum;
        }
    }
    __syncthreads();
    t.store(y, tile, n, add(earlier, before), exclusive);
}

// Groups of 32 tiles add their sums in one fixed order, and are chained: the bits of a
// float never depend on which tile was first. groups[g] is the sum before group g.
template <typename T> static __device__ void in_groups(const T* __restrict__ x, T* __restrict__ y, Word* status, Word* groups, unsigned* ticket, unsigned n, unsigned exclusive) {
    __shared__ T totals[8], earlier;
    unsigned tile = draw(ticket), lane = threadIdx.x % 32;
    Tile<T, 8, 8> t;
    t.load(x, tile, n);
    T all, before = before_warp<T, 8>(t.scan(), totals, all);
    if (threadIdx.x < 32) {
        unsigned group = tile / 32, place = tile % 32;
        if (lane == 0) write_status<T>(status, tile, tile_sum, all);
        T sum = lane < place ? await<T>(status, group * 32 + lane).value : T(0);
        __syncwarp();
        sum = sum_lanes(sum, false);
        if (lane == 0) {
            T start = group ? await<T>(groups, group).value : T(0);
            if (place == 31) write_status<T>(groups, group + 1, prefix, add(start, add(sum, all)));
            earlier = add(start, sum);
        }
    }
    __syncthreads();
    t.store(y, tile, n, add(earlier, before), exclusive);
}
