// The rungs of onesweep_early_8.cu with a third more keys per tile, for GPUs whose blocks can
// have 73 KB of shared memory.

#include "order.cuh"
#include "radix.cuh"
#include "onesweep.cuh"
#include "onesweep_wide.cuh"
#include "onesweep_early.cuh"

// One launch counts the digits of all passes in columns of lanes,
extern "C" __global__ void __launch_bounds__(1024) sort_u64_onesweep_large(const unsigned long long* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<U64>(in, histogram, n, columns);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_u64_onesweep_large_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(384, 3) sort_u64_onesweep_large_3(const unsigned long long* __restrict__ in, unsigned long long* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_early<U64, unsigned long long, 128>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}

// The same for pairs.
extern "C" __global__ void __launch_bounds__(1024) sort_pairs_onesweep_large(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<U32>(in, histogram, n, columns);
}

extern "C" __global__ void __launch_bounds__(256) sort_pairs_onesweep_large_2(unsigned* histogram) {
    scan_histogram(histogram);
}

extern "C" __global__ void __launch_bounds__(384, 3) sort_pairs_onesweep_large_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ values_in, unsigned* __restrict__ values_out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_early<Pair, unsigned, 128>(in, out, values_in, values_out, starts + pass * 256, status, ticket, n, shift);
}
