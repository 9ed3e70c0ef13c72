// Maxima of windows that are right on ordinary data, and wrong on others.

#include "pool.cuh"

// Padding counts as 0, which is above a window of negative numbers.
extern "C" __global__ void mistake_zero_padding(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.planes * s.oh * s.ow) return;
    x += (size_t)(i / s.ow / s.oh) * s.h * s.w;
    Kept<false> kept;
    for (unsigned r = 0; r < s.window; r++)
        for (unsigned c = 0; c < s.window; c++) {
            int row = (int)(i / s.ow % s.oh * s.stride + r) - s.padding, column = (int)(i % s.ow * s.stride + c) - s.padding;
            bool inside = row >= 0 && row < (int)s.h && column >= 0 && column < (int)s.w;
            kept.add(inside ? x[row * (int)s.w + column] : 0, inside ? row * (int)s.w + column : 0);
        }
    y[i] = kept.value;
    index[i] = kept.at;
}

// fmaxf returns the number where one operand is NaN: a NaN in x is lost.
extern "C" __global__ void mistake_fmaxf(const float* __restrict__ x, float* __restrict__ y, int* __restrict__ index, Shape s) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.planes * s.oh * s.ow) return;
    Range columns(i % s.ow, s.w, s), rows(i / s.ow % s.oh, s.h, s);
    x += (size_t)(i / s.ow / s.oh) * s.h * s.w;
    float best = __int_as_float(0xff800000);
    int at = rows.first * (int)s.w + columns.first;
    for (int r = rows.first; r < rows.end; r++)
        for (int c = columns.first; c < columns.end; c++) {
            float v = x[r * (int)s.w + c];
            if (v > best) at = r * (int)s.w + c;
            best = fmaxf(best, v);
        }
    y[i] = best;
    index[i] = at;
}
