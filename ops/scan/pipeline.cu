// The rung of scan for Hopper: warps with roles, fed by the copy engine.

#include "scan.cuh"

static __device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned long long* b, unsigned arrivals) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory"); }

static __device__ void barrier_arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory"); }

static __device__ void barrier_wait(unsigned long long* b, unsigned phase) {
    asm volatile("{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again;}" ::"r"(shared_address(b)), "r"(phase) : "memory");
}

// Copies bytes, a multiple of 16, and arrives at the barrier when they are there.
static __device__ void bulk_load(void* to, const void* from, unsigned bytes, unsigned long long* b) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(b)) : "memory");
}

static __device__ void bulk_prefetch(const void* from, unsigned bytes) { asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory"); }

// Copies bytes, a multiple of 16, to global memory. Writes of other lanes to shared memory
// come before, if each has called `stored` and the warp was synchronised.
static __device__ void bulk_store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the copies of this thread have read shared memory.
static __device__ void bulk_stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

static __device__ void stored() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// A tile is 12 warps times 5 vectors per lane; seven stages hold a tile each. Some warps look
// back, in turns, and a tile is stored as many tiles after it was scanned: four, three where
// the copy engine stores, which holds a stage for one more tile, or five where two stages
// load.
constexpr unsigned warps = 12, vectors = 5, stages = 7;
template <typename T> constexpr unsigned in_vector = 16 / sizeof(T); // elements
template <typename T> constexpr unsigned in_part = vectors * 32 * in_vector<T>;
template <typename T> constexpr unsigned in_tile = warps * in_part<T>;
template <unsigned later> constexpr unsigned pipeline_threads = 32 * (warps + 1 + later);

// Barriers of a stage: full, data and tile number are there; added, the sum is there;
// placed, the sum of the tiles before is there; empty, all warps have stored.
struct Stages {
    unsigned long long full[stages], added[stages], placed[stages], empty[stages];
    unsigned tile[stages];
};

template <typename T> static __device__ bool whole(const T* x, unsigned tile, unsigned n) { return (size_t)x % 16 == 0 && (size_t)(tile + 1) * in_tile<T> <= n; }

// One thread draws tiles and has the copy engine load them. Tiles at the end, and x that
// starts elsewhere than at 16 bytes, are loaded by the warps that scan them. With `paced`, so
// many loads are in flight at most, because the look-backs of all blocks wait for the slowest
// one, and a long queue makes it slower. The next tile is on its way to L2 meanwhile.
template <unsigned later, unsigned paced, typename T> static __device__ void load_tiles(Stages& s, T* data, const T* x, unsigned* ticket, unsigned n, unsigned tiles) {
    unsigned next = paced ? atomicAdd(ticket, 1) : 0;
    for (unsigned k = 0, ends = 0; ends < later; k++) { // the end is announced to every looker
        unsigned stage = k % stages, tile = ends ? tiles : paced ? next : atomicAdd(ticket, 1);
        if (paced && tile < tiles) {
            next = atomicAdd(ticket, 1);
            if (next < tiles && whole(x, next, n)) bulk_prefetch(x + (size_t)next * in_tile<T>, in_tile<T> * sizeof(T));
        }
        if (k >= stages) barrier_wait(s.empty + stage, (k / stages + 1) & 1);
        if (paced && k >= paced) barrier_wait(s.full + (k - paced) % stages, (k - paced) / stages & 1);
        s.tile[stage] = tile;
        if (tile < tiles && whole(x, tile, n)) bulk_load(data + stage * in_tile<T>, x + (size_t)tile * in_tile<T>, in_tile<T> * sizeof(T), s.full + stage);
        else barrier_arrive(s.full + stage);
        if (tile >= tiles) ends++;
    }
}

// The sum before a tile, from the tiles back to one that knows the sum up to its end.
template <typename T> struct Nearest {
    Word* status;
    __device__ T before(unsigned tile) const { return tile ? look_back<T>(status, tile) : T(0); }
    __device__ void publish(unsigned tile, T sum) const {
        if (tile) write_status<T>(status, tile, prefix, sum);
    }
};

template <unsigned lookers, typename T, typename LookBack> static __device__ void look_back_tiles(Stages& s, const T* total, T* earlier, LookBack look, unsigned first, unsigned tiles) {
    for (unsigned k = first;; k += lookers) {
        unsigned stage = k % stages;
        barrier_wait(s.added + stage, k / stages & 1);
        unsigned tile = s.tile[stage];
        if (tile >= tiles) return;
        T sum = look.before(tile);
        if (threadIdx.x % 32 == 0) {
            look.publish(tile, add(sum, total[stage]));
            earlier[stage] = sum;
            barrier_arrive(s.placed + stage);
        }
        __syncwarp();
    }
}

// Scans a warp's part of a tile, five vectors per lane side by side, and leaves it in
// shared memory for the store.
template <typename T> struct Part {
    typedef Vector<T, in_vector<T>> Some;
    Some v[vectors];
    T scanned;

    __device__ void load(const T* data, const T* x, size_t first, bool copied, unsigned n) {
        unsigned own = threadIdx.x % 32 * vectors;
#pragma unroll
        for (unsigned i = 0; i < vectors; i++) v[i] = copied ? ((const Some*)data)[own + i] : load_vector<T, in_vector<T>>(x, first + (own + i) * in_vector<T>, n);
        T sum = T(0);
#pragma unroll
        for (unsigned i = 0; i < vectors; i++) {
            v[i].v[0] = add(sum, v[i].v[0]);
            sum = scan_vector(v[i]);
        }
        scanned = scan_warp(sum);
    }

    __device__ void keep(T* data, T before, bool exclusive) {
        unsigned own = threadIdx.x % 32 * vectors;
        before = add(before, before_lane(scanned));
        T last = before;
#pragma unroll
        for (unsigned i = 0; i < vectors; i++) {
            Some r = results(v[i], before, exclusive);
            if (exclusive) r.v[0] = last;
            last = add(before, v[i].v[in_vector<T> - 1]);
            ((Some*)data)[own + i] = r;
        }
    }
};

template <typename T> static __device__ void store_part(T* data, T* y, size_t first, unsigned n, T earlier, bool bulk) {
#pragma unroll
    for (unsigned i = 0; i < vectors; i++) {
        unsigned at = i * 32 + threadIdx.x % 32;
        auto r = ((const typename Part<T>::Some*)data)[at];
#pragma unroll
        for (unsigned k = 0; k < in_vector<T>; k++) r.v[k] = add(earlier, r.v[k]);
        if (bulk) ((typename Part<T>::Some*)data)[at] = r;
        else store_vector(y, first + at * in_vector<T>, n, r);
    }
    stored();
    __syncwarp();
    if (bulk && threadIdx.x % 32 == 0) bulk_store(y + first, data, in_part<T> * sizeof(T));
}

template <unsigned later, bool bulk_stores, unsigned paced, typename T, typename LookBack> static __device__ void pipeline(const T* __restrict__ x, T* __restrict__ y, LookBack look, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    extern __shared__ __align__(128) unsigned char memory[];
    T* data = (T*)memory;
    __shared__ Stages s;
    __shared__ T total[stages], earlier[stages], totals[2][warps];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < stages; i++) barrier_init(s.full + i, 1), barrier_init(s.added + i, 1), barrier_init(s.placed + i, 1), barrier_init(s.empty + i, warps);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp == warps) {
        if (lane == 0) load_tiles<later, paced>(s, data, x, ticket, n, tiles);
        return;
    }
    if (warp > warps) {
        look_back_tiles<later>(s, total, earlier, look, warp - warps - 1, tiles);
        return;
    }
    unsigned end = 0xffffffff; // the turn in which the tiles have run out
    for (unsigned k = 0; end == 0xffffffff || k < end + later; k++) {
        unsigned stage = k % stages;
        barrier_wait(s.full + stage, k / stages & 1);
        unsigned tile = s.tile[stage];
        bool more = tile < tiles;
        if (!more && end == 0xffffffff) end = k;
        T* own = data + stage * in_tile<T> + warp * in_part<T>;
        size_t first = (size_t)tile * in_tile<T> + warp * in_part<T>;
        Part<T> part;
        if (more) {
            part.load(own, x, first, whole(x, tile, n), n);
            if (lane == 31) totals[k & 1][warp] = part.scanned;
        }
        asm volatile("bar.sync 1, %0;" ::"n"(warps * 32) : "memory");
        if (more) {
            T scanned = scan_warp(lane < warps ? totals[k & 1][lane] : T(0));
            T all = from_lane(scanned, warps - 1), before = from_lane(scanned, (warp + 31) % 32);
            if (threadIdx.x == 0) {
                total[stage] = all;
                write_status<T>(look.status, tile, tile ? tile_sum : prefix, all);
            }
            part.keep(own, warp ? before : T(0), exclusive);
        }
        if (threadIdx.x == 0) barrier_arrive(s.added + stage);
        if (bulk_stores && k > later && lane == 0) {
            bulk_stores_read();
            barrier_arrive(s.empty + (k - later - 1) % stages);
        }
        if (k < later) continue;
        unsigned past = (k - later) % stages;
        barrier_wait(s.placed + past, (k - later) / stages & 1);
        __syncwarp();
        store_part(data + past * in_tile<T> + warp * in_part<T>, y, (size_t)s.tile[past] * in_tile<T> + warp * in_part<T>, n, earlier[past], bulk_stores && whole(y, s.tile[past], n));
        if (!bulk_stores && lane == 0) barrier_arrive(s.empty + past);
    }
    if (bulk_stores && lane == 0) bulk_stores_read();
}

