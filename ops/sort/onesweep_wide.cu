// Onesweep of keys of uint32, with wide tiles.

#include "order.cuh"
#include "radix.cuh"
#include "onesweep.cuh"
#include "onesweep_wide.cuh"

// One launch counts the digits of all passes in columns of lanes,
extern "C" __global__ void __launch_bounds__(1024) sort_onesweep_wide(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<U32>(in, histogram, n, columns);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_onesweep_wide_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(512, 2) sort_onesweep_wide_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_wide<U32, masks_of_digits>(in, out, starts + pass * 256, status, ticket, n, shift);
}

// One launch counts the digits of all passes in columns of lanes,
extern "C" __global__ void __launch_bounds__(1024) sort_onesweep_ballots(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<U32>(in, histogram, n, columns);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_onesweep_ballots_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once, and ranks them in registers.
extern "C" __global__ void __launch_bounds__(512, 2) sort_onesweep_ballots_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_wide<U32, ballot_a_bit>(in, out, starts + pass * 256, status, ticket, n, shift);
}

// One launch counts the digits of all passes in columns of lanes,
extern "C" __global__ void __launch_bounds__(1024) sort_onesweep_match(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<U32>(in, histogram, n, columns);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_onesweep_match_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once, and ranks them by match.any.
extern "C" __global__ void __launch_bounds__(512, 2) sort_onesweep_match_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_wide<U32, match_any>(in, out, starts + pass * 256, status, ticket, n, shift);
}
