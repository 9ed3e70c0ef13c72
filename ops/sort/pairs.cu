// Stable sorts of keys of uint32 with a value each.

#include "order.cuh"
#include "merge.cuh"
#include "radix.cuh"
#include "onesweep.cuh"

// Tiles are sorted by merges in shared memory,
extern "C" __global__ void __launch_bounds__(256) sort_pairs_merge_path(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n) {
    merge_sort_tile<U32, true>(in, out, values_in, values_out, n);
}

// and every block of a merge finds its part of both runs by merge path.
extern "C" __global__ void __launch_bounds__(256) sort_pairs_merge_path_2(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, unsigned n, unsigned width) {
    merge_runs<U32, true>(in, out, values_in, values_out, n, width);
}

// Four bits per pass: a launch counts the digits of each tile,
extern "C" __global__ void __launch_bounds__(256) sort_pairs_radix_4(const unsigned* __restrict__ in, unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    count_digits<U32, 4>(in, counts, n, shift);
}

// one block scans the counts,
extern "C" __global__ void __launch_bounds__(256) sort_pairs_radix_4_2(unsigned* counts, unsigned n) {
    scan_counts(counts, n);
}

// and a third launch moves the keys.
extern "C" __global__ void __launch_bounds__(256) sort_pairs_radix_4_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ counts, unsigned n, unsigned shift) {
    scatter<U32, true, 4>(in, out, values_in, values_out, counts, n, shift);
}

// One launch counts the digits of all passes,
extern "C" __global__ void __launch_bounds__(256) sort_pairs_onesweep(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n) {
    count_all<U32>(in, histogram, n);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_pairs_onesweep_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(256) sort_pairs_onesweep_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep<U32, true>(in, out, values_in, values_out, starts + pass * 256, status, ticket, n, shift);
}
