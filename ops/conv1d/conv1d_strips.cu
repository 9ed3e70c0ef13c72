// One-dimensional correlation of float32 in warps that wait for no other, with bulk copies:
// for sm_90 and later.

#include "conv1d.cuh"

// Up to 128 taps: a thread has a strip of 28 neighbouring outputs, whose window of 32
// elements turns round in registers. A strip is an odd number of vectors long, so that those
// of eight lanes lie on all banks. The code of one turn, 896 multiplications, fits the caches
// of instructions; that of a strip of 36 does not. 24 warps keep a multiprocessor busier than 16.
const unsigned strip = 28, window = strip + 4, turns = window / 4, strip_taps = 128, strip_warps = 24;
const unsigned tile_outputs = 32 * strip, tile_elements = tile_outputs + strip_taps + 4;

// What a thread holds in registers.
struct Strip {
    float sum[strip], v[window];

    // Reads a vector into the place of the elements that the window leaves.
    __device__ __forceinline__ void read(const float* from, unsigned at) {
        float4 four = *(const float4*)from;
        v[at] = four.x, v[at + 1] = four.y, v[at + 2] = four.z, v[at + 3] = four.w;
    }

    __device__ __forceinline__ void multiply(float tap, unsigned j) {
#pragma unroll
        for (unsigned o = 0; o < strip; o++) sum[o] = tap * v[(j + o) % window];
    }

    __device__ __forceinline__ void add(float tap, unsigned j) {
#pragma unroll
        for (unsigned o = 0; o < strip; o++) sum[o] += tap * v[(j + o) % window];
    }

    // Adds the i-th four taps of a turn. Reads what the window lacks of the elements under
    // them; elements of the first are at `from`.
    __device__ __forceinline__ void four_taps(const float* from, size_t pair, unsigned i) {
        read(from + 4 * i, (strip + 4 * (i + 1)) % window);
        float2 a = ((const float2*)conv1d_taps)[pair + 2 * i], b = ((const float2*)conv1d_taps)[pair + 2 * i + 1];
        add(a.x, 4 * i + 4), add(a.y, 4 * i + 5), add(b.x, 4 * i + 6), add(b.y, 4 * i + 7);
    }
};

// Adds what is left of a turn from its i-th four taps on, and, where they fall, the taps
// behind the last whole vector: of these, `rest`, the first is conv1d_taps[last].
template <unsigned i> static __device__ __forceinline__ void end_turn(Strip& t, const float* from, size_t pair, unsigned fours, unsigned rest, unsigned last) {
    if constexpr (i + 1 < turns)
        if (4 * i < fours) {
            t.four_taps(from, pair, i);
            return end_turn<i + 1>(t, from, pair, fours, rest, last);
        }
    if (rest == 0) return;
    t.read(from + 4 * i, (strip + 4 * (i + 1)) % window);
    t.add(conv1d_taps[last], 4 * i + 4);
    if (rest > 1) t.add(conv1d_taps[last + 1], 4 * i + 5);
    if (rest > 2) t.add(conv1d_taps[last + 2], 4 * i + 6);
}

// A warp copies its next tile to shared memory while it multiplies one. A tile starts up to
// three elements before the first that a tap meets, so that it is aligned: `shift`. If that
// were odd, pairs of taps would not be aligned: the elements are then copied one by one,
// and the tile starts with the first.
extern "C" __global__ void __launch_bounds__(strip_warps * 32, 1) conv1d_strips(const float* __restrict__ x, float* __restrict__ y, Shape s, unsigned tiles) {
    extern __shared__ __align__(128) float memory[];
    __shared__ __align__(8) unsigned long long barriers[strip_warps * 2];
    unsigned tid = threadIdx.x, lane = tid % 32, warp = __shfl_sync(~0u, tid / 32, 0);
    unsigned shift = ((unsigned)((size_t)x / 4) - (unsigned)s.before) & 3;
    bool single = shift % 2 != 0;
    if (single) shift = 0;
    unsigned end = s.k + shift, fours = end / 4 * 4, rest = end % 4, elements = tile_outputs + (end + 3) / 4 * 4; // whole vectors
    int before = s.before + (int)shift;
    float* buffers = memory + warp * 2 * tile_elements;
    unsigned barrier = (unsigned)__cvta_generic_to_shared(barriers + warp * 2), place = (unsigned)__cvta_generic_to_shared(buffers);
    if (lane == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier + 8) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();

    // Copies a tile to a buffer whose outputs have been read.
    auto copy = [&](unsigned buffer, unsigned tile) {
        int left = (int)(tile * tile_outputs) - before;
        unsigned to = place + buffer * tile_elements * 4;
        bool inside = left >= 0 && left + (int)elements <= (int)s.n;
        if (inside && !single) {
            if (lane == 0) {
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier + buffer * 8), "r"(elements * 4) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(x + left), "r"(elements * 4), "r"(barrier + buffer * 8) : "memory");
            }
            return;
        }
        if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        __syncwarp();
        if (inside) {
#pragma unroll 4
            for (unsigned i = lane; i < elements; i += 32) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to + i * 4), "l"(x + left + (int)i) : "memory");
        } else