// Blocks stay and draw tiles: the copy engine loads ahead, and warps of their own look
// back while others scan.
extern "C" __global__ void __launch_bounds__(pipeline_threads<4>) scan_pipeline(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<4, false, 0>(x, y, Nearest<float>{status}, ticket, n, exclusive, tiles);
}

extern "C" __global__ void __launch_bounds__(pipeline_threads<4>) scan_i32_pipeline(const int* __restrict__ x, int* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<4, false, 0>(x, y, Nearest<int>{status}, ticket, n, exclusive, tiles);
}

extern "C" __global__ void __launch_bounds__(pipeline_threads<4>) scan_u64_pipeline(const Word* __restrict__ x, Word* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<4, false, 0>(x, y, Nearest<Word>{status}, ticket, n, exclusive, tiles);
}

// The copy engine stores, too: warps write their results to shared memory, and scan on.
extern "C" __global__ void __launch_bounds__(pipeline_threads<3>) scan_pipeline_bulk(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<3, true, 0>(x, y, Nearest<float>{status}, ticket, n, exclusive, tiles);
}

extern "C" __global__ void __launch_bounds__(pipeline_threads<3>) scan_i32_pipeline_bulk(const int* __restrict__ x, int* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<3, true, 0>(x, y, Nearest<int>{status}, ticket, n, exclusive, tiles);
}

