// One block sorts few keys of uint32 that differ in their first bits.

#include "order.cuh"
#include "radix.cuh"
#include "block_radix.cuh"
#include "block_buckets.cuh"

// The smallest block that has room for the keys, and one or two buckets for each of them.
extern "C" __global__ void __launch_bounds__(512) sort_block_buckets(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    if (n <= 1024) Buckets<256, 4, 11>::sort(in, out, n);
    else if (n <= 4096) Buckets<512, 8, 13>::sort(in, out, n);
    else Buckets<512, 32, 14>::sort(in, out, n);
}