#pragma unroll 1
            for (unsigned i = lane; i < elements; i += 8 * 32) { // zeros outside x; eight loads are under way
                float some[8];
#pragma unroll
                for (unsigned e = 0; e < 8; e++) {
                    int at = left + (int)(i + e * 32);
                    some[e] = at >= 0 && at < (int)s.n ? x[at] : 0;
                }
#pragma unroll
                for (unsigned e = 0; e < 8; e++)
                    if (i + e * 32 < elements) buffers[buffer * tile_elements + i + e * 32] = some[e];
            }
        __syncwarp();
        if (lane == 0 && !single) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier + buffer * 8) : "memory");
    };

    unsigned tile = warp * gridDim.x + blockIdx.x, step = strip_warps * gridDim.x, buffer = 0, phase = 0;
    if (tile < tiles) copy(0, tile);
    for (; tile < tiles; tile += step) {
        if (single) {
            asm volatile("cp.async.wait_all;" ::: "memory");
            __syncwarp();
        } else
            asm volatile("{\n.reg .pred done;\nwait_%=:\nmbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra wait_%=;\n}" ::"r"(barrier + buffer * 8), "r"(phase) : "memory");
        float *here = buffers + buffer * tile_elements, *own = here + lane * strip;
        Strip t;
        // The first vector of taps. Its last has no sums to add to. Elements under no tap
        // are left out: 0 times an infinity would be NaN.
#pragma unroll
        for (unsigned i = 0; i < window; i += 4) t.read(own + i, i);
        if (end > 3) t.multiply(conv1d_taps[3 - shift], 3), t.add(conv1d_taps[2 - shift], 2);
        else if (end == 3) t.multiply(conv1d_taps[2 - shift], 2);
        else if (end == 2) t.multiply(conv1d_taps[1 - shift], 1);
        else t.multiply(conv1d_taps[0], 0);
        if (shift == 0) {
            if (end > 2) t.add(conv1d_taps[1], 1);
            if (end > 1) t.add(conv1d_taps[0], 0);
        }
        if (tile + step < tiles) copy(buffer ^ 1, tile + step);

        // The index of the taps is no other's, so that it and they are uniform: registers of
        // the warp, from which multiplications take them at their full rate. With factors
        // and sum in three registers of the lane they run at two thirds.
        if (end > 4) {
            unsigned left = fours - 4;
            const float* from = own + strip + 4;
            size_t pair = (4 - shift) / 2;
            asm("" : "+l"(pair));
#pragma unroll 1
            for (; left >= 4 * turns; left -= 4 * turns, from += 4 * turns, pair += 2 * turns)
#pragma unroll
                for (unsigned i = 0; i < turns; i++) t.four_taps(from, pair, i);
            end_turn<0>(t, from, pair, left, rest, fours - shift);
        }

        // By way of shared memory, so that whole lines are stored.
        __syncwarp();
#pragma unroll
        for (unsigned o = 0; o < strip; o += 4) *(float4*)(own + o) = make_float4(t.sum[o], t.sum[o + 1], t.sum[o + 2], t.sum[o + 3]);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        unsigned first = tile * tile_outputs;
        if (first + tile_outputs <= s.outputs && (size_t)y % 16 == 0) {
            if (lane == 0) {
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + first), "r"(place + buffer * tile_elements * 4), "r"(tile_outputs * 4) : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
        } else
#pragma unroll 1
            for (unsigned i = lane; i < tile_outputs && first + i < s.outputs; i += 32) y[first + i] = here[i];
        __syncwarp();
        phase ^= buffer, buffer ^= 1;
    }
    if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
