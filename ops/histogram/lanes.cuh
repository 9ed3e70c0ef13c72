// Tables with 32 counters per bin, one for each lane: bank and lane are one number.

// The sum of a counter's 32 copies, in every lane.
static __device__ unsigned warp_sum(unsigned value) {
    for (unsigned lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffff, value, lanes);
    return value;
}

// Adds the 32 copies of each counter of the block to the global counter.
static __device__ void publish_lanes(const unsigned* table, unsigned* __restrict__ counts, unsigned bins) {
    unsigned lane = threadIdx.x % 32;
    for (unsigned v = threadIdx.x / 32; v < bins; v += blockDim.x / 32) {
        unsigned sum = warp_sum(table[v * 32 + lane]);
        if (lane == 0 && sum) atomicAdd(&counts[v], sum);
    }
}
