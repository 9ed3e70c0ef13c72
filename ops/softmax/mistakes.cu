// Softmaxes that are wrong on numbers that a float32 can be. Each is a rung of a warp a
// row with one line changed, and right on ordinary logits.

#include "softmax.cuh"

// No maximum is subtracted: e^x overflows from 88.8 on, and inf / inf is NaN.
extern "C" __global__ void mistake_no_maximum(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float sum = 0;
    for (unsigned c = Warp::id(); c < columns; c += 32) sum += exponential(x[c]);
    float scale = 1 / Warp::sum(sum);
    for (unsigned c = Warp::id(); c < columns; c += 32) y[c] = exponential(x[c]) * scale;
}

// The running maximum itself is the shift: -inf - -inf is NaN where a lane has only
// met -inf.
extern "C" __global__ void mistake_two_infinities(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float maximum = minus_infinity(), sum = 0;
    for (unsigned c = Warp::id(); c < columns; c += 32) {
        float before = maximum;
        maximum = fmaxf(before, x[c]);
        sum = sum * exponential(before - maximum) + exponential(x[c] - maximum);
    }
    float shift = Warp::max(maximum);
    float scale = 1 / Warp::sum(sum * exponential(maximum - shift));
    for (unsigned c = Warp::id(); c < columns; c += 32) y[c] = exponential(x[c] - shift) * scale;
}

// The subtraction is folded into the multiplication by log2 e, which saves an
// instruction. The rounding of maximum * log2 e is in every exponent: a common factor
// that cancels, until it overflows by itself.
extern "C" __global__ void mistake_folded_maximum(const float* __restrict__ x, float* __restrict__ y, unsigned rows, unsigned columns) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    x += (size_t)r * columns, y += (size_t)r * columns;
    float maximum = minus_infinity(), sum = 0;
    for (unsigned c = Warp::id(); c < columns; c += 32) maximum = fmaxf(maximum, x[c]);
    float shift = Warp::max(maximum) * log2_e;
    for (unsigned c = Warp::id(); c < columns; c += 32) sum += power_of_two(fmaf(x[c], log2_e, -shift));
    float scale = 1 / Warp::sum(sum);
    for (unsigned c = Warp::id(); c < columns; c += 32) y[c] = power_of_two(fmaf(x[c], log2_e, -shift)) * scale;
}
