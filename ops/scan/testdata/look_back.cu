// The look-back of a warp over statuses that a test has written.

#include "../scan.cuh"

extern "C" __global__ void look_back_float(const Word* status, float* sum, unsigned tile) {
    float s = look_back<float>(status, tile);
    if (threadIdx.x == 0) *sum = s;
}

extern "C" __global__ void look_back_segment(const Word* status, float* sum, unsigned tile) {
    Segment s = look_back<Segment>(status, tile);
    if (threadIdx.x == 0) *sum = s.sum;
}

extern "C" __global__ void look_back_u64(const Word* status, Word* sum, unsigned tile) {
    Word s = look_back<Word>(status, tile);
    if (threadIdx.x == 0) *sum = s;
}
