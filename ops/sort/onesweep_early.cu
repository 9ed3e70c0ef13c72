// Onesweep of keys of 4 bytes, whose tiles publish their counts early.

#include "order.cuh"
#include "radix.cuh"
#include "onesweep.cuh"
#include "onesweep_wide.cuh"
#include "onesweep_early.cuh"

// One launch counts the digits of all passes in columns of lanes,
extern "C" __global__ void __launch_bounds__(1024) sort_onesweep_early(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<U32>(in, histogram, n, columns);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_onesweep_early_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(384, 3) sort_onesweep_early_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_early<U32>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}

// The same for keys of int32.
extern "C" __global__ void __launch_bounds__(1024) sort_i32_onesweep_early(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<I32>(in, histogram, n, columns);
}

extern "C" __global__ void __launch_bounds__(256) sort_i32_onesweep_early_2(unsigned* histogram) {
    scan_histogram(histogram);
}

extern "C" __global__ void __launch_bounds__(384, 3) sort_i32_onesweep_early_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_early<I32>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}

// The same for keys of float32.
extern "C" __global__ void __launch_bounds__(1024) sort_f32_onesweep_early(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n, unsigned columns) {
    count_columns<F32>(in, histogram, n, columns);
}

extern "C" __global__ void __launch_bounds__(256) sort_f32_onesweep_early_2(unsigned* histogram) {
    scan_histogram(histogram);
}

extern "C" __global__ void __launch_bounds__(384, 3) sort_f32_onesweep_early_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep_early<F32>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}
