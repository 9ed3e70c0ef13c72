// The look-back of onesweep alone, over statuses that a test has written.

#include "../order.cuh"
#include "../radix.cuh"
#include "../onesweep.cuh"
#include "../onesweep_wide.cuh"

extern "C" __global__ void __launch_bounds__(256) look_back_digits(const unsigned* status, unsigned* counts, unsigned tile) {
    counts[threadIdx.x] = look_back(status, tile, threadIdx.x);
}

extern "C" __global__ void __launch_bounds__(256) look_back_digits_by_four(const unsigned* status, unsigned* counts, unsigned tile) {
    counts[threadIdx.x] = look_back_by<4>(status, tile, threadIdx.x);
}

extern "C" __global__ void __launch_bounds__(256) look_back_digits_by_eight(const unsigned* status, unsigned* counts, unsigned tile) {
    counts[threadIdx.x] = look_back_by<8>(status, tile, threadIdx.x);
}
