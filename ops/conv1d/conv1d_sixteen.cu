// One-dimensional correlation of float32 whose copies to shared memory pass no registers: for
// sm_80 and later.

#include "conv1d.cuh"

// Up to 128 taps: a thread has sixteen neighbouring outputs, whose window of twenty elements
// turns round in registers: a read of 16 bytes for 64 multiplications. Rows of sixteen
// elements are four longer in shared memory, so that eight lanes read all banks.
const unsigned operand_taps = 128, row = 16, row_pitch = row + 4, outputs_of_rows = 256 * row;
extern "C" __global__ void __launch_bounds__(256, 4) conv1d_sixteen(const float* __restrict__ x, float* __restrict__ y, Shape s) {
    __shared__ __align__(16) float tile[(outputs_of_rows + operand_taps + 4 + row - 1) / row * row_pitch];
    unsigned first = blockIdx.x * outputs_of_rows, base = (unsigned)__cvta_generic_to_shared(tile);
    int left = (int)first - s.before;
    for (unsigned i = threadIdx.x; i < outputs_of_rows + (s.k + 3) / 4 * 4; i += 256) {
        int at = left + (int)i;
        bool in = at >= 0 && at < (int)s.n;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(base + (i + i / row * 4) * 4), "l"(in ? x + at : x), "r"(in ? 4 : 0) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float *own = tile + threadIdx.x * row_pitch, sum[row] = {}, v[row_pitch];
    auto read = [&](unsigned from) { // into the place of the elements that the window leaves
        float4 four = *(const float4*)(own + from + from / row * 4);
        unsigned at = from % row_pitch;
        v[at] = four.x, v[at + 1] = four.y, v[at + 2] = four.z, v[at + 3] = four.w;
    };
    auto add = [&](unsigned j) {
        float tap = conv1d_taps[j];
#pragma unroll
        for (unsigned o = 0; o < row; o++) sum[o] += tap * v[(j + o) % row_pitch];
    };
#pragma unroll
    for (unsigned i = 0; i < row; i += 4) read(i);
#pragma unroll
    for (unsigned j = 0; j < operand_taps; j += 4) {
        if (j >= s.k) break;
        read(j + row);
        if (j + 4 <= s.k) { // no branch between these
#pragma unroll
            for (unsigned i = 0; i < 4; i++) add(j + i);
        } else
#pragma unroll
            for (unsigned i = 0; i < 3; i++) {
                if (j + i >= s.k) break; // a zero in place of a tap would make NaN of an infinity
                add(j + i);
            }
    }
    __syncthreads();
#pragma unroll
    for (unsigned o = 0; o < row; o += 4) *(float4*)(own + o) = make_float4(sum[o], sum[o + 1], sum[o + 2], sum[o + 3]);
    __syncthreads();
    bool whole = first + outputs_of_rows <= s.outputs && (size_t)y % 16 == 0;
    for (unsigned i = threadIdx.x * 4; whole && i < outputs_of_rows; i += 256 * 4) *(float4*)(y + first + i) = *(const float4*)(tile + i + i / row * 4);
    for (unsigned i = threadIdx.x; !whole && i < outputs_of_rows && first + i < s.outputs; i += 256) y[first + i] = tile[i + i / row * 4];
}
