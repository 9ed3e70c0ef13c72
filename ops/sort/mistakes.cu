// Sorts of pairs that lose the order of equal keys, or their values. The keys that they
// write are sorted.

#include "order.cuh"
#include "merge.cuh"
#include "radix.cuh"

// All passes but the last are those of sort_pairs_radix_4.
extern "C" __global__ void __launch_bounds__(256) mistake_turn_as_rank(const unsigned* __restrict__ in, unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    count_digits<U32, 4>(in, counts, n, shift);
}

extern "C" __global__ void __launch_bounds__(256) mistake_turn_as_rank_2(unsigned* counts, unsigned n) {
    scan_counts(counts, n);
}

extern "C" __global__ void __launch_bounds__(256) mistake_turn_as_rank_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    scatter<U32, true, 4>(in, out, values_in, values_out, counts, n, shift);
}

// In the last pass a key takes the next number of its digit by atomicAdd. A thread has eight
// neighbours and comes eight times: its second key comes after the first of every thread.
extern "C" __global__ void __launch_bounds__(256) mistake_turn_as_rank_4(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    __shared__ unsigned next[16];
    if (threadIdx.x < 16) next[threadIdx.x] = counts[threadIdx.x * gridDim.x + blockIdx.x];
    for (unsigned k = 0; k < radix_items; k++) {
        __syncthreads();
        unsigned i = blockIdx.x * radix_tile + threadIdx.x * radix_items + k;
        if (i >= n) continue;
        unsigned to = atomicAdd(&next[digit_of<U32, 4>(in[i], shift)], 1);
        out[to] = in[i];
        values_out[to] = values_in[i];
    }
}

// The head of a run: its first pair, or where it has ended a padding.
struct Head {
    bool there;
    unsigned key;
};

// One block merges runs of 1, 2, 4, ... pairs, one thread per pair of runs. second(a, b) is
// whether the next pair is that of the later run.
template <class Second> static __device__ void merge_pairs(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n, Second second) {
    __shared__ unsigned keys[2][merge_tile], values[2][merge_tile];
    for (unsigned i = threadIdx.x; i < n; i += 256) {
        keys[0][i] = in[i];
        values[0][i] = values_in[i];
    }
    unsigned from = 0;
    for (unsigned width = 1; width < n; width *= 2, from ^= 1) {
        __syncthreads();
        for (unsigned first = threadIdx.x * 2 * width; first < n; first += 256 * 2 * width) {
            unsigned a = first, a_end = min(first + width, n), b = a_end, end = min(first + 2 * width, n);
            for (unsigned i = first; i < end; i++) {
                Head x = {a < a_end, a < a_end ? keys[from][a] : U32::largest}, y = {b < end, b < end ? keys[from][b] : U32::largest};
                bool take_b = second(x, y), there = take_b ? y.there : x.there;
                keys[from ^ 1][i] = take_b ? y.key : x.key;
                values[from ^ 1][i] = there ? values[from][take_b ? b : a] : 0;
                if (take_b) b++;
                else a++;
            }
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += 256) {
        out[i] = keys[from][i];
        values_out[i] = values[from][i];
    }
}

// Of two equal keys the later one is first: <= in place of <.
extern "C" __global__ void __launch_bounds__(256) mistake_later_first(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n) {
    merge_pairs(in, out, values_in, values_out, n, [](Head a, Head b) { return b.there && (!a.there || b.key <= a.key); });
}

// A run that has ended has the largest key, and no other sign of its end. Of the largest
// key among the pairs the padding of the earlier run is taken, whose value is 0.
extern "C" __global__ void __launch_bounds__(256) mistake_sentinel(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n) {
    merge_pairs(in, out, values_in, values_out, n, [](Head a, Head b) { return b.key < a.key; });
}
