// One block sorts few keys of uint32.

#include "order.cuh"
#include "radix.cuh"
#include "block_radix.cuh"

// The smallest block that has room for the keys. The largest has as many as the shared memory
// of a block of sm_75 holds.
extern "C" __global__ void __launch_bounds__(512) sort_block_radix(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
    if (n <= 1024) block_radix<256, 4>(in, out, n);
    else if (n <= 4096) block_radix<512, 8>(in, out, n);
    else block_radix<512, 32>(in, out, n);
}
