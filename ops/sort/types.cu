// Sorts of keys of int32, float32 and uint64.

#include "order.cuh"
#include "merge.cuh"
#include "radix.cuh"
#include "onesweep.cuh"

// Tiles are sorted by merges in shared memory,
extern "C" __global__ void __launch_bounds__(256) sort_i32_merge_path(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    merge_sort_tile<I32, false>(in, out, nullptr, nullptr, n);
}

// and every block of a merge finds its part of both runs by merge path.
extern "C" __global__ void __launch_bounds__(256) sort_i32_merge_path_2(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n, unsigned width) {
    merge_runs<I32, false>(in, out, nullptr, nullptr, n, width);
}

// One launch counts the digits of all passes,
extern "C" __global__ void __launch_bounds__(256) sort_i32_onesweep(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n) {
    count_all<I32>(in, histogram, n);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_i32_onesweep_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(256) sort_i32_onesweep_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep<I32, false>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}

// Tiles are sorted by merges in shared memory,
extern "C" __global__ void __launch_bounds__(256) sort_f32_merge_path(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    merge_sort_tile<F32, false>(in, out, nullptr, nullptr, n);
}

// and every block of a merge finds its part of both runs by merge path.
extern "C" __global__ void __launch_bounds__(256) sort_f32_merge_path_2(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n, unsigned width) {
    merge_runs<F32, false>(in, out, nullptr, nullptr, n, width);
}

// One launch counts the digits of all passes,
extern "C" __global__ void __launch_bounds__(256) sort_f32_onesweep(const unsigned* __restrict__ in, unsigned* __restrict__ histogram, unsigned n) {
    count_all<F32>(in, histogram, n);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_f32_onesweep_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(256) sort_f32_onesweep_3(const unsigned* __restrict__ in, unsigned* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep<F32, false>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}

// Tiles are sorted by merges in shared memory,
extern "C" __global__ void __launch_bounds__(256) sort_u64_merge_path(const unsigned long long* __restrict__ in, unsigned long long* __restrict__ out, unsigned n) {
    merge_sort_tile<U64, false>(in, out, nullptr, nullptr, n);
}

// and every block of a merge finds its part of both runs by merge path.
extern "C" __global__ void __launch_bounds__(256) sort_u64_merge_path_2(const unsigned long long* __restrict__ in, unsigned long long* __restrict__ out, unsigned n, unsigned width) {
    merge_runs<U64, false>(in, out, nullptr, nullptr, n, width);
}

// One launch counts the digits of all passes,
extern "C" __global__ void __launch_bounds__(256) sort_u64_onesweep(const unsigned long long* __restrict__ in, unsigned* __restrict__ histogram, unsigned n) {
    count_all<U64>(in, histogram, n);
}

// one scans the counts of each pass,
extern "C" __global__ void __launch_bounds__(256) sort_u64_onesweep_2(unsigned* histogram) {
    scan_histogram(histogram);
}

// and each pass of 8 bits reads the keys once.
extern "C" __global__ void __launch_bounds__(256) sort_u64_onesweep_3(const unsigned long long* __restrict__ in, unsigned long long* __restrict__ out, const unsigned* __restrict__ starts, unsigned* status, unsigned* ticket, unsigned n, unsigned shift, unsigned pass) {
    sweep<U64, false>(in, out, nullptr, nullptr, starts + pass * 256, status, ticket, n, shift);
}
