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

extern "C" __global__ void of_group_float(const Word* status, float* sum, unsigned tile, const Word* groups) {
    float s = OfGroup<float>{(Word*)status, (Word*)groups}.before(tile);
    if (threadIdx.x == 0) *sum = s;
}

extern "C" __global__ void of_group_u64(const Word* status, Word* sum, unsigned tile, const Word* groups) {
    Word s = OfGroup<Word>{(Word*)status, (Word*)groups}.before(tile);
    if (threadIdx.x == 0) *sum = s;
}