extern "C" __global__ void __launch_bounds__(pipeline_threads<3>) scan_u64_pipeline_bulk(const Word* __restrict__ x, Word* __restrict__ y, Word* status, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<3, true, 0>(x, y, Nearest<Word>{status}, ticket, n, exclusive, tiles);
}

// Two loads in flight, and a look-back that adds in one order and never waits for a chain.
extern "C" __global__ void __launch_bounds__(pipeline_threads<5>) scan_pipeline_groups(const float* __restrict__ x, float* __restrict__ y, Word* status, Word* groups, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<5, false, 2>(x, y, OfGroup<float>{status, groups}, ticket, n, exclusive, tiles);
}

extern "C" __global__ void __launch_bounds__(pipeline_threads<5>) scan_i32_pipeline_groups(const int* __restrict__ x, int* __restrict__ y, Word* status, Word* groups, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<5, false, 2>(x, y, OfGroup<int>{status, groups}, ticket, n, exclusive, tiles);
}

extern "C" __global__ void __launch_bounds__(pipeline_threads<5>) scan_u64_pipeline_groups(const Word* __restrict__ x, Word* __restrict__ y, Word* status, Word* groups, unsigned* ticket, unsigned n, unsigned exclusive, unsigned tiles) {
    pipeline<5, false, 2>(x, y, OfGroup<Word>{status, groups}, ticket, n, exclusive, tiles);
}
