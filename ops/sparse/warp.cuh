// Sums over the lanes of a warp. All 32 lanes take part.
#pragma once

// The sum over groups of lanes, a power of two; every lane of a group has it.
static __device__ float group_sum(float sum, unsigned lanes) {
    for (unsigned d = lanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    return sum;
}

// Neighbouring lanes with equal keys are a segment. The last lane of a segment returns
// its sum, the others a part of it.
static __device__ float segment_sum(int key, float sum, bool& last) {
    unsigned lane = threadIdx.x % 32;
    int before = __shfl_up_sync(0xffffffff, key, 1);
    unsigned heads = __ballot_sync(0xffffffff, lane == 0 || before != key);
    unsigned first = 31 - __clz(heads & 0xffffffff >> (31 - lane));
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= first + d) sum += other;
    }
    last = lane == 31 || heads >> (lane + 1) & 1;
    return sum;
}
