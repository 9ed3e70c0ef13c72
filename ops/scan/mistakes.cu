// A scan that waits for tiles which may never run.

#include "scan.cuh"

// Block b has tile b. Where later blocks fill the GPU before earlier ones start, they
// wait for tiles that cannot run. CUDA promises no order.
extern "C" __global__ void __launch_bounds__(256) mistake_no_tickets(const float* __restrict__ x, float* __restrict__ y, Word* status, unsigned n, unsigned exclusive) {
    __shared__ float totals[8], earlier;
    unsigned tile = blockIdx.x;
    Tile<float, 1, 8> t;
    t.load(x, tile, n);
    float all, before = before_warp<float, 8>(t.scan(), totals, all);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0 && tile) write_status(status, tile, tile_sum, all);
        float sum = tile ? look_back<float>(status, tile) : 0;
        if (threadIdx.x == 0) {
            write_status(status, tile, prefix, add(sum, all));
            earlier = sum;
        }
    }
    __syncthreads();
    t.store(y, tile, n, add(earlier, before), exclusive);
}
